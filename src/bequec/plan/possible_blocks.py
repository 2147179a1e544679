"""Every block that could be asked: how many pairs it has, and how many of them can be asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import PlanError
from bequec.plan.groups import Block, count_per_block, group_index, ordered_block, pairs_in_blocks
from bequec.plan.query_plan import QueryPlan


@dataclass(frozen=True, eq=False)
class PossibleBlocks:
    """The groups' sizes and names, and the pairs of every block: all that choosing blocks depends on.

    ``n_unaskable`` is symmetric: how many pairs of each block cannot be asked.
    """

    sizes: IntArray
    group_names: tuple[str, ...]
    n_unaskable: IntArray

    @classmethod
    def between(
        cls, group_of: IntArray, group_names: Sequence[str] | None = None, unaskable: IntArray | None = None
    ) -> "PossibleBlocks":
        """The blocks between groups, by the group of each node; ``unaskable`` lists pairs of nodes."""
        sizes = np.bincount(group_of)
        names = [str(l) for l in range(len(sizes))] if group_names is None else group_names
        upper = count_per_block(np.empty((0, 2), int) if unaskable is None else unaskable, group_of, len(sizes))
        return cls(sizes, tuple(names), np.maximum(upper, upper.T))

    @classmethod
    def of(cls, plan: QueryPlan) -> "PossibleBlocks":
        """Those of a plan's groups, whatever it asks."""
        return cls.between(plan.group_of, plan.group_names, plan.unaskable)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    @cached_property
    def pairs(self) -> FloatArray:
        """(L, L): how many pairs each block has."""
        return pairs_in_blocks(self.sizes)

    @property
    def askable_pairs(self) -> FloatArray:
        """(L, L): how many of them can be asked."""
        return self.pairs - self.n_unaskable

    @property
    def mostly_askable(self) -> BoolArray:
        """(L, L): the blocks of which at least half can be asked; others are not relied on."""
        return np.asarray(2 * self.n_unaskable <= self.pairs)

    def indices(self, blocks: Sequence[tuple[int | str, int | str]]) -> list[Block]:
        """Blocks given by group indices or names as (l, m), l ≤ m."""
        index_of = {name: l for l, name in enumerate(self.group_names)}
        try:
            return [ordered_block(group_index(l, index_of), group_index(m, index_of)) for l, m in blocks]
        except (TypeError, ValueError) as reason:
            if isinstance(reason, PlanError):
                raise
            raise PlanError(f"also={blocks!r} must list pairs of groups, e.g. [(0, 3)]") from reason

    def named(self, blocks: Sequence[Block]) -> list[str]:
        """Blocks as texts (name, name)."""
        return [f"({self.group_names[l]}, {self.group_names[m]})" for l, m in blocks]

    def as_argument(self, blocks: Sequence[Block], most: int = 8) -> str:
        """Blocks as the argument ``also=[…]``, ready to paste; groups without names of their own by index."""
        are_numbered = self.group_names == tuple(map(str, range(self.n_groups)))
        listed = [block if are_numbered else tuple(self.group_names[l] for l in block) for block in blocks[:most]]
        return f"also={listed!r}"
