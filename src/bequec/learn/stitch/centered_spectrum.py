"""The range space from the spectrum of centered answers: for scattered pairs, and where windows show too little.

The expected answers are subtracted first, so that a pair without an answer is a zero that says nothing. What is left
are differences between clusters, whose eigenvalues are positive where yes means "belongs together".
"""

from collections.abc import Callable

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.learn.linalg.krylov import is_small, krylov_eigenvectors, random_block
from bequec.learn.stitch.settings import STITCH
from bequec.learn.stitch.stitching import RangeSpace
from bequec.learn.stitch.windows import gap
from bequec.plan.query_plan import QueryPlan


def is_scattered(answers: Answers) -> bool:
    """Whether there is no window to stitch: answers lie all over the blocks, and most pairs have none."""
    plan = answers.plan
    if not plan.covered.all() or answers.baseline:
        return False
    return answers.n_answered_pairs < STITCH.scattered_below * plan.n_nodes * (plan.n_nodes - 1) / 2


def scattered_range_space(answers: Answers, n_clusters: int) -> RangeSpace:
    """One, as memberships sum to one, and the K − 1 leading eigenvectors of A − p W, p the share of yes.

    ``answers`` count each pair once.
    """
    yes, total = answers.yes, answers.correction
    if total is None:
        raise ValueError("scattered answers are kept as corrections")
    share = yes.sum() / total.sum()
    n_nodes, n_more = answers.plan.n_nodes, STITCH.more_singular_values
    n_vectors = min(n_clusters - 1 + n_more, n_nodes - 1)
    values, vectors = leading_eigenvectors(lambda X: yes @ X - share * (total @ X), n_nodes, n_vectors)
    singular_values = np.concatenate([[yes.sum() / n_nodes], np.maximum(values, 0.0)])
    basis = np.column_stack([np.full(n_nodes, n_nodes**-0.5), vectors[:, : n_clusters - 1]])
    return RangeSpace(basis, singular_values, np.array([gap(singular_values, n_clusters)]))


def degree_corrected_basis(answers: Answers, n_clusters: int) -> FloatArray:
    """The expected degrees t, and the K − 1 leading eigenvectors of D (A − t tᵀ) D on the asked blocks, D⁻¹ back.

    Subtracting t tᵀ removes the modes of whole groups, which fill the spectrum of a graph with unasked blocks; D =
    (d + mean d)^−½ keeps nodes of large degree d from filling it.
    """
    plan, yes = answers.plan, answers.yes
    degrees = np.asarray(yes.sum(axis=1)).ravel()
    t = expected_degrees(plan, degrees)
    weight = (degrees + degrees.mean()) ** -0.5
    asked = plan.asked.astype(float)

    def centered(X: FloatArray) -> FloatArray:
        weighted = weight[:, None] * X
        sums = np.add.reduceat(t[:, None] * weighted, plan.starts[:-1], axis=0)
        expected = t[:, None] * np.repeat(asked @ sums, plan.sizes, axis=0)
        return np.asarray(weight[:, None] * (yes @ weighted - expected))

    _, vectors = leading_eigenvectors(centered, plan.n_nodes, n_clusters - 1)
    return np.column_stack([t, vectors / weight[:, None]])


def expected_degrees(plan: QueryPlan, degrees: FloatArray) -> FloatArray:
    """T with t_i Σ t_j = d_i, the sum over the nodes that i was asked about: A ≈ t tᵀ on the asked blocks.

    t_i = d_i s_l / O_l with O_l the degrees' sum over the node's group l and s_l that of t, which solve
    s_l Σ_{m∈N(l)} s_m = O_l. The root of each update keeps the iteration from oscillating.
    """
    of_group = np.add.reduceat(degrees, plan.starts[:-1])
    asked = plan.asked.astype(float)
    sums = np.sqrt(of_group / np.maximum(asked.sum(axis=1), 1.0))
    for _ in range(STITCH.degree_rounds):
        sums = np.sqrt(sums * of_group / np.maximum(asked @ sums, 1e-300))
    return np.asarray(degrees * np.repeat(sums / np.maximum(of_group, 1e-300), plan.sizes))


def leading_eigenvectors(
    multiply: Callable[[FloatArray], FloatArray], n_rows: int, n_vectors: int
) -> tuple[FloatArray, FloatArray]:
    """The algebraically largest eigenvalues and their vectors, roughly where the matrix is large."""
    if is_small(n_rows, n_vectors):
        matrix = multiply(np.eye(n_rows))
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        return values[::-1][:n_vectors], vectors[:, ::-1][:, :n_vectors]
    return krylov_eigenvectors(multiply, random_block(n_rows, n_vectors), n_vectors, n_rough=n_vectors)
