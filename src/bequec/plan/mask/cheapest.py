"""The cheapest blocks that identify all groups, by a greedy choice that is provably optimal.

Edge sets that are forests, or forests plus one edge that closes an odd cycle, are the independent sets of a matroid
(the lift matroid of the all-negative signed graph), so taking the cheapest block that keeps independence gives the
cheapest basis: L − 1 tree edges and one odd cycle. The forest is the minimum spanning tree, as the graph's own
matroid is a quotient of the lift; what is left is the cheapest block that closes an odd cycle with it.
"""

from collections.abc import Callable, Collection

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import PlanError, shortened
from bequec.plan.groups import Block, as_mask, ordered_block
from bequec.plan.mask.completion_order import best_completion
from bequec.plan.mask.sharing import usable_among
from bequec.plan.possible_blocks import PossibleBlocks

MOST_SMALL_GROUPS = 60  # orders of completion are searched again and again: more groups take too long to wait for


def cheapest_blocks(
    possible: PossibleBlocks, n_clusters: int, prices: FloatArray, also: Collection[Block] = ()
) -> list[Block]:
    """The cheapest blocks that, with those in ``also``, identify the memberships.

    Provably the cheapest where every group has at least K nodes. With smaller groups, blocks are taken away from the
    cheapest sufficient set, the most expensive first, as long as everybody can still be completed from a seed: that is
    enough, but a cheaper plan may exist.

    Parameters
    ----------
    possible : PossibleBlocks
    n_clusters : int
    prices : (L, L) symmetric array
        Price per pair, infinite where a block cannot be asked.
    also : blocks (l, m), l ≤ m
        Asked in any case, also where they are forbidden.
    """
    cost = _block_costs(possible, prices)
    for l, m in also:
        cost[l, m] = cost[m, l] = 0.0
    if possible.sizes.min() < n_clusters:
        return _cheapest_for_small_groups(possible, n_clusters, cost, also)
    usable = usable_among(possible.mostly_askable, possible.sizes, n_clusters)
    chosen = cheapest_spanning_blocks(np.where(usable, cost, np.inf))
    if len(chosen) < possible.n_groups:
        raise PlanError(_why_not(possible, n_clusters, cost, usable))
    return sorted({*chosen, *also})


def cheapest_spanning_blocks(cost: FloatArray) -> list[Block]:
    """The cheapest identifying set of blocks; an infinite cost forbids a block.

    Parameters
    ----------
    cost : (L, L) symmetric array
        What each block costs.

    Returns
    -------
    list of (l, m), l ≤ m
        As many independent blocks as there are: L of them exactly when the groups can be identified.
    """
    rows, columns = np.triu_indices(len(cost))
    prices = cost[rows, columns]
    possible = np.isfinite(prices)
    rows, columns, prices = rows[possible], columns[possible], prices[possible]
    # Ranks instead of prices: ties are broken once and for all, and a price of zero is no missing edge.
    rank = np.empty(len(prices))
    rank[np.argsort(prices, kind="stable")] = np.arange(1, len(prices) + 1)
    apart = rows != columns
    # Older scipy grows spanning trees from 32-bit indices only.
    ends = rows[apart].astype(np.int32), columns[apart].astype(np.int32)
    graph = sp.csr_array((rank[apart], ends), shape=cost.shape)
    tree = minimum_spanning_tree(graph).tocoo()
    component, side = two_sides(tree)
    closes_odd_cycle = (component[rows] == component[columns]) & (side[rows] == side[columns])
    chosen = {ordered_block(l, m) for l, m in zip(tree.row.tolist(), tree.col.tolist(), strict=True)}
    if closes_odd_cycle.any():
        first = int(np.argmin(np.where(closes_odd_cycle, rank, np.inf)))
        chosen.add((int(rows[first]), int(columns[first])))
    return sorted(chosen)


def two_sides(forest: sp.coo_array) -> tuple[IntArray, IntArray]:
    """The component of each vertex of a forest, and on which of the two sides (0, 1) of its component it is."""
    linked = (forest + forest.T).tocsr()
    _, component = connected_components(linked, directed=False)
    side = np.zeros(linked.shape[0], dtype=np.int64)
    _, roots = np.unique(component, return_index=True)
    for root in roots:
        visited, parents = breadth_first_order(linked, root, directed=False)
        for vertex in visited[1:]:
            side[vertex] = 1 - side[parents[vertex]]
    return np.asarray(component, dtype=np.int64), side


