"""The range space when some groups are smaller than K: grown from a seed instead of stitched pair by pair.

A ≈ U Vᵀ, where U holds the rows' and V the columns' coordinates. A group's rows follow from known columns by
least squares, its columns from known rows (see ``bequec.plan.mask.completion_order`` for when this reaches everybody).
"""

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.learn.stitch.settings import STITCH
from bequec.learn.stitch.stitching import RangeSpace
from bequec.learn.stitch.windows import answered_block, gap, window_svd
from bequec.plan.mask.completion_order import Completion


def complete_range_space(answers: Answers, completion: Completion, n_clusters: int, start: FloatArray) -> RangeSpace:
    """Estimate range(M) along a completion order that reaches the rows of every group."""
    plan = answers.plan
    left, values, right = window_svd(
        answers, completion.seed_rows, completion.seed_columns, n_clusters, start, STITCH.more_singular_values
    )
    scale = np.sqrt(values[:n_clusters])
    coordinates = {"rows": np.zeros((plan.n_nodes, n_clusters)), "columns": np.zeros((plan.n_nodes, n_clusters))}
    coordinates["rows"][_positions(answers, completion.seed_rows)] = left * scale
    coordinates["columns"][_positions(answers, completion.seed_columns)] = right * scale
    for step in completion.steps:
        known = coordinates["columns" if step.side == "rows" else "rows"]
        block = sp.block_array([[answered_block(answers, step.group, m) for m in step.via]], format="csr")
        at = _positions(answers, step.via)
        own_is_unknown = step.group in step.via and not answers.diagonal
        own = np.flatnonzero(np.isin(at, _positions(answers, (step.group,)))) if own_is_unknown else None
        coordinates[step.side][plan.span(step.group)] = solve_rows(block, known[at], own)
    return RangeSpace(coordinates["rows"], values, np.array([gap(values, n_clusters)]))


def solve_rows(
    block: sp.csr_array, known: FloatArray, own: np.ndarray[tuple[int], np.dtype[np.intp]] | None
) -> FloatArray:
    """X with block ≈ X knownᵀ in least squares; row i leaves out column ``own[i]``, its unobserved diagonal."""
    if own is None:
        orthogonal, triangular = np.linalg.qr(known)
        return np.linalg.solve(triangular, (block @ orthogonal).T).T
    outer = known[own, :, None] * known[own, None, :]
    return np.linalg.solve(known.T @ known - outer, (block @ known)[:, :, None])[:, :, 0]


def _positions(answers: Answers, groups: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    plan = answers.plan
    return np.concatenate([np.arange(plan.starts[l], plan.starts[l + 1]) for l in groups])
