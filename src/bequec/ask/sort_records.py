"""A study's record of sorts grows: one person has one sort per sheet, and nothing is overwritten unasked."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bequec.ask.records import Merged, Rules, merge_rows
from bequec.ask.sorts import SortTable
from bequec.ask.typed_rows import concatenated
from bequec.core.arrays import IntArray
from bequec.plan.query_plan import QueryPlan


def merge_sorts(
    record: SortTable | None,
    new: SortTable,
    plan: QueryPlan,
    *,
    file_of_row: IntArray | None = None,
    files: Sequence[object] = (),
    replace: bool = False,
) -> Merged[SortTable]:
    """Add placements to a record, one file after another.

    A placement is known by its sheet, worker and item. Where a sheet came without a worker, it is the same sheet
    whoever hands it in again; without a worker, it is the first sheet of its number. "Not sure" may become a pile,
    any other placement changes only with ``replace``. ``files`` are named in errors.

    Examples
    --------
    >>> from bequec.ask.sort_files import parse_sorts
    >>> plan = QueryPlan([0, 0, 0], [(0, 0)])
    >>> said = pd.DataFrame({"sheet": 1, "item": [0, 1], "pile": ["a", ""]})
    >>> before, now = (parse_sorts(rows, plan)[0] for rows in (said, said.assign(pile="a")))
    >>> merged = merge_sorts(before, now, plan)
    >>> merged.is_added.tolist(), merged.is_changed.tolist(), merged.table.pile.tolist()
    ([False, False], [False, True], [0, 0])
    """
    rules = Rules[SortTable](
        first=_first_placements,
        said=lambda table: (table.pile,),
        changing=("pile",),
        is_unsure=lambda table: table.pile < 0,
        contradiction=lambda table, before, now: _contradiction(table, before, now, plan),
    )
    new = _with_recorded_workers(record, new)
    return merge_rows(record, new, rules, file_of_row=file_of_row, files=files, replace=replace)


def _with_recorded_workers(record: SortTable | None, new: SortTable) -> SortTable:
    """The new rows with the worker of the sheet that they are of, where it or they have none."""
    together = new if record is None else concatenated([record, new])
    worker = together.texts("worker")
    if (worker.codes < 0).all() or (worker.codes >= 0).all():
        return new
    _, first_of_sheet, sheet = np.unique(together.texts("sheet").codes, return_index=True, return_inverse=True)
    of_first = worker.codes[first_of_sheet][sheet]
    codes = np.where((of_first < 0) | (worker.codes < 0), of_first, worker.codes)[len(together) - len(new) :]
    return SortTable(new.rows.assign(worker=pd.Categorical.from_codes(codes, worker.categories)))


def _first_placements(table: SortTable, n_recorded: int, file_of_row: IntArray) -> IntArray:
    """For every row the first of its screen and item."""
    key = table.screen * (int(table.item.max(initial=0)) + 1) + table.item
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])


def _contradiction(table: SortTable, before: int, now: int, plan: QueryPlan) -> str:
    piles = table.texts("pile")
    earlier, later = ("'not sure'" if pd.isna(piles[at]) else f"on pile {piles[at]!r}" for at in (before, now))
    remedy = "if it is another person's sort say in a column worker whose each of them is"
    if table.texts("worker").codes[now] >= 0:
        remedy = "one person has one sort per sheet"
    return f"{table.describe(now, plan)} was {earlier} before and {later} now; {remedy}"
