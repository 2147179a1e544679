"""Files of answers as they are handed in: many small sheets are checked together, as fast as one large table."""

import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bequec.ask.columns import check_pair_columns
from bequec.ask.records import has_label, standard_rows
from bequec.ask.sheets import check_sheet
from bequec.ask.tables import parse_table
from bequec.core.errors import AnswersError, shortened
from bequec.core.progress import Progress
from bequec.core.tables import read_table
from bequec.plan.query_plan import QueryPlan


class HandedIn(NamedTuple):
    """One file: its rows that have a label and that the plan asks, and how many others there were."""

    source: Path
    rows: pd.DataFrame
    n_empty: int
    n_dropped: int


def read_handed_in(
    sources: Sequence[str | os.PathLike[str]], plan: QueryPlan, *, unlisted: str, outside: str, callback: Progress
) -> Iterator[HandedIn]:
    """Read and check files of answers, in their order; the first row that does not belong is an error."""
    read: list[tuple[Path, pd.DataFrame]] = []
    for source in map(Path, sources):
        table = read_table(source)
        if unlisted == "unanswered":
            with named_in_errors(source):
                _refuse_no_answers(table)
        read.append((source, table))
        callback("reading answers", len(read), len(sources))
    for _, alike in itertools.groupby(read, key=lambda one: (list(one[1].columns), list(one[1].dtypes))):
        yield from _check(list(alike), plan, unlisted, outside)


@contextmanager
def named_in_errors(source: Path) -> Iterator[None]:
    """Say of which file an error speaks."""
    try:
        yield
    except AnswersError as reason:
        told = str(reason)
        raise AnswersError(told if str(source) in told else f"{source}: {told}") from reason


def _refuse_no_answers(table: pd.DataFrame) -> None:
    """A sheet whose labels are still empty is fine; a table that cannot hold an answer is not."""
    if table.empty:
        raise AnswersError(
            f"no row with a label: columns are {shortened(list(table.columns))}, and there are no rows; "
            "give one row per answer"
        )
    check_pair_columns(table)


def _check(files: list[tuple[Path, pd.DataFrame]], plan: QueryPlan, unlisted: str, outside: str) -> Iterator[HandedIn]:
    if len(files) > 1:
        try:
            yield from _parse(files, plan, unlisted, outside)
        except AnswersError:
            pass  # one by one, to say which file and row it is
        else:
            return
    for source, table in files:
        with named_in_errors(source):
            yield from _parse([(source, table)], plan, unlisted, outside)


def _parse(files: list[tuple[Path, pd.DataFrame]], plan: QueryPlan, unlisted: str, outside: str) -> list[HandedIn]:
    table = pd.concat([table for _, table in files], ignore_index=True)
    file_of_row = np.repeat(np.arange(len(files)), [len(table) for _, table in files])
    is_filled = has_label(table).to_numpy()
    n_filled = np.bincount(file_of_row[is_filled], minlength=len(files))
    if not is_filled.any():
        return [HandedIn(source, table.iloc[:0], len(table), 0) for source, table in files]
    parsed = parse_table(table[is_filled], plan, unlisted=unlisted, outside=outside)
    check_sheet(parsed.rows, plan, parsed.left, parsed.right)
    rows = standard_rows(parsed, plan)
    ends = np.searchsorted(file_of_row[parsed.rows.index], np.arange(len(files) + 1))
    return [
        HandedIn(
            source,
            rows.iloc[ends[file] : ends[file + 1]],
            len(table) - n_filled[file],
            int(n_filled[file] - (ends[file + 1] - ends[file])),
        )
        for file, (source, table) in enumerate(files)
    ]
