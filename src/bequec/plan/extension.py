"""Extend a plan later without invalidating what was asked: further blocks, numbered after all others."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from bequec.core.arrays import FloatArray
from bequec.core.errors import PlanError
from bequec.plan.mask.identifiable import check_identifiable
from bequec.plan.money.budget import Budget, as_budget
from bequec.plan.money.prices import check_cost, with_opened
from bequec.plan.money.within_budget import spend_what_is_left
from bequec.plan.planning import block_indices
from bequec.plan.query_plan import QueryPlan


def extend_plan(
    plan: QueryPlan,
    n_clusters: int,
    *,
    budget: int | float | Budget | None = None,
    cost: Any = None,
    also: Sequence[tuple[int | str, int | str]] = (),
) -> QueryPlan:
    """The plan with further blocks: same groups, same question numbers, and whatever is new comes last.

    Parameters
    ----------
    plan : QueryPlan
    n_clusters : int
    budget : int or Budget, optional
        What the *new* questions may cost; it is spent on the blocks that help most.
    cost : (L, L) array, DataFrame or mapping, optional
        Price per pair of each block, as in ``plan_queries``; ``inf`` where it cannot be asked.
    also : sequence of blocks, optional
        Blocks to ask in any case, by group indices or names; they are paid from the budget first.

    Examples
    --------
    >>> from bequec import plan_queries
    >>> plan = plan_queries(n_nodes=900, n_clusters=5, n_groups=15, random_state=0)
    >>> extend_plan(plan, 5, budget=20_000)
    QueryPlan(900 nodes in 15 groups, 34 of 120 blocks asked: 94950 pairs, 23.5 %)
    """
    if budget is None and not len(also):
        raise PlanError("say what to add: budget= (--budget) or also= (--also)")
    new = [block for block in dict.fromkeys(block_indices(plan, also)) if not plan.asked[block]]
    prices = None
    if cost is not None:
        prices = with_opened(check_cost(cost, [plan.group_name(l) for l in range(plan.n_groups)]), new)
    extended = _with_later(plan, new)
    if budget is not None:
        allowance = as_budget(budget)
        n_paid = _cost_of(extended, len(plan.blocks), prices)
        if n_paid > allowance.affordable_pairs:
            raise PlanError(
                f"the budget is enough for {allowance.affordable_pairs:,} new pairs, but the blocks of also= need "
                f"{n_paid:,.0f}; the smallest budget that would do is {allowance.amount_for(n_paid)}"
            )
        extended = spend_what_is_left(extended, n_clusters, allowance, prices, already_spent=n_paid, later=True)
    if len(extended.blocks) == len(plan.blocks):
        raise PlanError(
            "nothing can be added: every block that may be asked is asked already, or costs more than the budget"
        )
    check_identifiable(extended, n_clusters)
    return extended


def _with_later(plan: QueryPlan, blocks: Sequence[tuple[int, int]]) -> QueryPlan:
    asked = plan.asked.copy()
    for l, m in blocks:
        asked[l, m] = asked[m, l] = True
    return dataclasses.replace(plan, asked=asked, later_blocks=(*plan.later_blocks, *blocks))


def _cost_of(plan: QueryPlan, first: int, prices: FloatArray | None) -> float:
    """What the blocks from the ``first`` on cost."""
    pairs = plan.pairs_per_block[first:].astype(float)
    return float(pairs.sum() if prices is None else prices[tuple(plan.blocks[first:].T)] @ pairs)