def _block_costs(possible: PossibleBlocks, prices: FloatArray) -> FloatArray:
    """(L, L): price per pair times number of pairs that can be asked; infinite where it is forbidden."""
    with np.errstate(invalid="ignore"):  # a group of one node has no pair inside: zero times infinity
        return np.where(np.isfinite(prices), prices * possible.askable_pairs, np.inf)


def _why_not(possible: PossibleBlocks, n_clusters: int, cost: FloatArray, usable: BoolArray) -> str:
    """Which groups cannot be reached through the allowed blocks, and the fewest pairs to open."""
    allowed = usable & np.isfinite(cost)
    _, component = connected_components(sp.csr_array(allowed), directed=False)
    n_nodes = np.bincount(component, weights=possible.sizes)
    cut_off = np.flatnonzero(component != n_nodes.argmax())
    if len(cut_off):
        trouble = f"groups {_named(possible, cut_off)} cannot be reached through the blocks that may be asked"
    else:
        tree = minimum_spanning_tree(sp.csr_array(allowed.astype(float))).tocoo()
        _, side = two_sides(tree)
        trouble = (
            "the blocks that may be asked only go between two sides "
            f"({_named(possible, np.flatnonzero(side == 0))} | {_named(possible, np.flatnonzero(side == 1))}), "
            "never inside one, so that the two cannot be compared"
        )
    to_open = np.where(allowed, 0.0, np.where(usable, possible.pairs, np.inf))
    chosen = cheapest_spanning_blocks(to_open)
    if len(chosen) < possible.n_groups:
        return (
            f"{trouble}, and opening forbidden blocks does not help: groups of {possible.sizes.min()} nodes are too "
            f"small for {n_clusters} clusters; join groups, or use fewer clusters"
        )
    opened = [(l, m) for l, m in chosen if not allowed[l, m]]
    return (
        f"no plan can work: {trouble}; the cheapest way out opens the forbidden block "
        f"{shortened(possible.named(opened))}: {possible.as_argument(opened)}"
    )


def _named(possible: PossibleBlocks, groups: IntArray) -> str:
    return shortened([possible.group_names[l] for l in groups])


def _cheapest_for_small_groups(
    possible: PossibleBlocks, n_clusters: int, cost: FloatArray, also: Collection[Block]
) -> list[Block]:
    if possible.n_groups > MOST_SMALL_GROUPS:
        raise PlanError(
            f"pattern 'cheapest' plans up to {MOST_SMALL_GROUPS} groups where some have fewer nodes than n_clusters="
            f"{n_clusters} (the smallest has {possible.sizes.min()}); join the small groups"
        )

    def is_enough(blocks: Collection[Block]) -> bool:
        asked = as_mask(blocks, possible.n_groups) & possible.mostly_askable
        usable = usable_among(asked, possible.sizes, n_clusters)
        completion = best_completion(asked, usable, possible.sizes, n_clusters)
        return completion is not None and len(completion.known_rows) == possible.n_groups

    rows, columns = np.triu_indices(possible.n_groups)
    blocks = list(zip(rows.tolist(), columns.tolist(), strict=True))
    allowed = sorted((block for block in blocks if np.isfinite(cost[block])), key=lambda block: cost[block])
    if not is_enough(allowed):
        if is_enough(blocks):
            raise PlanError(
                f"some groups have fewer nodes than n_clusters={n_clusters} (the smallest has "
                f"{possible.sizes.min()}), and the blocks that may be asked do not tie all of them to the rest; "
                "open more blocks (also=[…]), or join the small groups"
            )
        raise PlanError(
            f"groups of {possible.sizes.min()} to {possible.sizes.max()} nodes are too small for {n_clusters} "
            "clusters, even with every block asked; join groups, or use fewer clusters"
        )
    return sorted({*_without_needless(_shortest_prefix(allowed, is_enough), is_enough, set(also)), *also})


def _shortest_prefix(blocks: list[Block], is_enough: Callable[[Collection[Block]], bool]) -> list[Block]:
    """The fewest first blocks that are enough; more blocks are never worse."""
    low, high = 0, len(blocks)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(blocks[:middle]) else (middle + 1, high)
    return blocks[:low]


def _without_needless(
    blocks: list[Block], is_enough: Callable[[Collection[Block]], bool], kept: set[Block]
) -> list[Block]:
    """Take blocks away, the last first and many at a time, while what is left is enough."""
    step = len(blocks)
    end = len(blocks)
    while end > 0:
        begin = max(0, end - step)
        fewer = blocks[:begin] + [block for block in blocks[begin:end] if block in kept] + blocks[end:]
        if len(fewer) < len(blocks) and is_enough(fewer):
            blocks, end = fewer, begin
        elif step > 1:
            step = -(-step // 2)
        else:
            end -= 1
    return blocks
