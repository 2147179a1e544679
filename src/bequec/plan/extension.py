"""Extend a plan later without invalidating what was asked: further blocks, numbered after all others."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from bequec.core.errors import PlanError
from bequec.plan.groups import Block, as_mask
from bequec.plan.mask.identifiable import check_identifiable
from bequec.plan.money.budget import Budget, as_budget
from bequec.plan.money.prices import Prices
from bequec.plan.money.within_budget import blocks_for_what_is_left
from bequec.plan.pairs import block_starts, listed_numbers
from bequec.plan.possible_blocks import PossibleBlocks
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
        raise PlanError("say what to add: budget= or also=")
    possible = PossibleBlocks.of(plan)
    new = [block for block in dict.fromkeys(possible.indices(also)) if not plan.asked[block]]
    prices = None if cost is None else Prices.read(cost, possible.group_names).with_opened(new)
    if budget is not None:
        new += _bought(plan, possible, new, n_clusters, as_budget(budget), prices)
    if not new:
        raise PlanError(
            "nothing can be added: every block that may be asked is asked already, or costs more than the budget"
        )
    extended = with_later_blocks(plan, new)
    check_identifiable(extended, n_clusters)
    return extended


def with_later_blocks(plan: QueryPlan, blocks: Sequence[Block]) -> QueryPlan:
    """The same plan with further blocks (l, m), l ≤ m, whose questions come last, in this order."""
    return dataclasses.replace(
        plan,
        asked=plan.asked | as_mask(blocks, plan.n_groups),
        later_blocks=(*plan.later_blocks, *blocks),
        listed_before=(*plan.listed_before, *[len(plan.listed)] * len(blocks)),
    )


def is_extension(plan: QueryPlan, earlier: QueryPlan) -> bool:
    """Whether a plan asks all that an earlier one asked, by the same numbers, and what is new comes after that."""
    n_blocks, n_listed = len(earlier.blocks), len(earlier.listed)
    return (plan.names, plan.group_names) == (earlier.names, earlier.group_names) and all(
        np.array_equal(now, before)
        for now, before in (
            (plan.group_of, earlier.group_of),
            (plan.unaskable, earlier.unaskable),
            (plan.blocks[:n_blocks], earlier.blocks),
            (plan.listed[:n_listed], earlier.listed),
            (block_starts(plan)[:n_blocks], block_starts(earlier)),
            (listed_numbers(plan)[:n_listed], listed_numbers(earlier)),
        )
    )


def _bought(
    plan: QueryPlan,
    possible: PossibleBlocks,
    new: list[Block],
    n_clusters: int,
    budget: Budget,
    prices: Prices | None,
) -> list[Block]:
    """The blocks that help most, for what is left of the budget once the ``new`` ones are paid."""
    new_pairs = possible.askable_pairs - plan.asked_pairs
    blocks = np.array(new, dtype=np.int64).reshape(-1, 2)
    n_new = new_pairs[tuple(blocks.T)]
    n_paid = float(n_new.sum()) if prices is None else prices.of(blocks, n_new)
    if n_paid > budget.affordable_pairs:
        raise PlanError(
            f"the budget is enough for {budget.affordable_pairs:,} new pairs, but the blocks of also= need "
            f"{n_paid:,.0f}; the smallest budget that would do is {budget.amount_for(n_paid)}"
        )
    mask = as_mask(new, plan.n_groups)
    asked_pairs = np.where(mask, possible.askable_pairs, plan.asked_pairs)
    return blocks_for_what_is_left(
        possible, plan.asked | mask, n_clusters, budget.affordable_pairs - n_paid, prices, asked_pairs
    )
