"""The plan: which group each node is in, which pairs of groups are asked, and which single pairs."""

import dataclasses
import os
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bequec.core.arrays import BoolArray, IntArray, read_only
from bequec.plan.groups import count_per_block, group_index, pairs_among, pairs_between
from bequec.plan.pair_index import PairIndex
from bequec.plan.plan_checks import (
    check_asked,
    check_group_of,
    check_later_blocks,
    check_listed,
    check_names,
    check_unaskable,
    refuse_asked_twice,
)
from bequec.plan.plan_files import read_plan, write_plan
from bequec.plan.single_pairs import SinglePairs


@dataclass(frozen=True, eq=False, repr=False, init=False)
class QueryPlan:
    """Which group each node is in, which blocks (pairs of groups) are asked whole, and which single pairs.

    Parameters
    ----------
    group_of : (n_nodes,) whole numbers 0 … n_groups − 1
        The group of each node; every group has at least one node.
    asked : (n_groups, n_groups) symmetric boolean array or sparse array, or a list of blocks (l, m)
        The blocks that are asked whole. Block (l, l) asks the pairs inside group l. Whole numbers, two a row, are
        blocks. There may be none where pairs are listed.
    names : sequence of unique names, optional
        What the nodes are called; without it they are called 0 … n_nodes − 1.
    group_names : sequence of unique texts, optional
        What the groups are called.
    unaskable : (n, 2) whole numbers, optional
        Pairs of nodes, by index, that cannot be asked although their block may be: they stay unanswered.
    later_blocks : list of blocks (l, m), optional
        Blocks that were added later: their questions are numbered after all others, in this order, so that the
        numbers on earlier sheets stay true. Those that are not asked do not count.
    listed : (n, 2) whole numbers, optional
        Single pairs of nodes, by index, that are asked beyond the blocks; numbered in this order. If a pair's block is
        asked later, the pair keeps its listed number.
    listed_before : list of whole numbers, optional
        How many of the listed pairs are numbered before each of ``later_blocks``; none without it.

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
    listed: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    listed_before: tuple[int, ...] = ()

    def __init__(
        self,
        group_of: npt.ArrayLike,
        asked: Any,
        names: Sequence[Hashable] | None = None,
        group_names: Sequence[str] | None = None,
        unaskable: npt.ArrayLike = (),
        later_blocks: Sequence[tuple[int, int]] = (),
        listed: npt.ArrayLike = (),
        listed_before: Sequence[int] = (),
    ) -> None:
        groups = check_group_of(group_of)
        pairs = check_listed(listed, len(groups))
        blocks = check_asked(asked, n_groups=int(groups.max()) + 1, may_be_none=len(pairs) > 0)
        later, before = check_later_blocks(later_blocks, listed_before, blocks, len(pairs))
        for part, value in (
            ("group_of", read_only(groups)),
            ("asked", read_only(blocks)),
            ("names", check_names(names, len(groups), "nodes")),
            ("group_names", check_names(group_names, len(blocks), "groups")),
            ("unaskable", read_only(check_unaskable(unaskable, len(groups)))),
            ("later_blocks", later),
            ("listed", read_only(pairs)),
            ("listed_before", before),
        ):
            object.__setattr__(self, part, value)
        refuse_asked_twice(self)

    def __repr__(self) -> str:
        n_possible = self.n_groups * (self.n_groups + 1) // 2
        listed = f" and {len(self.listed)} pairs listed" if len(self.listed) else ""
        return (
            f"QueryPlan({self.n_nodes} nodes in {self.n_groups} groups, {len(self.blocks)} of {n_possible} "
            f"blocks asked{listed}: {self.n_pairs} pairs, {100 * self.share_asked:.1f} %)"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QueryPlan):
            return NotImplemented
        return (
            np.array_equal(self.group_of, other.group_of)
            and np.array_equal(self.asked, other.asked)
            and np.array_equal(self.unaskable, other.unaskable)
            and np.array_equal(self.listed, other.listed)
            and (self.names, self.group_names, self.later_blocks, self.listed_before)
            == (other.names, other.group_names, other.later_blocks, other.listed_before)
        )

    def __hash__(self) -> int:
        return hash((self.group_of.tobytes(), self.asked.tobytes(), self.listed.tobytes()))

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
        """The blocks asked whole, (l, m) with l ≤ m, one a row: lexicographic, then the later ones as they came."""
        first = np.triu(self.asked)
        for block in self.later_blocks:
            first[block] = False
        later = np.array(self.later_blocks, dtype=np.int64).reshape(-1, 2)
        return read_only(np.concatenate([np.argwhere(first).astype(np.int64), later]))

    @cached_property
    def single_pairs(self) -> SinglePairs:
        """The listed pairs whose block is not asked whole."""
        outside = self.listed[~self.asked[tuple(self.group_of[self.listed].T)]]
        return SinglePairs.of(outside, self.group_of, self.n_groups)

    @cached_property
    def covered_blocks(self) -> IntArray:
        """The blocks with asked pairs, (l, m) with l ≤ m, one a row: ``blocks``, then those with single pairs only."""
        return read_only(np.concatenate([self.blocks, self.single_pairs.blocks]))

    @cached_property
    def covered(self) -> BoolArray:
        """(L, L): the blocks that are asked whole or hold a listed pair."""
        return self.asked if not len(self.listed) else read_only((self.asked_pairs > 0) | self.asked)

    @cached_property
    def numbers_per_block(self) -> IntArray:
        """How many pairs are in each of ``blocks``, whether they can be asked or not: each has a place in the block."""
        return read_only(pairs_between(self.sizes, *self.blocks.T))

    @cached_property
    def pairs_per_block(self) -> IntArray:
        """Number of pairs that are asked in each of ``covered_blocks``, whole or listed."""
        n_unaskable = count_per_block(self.unaskable, self.group_of, self.n_groups)[tuple(self.blocks.T)]
        return read_only(np.concatenate([self.numbers_per_block - n_unaskable, np.diff(self.single_pairs.starts)]))

    @cached_property
    def asked_pairs(self) -> IntArray:
        """(L, L): how many pairs of each block are asked, whole or listed."""
        count = np.zeros(self.asked.shape, dtype=np.int64)
        l, m = self.covered_blocks.T
        count[l, m] = count[m, l] = self.pairs_per_block
        return read_only(count)

    @property
    def n_numbers(self) -> int:
        """How many numbers there are: of the listed pairs, and of all pairs of ``blocks``, askable or not."""
        return int(self.numbers_per_block.sum()) + len(self.listed)

    @property
    def n_pairs(self) -> int:
        """Number of asked pairs."""
        return int(self.pairs_per_block.sum())

    @property
    def share_asked(self) -> float:
        """Asked pairs as a share of all pairs."""
        return self.n_pairs / max(1, pairs_among(self.n_nodes))

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

    def name(self, node: int) -> Hashable:
        """What a node is called."""
        return int(node) if self.names is None else self.names[node]

    def group_name(self, group: int) -> str:
        """What a group is called."""
        return str(int(group)) if self.group_names is None else self.group_names[group]

    def group_index(self, group: int | str) -> int:
        """The index of a group: a text is its name, a whole number its index."""
        return group_index(group, self._index_of_group)

    @cached_property
    def _index_of_group(self) -> dict[str, int]:
        return {self.group_name(l): l for l in range(self.n_groups)}

    # --- pairs -------------------------------------------------------------------------------------------

    def block_pairs(self, l: int, m: int) -> tuple[IntArray, IntArray]:
        """The nodes on the left and on the right of every asked pair of a block (l, m), l ≤ m."""
        if not self.asked[l, m]:
            return self.single_pairs.in_block(l, m)
        if l == m:
            row, column = np.triu_indices(self.sizes[l], k=1)
            left, right = self.groups[l][row], self.groups[l][column]
        else:
            left, right = np.repeat(self.groups[l], self.sizes[m]), np.tile(self.groups[m], self.sizes[l])
        if not len(self.unaskable):
            return left, right
        kept = ~self.cannot_be_asked(left, right)
        return left[kept], right[kept]

    def pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        """All asked pairs: block by block, never all at once, then the listed ones outside the blocks."""
        for l, m in self.blocks:
            yield self.block_pairs(l, m)
        if len(self.single_pairs):
            yield self.single_pairs.left, self.single_pairs.right

    def asks(self, left: IntArray, right: IntArray) -> BoolArray:
        """Which of these pairs of different nodes are asked."""
        in_block: BoolArray = self.asked[self.group_of[left], self.group_of[right]] & ~self.cannot_be_asked(left, right)
        return in_block if not len(self.listed) else in_block | self.listed_index.holds(left, right)

    def cannot_be_asked(self, left: IntArray, right: IntArray) -> BoolArray:
        """Which of these pairs of nodes are ``unaskable``; a block that is not asked is another matter."""
        return self._unaskable_index.holds(left, right)

    @cached_property
    def listed_index(self) -> PairIndex:
        """Finds listed pairs by their nodes."""
        return PairIndex(self.listed, self.n_nodes)

    @cached_property
    def _unaskable_index(self) -> PairIndex:
        return PairIndex(self.unaskable, self.n_nodes)

    def with_listed(self, pairs: npt.ArrayLike) -> "QueryPlan":
        """The same plan with further single pairs, whose questions come last.

        Examples
        --------
        >>> QueryPlan([0, 0, 0, 1, 1, 1], [(0, 0)]).with_listed([(0, 3), (5, 1)])
        QueryPlan(6 nodes in 2 groups, 1 of 3 blocks asked and 2 pairs listed: 5 pairs, 33.3 %)
        """
        return dataclasses.replace(self, listed=np.concatenate([self.listed, check_listed(pairs, self.n_nodes)]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan as JSON."""
        write_plan(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a plan that ``save`` wrote."""
        return read_plan(path, cls)
