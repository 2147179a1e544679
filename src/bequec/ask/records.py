"""A study's record of answers grows: nothing is counted twice, nothing is overwritten unless it is asked for."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bequec.ask.answer_table import AnswerTable, concatenated
from bequec.ask.columns import label_text
from bequec.ask.keys import LABEL_STEPS, first_rows
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import AnswersError
from bequec.plan.query_plan import QueryPlan


class Merged(NamedTuple):
    """The record with the new rows, and which of them were added or changed an earlier answer."""

    table: AnswerTable
    is_added: BoolArray
    is_changed: BoolArray


def merge(
    record: AnswerTable | None,
    new: AnswerTable,
    plan: QueryPlan,
    *,
    file_of_row: IntArray | None = None,
    files: Sequence[object] = (),
    replace: bool = False,
) -> Merged:
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
    n_recorded = 0 if record is None else len(record)
    together = new if record is None else concatenated([record, new])
    file_of_new = np.zeros(len(new), dtype=np.int64) if file_of_row is None else file_of_row
    file = np.concatenate([np.zeros(n_recorded, dtype=np.int64), file_of_new + 1])
    first = first_rows(together, n_recorded, file, replace=replace)
    is_first = first == np.arange(len(together))
    says_other, latest = _changes(together, first)
    if not replace:
        _refuse_contradictions(together, says_other, plan, file, files)
    is_added, is_changed = is_first[n_recorded:], says_other[n_recorded:] >= 0
    if record is not None and not is_added.any() and not is_changed.any():
        return Merged(record, is_added, is_changed)
    kept = together if is_first.all() else together.take(is_first)
    if is_changed.any():
        label, n_answers = (np.asarray(together.rows[column])[latest[is_first]] for column in ("label", "n_answers"))
        kept = kept.with_answers(label, n_answers)
    return Merged(kept, is_added, is_changed)


def _changes(table: AnswerTable, first: IntArray) -> tuple[IntArray, IntArray]:
    """For each row the one whose answer it changes (−1 if none), and the row that says each answer as it is now."""
    rows = np.arange(len(table))
    says_other, latest = np.full(len(table), -1), rows.copy()
    repeated = np.flatnonzero(first != rows)
    repeated = repeated[np.argsort(first[repeated], kind="stable")]
    holder = first[repeated]
    begins = np.append(True, holder[1:] != holder[:-1])[: len(holder)]
    before = np.where(begins, holder, np.append(-1, repeated[:-1])[: len(holder)])
    n_answers = table.n_answers
    differs = _steps(table.label[repeated]) != _steps(table.label[before])
    differs |= n_answers[repeated] != n_answers[before]
    says_other[repeated[differs]] = before[differs]
    latest[holder[differs]] = repeated[differs]  # of several the last assignment stays
    return says_other, latest


def _steps(label: FloatArray) -> FloatArray:
    """Labels to compare: −1 for unsure, and what agrees to twelve decimals is equal."""
    return np.where(np.isnan(label), -1.0, np.rint(label * LABEL_STEPS))


def _refuse_contradictions(
    table: AnswerTable, says_other: IntArray, plan: QueryPlan, file: IntArray, files: Sequence[object]
) -> None:
    """Only "unsure" may become another answer."""
    wrong = np.flatnonzero((says_other >= 0) & ~np.isnan(table.label[says_other]))
    if not len(wrong):
        return
    row = int(wrong[0])
    before, now = (label_text(table.label[at]) for at in (says_other[row], row))
    remedy = "if it is another person's answer add a column worker"
    if table.texts("worker").codes[row] >= 0:
        remedy = "one person has one answer per pair"
    told = (
        f"{table.describe(row, plan)} was answered {before!r} before and {now!r} now; "
        f"{remedy}, to correct it say replace=True"
    )
    raise AnswersError(f"{files[file[row] - 1]}: {told}" if len(files) else told)
