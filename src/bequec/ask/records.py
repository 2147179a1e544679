"""A study's record of answers grows: nothing is counted twice, nothing is overwritten unless it is asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np

from bequec.ask.answer_table import AnswerTable
from bequec.ask.columns import label_text
from bequec.ask.keys import LABEL_STEPS, first_rows
from bequec.ask.typed_rows import Rows, concatenated
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import AnswersError
from bequec.plan.query_plan import QueryPlan


class Merged(NamedTuple, Generic[Rows]):
    """The record with the new rows, and which of them were added or changed an earlier answer."""

    table: Rows
    is_added: BoolArray
    is_changed: BoolArray


@dataclass(frozen=True)
class Rules(Generic[Rows]):
    """How a kind of record grows.

    Attributes
    ----------
    first : function (rows, how many of them are recorded, file of each) -> rows
        The row that holds each row's answer: itself where the answer is new.
    said : function (rows) -> columns
        What an answer says, as columns to compare.
    changing : names of columns
        What an answer that says something else changes.
    is_unsure : function (rows) -> booleans
        Which answers may change.
    contradiction : function (rows, the earlier row, the row that says something else) -> text
        What is wrong where another answer would change, and what to do.
    """

    first: Callable[[Rows, int, IntArray], IntArray]
    said: Callable[[Rows], tuple[IntArray | FloatArray, ...]]
    changing: tuple[str, ...]
    is_unsure: Callable[[Rows], BoolArray]
    contradiction: Callable[[Rows, int, int], str]


def merge(
    record: AnswerTable | None,
    new: AnswerTable,
    plan: QueryPlan,
    *,
    file_of_row: IntArray | None = None,
    files: Sequence[object] = (),
    replace: bool = False,
) -> Merged[AnswerTable]:
    """Add rows to a record, one file after another; see ``ask.keys`` for which rows are the same answer.

    An answer that was "unsure" may change, any other only with ``replace``. ``files`` are named in errors.

    Examples
    --------
    >>> from bequec import Answers
    >>> import pandas as pd
    >>> plan = QueryPlan([0, 0, 0], [(0, 0)])
    >>> said = pd.DataFrame({"left": [0, 0], "right": [1, 2], "label": ["same", "unsure"], "worker": ["ann", "ann"]})
    >>> before, now = (Answers.from_table(rows, plan).table for rows in (said, said.assign(label="same")))
    >>> merged = merge(before, now, plan)
    >>> merged.is_added.tolist(), merged.is_changed.tolist(), merged.table.label.tolist()
    ([False, False], [False, True], [1.0, 1.0])
    """
    rules = Rules[AnswerTable](
        first=lambda table, n_recorded, file: first_rows(table, n_recorded, file, replace=replace),
        said=lambda table: (_steps(table.label), table.n_answers),
        changing=("label", "n_answers"),
        is_unsure=lambda table: np.isnan(table.label),
        contradiction=lambda table, before, now: _contradiction(table, before, now, plan),
    )
    return merge_rows(record, new, rules, file_of_row=file_of_row, files=files, replace=replace)


def merge_rows(
    record: Rows | None,
    new: Rows,
    rules: Rules[Rows],
    *,
    file_of_row: IntArray | None = None,
    files: Sequence[object] = (),
    replace: bool = False,
) -> Merged[Rows]:
    """Add rows to a record of any kind; see ``merge``."""
    n_recorded = 0 if record is None else len(record)
    together = new if record is None else concatenated([record, new])
    file_of_new = np.zeros(len(new), dtype=np.int64) if file_of_row is None else file_of_row
    file = np.concatenate([np.zeros(n_recorded, dtype=np.int64), file_of_new + 1])
    first = rules.first(together, n_recorded, file)
    is_first = first == np.arange(len(together))
    says_other, latest = _changes(first, rules.said(together))
    wrong = np.flatnonzero((says_other >= 0) & ~rules.is_unsure(together)[says_other])
    if len(wrong) and not replace:  # only "unsure" may become another answer
        row = int(wrong[0])
        told = f"{rules.contradiction(together, int(says_other[row]), row)}, to correct it say replace=True"
        raise AnswersError(f"{files[file[row] - 1]}: {told}" if len(files) else told)
    is_added, is_changed = is_first[n_recorded:], says_other[n_recorded:] >= 0
    if record is not None and not is_added.any() and not is_changed.any():
        return Merged(record, is_added, is_changed)
    kept = together if is_first.all() else together.take(is_first)
    if is_changed.any():
        now = together.rows[list(rules.changing)].iloc[latest[is_first]].reset_index(drop=True)
        kept = type(kept)(kept.rows.assign(**now))
    return Merged(kept, is_added, is_changed)


def _changes(first: IntArray, said: tuple[IntArray | FloatArray, ...]) -> tuple[IntArray, IntArray]:
    """For each row the one whose answer it changes (−1 if none), and the row that says each answer as it is now.

    ``first`` is the row that holds each row's answer; ``said`` are the columns that say it.
    """
    rows = np.arange(len(first))
    says_other, latest = np.full(len(first), -1), rows.copy()
    repeated = np.flatnonzero(first != rows)
    repeated = repeated[np.argsort(first[repeated], kind="stable")]
    holder = first[repeated]
    begins = np.append(True, holder[1:] != holder[:-1])[: len(holder)]
    before = np.where(begins, holder, np.append(-1, repeated[:-1])[: len(holder)])
    differs = np.zeros(len(repeated), dtype=bool)
    for column in said:
        differs |= column[repeated] != column[before]
    says_other[repeated[differs]] = before[differs]
    latest[holder[differs]] = repeated[differs]  # of several the last assignment stays
    return says_other, latest


def _steps(label: FloatArray) -> FloatArray:
    """Labels to compare: −1 for unsure, and what agrees to twelve decimals is equal."""
    return np.where(np.isnan(label), -1.0, np.rint(label * LABEL_STEPS))


def _contradiction(table: AnswerTable, before: int, now: int, plan: QueryPlan) -> str:
    earlier, later = (label_text(table.label[at]) for at in (before, now))
    remedy = "if it is another person's answer add a column worker"
    if table.texts("worker").codes[now] >= 0:
        remedy = "one person has one answer per pair"
    return f"{table.describe(now, plan)} was answered {earlier!r} before and {later!r} now; {remedy}"
