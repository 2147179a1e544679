"""Every asked pair has a number, so that a question can be known by one whole number.

Pairs are numbered block by block in the order of ``plan.blocks``; inside a block row by row, inside a
diagonal block over the upper triangle. The numbers depend on the plan alone, and stay when it is extended: later
blocks come last. A pair that cannot be asked keeps its number, which no question uses.
"""

import numpy as np

from bequec.core.arrays import IntArray
from bequec.core.errors import AnswersError
from bequec.plan.query_plan import QueryPlan


def pair_numbers(plan: QueryPlan, left: IntArray, right: IntArray) -> IntArray:
    """The number of each pair of nodes; −1 where its block is not asked."""
    group_left, group_right = plan.group_of[left], plan.group_of[right]
    swap = (group_left > group_right) | (
        (group_left == group_right) & (plan.position_of[left] > plan.position_of[right])
    )
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    l, m = plan.group_of[left], plan.group_of[right]
    row, column = plan.position_of[left] - plan.starts[l], plan.position_of[right] - plan.starts[m]
    n_l, n_m = plan.sizes[l], plan.sizes[m]
    inside = np.where(l == m, row * (2 * n_l - row - 1) // 2 + column - row - 1, row * n_m + column)
    numbers: IntArray = np.where(plan.asked[l, m], _block_starts(plan)[_block_index(plan)[l, m]] + inside, -1)
    return numbers


def pairs_numbered(plan: QueryPlan, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """The nodes of the pairs with these numbers: the inverse of ``pair_numbers``."""
    numbers = np.asarray(numbers, dtype=np.int64)
    wrong = (numbers < 0) | (numbers >= plan.n_numbers)
    if wrong.any():
        raise AnswersError(
            f"there is no question number {numbers[wrong][0]}: the plan's questions are 0 … {plan.n_numbers - 1}"
        )
    starts = _block_starts(plan)
    block = np.searchsorted(starts, numbers, side="right") - 1
    l, m = plan.blocks[block].T
    inside = numbers - starts[block]
    n_l, n_m = plan.sizes[l], plan.sizes[m]
    row = np.where(l == m, _triangle_row(inside, n_l), inside // n_m)
    column = np.where(l == m, inside - row * (2 * n_l - row - 1) // 2 + row + 1, inside % n_m)
    return plan.order[plan.starts[l] + row], plan.order[plan.starts[m] + column]


def question_numbers(plan: QueryPlan) -> IntArray:
    """The numbers of all questions: every number whose pair can be asked."""
    numbers = np.arange(plan.n_numbers)
    if not len(plan.unaskable):
        return numbers
    return np.asarray(np.setdiff1d(numbers, pair_numbers(plan, *plan.unaskable.T)))


def _block_starts(plan: QueryPlan) -> IntArray:
    starts: IntArray = np.cumsum(plan.numbers_per_block) - plan.numbers_per_block
    return starts


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
