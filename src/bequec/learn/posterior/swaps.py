"""Moves out of a wrong basin along the groups: from some group on, two clusters may have exchanged their names."""

import itertools

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.learn.pair_blocks import PairBlock, PairBlocks
from bequec.learn.posterior.cavity import Belief
from bequec.learn.posterior.settings import POSTERIOR
from bequec.plan.query_plan import QueryPlan


def propose_swaps(blocks: PairBlocks, belief: Belief) -> list[FloatArray]:
    """Memberships with two clusters swapped on one side of a cut through the groups, where the names are in doubt.

    The cuts are those of a spanning tree of the asked blocks. The answers between the two sides tell whether the
    clusters have the same names on both: if they have, a swap costs about as much likelihood as the model expects.
    Near the cut where names change, memberships are mixed, so that a swap there need not be likelier at once.
    """
    plan, K = blocks.plan, belief.memberships.shape[1]
    B, pairs = belief.interactions, list(itertools.combinations(range(K), 2))
    counts = [count_by_cluster(block, belief.memberships) for block in blocks]
    cost = np.array([[-swap_gain(yes, total, B, pair) for pair in pairs] for yes, total in counts])
    expected = np.array([[-swap_gain(total * B, total, B, pair) for pair in pairs] for _, total in counts])
    l, m = plan.covered_blocks.T
    found = []
    for side in sides_of_cuts(plan):
        between = side[l] != side[m]
        paid, due = cost[between].sum(axis=0), expected[between].sum(axis=0)
        doubtful = (due > POSTERIOR.least_swap_cost) & (paid < POSTERIOR.doubtful_swap_share * due)
        found += [(float(paid[at] / due[at]), pairs[at], side) for at in np.flatnonzero(doubtful).tolist()]
    found.sort(key=lambda swap: swap[0])
    tried = found[: POSTERIOR.most_swaps]
    return [swap_names(belief.memberships, pair, np.repeat(side, plan.sizes)) for _, pair, side in tried]


def count_by_cluster(block: PairBlock, memberships: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Yes answers and all answers of one block by the clusters of its two ends: M_lᵀ A M_m and M_lᵀ W M_m."""
    left, total = memberships[block.rows], block.weight
    return left.T @ block.to_rows(block.mean * total, memberships), left.T @ block.to_rows(total, memberships)


def swap_gain(yes: FloatArray, total: FloatArray, interactions: FloatArray, pair: tuple[int, int]) -> float:
    """How much likelier a block's counts would be with the names of two clusters swapped at one of its ends."""
    swapped = np.arange(len(interactions))
    swapped[list(pair)] = swapped[list(pair)[::-1]]
    log_yes, log_no = np.log(interactions), np.log1p(-interactions)
    return float((yes * (log_yes[:, swapped] - log_yes) + (total - yes) * (log_no[:, swapped] - log_no)).sum())


def sides_of_cuts(plan: QueryPlan) -> list[BoolArray]:
    """For each edge of a spanning tree of the asked blocks, the groups on its smaller side."""
    l, m = plan.covered_blocks[plan.covered_blocks[:, 0] != plan.covered_blocks[:, 1]].T
    heaviest_first = -(plan.sizes[l] * plan.sizes[m]).astype(float)
    ends = l.astype(np.int32), m.astype(np.int32)  # older scipy grows spanning trees from 32-bit indices only
    tree = minimum_spanning_tree(sp.csr_array((heaviest_first, ends), shape=plan.asked.shape)).tocoo()
    sides = []
    for edge in range(tree.nnz):
        kept: IntArray = np.flatnonzero(np.arange(tree.nnz) != edge)
        forest = sp.csr_array((np.ones(len(kept)), (tree.row[kept], tree.col[kept])), shape=tree.shape)
        _, component = connected_components(forest, directed=False)
        side = component == component[tree.row[edge]]
        sides.append(side if plan.sizes[side].sum() <= plan.n_nodes / 2 else ~side)
    return sides


def swap_names(memberships: FloatArray, pair: tuple[int, int], rows: BoolArray) -> FloatArray:
    """Memberships with the columns of two clusters exchanged in some rows."""
    moved = memberships.copy()
    a, b = pair
    moved[rows, a], moved[rows, b] = memberships[rows, b], memberships[rows, a]
    return moved
