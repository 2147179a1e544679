"""What files that are handed in add to a study's record, and what came of each of them."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from bequec.ask.answer_table import EMPTY
from bequec.ask.handed_in import HandedIn
from bequec.ask.records import merge
from bequec.ask.sort_records import merge_sorts
from bequec.ask.store.answer_store import AnswerRecord
from bequec.plan.query_plan import QueryPlan


class Added(NamedTuple):
    """What came of one file of answers, in rows."""

    source: Path
    n_added: int
    n_empty: int
    n_known: int
    n_dropped: int
    n_changed: int


def add_to_record(
    record: AnswerRecord | None,
    handed: HandedIn,
    plan: QueryPlan,
    *,
    unlisted: Literal["unanswered", "no"],
    files: Sequence[str | PathLike[str]],
    replace: bool,
) -> tuple[AnswerRecord, list[Added]]:
    """The record with what was handed in, answers and sorts alike, and what came of each file."""
    earlier = record or AnswerRecord(EMPTY, unlisted)
    file, placed = handed.file_of_row, handed.file_of_placement
    known = earlier.table if len(earlier.table) else None
    answers = merge(known, handed.table, plan, file_of_row=file, files=files, replace=replace)
    grown = earlier._replace(table=answers.table)
    is_added, is_changed = answers.is_added, answers.is_changed
    if handed.sorts is not None:
        sorts = merge_sorts(earlier.sorts, handed.sorts, plan, file_of_row=placed, files=files, replace=replace)
        grown = grown._replace(sorts=sorts.table)
        is_added, is_changed = np.append(is_added, sorts.is_added), np.append(is_changed, sorts.is_changed)
    file = np.append(file, placed)
    n_rows, n_added, n_changed = (
        np.bincount(file[rows], minlength=len(files)) for rows in (slice(None), is_added, is_changed)
    )
    counts = n_added, handed.n_empty, n_rows - n_added - n_changed, handed.n_dropped, n_changed
    return grown, [Added(Path(name), *map(int, one)) for name, *one in zip(files, *counts, strict=True)]
