"""Is the mask enough? If not: which groups, or items, are cut off."""

import numpy as np

from bequec.core.arrays import BoolArray
from bequec.core.errors import PlanError, shortened
from bequec.plan.mask.item_graph import cut_off_items
from bequec.plan.mask.mending import cheapest_mending, cut_off_groups, mending_blocks
from bequec.plan.mask.sharing import mostly_asked_blocks
from bequec.plan.possible_blocks import PossibleBlocks
from bequec.plan.query_plan import QueryPlan

__all__ = ["check_enough", "check_identifiable", "check_n_clusters", "is_identifiable", "mending_blocks"]


def is_identifiable(plan: QueryPlan, n_clusters: int, *, diagonal: bool = False) -> bool:
    """Whether the asked blocks identify the range space of the memberships.

    Single pairs count, too: where the blocks are not enough, a plan with listed pairs passes if all its pairs
    together link every item with all others, each by at least ``n_clusters`` pairs. That is needed, not sufficient:
    whether it is enough is judged from the answers.

    Examples
    --------
    >>> is_identifiable(QueryPlan([0] * 9 + [1] * 9, [(0, 0), (0, 1)]), n_clusters=3)
    True
    >>> is_identifiable(QueryPlan([0] * 9 + [1] * 9, [(0, 1)]), n_clusters=3)
    False
    """
    check_n_clusters(n_clusters, plan.n_nodes)
    if not cut_off_groups(mostly_asked_blocks(plan), plan.sizes, n_clusters, diagonal=diagonal):
        return True
    return len(plan.listed) > 0 and not len(cut_off_items(plan, n_clusters))


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
    if not len(plan.listed):
        check_enough(PossibleBlocks.of(plan), mostly_asked_blocks(plan), n_clusters, diagonal=diagonal)
    elif not is_identifiable(plan, n_clusters, diagonal=diagonal):
        named = shortened([plan.name(int(item)) for item in cut_off_items(plan, n_clusters)])
        raise PlanError(
            f"items {named} cannot be tied to the rest: each item needs at least {n_clusters} asked pairs, and pairs "
            "that link it with the others, directly or through them; list further pairs with these items (listed=), "
            "or ask whole blocks"
        )


def check_enough(possible: PossibleBlocks, asked: BoolArray, n_clusters: int, *, diagonal: bool = False) -> None:
    """Raise ``PlanError`` unless these blocks, asked at least by half, identify ``n_clusters`` clusters."""
    sizes = possible.sizes
    cut_off = cut_off_groups(asked, sizes, n_clusters, diagonal=diagonal)
    if not cut_off:
        return
    named = shortened([possible.group_names[l] for l in cut_off])
    mending = cheapest_mending(possible, asked, possible.askable_pairs, n_clusters, diagonal=diagonal)
    if not mending and possible.n_groups == 1:
        raise PlanError(
            f"{sizes.sum()} nodes are too few for {n_clusters} clusters: even with every pair asked they are not "
            f"identified; about {4 * n_clusters + 4} nodes are the least, use fewer clusters or more nodes"
        )
    if not mending:
        raise PlanError(
            f"the groups are too small for {n_clusters} clusters (they have {sizes.min()} to {sizes.max()} "
            f"nodes): groups {named} cannot be tied to the rest; "
            "use fewer, larger groups, fewer clusters, or pattern 'reference' with more references"
        )
    raise PlanError(
        f"groups {named} cannot be tied to the rest: they share no sufficient asked block with it, so "
        f"{n_clusters} clusters cannot be told apart there; also ask block {shortened(possible.named(mending))}: "
        f"{possible.as_argument(mending)}"
    )


def check_n_clusters(n_clusters: int, n_nodes: int) -> None:
    """Raise ``PlanError`` unless 2 ≤ K ≤ n_nodes and K is a whole number."""
    if not isinstance(n_clusters, int | np.integer) or isinstance(n_clusters, bool):
        raise PlanError(f"n_clusters must be a whole number of at least 2, got {n_clusters!r}")
    if n_clusters < 2:
        raise PlanError(f"n_clusters={n_clusters} is too small: there is nothing to tell apart below 2 clusters")
    if n_clusters > n_nodes:
        raise PlanError(f"n_clusters={n_clusters} is more than the {n_nodes} nodes; use fewer clusters")
