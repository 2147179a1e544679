"""From "I have 900 items and five clusters" to a plan that can work."""

import dataclasses
import logging
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bequec.core.arrays import BoolArray, IntArray
from bequec.core.errors import PlanError
from bequec.plan.groups import Block, as_mask, draw_groups, groups_from_labels
from bequec.plan.mask.cheapest import cheapest_blocks
from bequec.plan.mask.identifiable import check_enough, check_n_clusters
from bequec.plan.mask.sharing import completes_its_diagonal
from bequec.plan.money.budget import Budget, as_budget
from bequec.plan.money.prices import Prices
from bequec.plan.money.within_budget import blocks_cost, blocks_for_what_is_left, check_fits, fewest_groups_within
from bequec.plan.pattern_choice import PATTERNS, PatternChoice, default_n_groups
from bequec.plan.possible_blocks import PossibleBlocks
from bequec.plan.query_plan import QueryPlan
from bequec.plan.unaskable import node_pairs

__all__ = ["MOST_NODES", "PATTERNS", "default_n_groups", "plan_queries", "with_blocks"]

logger = logging.getLogger("bequec")

MOST_NODES = 200_000_000


def plan_queries(
    n_nodes: int | None = None,
    n_clusters: int | None = None,
    *,
    n_groups: int | None = None,
    pattern: str = "diagonal",
    groups: Sequence[Hashable] | npt.NDArray[Any] | None = None,
    names: Sequence[Hashable] | None = None,
    n_references: int | None = None,
    degree: int | None = None,
    cost: Any = None,
    budget: int | float | Budget | None = None,
    also: Sequence[tuple[int | str, int | str]] = (),
    unaskable: Sequence[tuple[Hashable, Hashable]] = (),
    random_state: int | np.random.Generator | None = None,
) -> QueryPlan:
    """Plan which pairs to ask, so that the answers identify the memberships.

    Parameters
    ----------
    n_nodes : int, optional
        How many nodes; may be left out when ``names`` or ``groups`` say it.
    n_clusters : int
        How many clusters are looked for.
    n_groups : int, optional
        How many groups to draw. Default: about 20 % of the pairs are asked (15 groups with the
        diagonal pattern); fewer groups, and so more pairs, where some would miss a cluster. With a
        budget: the fewest groups that fit it.
    pattern : {"diagonal", "random", "reference", "spread", "cheapest"}
        "diagonal" asks each group about itself and the next; "random" a random chain of the edge
        query principle; "reference" all groups about ``n_references`` groups; "spread" each group
        about ``degree`` others at random, which keeps errors small beyond about 30 groups; "cheapest"
        the blocks that cost least, provably so for groups of at least ``n_clusters`` nodes.
    groups : sequence of labels, optional
        The group of each node (villages, batches) instead of groups drawn at random.
    names : sequence, optional
        What the nodes are called.
    n_references : int, optional
        For "reference": how many reference groups (1).
    degree : int, optional
        For "spread": how many others each group is asked about (3).
    cost : (L, L) array, DataFrame or mapping {(group, group): price}, optional
        For "cheapest": the price per pair of each block, by group index or name; ``inf`` where it cannot
        be asked. A price says how many ordinary pairs a pair counts for.
    budget : int or Budget, optional
        What can be afforded, as a number of pairs or as a ``Budget`` in hours or money. What the pattern
        leaves over is spent on the further blocks that help most.
    also : sequence of blocks, optional
        Further blocks to ask, as pairs of group indices or group names, also where ``cost`` forbids them:
        such a block then counts as much per pair as the most expensive other one.
    unaskable : sequence of pairs of names, optional
        Pairs that cannot be asked although their block is; they stay unanswered.
    random_state : int, Generator or None
        Seed of the random groups and patterns.

    Examples
    --------
    >>> plan_queries(n_nodes=900, n_clusters=5, n_groups=15, random_state=0)
    QueryPlan(900 nodes in 15 groups, 29 of 120 blocks asked: 76950 pairs, 19.0 %)
    """
    rng = np.random.default_rng(random_state)
    names, groups = (None if given is None else list(given) for given in (names, groups))
    choice = PatternChoice(pattern, n_references, degree)
    if cost is not None and pattern != "cheapest":
        raise PlanError(f"cost belongs to pattern 'cheapest', not to {pattern!r}; say pattern='cheapest'")
    if n_clusters is None:
        raise PlanError("n_clusters is required: say how many clusters to look for, e.g. n_clusters=5")
    n_nodes = _agreed_n_nodes(n_nodes, names, groups)
    check_n_clusters(n_clusters, n_nodes)
    affordable = None if budget is None else as_budget(budget)
    pairs = node_pairs(unaskable, names, n_nodes)
    if groups is None:
        if n_groups is None:
            n_groups = _wanted_n_groups(n_nodes, n_clusters, choice, cost, affordable)
            logger.info("n_groups is not given: %d groups are drawn", n_groups)
        _check_n_groups(n_groups, n_nodes, n_clusters)
        group_of, group_names = draw_groups(n_nodes, n_groups, rng), None
    else:
        group_of, group_names = _given_groups(groups, n_groups)

    possible = PossibleBlocks.between(group_of, group_names, pairs)
    opened = possible.indices(also)
    prices = None if cost is None else Prices.read(cost, possible.group_names).with_opened(opened)
    asked = _chosen_blocks(possible, n_clusters, choice, prices, opened, rng)
    check_enough(possible, asked & possible.mostly_askable, n_clusters)
    if affordable is not None:
        check_fits(possible, asked, n_clusters, affordable, prices, pattern)
        left = affordable.affordable_pairs - blocks_cost(possible, asked, prices)
        more = blocks_for_what_is_left(possible, asked, n_clusters, left, prices)
        asked |= as_mask(more, possible.n_groups)
    return QueryPlan(group_of, asked, names, group_names, pairs)


