"""Fit a plan to a budget: the fewest groups, so the most pairs, and then the further blocks that help most."""

import dataclasses
import logging
import math

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.core.errors import PlanError
from bequec.plan.mask.cheapest import cheapest_blocks
from bequec.plan.mask.helpful_blocks import helpful_blocks
from bequec.plan.mask.sharing import usable_blocks
from bequec.plan.money.budget import Budget
from bequec.plan.money.prices import plan_cost
from bequec.plan.pattern_choice import PatternChoice, smallest_full_group
from bequec.plan.query_plan import QueryPlan

logger = logging.getLogger("bequec")

MOST_GROUPS_TO_IMPROVE = 3000  # with more drawn groups, what is left is less than a three-thousandth of the budget


def fitting_n_groups(n_nodes: int, n_clusters: int, pattern: PatternChoice, budget: Budget) -> int:
    """The fewest groups with which the pattern fits the budget; an error says the smallest budget that would do."""
    fewest = pattern.fewest_groups()
    most = max(fewest, n_nodes // smallest_full_group(n_clusters))
    affordable = budget.affordable_pairs
    needed = pattern.most_pairs(n_nodes, most)
    if needed > affordable:
        fewer = PatternChoice("cheapest").most_pairs(n_nodes, most)
        other = f", or {budget.amount_for(fewer)} with pattern 'cheapest'" if fewer < needed else ""
        raise PlanError(
            f"the budget is enough for {affordable:,} pairs, but pattern {pattern.name!r} needs {needed:,} for "
            f"{n_nodes:,} nodes and {n_clusters} clusters (with {most} groups, the most that can work); the smallest "
            f"budget that would do is {budget.amount_for(needed)}{other}"
        )
    low, high = fewest, most
    while low < high:
        middle = (low + high) // 2
        fits = pattern.most_pairs(n_nodes, middle) <= affordable
        low, high = (low, middle) if fits else (middle + 1, high)
    return low


def check_fits(plan: QueryPlan, n_clusters: int, budget: Budget, prices: FloatArray | None, pattern: str) -> None:
    """Refuse a plan that costs more than the budget, with the smallest budget that would do."""
    cost = plan_cost(plan, prices)
    if cost <= budget.affordable_pairs:
        return
    unit = "pairs" if prices is None else "ordinary pairs"
    told = (
        f"the budget is enough for {budget.affordable_pairs:,} pairs, but this plan (pattern {pattern!r}, "
        f"{plan.n_groups} groups) needs {math.ceil(cost):,} {unit}; "
    )
    if pattern == "cheapest":
        is_proven = plan.sizes.min() >= n_clusters
        why = "no cheaper plan can work" if is_proven else "no cheaper one was found for groups this small"
        raise PlanError(f"{told}{why}: the smallest budget that would do is {budget.amount_for(cost)}")
    everything = dataclasses.replace(plan, asked=np.ones_like(plan.asked))
    try:
        blocks = cheapest_blocks(everything, n_clusters, np.ones(plan.asked.shape))
    except PlanError:
        raise PlanError(f"{told}the smallest budget that would do is {budget.amount_for(cost)}") from None
    least = plan_cost(dataclasses.replace(plan, asked=QueryPlan(plan.group_of, blocks).asked))
    raise PlanError(
        f"{told}the smallest budget that would do is {budget.amount_for(cost)}, or {budget.amount_for(least)} with "
        "pattern 'cheapest' (--pattern cheapest)"
    )


def spend_what_is_left(
    plan: QueryPlan,
    n_clusters: int,
    budget: Budget,
    prices: FloatArray | None,
    *,
    already_spent: float | None = None,
    later: bool = False,
) -> QueryPlan:
    """The plan with further blocks for what is left of the budget, those that help most.

    ``already_spent`` is by default what the plan costs; with ``later``, new questions are numbered after all others.
    """
    allowance = budget.affordable_pairs - (plan_cost(plan, prices) if already_spent is None else already_spent)
    if plan.n_groups > MOST_GROUPS_TO_IMPROVE:
        logger.info("with %d groups, what is left of the budget is not spent on further blocks", plan.n_groups)
        return plan
    everything = dataclasses.replace(plan, asked=np.ones_like(plan.asked))
    usable = usable_blocks(everything, n_clusters)
    pairs = np.zeros(plan.asked.shape)
    l, m = everything.blocks.T
    pairs[l, m] = pairs[m, l] = everything.pairs_per_block
    cost = pairs if prices is None else prices * np.maximum(pairs, 1e-12)
    cost = np.where(usable, cost, np.inf)
    chosen = helpful_blocks(plan.asked, usable & plan.asked, plan.sizes, pairs, cost, allowance, n_clusters)
    asked = plan.asked.copy()
    for block in chosen:
        asked[block] = asked[block[::-1]] = True
    return dataclasses.replace(plan, asked=asked, later_blocks=(*plan.later_blocks, *(chosen if later else ())))
