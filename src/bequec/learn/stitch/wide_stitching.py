"""The range space stitched on all shared columns along a shallow tree: where every refinement starts.

The paper stitches two groups through one column group; here through every column group that both were asked
about, which halves the noise for the same answers.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from bequec.ask.answers import Answers
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.learn.execution.parallel import Mapper
from bequec.learn.pair_blocks import fits_in_memory
from bequec.learn.stitch.centered_spectrum import degree_corrected_basis
from bequec.learn.stitch.settings import STITCH
from bequec.learn.stitch.stitching import RangeSpace, stitch
from bequec.learn.stitch.stitching_order import center
from bequec.learn.stitch.windows import gap, rough_window_svd
from bequec.plan.query_plan import QueryPlan


class WideWindows(NamedTuple):
    """The ties of the tree, and for each the leading singular vectors (rows) and values of its window."""

    ties: list[tuple[int, int]]
    lefts: list[FloatArray]
    values: list[FloatArray]


def wide_range_spaces(
    answers: Answers, usable: BoolArray, n_clusters: int, rng: np.random.Generator, mapper: Mapper
) -> tuple[RangeSpace, tuple[FloatArray, ...]]:
    """range(M) stitched along the heaviest tree of the sharing graph, without loss of scale; and further starts.

    A few directions beyond K keep what a single window loses; they are cut back once they are refined.
    """
    plan, K = answers.plan, n_clusters
    in_memory = fits_in_memory(answers)
    most = K + max((STITCH.more_singular_values, *(STITCH.oversampling if in_memory else ())))
    windows = wide_windows(answers, usable, most, rng.standard_normal((plan.n_nodes, most)), mapper)
    gaps = np.array([gap(values, K) for values in windows.values])
    space = RangeSpace(stitch_windows(plan, windows, K), windows.values[0], gaps)
    if gaps.min() >= STITCH.gap_for_one_start:  # K directions stand out of the noise in every window: nothing is lost
        return space, ()
    if not in_memory:  # too large for many starts: one of another kind
        return space, (degree_corrected_basis(answers, K),)
    ranks = [K + more for more in STITCH.oversampling if plan.sizes.min() >= K + more]
    return space, tuple(stitch_windows(plan, windows, rank) for rank in ranks)


def wide_windows(answers: Answers, usable: BoolArray, rank: int, start: FloatArray, mapper: Mapper) -> WideWindows:
    """The SVD of every two tied groups by all columns that both were asked about, roughly: it is refined later."""
    ties = tree_ties(usable, answers.plan.sizes)
    if not ties:
        left, values = rough_window_svd(answers, [0], [0], rank, start)
        return WideWindows([], [left], [values])

    def shared_svd(tie: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
        columns = np.flatnonzero(usable[tie[0]] & usable[tie[1]]).tolist()
        return rough_window_svd(answers, tie, columns, rank, start)

    found = mapper.map("stitching groups", shared_svd, ties)
    return WideWindows(ties, [left for left, _ in found], [values for _, values in found])


def stitch_windows(plan: QueryPlan, windows: WideWindows, rank: int) -> FloatArray:
    """The groups' bases of a rank up to that of the windows, in the coordinates of the first one.

    Each stitch attenuates (least squares on noisy regressors). Memberships sum to one, so U h = 1 for some h; each
    new group is scaled to mean(U_new h) = 1, which stops the drift of the scale.
    """
    first = windows.lefts[0][:, :rank]
    if not windows.ties:
        return first
    basis = np.empty((plan.n_nodes, rank))
    known, new = windows.ties[0]
    basis[plan.span(known)], basis[plan.span(new)] = np.split(first, [plan.sizes[known]])
    h, *_ = np.linalg.lstsq(first, np.ones(len(first)), rcond=None)
    for (known, new), left in zip(windows.ties[1:], windows.lefts[1:], strict=True):
        rows = stitch(basis[plan.span(known)], left[:, :rank])
        level = float((rows @ h).mean())
        basis[plan.span(new)] = rows / level if level > STITCH.least_level else rows
    return basis


def tree_ties(usable: BoolArray, sizes: IntArray) -> list[tuple[int, int]]:
    """(known, new) along the spanning tree with the most shared column nodes, breadth first from its center."""
    asked = sp.csr_array(usable.astype(float))
    shared = (asked @ sp.diags_array(sizes.astype(float)) @ asked).tocsr()
    shared.setdiag(0)
    shared.eliminate_zeros()
    shared.data = -shared.data  # the minimum spanning tree of negative weights is the heaviest
    tree = minimum_spanning_tree(shared)
    linked = (tree != 0).astype(float)
    linked = (linked + linked.T).tocsr()
    visited, parents = breadth_first_order(linked, center(linked), directed=False)
    return [(int(parents[group]), int(group)) for group in visited[1:]]
