"""From "I have 900 items and five clusters" to a plan that can work."""

import logging
import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from bequec.errors import PlanError
from bequec.plan.groups import draw_groups, groups_from_labels
from bequec.plan.identifiable import check_identifiable, check_n_clusters
from bequec.plan.patterns import Block, diagonal_blocks, random_blocks, reference_blocks, spread_blocks
from bequec.plan.query_plan import IntArray, QueryPlan
from bequec.plan.sharing import completes_its_diagonal

logger = logging.getLogger("bequec")

MOST_NODES = 200_000_000
PATTERNS = ("diagonal", "random", "reference", "spread")


def plan_queries(
    n_nodes: int | None = None,
    n_clusters: int | None = None,
    *,
    n_groups: int | None = None,
    pattern: str = "diagonal",
    groups: Sequence[Hashable] | None = None,
    names: Sequence[Hashable] | None = None,
    n_references: int | None = None,
    degree: int | None = None,
    also: Sequence[tuple[int | str, int | str]] = (),
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
        diagonal pattern); fewer groups, and so more pairs, where some would miss a cluster.
    pattern : {"diagonal", "random", "reference", "spread"}
        "diagonal" asks each group about itself and the next; "random" a random chain of the edge
        query principle; "reference" all groups about ``n_references`` groups; "spread" each group
        about ``degree`` others at random, which keeps errors small beyond about 30 groups.
    groups : sequence of labels, optional
        The group of each node (villages, batches) instead of groups drawn at random.
    names : sequence, optional
        What the nodes are called.
    n_references : int, optional
        For "reference": how many reference groups (1).
    degree : int, optional
        For "spread": how many others each group is asked about (3).
    also : sequence of blocks, optional
        Further blocks to ask, as pairs of group indices or group names.
    random_state : int, Generator or None
        Seed of the random groups and patterns.

    Examples
    --------
    >>> plan_queries(n_nodes=900, n_clusters=5, n_groups=15, random_state=0)
    QueryPlan(900 nodes in 15 groups, 29 of 120 blocks asked: 76950 pairs, 19.0 %)
    """
    rng = np.random.default_rng(random_state)
    names, groups = (None if given is None else list(given) for given in (names, groups))
    _check_pattern_options(pattern, n_references, degree)
    if n_clusters is None:
        raise PlanError("n_clusters is required: say how many clusters to look for, e.g. n_clusters=5")
    n_nodes = _agreed_n_nodes(n_nodes, names, groups)
    check_n_clusters(n_clusters, n_nodes)

    group_names: tuple[str, ...] | None = None
    group_of: IntArray
    if groups is not None:
        group_of, group_names = groups_from_labels(groups)
        if n_groups not in (None, len(group_names)):
            raise PlanError(f"n_groups={n_groups}, but groups= names {len(group_names)}; leave n_groups out")
    else:
        if n_groups is None:
            n_groups = default_n_groups(n_nodes, n_clusters, pattern, n_references, degree)
            logger.info("n_groups is not given: %d groups are drawn", n_groups)
        _check_n_groups(n_groups, n_nodes, n_clusters)
        group_of = draw_groups(n_nodes, n_groups, rng)

    loops = bool(completes_its_diagonal(np.bincount(group_of), n_clusters).all())
    blocks = _pattern_blocks(pattern, int(group_of.max()) + 1, n_references, degree, loops, rng)
    plan = QueryPlan(group_of, blocks, names, group_names)
    if len(also):
        plan = with_blocks(plan, also)
    check_identifiable(plan, n_clusters)
    return plan


def with_blocks(plan: QueryPlan, also: Sequence[tuple[int | str, int | str]]) -> QueryPlan:
    """The same plan with further blocks asked, given by group indices or names."""
    try:
        blocks = [(plan.group_index(l), plan.group_index(m)) for l, m in also]
    except (TypeError, ValueError) as reason:
        if isinstance(reason, PlanError):
            raise
        raise PlanError(f"also={also!r} must list pairs of groups, e.g. [(0, 3)]") from reason
    return QueryPlan(plan.group_of, [*map(tuple, plan.blocks.tolist()), *blocks], plan.names, plan.group_names)


def default_n_groups(
    n_nodes: int,
    n_clusters: int,
    pattern: str = "diagonal",
    n_references: int | None = None,
    degree: int | None = None,
) -> int:
    """The number of groups that asks about 20 % of the pairs, or fewer groups if they would be too small."""
    wanted = {
        "diagonal": 15,
        "random": 20,
        "reference": 10 * (n_references or 1),
        "spread": 5 * (degree or 3),
    }
    sizes = np.arange(2 * n_clusters + 2, 4 * n_clusters + 200)
    smallest = int(sizes[completes_its_diagonal(sizes, n_clusters)][0])
    # Each group should meet each cluster: n = K log(20 K L) leaves one chance in twenty that any of L groups of n
    # misses any of K equal clusters.
    smallest = max(smallest, math.ceil(n_clusters * math.log(20 * n_clusters * wanted[pattern])))
    fewest = 3 if pattern == "spread" else 1
    return max(fewest, min(wanted[pattern], n_nodes // smallest))


def _pattern_blocks(
    pattern: str,
    n_groups: int,
    n_references: int | None,
    degree: int | None,
    loops: bool,
    rng: np.random.Generator,
) -> list[Block]:
    choose: dict[str, Callable[[], list[Block]]] = {
        "diagonal": lambda: diagonal_blocks(n_groups),
        "random": lambda: random_blocks(n_groups, rng, loops=loops),
        "reference": lambda: reference_blocks(n_groups, 1 if n_references is None else n_references),
        "spread": lambda: spread_blocks(n_groups, min(3, n_groups - 1) if degree is None else degree, rng),
    }
    return choose[pattern]()


def _check_pattern_options(pattern: str, n_references: int | None, degree: int | None) -> None:
    if pattern not in PATTERNS:
        raise PlanError(f"pattern={pattern!r} is unknown; choose one of {', '.join(PATTERNS)}")
    if n_references is not None and pattern != "reference":
        raise PlanError(f"n_references={n_references} belongs to pattern 'reference', not to {pattern!r}")
    if degree is not None and pattern != "spread":
        raise PlanError(f"degree={degree} belongs to pattern 'spread', not to {pattern!r}")


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
        raise PlanError(f"n_groups must be a whole number of at least 1, got {n_groups!r}")
    if n_nodes // n_groups < n_clusters:
        raise PlanError(
            f"{n_groups} groups of {n_nodes} nodes are smaller than n_clusters={n_clusters}; "
            f"use at most {max(1, n_nodes // n_clusters)} groups"
        )
