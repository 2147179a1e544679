"""The record of answers as one Parquet file, and that of sorts as another beside it.

Names, labels, piles, workers, sheets and other texts are written as dictionaries, numbers as numbers. How the rows are
to be read stands in each file's own metadata, so that it cannot be misread. Version 1 of the answers, which bequec 0.1
wrote, has every column as text; it means the same.
"""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bequec.ask.answer_table import EMPTY
from bequec.ask.handed_in import named_in_errors
from bequec.ask.sort_files import parse_sorts
from bequec.ask.store.answer_store import AnswerRecord
from bequec.ask.tables import parse_table
from bequec.core.errors import StudyError
from bequec.core.files import check_header, whole_file
from bequec.plan.query_plan import QueryPlan

FORMAT, VERSION = "bequec answers", 2
SORTS, SORTS_FORMAT, SORTS_VERSION = "sorts.parquet", "bequec sorts", 1
HEADER = b"bequec"  # the metadata's key


class ParquetRecord:
    """The answers in the file of this path, the sorts in one beside it; each is there only if it holds something.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> plan = QueryPlan([0, 0, 0], [(0, 0)], names=["ann", "bob", "eve"])
    >>> said = pd.DataFrame({"left": ["ann"], "right": ["eve"], "label": ["same"]})
    >>> table, _ = parse_table(said, plan, unlisted="unanswered", outside="error")
    >>> with TemporaryDirectory() as folder:
    ...     store = ParquetRecord(Path(folder) / "answers.parquet")
    ...     store.write(AnswerRecord(table, "unanswered"), plan)
    ...     store.read(plan)
    AnswerRecord(table=AnswerTable(1 rows: left, right, label, n_answers), unlisted='unanswered', sorts=None)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sorts_path = path.with_name(SORTS)

    def has_answers(self) -> bool:
        """Whether there is a record."""
        return self.path.exists() or self.sorts_path.exists()

    def changed_at(self) -> float:
        """When one of the files was written last."""
        return max(path.stat().st_mtime for path in (self.path, self.sorts_path) if path.exists())

    def read(self, plan: QueryPlan) -> AnswerRecord:
        """The record; an error if a file is none, or does not belong to the plan."""
        record = AnswerRecord(EMPTY, "unanswered")
        if self.path.exists() or not self.has_answers():
            rows, header = _opened(self.path, FORMAT, VERSION, "unlisted")
            with named_in_errors(self.path):
                table, _ = parse_table(rows, plan, unlisted=header["unlisted"], outside="error")
            record = AnswerRecord(table, header["unlisted"])
        if self.sorts_path.exists():
            rows, _ = _opened(self.sorts_path, SORTS_FORMAT, SORTS_VERSION, "format")
            with named_in_errors(self.sorts_path):
                sorts, _ = parse_sorts(rows, plan)
            record = record._replace(sorts=sorts)
        return record

    def write(self, record: AnswerRecord, plan: QueryPlan) -> None:
        """Replace the files, whole or not at all; none takes its place before all are written."""
        answers = {"format": FORMAT, "version": VERSION, "unlisted": record.unlisted}
        files = [(self.path, record.table.to_frame(plan), answers)]
        if record.sorts is not None:
            files = files if len(record.table) else []
            sorts = {"format": SORTS_FORMAT, "version": SORTS_VERSION}
            files.append((self.sorts_path, record.sorts.to_frame(plan), sorts))
        with ExitStack() as opened:
            for path, rows, header in files:
                stored = pa.Table.from_pandas(rows, preserve_index=False)
                stored = stored.replace_schema_metadata({**stored.schema.metadata, HEADER: json.dumps(header)})
                pq.write_table(stored, opened.enter_context(whole_file(path)), compression="zstd")


def _opened(path: Path, kind: str, version: int, needed: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The rows of a file of this kind, and its header, which says at least what is ``needed``."""
    try:
        stored = pq.read_table(path)
        header = json.loads(stored.schema.metadata[HEADER])
        if "format" in header:  # version 1 of the answers did not state it
            check_header(header, path, kind=kind, version=version, error=StudyError)
        _ = header[needed]
    except StudyError:
        raise
    except (pa.ArrowInvalid, KeyError, TypeError, ValueError) as reason:
        raise StudyError(f"{path} was not written by bequec ({reason}); restore it from a copy") from reason
    return stored.to_pandas(), header
