"""Which groups a mask cuts off, and the further blocks of fewest pairs that tie them to the rest."""

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.plan.groups import Block, as_mask, ordered_block
from bequec.plan.mask.cheapest import MOST_SMALL_GROUPS, cheapest_spanning_blocks
from bequec.plan.mask.completion_order import best_completion
from bequec.plan.mask.sharing import is_connected_by_sharing, mostly_asked_blocks, sharing_components, usable_among
from bequec.plan.possible_blocks import PossibleBlocks
from bequec.plan.query_plan import QueryPlan

MOST_GROUPS_SEARCHED = 5  # all sets of at most 15 blocks


def mending_blocks(plan: QueryPlan, n_clusters: int, *, diagonal: bool = False) -> list[Block]:
    """The fewest pairs' worth of further blocks that make the plan identifiable; empty if none are found.

    Exactly the cheapest where every group has at least K nodes, and for up to five groups of any size. With more
    groups, some of them smaller, enough blocks of the cut-off groups with known ones; not searched for among very many
    groups.
    """
    possible = PossibleBlocks.of(plan)
    new_pairs = possible.askable_pairs - plan.asked_pairs
    return cheapest_mending(possible, mostly_asked_blocks(plan), new_pairs, n_clusters, diagonal=diagonal)


def cheapest_mending(
    possible: PossibleBlocks, asked: BoolArray, new_pairs: FloatArray, n_clusters: int, *, diagonal: bool = False
) -> list[Block]:
    """The blocks that mend a mask of blocks ``asked`` at least by half; ``new_pairs`` is what each block would add."""
    sizes = possible.sizes
    # A block that mostly cannot be asked is no help, asked already or not.
    can_help = ~asked & possible.mostly_askable
    if sizes.min() < n_clusters and possible.n_groups > MOST_SMALL_GROUPS:
        return []
    if sizes.min() < n_clusters and possible.n_groups > MOST_GROUPS_SEARCHED:
        return _mend_small_groups(asked, can_help, sizes, n_clusters, diagonal=diagonal)
    if sizes.min() < n_clusters:
        return _cheapest_of_all_sets(asked, can_help, new_pairs, sizes, n_clusters, diagonal=diagonal)
    usable = usable_among(asked, sizes, n_clusters, diagonal=diagonal)
    becomes_usable = usable_among(can_help, sizes, n_clusters, diagonal=diagonal)
    cost = np.where(usable, 0.0, np.where(becomes_usable, new_pairs, np.inf))
    chosen = cheapest_spanning_blocks(cost)
    return [(l, m) for l, m in chosen if not usable[l, m]] if len(chosen) == possible.n_groups else []


def cut_off_groups(asked: BoolArray, sizes: IntArray, n_clusters: int, *, diagonal: bool = False) -> list[int]:
    """The groups whose memberships cannot be tied to the largest part, by blocks asked at least by half."""
    usable = usable_among(asked, sizes, n_clusters, diagonal=diagonal)
    if sizes.min() < n_clusters:
        completion = best_completion(asked, usable, sizes, n_clusters, diagonal=diagonal)
        reached = completion.known_rows if completion else frozenset()
        return [l for l in range(len(sizes)) if l not in reached]
    if is_connected_by_sharing(usable):
        return []
    if len(sizes) == 1:
        return [0]
    component = sharing_components(usable)
    n_nodes = np.bincount(component, weights=sizes)
    return [int(l) for l in np.flatnonzero(component != n_nodes.argmax())]


def _cheapest_of_all_sets(
    asked: BoolArray, can_help: BoolArray, new_pairs: FloatArray, sizes: IntArray, n_clusters: int, *, diagonal: bool
) -> list[Block]:
    """The first set of blocks, in order of their pairs, that ties all groups together."""
    if cut_off_groups(asked | can_help, sizes, n_clusters, diagonal=diagonal):
        return []
    l, m = np.nonzero(np.triu(can_help))
    is_in = (np.arange(2 ** len(l))[:, None] >> np.arange(len(l)) & 1).astype(bool)
    n_new_pairs = is_in @ new_pairs[l, m]
    # Needed, and quickly seen: every group is asked about K nodes.
    asks_about = np.zeros((len(l), len(sizes)), dtype=np.int64)
    asks_about[np.arange(len(l)), l] = sizes[m]
    asks_about[np.arange(len(l)), m] = sizes[l]
    asks_about_now = np.where(asked, sizes, 0).sum(axis=1)
    is_worth_a_look: BoolArray = (asks_about_now + is_in @ asks_about >= n_clusters).all(axis=1)
    for at in np.lexsort((is_in.sum(axis=1), n_new_pairs)):
        if is_worth_a_look[at]:
            blocks = [(int(a), int(b)) for a, b in zip(l[is_in[at]], m[is_in[at]], strict=True)]
            more = asked | as_mask(blocks, len(sizes))
            if not cut_off_groups(more, sizes, n_clusters, diagonal=diagonal):
                return blocks
    return []


def _mend_small_groups(
    asked: BoolArray, can_help: BoolArray, sizes: IntArray, n_clusters: int, *, diagonal: bool
) -> list[Block]:
    """Ask cut-off groups about the largest groups until everybody can be completed."""
    largest_first = np.argsort(-sizes, kind="stable").tolist()
    asked = asked.copy()
    added: list[Block] = []
    while True:
        usable = usable_among(asked, sizes, n_clusters, diagonal=diagonal)
        completion = best_completion(asked, usable, sizes, n_clusters, diagonal=diagonal)
        known = completion.known_columns if completion else frozenset()
        cut_off = [l for l in range(len(sizes)) if not completion or l not in completion.known_rows]
        if not cut_off:
            return added
        # Known columns first: only they tie a new group down. Then any block that may make a better seed.
        candidates = [
            ordered_block(l, m)
            for l in [*cut_off, *largest_first]
            for m in sorted(largest_first, key=lambda m: m not in known)
            if can_help[l, m] and not asked[l, m]
        ]
        if not candidates:
            return []
        l, m = candidates[0]
        asked[l, m] = asked[m, l] = True
        added.append((l, m))
