"""The cluster interactions B that fit the answers best, given the memberships."""

import numpy as np

from bequec.ask.answers import Answers, FloatArray


def least_squares_interactions(answers: Answers, memberships: FloatArray) -> FloatArray:
    """B minimising Σ W_ij (A_ij / W_ij − m_iᵀ B m_j)² over the answered pairs, symmetric, clipped to [0, 1].

    ``memberships`` is in group order.
    """
    H, right_side = normal_equations(answers, memberships)
    solution, *_ = np.linalg.lstsq(H, right_side.ravel(), rcond=None)
    B = solution.reshape(right_side.shape)
    return np.asarray(np.clip((B + B.T) / 2, 0.0, 1.0))


def normal_equations(answers: Answers, memberships: FloatArray) -> tuple[FloatArray, FloatArray]:
    """H[(ab), (cd)] = Σ W_ij m_ia m_ic m_jb m_jd and Mᵀ A M, sums over ordered answered pairs.

    W never becomes a matrix: group sums of the products m_i m_iᵀ, one sparse product for the corrections, and the
    diagonal's own terms.
    """
    n_clusters = memberships.shape[1]
    products = (memberships[:, :, None] * memberships[:, None, :]).reshape(len(memberships), -1)
    group_sums = np.add.reduceat(products, answers.plan.starts[:-1], axis=0)
    asked = answers.plan.asked
    H = answers.baseline * (group_sums.T @ asked @ group_sums)
    in_asked_loop = np.repeat(asked.diagonal(), answers.plan.sizes)
    # W is one on a given diagonal and zero on an unobserved one, whatever the baseline.
    H += (float(answers.diagonal) - answers.baseline) * (products[in_asked_loop].T @ products[in_asked_loop])
    if answers.correction is not None:
        H += products.T @ (answers.correction @ products)
    H = H.reshape((n_clusters,) * 4).transpose(0, 2, 1, 3).reshape(n_clusters**2, n_clusters**2)
    return H, memberships.T @ (answers.yes @ memberships)
