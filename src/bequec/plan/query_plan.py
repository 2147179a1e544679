"""The plan: which group each node is in, and which pairs of groups are asked."""

import os
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bequec.core.arrays import BoolArray, FloatArray, IntArray, read_only
from bequec.core.errors import PlanError, shortened
from bequec.core.files import read_json, write_json
from bequec.plan.plan_checks import (
    check_asked,
    check_group_of,
    check_later_blocks,
    check_names,
    check_unaskable,
    hashable,
)

FORMAT, VERSION = "bequec plan", 1


def pairs_in_blocks(sizes: IntArray) -> FloatArray:
    """(L, L): how many pairs of nodes each block of groups of these sizes has, asked or not."""
    count = np.outer(sizes, sizes).astype(np.float64)
    count[np.diag_indices_from(count)] = sizes * (sizes - 1) / 2
    return count


@dataclass(frozen=True, eq=False, repr=False, init=False)
class QueryPlan:
    """Which group each node is in, and which blocks (pairs of groups) are asked.

    Parameters
    ----------
    group_of : (n_nodes,) whole numbers 0 … n_groups − 1
        The group of each node; every group has at least one node.
    asked : (n_groups, n_groups) symmetric boolean array or sparse array, or a list of blocks (l, m)
        The asked blocks. Block (l, l) asks the pairs inside group l. Whole numbers, two a row, are blocks.
    names : sequence of unique names, optional
        What the nodes are called; without it they are called 0 … n_nodes − 1.
    group_names : sequence of unique texts, optional
        What the groups are called.
    unaskable : (n, 2) whole numbers, optional
        Pairs of nodes, by index, that cannot be asked although their block may be: they stay unanswered.
    later_blocks : list of blocks (l, m), optional
        Blocks that were added later: their questions are numbered after all others, in this order, so that the
        numbers on earlier sheets stay true. Those that are not asked do not count.

    Examples
    --------
    >>> plan = QueryPlan([0, 0, 0, 1, 1, 1], [(0, 0), (0, 1)])
    >>> plan
    QueryPlan(6 nodes in 2 groups, 2 of 3 blocks asked: 12 pairs, 80.0 %)
    """

    group_of: IntArray
    asked: BoolArray
    names: tuple[Hashable, ...] | None = None
    group_names: tuple[str, ...] | None = None
    unaskable: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    later_blocks: tuple[tuple[int, int], ...] = ()

    def __init__(
        self,
        group_of: npt.ArrayLike,
        asked: Any,
        names: Sequence[Hashable] | None = None,
        group_names: Sequence[str] | None = None,
        unaskable: npt.ArrayLike = (),
        later_blocks: Sequence[tuple[int, int]] = (),
    ) -> None:
        groups = check_group_of(group_of)
        blocks = check_asked(asked, n_groups=int(groups.max()) + 1)
        for part, value in (
            ("group_of", read_only(groups)),
            ("asked", read_only(blocks)),
            ("names", check_names(names, len(groups), "nodes")),
            ("group_names", check_names(group_names, len(blocks), "groups")),
            ("unaskable", read_only(check_unaskable(unaskable, len(groups)))),
            ("later_blocks", check_later_blocks(later_blocks, blocks)),
        ):
            object.__setattr__(self, part, value)

    def __repr__(self) -> str:
        n_possible = self.n_groups * (self.n_groups + 1) // 2
        return (
            f"QueryPlan({self.n_nodes} nodes in {self.n_groups} groups, {len(self.blocks)} of {n_possible} "
            f"blocks asked: {self.n_pairs} pairs, {100 * self.share_asked:.1f} %)"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QueryPlan):
            return NotImplemented
        return (
            np.array_equal(self.group_of, other.group_of)
            and np.array_equal(self.asked, other.asked)
            and np.array_equal(self.unaskable, other.unaskable)
            and (self.names, self.group_names, self.later_blocks)
            == (other.names, other.group_names, other.later_blocks)
        )

    def __hash__(self) -> int:
        return hash((self.group_of.tobytes(), self.asked.tobytes()))

    # --- sizes -------------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.group_of)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.asked)

    @cached_property
    def sizes(self) -> IntArray:
        """Number of nodes in each group."""
        return read_only(np.bincount(self.group_of, minlength=self.n_groups).astype(np.int64))

    @cached_property
    def blocks(self) -> IntArray:
        """The asked blocks (l, m) with l ≤ m, one a row: in lexicographic order, then the later ones as they came."""
        first = np.triu(self.asked)
        for block in self.later_blocks:
            first[block] = False
        later = np.array(self.later_blocks, dtype=np.int64).reshape(-1, 2)
        return read_only(np.concatenate([np.argwhere(first).astype(np.int64), later]))

    @cached_property
    def numbers_per_block(self) -> IntArray:
        """How many pairs, each with a number, are in each of ``blocks``, whether they can be asked or not."""
        l, m = self.blocks.T
        n_l, n_m = self.sizes[l], self.sizes[m]
        return read_only(np.where(l == m, n_l * (n_l - 1) // 2, n_l * n_m))

    @cached_property
    def pairs_per_block(self) -> IntArray:
        """Number of pairs that are asked in each of ``blocks``."""
        if not len(self.unaskable):
            return self.numbers_per_block
        n_unaskable = np.zeros(self.asked.shape, dtype=np.int64)
        np.add.at(n_unaskable, tuple(np.sort(self.group_of[self.unaskable], axis=1).T), 1)
        return read_only(self.numbers_per_block - n_unaskable[tuple(self.blocks.T)])

    @property
    def n_numbers(self) -> int:
        """How many numbers the questions use: ``n_pairs``, and those of asked blocks that cannot be asked."""
        return int(self.numbers_per_block.sum())

    @property
    def n_pairs(self) -> int:
        """Number of asked pairs."""
        return int(self.pairs_per_block.sum())

    @property
    def share_asked(self) -> float:
        """Asked pairs as a share of all pairs."""
        return self.n_pairs / max(1, self.n_nodes * (self.n_nodes - 1) // 2)

    # --- nodes in group order ----------------------------------------------------------------------------

    @cached_property
    def order(self) -> IntArray:
        """The nodes, group after group: ``order[p]`` is the node at position p."""
        return read_only(np.argsort(self.group_of, kind="stable").astype(np.int64))

    @cached_property
    def position_of(self) -> IntArray:
        """The inverse of ``order``."""
        position_of = np.empty(self.n_nodes, dtype=np.int64)
        position_of[self.order] = np.arange(self.n_nodes)
        return read_only(position_of)

    @cached_property
    def starts(self) -> IntArray:
        """Group l holds the positions ``starts[l]`` … ``starts[l + 1] − 1``."""
        return read_only(np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64))

    @cached_property
    def groups(self) -> tuple[IntArray, ...]:
        """The nodes of each group: the paper's S_l."""
        return tuple(np.split(self.order, self.starts[1:-1]))

    def span(self, group: int) -> slice:
        """The positions of a group in group order."""
        return slice(int(self.starts[group]), int(self.starts[group + 1]))

    # --- names -------------------------------------------------------------------------------------------

    def name(self, node: int) -> Hashable:
        """What a node is called."""
        return int(node) if self.names is None else self.names[node]

    def group_name(self, group: int) -> str:
        """What a group is called."""
        return str(int(group)) if self.group_names is None else self.group_names[group]

    def group_index(self, group: int | str) -> int:
        """The index of a group: a text is its name, a whole number its index."""
        if isinstance(group, str):
            names = [self.group_name(l) for l in range(self.n_groups)]
            if group in names:
                return names.index(group)
            raise PlanError(f"there is no group {group!r}; the groups are {shortened(names)}")
        if isinstance(group, int | np.integer) and 0 <= group < self.n_groups:
            return int(group)
        raise PlanError(f"there is no group {group!r}; group indices are 0 … {self.n_groups - 1}")

    # --- pairs -------------------------------------------------------------------------------------------

    def block_pairs(self, l: int, m: int) -> tuple[IntArray, IntArray]:
        """The nodes on the left and on the right of every asked pair of a block."""
        if l == m:
            row, column = np.triu_indices(self.sizes[l], k=1)
            left, right = self.groups[l][row], self.groups[l][column]
        else:
            left, right = np.repeat(self.groups[l], self.sizes[m]), np.tile(self.groups[m], self.sizes[l])
        if not len(self.unaskable):
            return left, right
        kept = ~self.cannot_be_asked(left, right)
        return left[kept], right[kept]

    def cannot_be_asked(self, left: IntArray, right: IntArray) -> BoolArray:
        """Which of these pairs of nodes are ``unaskable``; a block that is not asked is another matter."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        listed: BoolArray = np.isin(low * self.n_nodes + high, self.unaskable @ [self.n_nodes, 1])
        return listed

    def pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        """All asked pairs, block by block, never all of them at once."""
        for l, m in self.blocks:
            yield self.block_pairs(l, m)

    # --- files -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan as JSON."""
        try:
            write_json(
                path,
                {
                    "format": FORMAT,
                    "version": VERSION,
                    "n_groups": self.n_groups,
                    "asked": self.blocks.tolist(),
                    "group_names": self.group_names,
                    "group_of": self.group_of.tolist(),
                    "names": self.names,
                    "unaskable": self.unaskable.tolist(),
                    "later_blocks": self.later_blocks,
                },
            )
        except TypeError as reason:
            raise PlanError(f"the names cannot be saved ({reason}); use texts or numbers as names") from reason

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a plan that ``save`` wrote."""
        value = read_json(path, kind=FORMAT, version=VERSION, error=PlanError)
        try:
            group_of, asked, names, group_names = (value[key] for key in ("group_of", "asked", "names", "group_names"))
        except KeyError as missing:
            raise PlanError(f"{path} lacks {missing}; write the plan again") from missing
        names = None if names is None else [hashable(name) for name in names]
        try:
            # Plans without these two were written before there were any.
            unaskable, later = value.get("unaskable", []), value.get("later_blocks", [])
            return cls(
                group_of, [tuple(block) for block in asked], names, group_names, unaskable, [tuple(b) for b in later]
            )
        except TypeError as reason:
            raise PlanError(f"{path} is not a plan that can be read ({reason}); write the plan again") from reason
