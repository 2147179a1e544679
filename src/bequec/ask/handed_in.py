"""Answers as they are handed in: many small sheets are checked together, as fast as one large table."""

import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bequec.ask.answer_table import EMPTY, AnswerTable
from bequec.ask.columns import check_pair_columns, has_label
from bequec.ask.sheets import check_sheet
from bequec.ask.sort_files import has_pile, holds_sorts, parse_sorts
from bequec.ask.sorts import SortTable
from bequec.ask.tables import parse_table
from bequec.ask.typed_rows import concatenated
from bequec.core.arrays import IntArray
from bequec.core.errors import AnswersError, shortened
from bequec.core.progress import Progress
from bequec.core.tables import read_table
from bequec.plan.query_plan import QueryPlan

NOTHING = np.empty(0, dtype=np.int64)


class HandedIn(NamedTuple):
    """The rows that say something the plan asks, which file each is from, and how many others there were per file.

    ``sorts`` are the placements in files of sorts, None without such files; ``file_of_placement`` is of their rows.
    """

    table: AnswerTable
    file_of_row: IntArray
    n_empty: IntArray
    n_dropped: IntArray
    sorts: SortTable | None = None
    file_of_placement: IntArray = NOTHING


def read_handed_in(
    sources: Sequence[str | os.PathLike[str]],
    plan: QueryPlan,
    *,
    unlisted: str,
    outside: str,
    progress: Progress | None = None,
) -> HandedIn:
    """Read and check files of answers, in their order; the first row that does not belong is an error."""
    read: list[tuple[Path, pd.DataFrame]] = []
    for source in map(Path, sources):
        table = read_table(source)
        with named_in_errors(source):
            _refuse_no_answers(table, unlisted)
        read.append((source, table))
        if progress is not None:
            progress("reading answers", len(read), len(sources))
    parts = []
    for _, alike in itertools.groupby(read, key=lambda one: (list(one[1].columns), list(one[1].dtypes))):
        parts += _check(list(alike), plan, unlisted, outside)
    return _together(parts)


@contextmanager
def named_in_errors(source: Path) -> Iterator[None]:
    """Say of which file an error speaks."""
    try:
        yield
    except AnswersError as reason:
        told = str(reason)
        raise AnswersError(told if str(source) in told else f"{source}: {told}") from reason


def _refuse_no_answers(table: pd.DataFrame, unlisted: str) -> None:
    """A sheet whose labels are still empty is fine; a table that cannot hold an answer is not."""
    if unlisted == "no":
        if holds_sorts(table):
            raise AnswersError("this is a table of sorts, not a list of edges; hand it in among the answers")
        return
    if table.empty:
        raise AnswersError(
            f"no row with a label: columns are {shortened(list(table.columns))}, and there are no rows; "
            "give one row per answer"
        )
    if not holds_sorts(table):
        check_pair_columns(table)


def _check(files: list[tuple[Path, pd.DataFrame]], plan: QueryPlan, unlisted: str, outside: str) -> list[HandedIn]:
    if len(files) > 1:
        try:
            return [_parse([table for _, table in files], plan, unlisted, outside)]
        except AnswersError:
            pass  # one by one, to say which file and row it is
    parts = []
    for source, table in files:
        with named_in_errors(source):
            parts.append(_parse([table], plan, unlisted, outside))
    return parts


def _parse(tables: list[pd.DataFrame], plan: QueryPlan, unlisted: str, outside: str) -> HandedIn:
    table = tables[0].reset_index(drop=True) if len(tables) == 1 else pd.concat(tables, ignore_index=True)
    n_rows = np.array([len(one) for one in tables])
    file_of_row = np.repeat(np.arange(len(tables)), n_rows)
    are_sorts = holds_sorts(table)
    filled = np.flatnonzero(has_pile(table, file_of_row) if are_sorts else has_label(table))
    n_filled = np.bincount(file_of_row[filled], minlength=len(tables))
    if not len(filled):
        return HandedIn(EMPTY, NOTHING, n_rows, n_filled)
    if len(filled) < len(table):
        table = table.iloc[filled]
    file_of_row = file_of_row[filled]
    parsed, sorts = EMPTY, None
    if are_sorts:
        sorts, kept = parse_sorts(table, plan, outside=outside, file_of_row=file_of_row)
    else:
        parsed, kept = parse_table(table, plan, unlisted=unlisted, outside=outside)
        check_sheet(parsed, plan, np.asarray(table.index)[kept])
    file_of_row = file_of_row[kept]
    counts = n_rows - n_filled, n_filled - np.bincount(file_of_row, minlength=len(tables))
    if sorts is None:
        return HandedIn(parsed, file_of_row, *counts)
    return HandedIn(EMPTY, NOTHING, *counts, sorts, file_of_row)


def _together(parts: list[HandedIn]) -> HandedIn:
    starts = np.cumsum([0, *(len(part.n_empty) for part in parts)])
    sorts = [part.sorts for part in parts if part.sorts is not None]
    return HandedIn(
        concatenated([part.table for part in parts]),
        np.concatenate([part.file_of_row + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.n_empty for part in parts]),
        np.concatenate([part.n_dropped for part in parts]),
        concatenated(sorts) if sorts else None,
        np.concatenate([part.file_of_placement + start for part, start in zip(parts, starts, strict=False)]),
    )
