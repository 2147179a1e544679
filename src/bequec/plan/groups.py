"""Groups of nodes, drawn at random or given by labels such as villages; and the blocks between them."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import PlanError, shortened

Block = tuple[int, int]
Count = TypeVar("Count", int, IntArray)


def ordered_block(l: int, m: int) -> Block:
    """The block of two groups as (l, m), l ≤ m."""
    return (int(l), int(m)) if l <= m else (int(m), int(l))


def ordered_blocks(blocks: IntArray) -> IntArray:
    """Blocks, one a row, as (l, m), l ≤ m."""
    return np.asarray(np.sort(blocks, axis=1))


def as_mask(blocks: Iterable[Block], n_groups: int) -> BoolArray:
    """Blocks as a symmetric (L, L) mask."""
    mask = np.zeros((n_groups, n_groups), dtype=bool)
    for l, m in blocks:
        mask[l, m] = mask[m, l] = True
    return mask


def pairs_among(n_nodes: Count) -> Count:
    """How many pairs so many nodes have, each pair once."""
    return n_nodes * (n_nodes - 1) // 2


def pairs_between(sizes: IntArray, l: IntArray, m: IntArray) -> IntArray:
    """How many pairs of nodes the blocks (l, m) have, asked or not; l and m are broadcast."""
    return np.where(l == m, pairs_among(sizes[l]), sizes[l] * sizes[m])


def pairs_in_blocks(sizes: IntArray) -> FloatArray:
    """(L, L): the same for every block."""
    l = np.arange(len(sizes))
    return pairs_between(sizes, l[:, None], l).astype(np.float64)


def count_per_block(pairs: IntArray, group_of: IntArray, n_groups: int) -> IntArray:
    """(L, L): how many of these pairs of nodes are in each block (l, m), l ≤ m; zero below the diagonal."""
    count = np.zeros((n_groups, n_groups), dtype=np.int64)
    np.add.at(count, tuple(ordered_blocks(group_of[pairs]).T), 1)
    return count


def group_index(group: Any, index_of: Mapping[str, int], what: str = "") -> int:
    """The index of a group: a text is its name, a whole number its index; ``what`` begins the error."""
    told = f"{what} names {group!r}, which is no group of the plan" if what else f"there is no group {group!r}"
    if isinstance(group, int | np.integer) and not isinstance(group, bool):
        if 0 <= group < len(index_of):
            return int(group)
        raise PlanError(f"{told}; group indices are 0 … {len(index_of) - 1}")
    name = str(group).strip()
    if name not in index_of:
        raise PlanError(f"{told}; the groups are {shortened(list(index_of))}")
    return index_of[name]


def draw_groups(n_nodes: int, n_groups: int, rng: np.random.Generator) -> IntArray:
    """Deal the nodes at random into groups whose sizes differ by at most one; nobody is left out."""
    group_of = np.empty(n_nodes, dtype=np.int64)
    group_of[rng.permutation(n_nodes)] = np.arange(n_nodes) * n_groups // n_nodes
    return group_of


def groups_from_labels(labels: Sequence[Hashable]) -> tuple[IntArray, tuple[str, ...]]:
    """The group of each node and the groups' names, from one label per node; numbers are in numeric order."""
    values = [_label(label, node) for node, label in enumerate(labels)]
    if not values:
        raise PlanError("groups must list one label per node, got none")
    kinds = {type(value).__name__ for value in values}
    if len(kinds - {"int", "float"}) > 1 or (kinds & {"str"} and len(kinds) > 1):
        raise PlanError(
            f"the group labels are of several types ({', '.join(sorted(kinds))}); use texts or numbers only"
        )
    unique = sorted(set(values), key=_natural)
    index = {label: l for l, label in enumerate(unique)}
    group_of = np.fromiter((index[value] for value in values), dtype=np.int64, count=len(values))
    return group_of, tuple(str(label) for label in unique)


def _label(label: Any, node: int) -> Any:
    """A plain label without blanks around it; missing ones are refused."""
    label = label.item() if isinstance(label, np.generic) else label
    label = label.strip() if isinstance(label, str) else label
    if label is None or label == "" or label != label:  # noqa: PLR0124 - only NaN differs from itself
        raise PlanError(f"node {node} has no group label; give every node one")
    return label


def _natural(label: Any) -> tuple[int, Any]:
    """Numbers, also as texts, by size and before other texts."""
    if isinstance(label, str) and not label.isdecimal():
        return (1, label)
    return (0, int(label) if isinstance(label, str) else label)
