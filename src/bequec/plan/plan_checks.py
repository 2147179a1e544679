"""What makes a plan a plan: checks of its parts, each with an error that says what to change."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bequec.core.arrays import BoolArray, IntArray
from bequec.core.errors import PlanError, shortened
from bequec.plan.groups import as_mask, ordered_block, ordered_blocks

if TYPE_CHECKING:
    from bequec.plan.query_plan import QueryPlan


def check_group_of(group_of: npt.ArrayLike) -> IntArray:
    """One group 0 … L − 1 per node, none of them empty."""
    array = np.asarray(group_of)
    if array.ndim != 1 or array.size == 0:
        raise PlanError(f"group_of must list one group per node, got an array of shape {array.shape}")
    if not np.issubdtype(array.dtype, np.integer):
        raise PlanError(
            f"group_of must hold whole numbers 0 … n_groups − 1, got {array[0]!r}; "
            "for named groups use plan_queries(groups=...)"
        )
    if array.min() < 0:
        raise PlanError(f"group_of holds the negative group {array.min()}; number the groups from 0")
    empty = np.flatnonzero(np.bincount(array) == 0)
    if len(empty):
        raise PlanError(
            f"groups {shortened(empty.tolist())} have no node; number the groups 0 … n_groups − 1 without gaps"
        )
    return array.astype(np.int64)


def check_asked(asked: Any, n_groups: int, *, may_be_none: bool) -> BoolArray:
    """The asked blocks as a symmetric boolean matrix, from a matrix or a list of blocks."""
    if sp.issparse(asked):
        asked = asked.toarray().astype(bool)
    if isinstance(asked, list | tuple) and asked and not isinstance(asked[0], tuple):
        asked = np.asarray(asked)
    # A matrix is boolean. Whole numbers are a list of blocks, two a row, unless their shape says otherwise.
    if isinstance(asked, np.ndarray) and (asked.dtype == bool or (asked.ndim == 2 and asked.shape[1] != 2)):
        matrix = _check_asked_matrix(asked, n_groups)
    else:
        matrix = _blocks_to_matrix(asked, n_groups)
    if not matrix.any() and not may_be_none:
        raise PlanError("no block is asked; ask at least one, or list pairs (listed=)")
    return matrix


def _check_asked_matrix(asked: npt.NDArray[Any], n_groups: int) -> BoolArray:
    if asked.shape != (n_groups, n_groups):
        raise PlanError(
            f"asked has shape {asked.shape} but group_of names {n_groups} groups; give a ({n_groups}, {n_groups}) array"
        )
    if not np.isin(asked, (0, 1)).all():
        raise PlanError(f"asked must be true or false everywhere, got {asked.flat[0]!r}")
    matrix: BoolArray = asked.astype(bool)
    if (matrix != matrix.T).any():
        l, m = np.argwhere(matrix != matrix.T)[0]
        raise PlanError(
            f"asked[{l}, {m}] differs from asked[{m}, {l}]: asking one asks the other; "
            "make it symmetric (asked | asked.T)"
        )
    return matrix


def _blocks_to_matrix(asked: Any, n_groups: int) -> BoolArray:
    try:
        blocks = [tuple(block) for block in asked]
    except TypeError as reason:
        raise PlanError(
            f"asked must be a boolean (L, L) array or a list of blocks (l, m), got {type(asked).__name__}"
        ) from reason
    for block in blocks:
        if len(block) != 2 or not all(isinstance(l, int | np.integer) and 0 <= l < n_groups for l in block):
            raise PlanError(f"block {block!r} is not a pair of groups 0 … {n_groups - 1}")
    return as_mask([(l, m) for l, m in blocks], n_groups)


def check_names(names: Sequence[Hashable] | None, n_expected: int, of: str) -> tuple[Hashable, ...] | None:
    """Unique names, one each, as plain Python values."""
    if names is None:
        return None
    # JSON holds plain Python values, not numpy's.
    names = tuple(name.item() if isinstance(name, np.generic) else name for name in names)
    if len(names) != n_expected:
        raise PlanError(f"{len(names)} names for {n_expected} {of}; give one name each")
    try:
        n_times = Counter(names)
    except TypeError as reason:
        raise PlanError(f"names of {of} must be texts or numbers ({reason})") from reason
    if len(n_times) != len(names):
        repeated, _ = n_times.most_common(1)[0]
        raise PlanError(f"the name {repeated!r} is given to several {of}; names must be unique, rename or remove one")
    return names


def check_unaskable(unaskable: npt.ArrayLike, n_nodes: int) -> IntArray:
    """Pairs of different nodes as rows (low, high), each once, in order."""
    return np.asarray(np.unique(_check_pairs(unaskable, n_nodes, "unaskable"), axis=0))


def check_listed(listed: npt.ArrayLike, n_nodes: int) -> IntArray:
    """Distinct pairs of different nodes as rows (low, high), in the given order: it numbers them."""
    pairs = _check_pairs(listed, n_nodes, "listed")
    keys = pairs @ [n_nodes, 1]
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(again):
        low, high = divmod(int(again[0]), n_nodes)
        raise PlanError(f"listed has the pair ({low}, {high}) twice; list each pair once")
    return pairs


def _check_pairs(pairs: npt.ArrayLike, n_nodes: int, what: str) -> IntArray:
    """Pairs of different nodes as rows (low, high)."""
    array = np.asarray(pairs)
    if not array.size:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        remedy = "; for pairs of names use plan_queries(unaskable=...)" if what == "unaskable" else ""
        raise PlanError(f"{what} must list pairs of node indices, got {array.dtype} of shape {array.shape}{remedy}")
    wrong = (array < 0) | (array >= n_nodes)
    if wrong.any():
        raise PlanError(f"{what} names node {array[wrong][0]}; node indices are 0 … {n_nodes - 1}")
    same = array[:, 0] == array[:, 1]
    if same.any():
        raise PlanError(f"{what} pairs node {array[same][0, 0]} with itself; a self-pair is never asked, remove it")
    return np.asarray(np.sort(array.astype(np.int64), axis=1))


def check_later_blocks(
    later_blocks: Sequence[tuple[int, int]], listed_before: Sequence[int], asked: BoolArray, n_listed: int
) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """The asked ones of these blocks as (l, m), l ≤ m, in the given order, and how many listed pairs precede each."""
    later = [ordered_block(*block) for block in later_blocks]
    for block in later:
        if not (block[0] >= 0 and block[1] < len(asked)):
            raise PlanError(f"later block {block} is not a pair of groups 0 … {len(asked) - 1}")
    if len(set(later)) != len(later):
        raise PlanError("later_blocks lists a block twice; list each once")
    before = [int(n) for n in listed_before] or [0] * len(later)
    if len(before) != len(later) or before != sorted(before) or not all(0 <= n <= n_listed for n in before):
        raise PlanError(
            f"listed_before={before} must say for each of the {len(later)} later blocks how many of the {n_listed} "
            "listed pairs came before it, and never fall"
        )
    kept = [at for at, block in enumerate(later) if asked[block]]
    return tuple(later[at] for at in kept), tuple(before[at] for at in kept)


def refuse_asked_twice(plan: "QueryPlan") -> None:
    """A listed pair cannot be unaskable, nor in a block that was asked whole before the pair was listed."""
    if not len(plan.listed):
        return
    left, right = plan.listed.T
    _refuse_listed(plan, plan.cannot_be_asked(left, right), "is one that cannot be asked (unaskable=); list it once")
    l, m = ordered_blocks(plan.group_of[plan.listed]).T
    n_before = np.zeros(plan.asked.shape, dtype=np.int64)
    if len(plan.later_blocks):
        n_before[tuple(np.array(plan.later_blocks).T)] = plan.listed_before
    came_after = np.arange(len(plan.listed)) >= n_before[l, m]
    _refuse_listed(
        plan, plan.asked[l, m] & came_after, "is asked already, as its block is; list pairs outside the asked blocks"
    )


def _refuse_listed(plan: "QueryPlan", wrong: BoolArray, why: str) -> None:
    if wrong.any():
        left, right = plan.listed[wrong][0]
        raise PlanError(f"the listed pair ({plan.name(left)}, {plan.name(right)}) {why}")
