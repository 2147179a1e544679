"""Is the mask enough? If not: which groups are cut off, and which blocks mend it."""

import dataclasses

import numpy as np

from bequec.core.arrays import BoolArray
from bequec.core.errors import PlanError, shortened
from bequec.plan.mask.cheapest import MOST_SMALL_GROUPS, cheapest_spanning_blocks
from bequec.plan.mask.growth import best_growth
from bequec.plan.mask.sharing import is_connected_by_sharing, mostly_askable_blocks, sharing_components, usable_blocks
from bequec.plan.patterns import Block
from bequec.plan.query_plan import QueryPlan, pairs_in_blocks


def is_identifiable(plan: QueryPlan, n_clusters: int, *, diagonal: bool = False) -> bool:
    """Whether the asked blocks identify the range space of the memberships.

    Examples
    --------
    >>> is_identifiable(QueryPlan([0] * 9 + [1] * 9, [(0, 0), (0, 1)]), n_clusters=3)
    True
    >>> is_identifiable(QueryPlan([0] * 9 + [1] * 9, [(0, 1)]), n_clusters=3)
    False
    """
    check_n_clusters(n_clusters, plan.n_nodes)
    return not _cut_off_groups(plan, n_clusters, diagonal=diagonal)


def check_identifiable(plan: QueryPlan, n_clusters: int, *, diagonal: bool = False) -> None:
    """Raise ``PlanError`` unless the plan identifies ``n_clusters`` clusters.

    Parameters
    ----------
    plan : QueryPlan
    n_clusters : int
    diagonal : bool
        Whether the diagonal of the diagonal blocks is observed, too.
    """
    check_n_clusters(n_clusters, plan.n_nodes)
    cut_off = _cut_off_groups(plan, n_clusters, diagonal=diagonal)
    if not cut_off:
        return
    named = shortened([plan.group_name(l) for l in cut_off])
    mending = mending_blocks(plan, n_clusters, diagonal=diagonal)
    if not mending and plan.n_groups == 1:
        raise PlanError(
            f"{plan.n_nodes} nodes are too few for {n_clusters} clusters: even with every pair asked they are not "
            f"identified; about {4 * n_clusters + 4} nodes are the least, use fewer clusters or more nodes"
        )
    if not mending:
        raise PlanError(
            f"the groups are too small for {n_clusters} clusters (they have {plan.sizes.min()} to {plan.sizes.max()} "
            f"nodes): groups {named} cannot be tied to the rest; "
            "use fewer, larger groups, fewer clusters, or pattern 'reference' with more references"
        )
    blocks = [f"({plan.group_name(l)}, {plan.group_name(m)})" for l, m in mending]
    options = " ".join(f"--also {plan.group_name(l)},{plan.group_name(m)}" for l, m in mending[:8])
    raise PlanError(
        f"groups {named} cannot be tied to the rest: they share no sufficient asked block with it, so "
        f"{n_clusters} clusters cannot be told apart there; also ask block {shortened(blocks)} "
        f"(`bequec plan … {options}`, or also=[…] in plan_queries)"
    )


def check_n_clusters(n_clusters: int, n_nodes: int) -> None:
    """Raise ``PlanError`` unless 2 ≤ K ≤ n_nodes and K is a whole number."""
    if not isinstance(n_clusters, int | np.integer) or isinstance(n_clusters, bool):
        raise PlanError(f"n_clusters must be a whole number of at least 2, got {n_clusters!r}")
    if n_clusters < 2:
        raise PlanError(f"n_clusters={n_clusters} is too small: there is nothing to tell apart below 2 clusters")
    if n_clusters > n_nodes:
        raise PlanError(f"n_clusters={n_clusters} is more than the {n_nodes} nodes; use fewer clusters")


def mending_blocks(plan: QueryPlan, n_clusters: int, *, diagonal: bool = False) -> list[Block]:
    """The fewest pairs' worth of further blocks that make the plan identifiable; empty if none are found.

    Exactly the cheapest where every group has at least K nodes. With smaller groups, enough blocks of the
    cut-off groups with known ones; not searched for among very many groups.
    """
    usable = usable_blocks(plan, n_clusters, diagonal=diagonal)
    everything = QueryPlan(plan.group_of, np.ones_like(plan.asked), unaskable=plan.unaskable)
    possible = usable_blocks(everything, n_clusters, diagonal=diagonal)
    if plan.sizes.min() < n_clusters:
        if plan.n_groups > MOST_SMALL_GROUPS:
            return []
        return _mend_small_groups(plan, usable, possible, n_clusters, diagonal=diagonal)
    cost = np.where(usable, 0.0, np.where(possible, pairs_in_blocks(plan.sizes), np.inf))
    chosen = cheapest_spanning_blocks(cost)
    return [(l, m) for l, m in chosen if not usable[l, m]] if len(chosen) == plan.n_groups else []


def _cut_off_groups(plan: QueryPlan, n_clusters: int, *, diagonal: bool) -> list[int]:
    """The groups whose memberships cannot be tied to the largest part."""
    usable = usable_blocks(plan, n_clusters, diagonal=diagonal)
    if plan.sizes.min() < n_clusters:
        growth = best_growth(mostly_askable_blocks(plan), usable, plan.sizes, n_clusters, diagonal=diagonal)
        reached = growth.known_rows if growth else frozenset()
        return [l for l in range(plan.n_groups) if l not in reached]
    if is_connected_by_sharing(usable):
        return []
    if plan.n_groups == 1:
        return [0]
    component = sharing_components(usable)
    n_nodes = np.bincount(component, weights=plan.sizes)
    return [int(l) for l in np.flatnonzero(component != n_nodes.argmax())]


def _mend_small_groups(
    plan: QueryPlan, usable: BoolArray, possible: BoolArray, n_clusters: int, *, diagonal: bool
) -> list[Block]:
    """Ask cut-off groups about the largest groups until growth reaches everybody."""
    sizes = plan.sizes
    largest_first = np.argsort(-sizes, kind="stable").tolist()
    asked, usable = mostly_askable_blocks(plan), usable.copy()
    # A block that is asked, but mostly cannot be, is not mended by asking it again.
    can_help = mostly_askable_blocks(dataclasses.replace(plan, asked=np.ones_like(plan.asked)))
    added: list[Block] = []
    while True:
        growth = best_growth(asked, usable, sizes, n_clusters, diagonal=diagonal)
        known = growth.known_columns if growth else frozenset()
        cut_off = [l for l in range(len(sizes)) if not growth or l not in growth.known_rows]
        if not cut_off:
            return added
        # Known columns first: only they tie a new group down. Then any block that may make a better seed.
        candidates = [
            (min(l, m), max(l, m))
            for l in [*cut_off, *largest_first]
            for m in sorted(largest_first, key=lambda m: m not in known)
            if not asked[l, m] and can_help[l, m]
        ]
        if not candidates:
            return []
        l, m = candidates[0]
        asked[l, m] = asked[m, l] = True
        usable[l, m] = usable[m, l] = possible[l, m]
        added.append((l, m))
