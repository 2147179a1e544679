"""Every asked pair has a number, so that a question can be known by one whole number.

First the blocks of the plan, then, in the order in which they came, later blocks and listed pairs. Inside a block pairs
are numbered row by row, inside a diagonal block over the upper triangle. The numbers depend on the plan alone, and stay
when it is extended: what is new comes last. Some places in a block have a number that no question uses: those of pairs
that cannot be asked, and of pairs that were listed before their block was asked, which keep their listed number.
"""

import numpy as np

from bequec.core.arrays import IntArray
from bequec.core.errors import AnswersError
from bequec.plan.query_plan import QueryPlan


def pair_numbers(plan: QueryPlan, left: IntArray, right: IntArray) -> IntArray:
    """The number of each pair of nodes; −1 where neither it nor its block is asked."""
    numbers = _numbers_in_blocks(plan, left, right)
    if not len(plan.listed):
        return numbers
    at = plan.listed_index.find(left, right)
    return np.where(at >= 0, listed_numbers(plan)[at], numbers)


def pairs_numbered(plan: QueryPlan, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """The nodes of the pairs with these numbers: the inverse of ``pair_numbers``."""
    numbers = np.asarray(numbers, dtype=np.int64)
    wrong = (numbers < 0) | (numbers >= plan.n_numbers)
    if wrong.any():
        raise AnswersError(
            f"there is no question number {numbers[wrong][0]}: the plan's questions are 0 … {plan.n_numbers - 1}"
        )
    if not len(plan.listed):
        return _pairs_in_blocks(plan, numbers)
    of_listed = listed_numbers(plan)
    at = np.searchsorted(of_listed, numbers)
    is_listed = of_listed[np.minimum(at, len(of_listed) - 1)] == numbers
    left, right = np.empty_like(numbers), np.empty_like(numbers)
    left[is_listed], right[is_listed] = plan.listed[at[is_listed]].T
    left[~is_listed], right[~is_listed] = _pairs_in_blocks(plan, numbers[~is_listed])
    return left, right


def question_numbers(plan: QueryPlan) -> IntArray:
    """The numbers of all questions: every number that a question uses."""
    is_used = np.ones(plan.n_numbers, dtype=bool)
    for pairs in (plan.unaskable, plan.listed):
        in_block = _numbers_in_blocks(plan, *pairs.T)
        is_used[in_block[in_block >= 0]] = False
    return np.flatnonzero(is_used)


def block_starts(plan: QueryPlan) -> IntArray:
    """The first number of each of ``plan.blocks``: of all pairs of earlier blocks, and of listed pairs before it."""
    n_listed_before = np.zeros(len(plan.blocks), dtype=np.int64)
    n_listed_before[len(plan.blocks) - len(plan.later_blocks) :] = plan.listed_before
    return np.asarray(np.cumsum(plan.numbers_per_block) - plan.numbers_per_block + n_listed_before)


def listed_numbers(plan: QueryPlan) -> IntArray:
    """The number of each listed pair, in their order."""
    at = np.arange(len(plan.listed))
    n_later = np.searchsorted(plan.listed_before, at, side="right")  # later blocks that came before the pair
    ends = np.concatenate([[0], np.cumsum(plan.numbers_per_block)])
    return np.asarray(at + ends[len(plan.blocks) - len(plan.later_blocks) + n_later])


def _numbers_in_blocks(plan: QueryPlan, left: IntArray, right: IntArray) -> IntArray:
    """The number of each pair's place in its block; −1 where the block is not asked whole."""
    group_left, group_right = plan.group_of[left], plan.group_of[right]
    swap = (group_left > group_right) | (
        (group_left == group_right) & (plan.position_of[left] > plan.position_of[right])
    )
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    l, m = plan.group_of[left], plan.group_of[right]
    row, column = plan.position_of[left] - plan.starts[l], plan.position_of[right] - plan.starts[m]
    n_l, n_m = plan.sizes[l], plan.sizes[m]
    inside = np.where(l == m, row * (2 * n_l - row - 1) // 2 + column - row - 1, row * n_m + column)
    if not len(plan.blocks):
        return np.full(l.shape, -1)
    numbers: IntArray = np.where(plan.asked[l, m], block_starts(plan)[_block_index(plan)[l, m]] + inside, -1)
    return numbers


def _pairs_in_blocks(plan: QueryPlan, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """The nodes of the pairs at these numbers of blocks."""
    if not len(numbers):  # there may be no block
        return numbers, numbers
    starts = block_starts(plan)
    block = np.searchsorted(starts, numbers, side="right") - 1
    l, m = plan.blocks[block].T
    inside = numbers - starts[block]
    n_l, n_m = plan.sizes[l], plan.sizes[m]
    row = np.where(l == m, _triangle_row(inside, n_l), inside // n_m)
    column = np.where(l == m, inside - row * (2 * n_l - row - 1) // 2 + row + 1, inside % n_m)
    return plan.order[plan.starts[l] + row], plan.order[plan.starts[m] + column]


def _block_index(plan: QueryPlan) -> IntArray:
    index = np.zeros((plan.n_groups, plan.n_groups), dtype=np.int64)
    index[tuple(plan.blocks.T)] = np.arange(len(plan.blocks))
    return index


def _triangle_row(inside: IntArray, n: IntArray) -> IntArray:
    """The row of the ``inside``-th entry of a strict upper triangle of side n."""
    b = 2 * n - 1
    # Valid for diagonal blocks only; elsewhere the value is not used, so keep the root real.
    row = np.floor((b - np.sqrt(np.maximum(b * b - 8.0 * inside, 0.0))) / 2).astype(np.int64)
    # The root is inexact for huge blocks: step to the right row.
    row -= row * (2 * n - row - 1) // 2 > inside
    row += (row + 1) * (2 * n - row - 2) // 2 <= inside
    return row
