"""Plan within a budget: the fewest groups, so the most pairs, and then the further blocks that help most."""

import logging
import math

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray
from bequec.core.errors import PlanError
from bequec.plan.groups import Block, as_mask
from bequec.plan.mask.cheapest import cheapest_blocks
from bequec.plan.mask.helpful_blocks import helpful_blocks
from bequec.plan.mask.sharing import usable_among
from bequec.plan.money.budget import Budget
from bequec.plan.money.prices import Prices
from bequec.plan.pattern_choice import PatternChoice, smallest_full_group
from bequec.plan.possible_blocks import PossibleBlocks

logger = logging.getLogger("bequec")

LEAST_COST = 1e-12  # of a block whose pairs are all asked: zero times an infinite price is no number
MOST_GROUPS_TO_IMPROVE = 3000  # with more drawn groups, what is left is less than a three-thousandth of the budget


def fewest_groups_within(n_nodes: int, n_clusters: int, pattern: PatternChoice, budget: Budget) -> int:
    """The fewest groups with which the pattern fits the budget; an error says the smallest budget that would do."""
    fewest = pattern.fewest_groups()
    most = max(fewest, n_nodes // smallest_full_group(n_clusters))
    affordable = budget.affordable_pairs
    needed = pattern.most_pairs(n_nodes, most)
    if needed > affordable:
        fewer = PatternChoice("cheapest").most_pairs(n_nodes, most)
        other = f", or {budget.amount_for(fewer)} with pattern='cheapest'" if fewer < needed else ""
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


def check_fits(
    possible: PossibleBlocks,
    asked: BoolArray,
    n_clusters: int,
    budget: Budget,
    prices: Prices | None,
    pattern: str,
) -> None:
    """Refuse blocks that cost more than the budget, with the smallest budget that would do."""
    cost = blocks_cost(possible, asked, prices)
    if cost <= budget.affordable_pairs:
        return
    unit = "pairs" if prices is None else "ordinary pairs"
    told = (
        f"the budget is enough for {budget.affordable_pairs:,} pairs, but this plan (pattern {pattern!r}, "
        f"{possible.n_groups} groups) needs {math.ceil(cost):,} {unit}; "
    )
    if pattern == "cheapest":
        is_proven = possible.sizes.min() >= n_clusters
        why = "no cheaper plan can work" if is_proven else "no cheaper one was found for groups this small"
        raise PlanError(f"{told}{why}: the smallest budget that would do is {budget.amount_for(cost)}")
    try:
        blocks = cheapest_blocks(possible, n_clusters, np.ones(asked.shape))
    except PlanError:
        raise PlanError(f"{told}the smallest budget that would do is {budget.amount_for(cost)}") from None
    least = blocks_cost(possible, as_mask(blocks, possible.n_groups), None)
    raise PlanError(
        f"{told}the smallest budget that would do is {budget.amount_for(cost)}, or {budget.amount_for(least)} with "
        "pattern='cheapest'"
    )


def blocks_cost(possible: PossibleBlocks, asked: BoolArray, prices: Prices | None) -> float:
    """What the blocks asked whole cost, in ordinary pairs."""
    blocks = np.argwhere(np.triu(asked))
    n_pairs = possible.askable_pairs[tuple(blocks.T)]
    return float(n_pairs.sum()) if prices is None else prices.of(blocks, n_pairs)


def blocks_for_what_is_left(
    possible: PossibleBlocks,
    asked: BoolArray,
    n_clusters: int,
    allowance: float,
    prices: Prices | None,
    asked_pairs: FloatArray | None = None,
) -> list[Block]:
    """The further blocks that help most, for what is left of the budget.

    ``asked_pairs`` says how many pairs of each block are asked, where some are listed: without it, all of ``asked``.
    """
    if possible.n_groups > MOST_GROUPS_TO_IMPROVE:
        logger.info("with %d groups, what is left of the budget is not spent on further blocks", possible.n_groups)
        return []
    usable = usable_among(possible.mostly_askable, possible.sizes, n_clusters)
    askable = possible.askable_pairs
    asked_pairs = np.where(asked, askable, 0.0) if asked_pairs is None else asked_pairs
    usable_pairs = np.where(usable & (2 * asked_pairs >= possible.pairs), asked_pairs, 0.0)
    new_pairs = np.where(asked, 0.0, askable - asked_pairs)
    cost = new_pairs if prices is None else prices.per_pair * np.maximum(new_pairs, LEAST_COST)
    cost = np.where(usable, cost, np.inf)
    return helpful_blocks(asked_pairs, usable_pairs, new_pairs, cost, possible.sizes, allowance, n_clusters)
