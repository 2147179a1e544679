"""Files of sorts: which tables are sorts, and their placements read once into typed columns."""

import warnings

import numpy as np
import pandas as pd

from bequec.ask.columns import (
    is_blank,
    known_nodes,
    read_others,
    refuse_missing,
    refuse_unknown,
    row_number,
    sheet_name,
    text_column,
    with_plain_columns,
)
from bequec.ask.sorts import MARKS, SortTable
from bequec.core.arrays import BoolArray, IntArray
from bequec.core.errors import AnswersError, shortened
from bequec.plan.query_plan import QueryPlan

SORT_COLUMNS = ("sheet", "item", "pile")


def holds_sorts(table: pd.DataFrame) -> bool:
    """Whether a table's columns are those of sorts, and not of pairs."""
    columns = {str(column).strip().lower() for column in table.columns}
    return columns.issuperset(("item", "pile")) and not columns & {"left", "right", "source", "target", "task"}


def has_pile(table: pd.DataFrame, file_of_row: IntArray) -> BoolArray:
    """Which rows are of a screen that was sorted: a sheet without a single pile is still to be filled in."""
    table = with_plain_columns(table)
    check_sort_columns(table)
    rows = pd.DataFrame({mark: text_column(table[mark]).codes for mark in MARKS if mark in table})
    rows = rows.assign(file=file_of_row, has_pile=~is_blank(table["pile"]))
    return np.asarray(rows.groupby([*rows.columns.drop("has_pile")])["has_pile"].transform("any"))


def check_sort_columns(table: pd.DataFrame) -> None:
    """Refuse a table that lacks a column of sorts."""
    missing = [column for column in SORT_COLUMNS if column not in table]
    if missing:
        raise AnswersError(
            f"the table has no column {missing[0]!r} (its columns are {shortened(list(table.columns))}); sorts need "
            "sheet, item and pile, and worker where several people sorted the same sheet"
        )


def parse_sorts(
    table: pd.DataFrame, plan: QueryPlan, *, outside: str = "error", file_of_row: IntArray | None = None
) -> tuple[SortTable, IntArray]:
    """The placements of items that the plan knows, and their places in ``table``; see ``answers_from_sorts``.

    The table's index holds the rows' numbers in their file, counted from 0. ``file_of_row`` says which file each row
    is from: an item may be on a sheet once per file.
    """
    if table.empty:
        raise AnswersError("the table has no rows; give one row per item and sheet")
    table = with_plain_columns(table)
    check_sort_columns(table)
    refuse_missing(table["sheet"], "sheet", "say on which sheet each item was sorted")
    refuse_missing(table["item"], "item", "name the item of every row")
    item = known_nodes(table["item"], plan)
    kept = np.flatnonzero(item >= 0)
    if len(kept) < len(item):
        if outside == "error":
            refuse_unknown(table["item"][item < 0], plan, '; drop items that it does not know with outside="drop"')
        warnings.warn(
            f"dropped {len(item) - len(kept)} of {len(item)} rows of items that the plan does not know", stacklevel=4
        )
        table, item = table.iloc[kept], item[kept]
    sheet, pile = text_column(table["sheet"]), text_column(table["pile"])
    names = pd.Categorical(pd.Index([sheet_name(text) for text in sheet.categories], dtype="str"))
    sheet = pd.Categorical.from_codes(names.codes[sheet.codes], names.categories)
    columns = {"sheet": sheet, "item": item, "pile": pile, **read_others(table, SORT_COLUMNS)}
    sorts = SortTable(pd.DataFrame(columns, copy=False))
    _refuse_repeated(
        sorts, plan, table, np.zeros(len(item), dtype=np.int64) if file_of_row is None else file_of_row[kept]
    )
    return sorts, kept


def _refuse_repeated(sorts: SortTable, plan: QueryPlan, table: pd.DataFrame, file_of_row: IntArray) -> None:
    """On one screen an item has one place."""
    rows = pd.DataFrame({"file": file_of_row, "screen": sorts.screen, "item": sorts.item})
    repeated = np.flatnonzero(rows.duplicated())
    if len(repeated):
        row = int(repeated[0])
        raise AnswersError(
            f"row {row_number(table, row)}: {sorts.describe(row, plan)} is on this sheet a second time "
            f"({len(repeated)} such rows); an item has one pile per sheet and worker: remove one row, or add a column "
            "worker if two people sorted the sheet"
        )
