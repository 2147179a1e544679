"""The record of answers as one Parquet file.

Names, labels, workers, sheets and other texts are written as dictionaries, numbers as numbers. How the rows are to be
read stands in the file's own metadata, so that it cannot be misread. Version 1, which bequec 0.1 wrote, has every
column as text; it means the same.
"""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bequec.ask.store.answer_store import AnswerRecord
from bequec.ask.tables import parse_table
from bequec.core.errors import AnswersError, StudyError
from bequec.core.files import check_header, whole_file
from bequec.plan.query_plan import QueryPlan

FORMAT, VERSION = "bequec answers", 2
HEADER = b"bequec"  # the metadata's key


class ParquetRecord:
    """The record in one file.

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
    AnswerRecord(table=AnswerTable(1 rows: left, right, label, n_answers), unlisted='unanswered')
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def has_answers(self) -> bool:
        """Whether there is a record."""
        return self.path.exists()

    def changed_at(self) -> float:
        """When the file was written."""
        return self.path.stat().st_mtime

    def read(self, plan: QueryPlan) -> AnswerRecord:
        """The record; an error if the file is none, or does not belong to the plan."""
        try:
            stored = pq.read_table(self.path)
            header = json.loads(stored.schema.metadata[HEADER])
            if "format" in header:  # version 1 did not state it
                check_header(header, self.path, kind=FORMAT, version=VERSION, error=StudyError)
            unlisted = header["unlisted"]
        except StudyError:
            raise
        except (pa.ArrowInvalid, KeyError, TypeError, ValueError) as reason:
            raise StudyError(f"{self.path} was not written by bequec ({reason}); restore it from a copy") from reason
        try:
            table, _ = parse_table(stored.to_pandas(), plan, unlisted=unlisted, outside="error")
        except AnswersError as reason:
            raise AnswersError(f"{self.path}: {reason}") from reason
        return AnswerRecord(table, unlisted)

    def write(self, record: AnswerRecord, plan: QueryPlan) -> None:
        """Replace the file, whole or not at all."""
        header = {"format": FORMAT, "version": VERSION, "unlisted": record.unlisted}
        stored = pa.Table.from_pandas(record.table.to_frame(plan), preserve_index=False)
        stored = stored.replace_schema_metadata({**stored.schema.metadata, HEADER: json.dumps(header)})
        with whole_file(self.path) as temporary:
            pq.write_table(stored, temporary, compression="zstd")