def with_blocks(plan: QueryPlan, also: Sequence[tuple[int | str, int | str]]) -> QueryPlan:
    """The same plan with further blocks asked, given by group indices or names."""
    more = as_mask(PossibleBlocks.of(plan).indices(also), plan.n_groups)
    return dataclasses.replace(plan, asked=plan.asked | more)


def _chosen_blocks(
    possible: PossibleBlocks,
    n_clusters: int,
    choice: PatternChoice,
    prices: Prices | None,
    also: Sequence[Block],
    rng: np.random.Generator,
) -> BoolArray:
    """The blocks of the pattern, and those asked for besides."""
    if choice.name == "cheapest":
        per_pair = np.ones(possible.pairs.shape) if prices is None else prices.per_pair
        return as_mask(cheapest_blocks(possible, n_clusters, per_pair, also), possible.n_groups)
    loops = bool(completes_its_diagonal(possible.sizes, n_clusters).all())
    return as_mask([*choice.blocks(possible.n_groups, rng, loops=loops), *also], possible.n_groups)


def _given_groups(groups: Sequence[Hashable], n_groups: int | None) -> tuple[IntArray, tuple[str, ...]]:
    group_of, group_names = groups_from_labels(groups)
    if n_groups not in (None, len(group_names)):
        raise PlanError(f"n_groups={n_groups}, but groups= names {len(group_names)}; leave the number out")
    return group_of, group_names


def _wanted_n_groups(n_nodes: int, n_clusters: int, choice: PatternChoice, cost: Any, budget: Budget | None) -> int:
    """How many groups to draw: as many as the costs are for, the fewest that the budget allows, or the default."""
    if cost is not None:
        if isinstance(cost, Mapping) or hasattr(cost, "columns"):
            raise PlanError("cost names groups; say which node is in which (groups=)")
        return len(cost.per_pair if isinstance(cost, Prices) else cost)
    if budget is not None:
        return fewest_groups_within(n_nodes, n_clusters, choice, budget)
    return default_n_groups(n_nodes, n_clusters, choice.name, choice.n_references, choice.degree)


def _agreed_n_nodes(n_nodes: int | None, names: Sequence[Hashable] | None, groups: Sequence[Hashable] | None) -> int:
    said = {
        source: value
        for source, value in (
            ("n_nodes", n_nodes),
            ("names", None if names is None else len(names)),
            ("groups", None if groups is None else len(groups)),
        )
        if value is not None
    }
    if not said:
        raise PlanError("how many nodes? give n_nodes, names or groups")
    if len(set(said.values())) > 1:
        listed = ", ".join(f"{source} says {value}" for source, value in said.items())
        raise PlanError(f"the number of nodes is contradictory: {listed}")
    value = next(iter(said.values()))
    if not isinstance(value, int | np.integer) or value < 2:
        raise PlanError(f"n_nodes must be a whole number of at least 2, got {value!r}")
    if value > MOST_NODES:
        raise PlanError(f"n_nodes={value} is more than fits in memory here (at most {MOST_NODES})")
    return int(value)


def _check_n_groups(n_groups: int, n_nodes: int, n_clusters: int) -> None:
    if not isinstance(n_groups, int | np.integer) or n_groups < 1:
        raise PlanError(f"n_groups={n_groups!r} must be a whole number of at least 1")
    if n_nodes // n_groups < n_clusters:
        raise PlanError(
            f"with n_groups={n_groups}, {n_nodes} nodes make groups smaller than n_clusters={n_clusters}; "
            f"use at most {max(1, n_nodes // n_clusters)} groups"
        )
