"""The cluster interactions B that fit the answers best, given the memberships."""

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.learn.linalg.symmetric import full, outer_triangles, triangles
from bequec.plan.query_plan import QueryPlan


def least_squares_interactions(answers: Answers, memberships: FloatArray) -> FloatArray:
    """B minimizing Σ W_ij (A_ij / W_ij − m_iᵀ B m_j)² over the answered pairs, symmetric, clipped to [0, 1].

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
    plan = answers.plan
    sums = group_sums(plan, memberships)
    H = answers.baseline * (sums.T @ plan.asked @ sums)
    # W is one on a given diagonal and zero on an unobserved one, whatever the baseline.
    on_diagonal = float(answers.diagonal) - answers.baseline
    for l in np.flatnonzero(plan.asked.diagonal() & (on_diagonal != 0)).tolist():
        own = outer_triangles(memberships[plan.span(l)])
        H += on_diagonal * (own.T @ own)
    if answers.correction is not None:
        products = outer_triangles(memberships)
        H += products.T @ (answers.correction @ products)
    return unpack(H, n_clusters), memberships.T @ (answers.yes @ memberships)


def group_sums(plan: QueryPlan, vectors: FloatArray) -> FloatArray:
    """Σ v vᵀ over the nodes of each group, as upper triangles."""
    return triangles(np.stack([vectors[plan.span(l)].T @ vectors[plan.span(l)] for l in range(plan.n_groups)]))


def unpack(H: FloatArray, n_clusters: int) -> FloatArray:
    """From [(ac), (bd)] on upper triangles to [(ab), (cd)] on all pairs."""
    wide = full(full(H, n_clusters).reshape(len(H), -1).T, n_clusters).reshape((n_clusters,) * 4)
    # full() unpacks its last axis: now [b, d, a, c].
    return wide.transpose(2, 0, 3, 1).reshape(n_clusters**2, n_clusters**2)
