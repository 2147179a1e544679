"""A pattern with its options: which blocks it asks, and how many pairs that is at most."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bequec.core.errors import PlanError
from bequec.plan.groups import Block, pairs_among, pairs_between
from bequec.plan.mask.sharing import completes_its_diagonal
from bequec.plan.patterns import diagonal_blocks, random_blocks, reference_blocks, spread_blocks

PATTERNS = ("diagonal", "random", "reference", "spread", "cheapest")
DEFAULT_DEGREE = 3


@dataclass(frozen=True)
class PatternChoice:
    """One of the patterns, and the options that belong to it."""

    name: str = "diagonal"
    n_references: int | None = None
    degree: int | None = None

    def __post_init__(self) -> None:
        if self.name not in PATTERNS:
            raise PlanError(f"pattern={self.name!r} is unknown; choose one of {', '.join(PATTERNS)}")
        if self.n_references is not None and self.name != "reference":
            raise PlanError(f"n_references={self.n_references} belongs to pattern 'reference', not to {self.name!r}")
        if self.degree is not None and self.name != "spread":
            raise PlanError(f"degree={self.degree} belongs to pattern 'spread', not to {self.name!r}")

    def blocks(self, n_groups: int, rng: np.random.Generator, *, loops: bool) -> list[Block]:
        """The blocks of a pattern that depends on the number of groups alone; "cheapest" depends on prices."""
        choose: dict[str, Callable[[], list[Block]]] = {
            "diagonal": lambda: diagonal_blocks(n_groups),
            "random": lambda: random_blocks(n_groups, rng, loops=loops),
            "reference": lambda: reference_blocks(n_groups, 1 if self.n_references is None else self.n_references),
            "spread": lambda: spread_blocks(n_groups, self._degree(n_groups), rng),
        }
        return choose[self.name]()

    def most_pairs(self, n_nodes: int, n_groups: int) -> int:
        """How many pairs the pattern asks at most, with groups drawn as evenly as possible."""
        sizes = np.diff(-(-np.arange(n_groups + 1) * n_nodes // n_groups))
        largest, everything = int(sizes.max()), pairs_among(n_nodes)
        if self.name == "diagonal":
            return int(pairs_between(sizes, *np.array(diagonal_blocks(n_groups)).T).sum())
        if self.name == "reference":
            n_referred = min((self.n_references or 1) * largest, n_nodes)
            return n_referred * n_nodes - n_referred * (n_referred + 1) // 2
        if self.name == "spread":
            # Each group has the same degree d, and n_l n_m ≤ (n_l² + n_m²) / 2; one block more if L d is odd.
            d = self._degree(n_groups)
            return min(int(d * (sizes**2).sum() // 2) + (n_groups * d % 2) * largest**2, everything)
        # Along a chain or a tree, every group is asked about one other, or two, none larger than the largest.
        return min((2 if self.name == "random" else 1) * n_nodes * largest, everything)

    def fewest_groups(self) -> int:
        """The fewest groups that the pattern can be drawn on."""
        if self.name == "spread":
            return 3 if self.degree is None else self.degree + 1
        return self.n_references or 1

    def _degree(self, n_groups: int) -> int:
        return min(DEFAULT_DEGREE, n_groups - 1) if self.degree is None else self.degree


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
        "spread": 5 * (degree or DEFAULT_DEGREE),
        "cheapest": 10,
    }
    smallest = max(smallest_full_group(n_clusters), size_that_meets_all(n_clusters, wanted[pattern]))
    fewest = 3 if pattern == "spread" else 1
    return max(fewest, min(wanted[pattern], n_nodes // smallest))


def size_that_meets_all(n_clusters: int, n_groups: int) -> int:
    """N = K log(20 K L) leaves one chance in twenty that any of L groups of n misses any of K equal clusters."""
    return math.ceil(n_clusters * math.log(20 * n_clusters * n_groups))


def smallest_full_group(n_clusters: int) -> int:
    """The fewest nodes whose diagonal block completes its own diagonal."""
    sizes = np.arange(n_clusters + 1, 4 * n_clusters + 200)
    return int(sizes[completes_its_diagonal(sizes, n_clusters)][0])
