"""A study is a folder: plan.json, items.csv, answers.parquet, model.npz, report.html.

``study.json`` says how many clusters the study looks for.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bequec.ask.answers import Answers
from bequec.ask.sheets import check_sheet
from bequec.ask.tables import answers_from_table, read_pairs, read_table
from bequec.errors import AnswersError, StudyError
from bequec.files import read_json, whole_file, write_json
from bequec.learn.bequec import BeQuec
from bequec.plan.query_plan import QueryPlan

FORMAT, VERSION = "bequec study", 1
RULES = b"bequec"  # where answers.parquet keeps how its rows are to be read


class Study:
    """The files of one study and what is in them."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"Study({str(self.folder)!r})"

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        plan: QueryPlan,
        items: pd.DataFrame,
        n_clusters: int,
        *,
        overwrite: bool = False,
        notes: Mapping[str, object] | None = None,
    ) -> Self:
        """Start a study; an existing one is kept unless ``overwrite``, and never lost once it has answers."""
        study = cls(folder)
        if study.path("answers.parquet").exists():
            raise StudyError(f"{folder} already holds answers to another plan; choose another folder (--study)")
        if study.path("study.json").exists() and not overwrite:
            raise StudyError(f"{folder} is already a study; choose another folder (--study), or say --overwrite")
        with whole_file(study.path("items.csv")) as temporary:
            items.to_csv(temporary, index=False)
        plan.save(study.path("plan.json"))
        # Last, so that a folder is a study only when all of it is there.
        write_json(
            study.path("study.json"),
            {"format": FORMAT, "version": VERSION, "n_clusters": int(n_clusters), **(notes or {})},
        )
        return study

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """An existing study; an error if the folder is none."""
        study = cls(folder)
        if not study.path("study.json").exists():
            what = "is not a study (no study.json)" if study.folder.exists() else "does not exist"
            raise StudyError(f"{folder} {what}; start one with `bequec plan ITEMS -k CLUSTERS --study {folder}`")
        return study

    def path(self, name: str) -> Path:
        """A file of the study."""
        return self.folder / name

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What study.json says."""
        settings: dict[str, Any] = read_json(self.path("study.json"), kind=FORMAT, version=VERSION, error=StudyError)
        return settings

    @property
    def n_clusters(self) -> int:
        """How many clusters the study looks for."""
        return int(self.settings["n_clusters"])

    @cached_property
    def plan(self) -> QueryPlan:
        """The study's plan."""
        return QueryPlan.load(self.path("plan.json"))

    @cached_property
    def items(self) -> pd.DataFrame:
        """One row per item, at least with its name."""
        return read_table(self.path("items.csv"))

    @property
    def images(self) -> list[Path] | None:
        """The items' image files, where items are images."""
        if "image" not in self.items:
            return None
        return [self.folder / path for path in self.items["image"]]

    # --- answers -----------------------------------------------------------------------------------------

    def has_answers(self) -> bool:
        """Whether any answer came in yet."""
        return self.path("answers.parquet").exists()

    def answers(self, *, unsure: Literal["unanswered", "half"] = "unanswered") -> Answers:
        """All answers so far."""
        table, rules = self._answers_table()
        return answers_from_table(table, self.plan, unlisted=rules["unlisted"], unsure=unsure)

    def add_answers(
        self,
        source: str | os.PathLike[str],
        *,
        unlisted: Literal["unanswered", "no"] = "unanswered",
        outside: Literal["error", "drop"] = "error",
    ) -> tuple[int, int]:
        """Add a file of answers to the study's table; says how many rows were added and how many were empty.

        All of the file or nothing: a row that does not belong refuses the file. Columns beyond the pair and the
        label are kept.
        """
        source = Path(source)
        table = read_table(source)
        table.columns = [str(column).strip().lower() for column in table.columns]
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        earlier, rules = self._answers_table() if self.has_answers() else (None, {"unlisted": unlisted, "files": []})
        if rules["unlisted"] != unlisted:
            raise StudyError(
                f"{self.folder} holds {'a graph' if rules['unlisted'] == 'no' else 'answers to questions'}; "
                "a graph and answers to questions cannot be mixed, start another study for one of them"
            )
        if digest in rules["files"]:
            raise AnswersError(f"{source} was added before; adding it twice would count its answers twice")
        n_rows = len(table)
        if "label" in table:
            table = table[table["label"].map(lambda value: pd.notna(value) and str(value).strip() != "")]
        if table.empty:
            raise AnswersError(f"{source} holds no answer yet: all {n_rows} labels are empty; fill in some")
        table = table.reset_index(drop=True)
        # A dry run: refuses unknown names, labels and pairs before anything is kept.
        answers_from_table(table, self.plan, unlisted=unlisted, outside=outside)
        table, left, right = read_pairs(table, self.plan, drop_outside=outside == "drop")
        check_sheet(table, self.plan, left, right, str(source))
        _refuse_repeated(table, earlier, source)
        added = table.astype("string")
        everything = added if earlier is None else pd.concat([earlier, added], ignore_index=True)
        rules = {"unlisted": unlisted, "files": [*rules["files"], digest]}
        self._write_answers(everything, rules)
        return len(table), n_rows - len(table)

    def _answers_table(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        path = self.path("answers.parquet")
        if not path.exists():
            raise StudyError(
                f"{self.folder} has no answers yet; collect some with `bequec ask {self.folder} --sheets 120`, "
                f"then `bequec ask {self.folder} --answers FILE`"
            )
        try:
            stored = pq.read_table(path)
            rules = json.loads(stored.schema.metadata[RULES])
        except (pa.ArrowInvalid, KeyError, TypeError) as reason:
            raise StudyError(f"{path} was not written by bequec ({reason}); restore it from a copy") from reason
        return stored.to_pandas(), rules

    def _write_answers(self, table: pd.DataFrame, rules: dict[str, Any]) -> None:
        stored = pa.Table.from_pandas(table, preserve_index=False)
        stored = stored.replace_schema_metadata({**(stored.schema.metadata or {}), RULES: json.dumps(rules)})
        with whole_file(self.path("answers.parquet")) as temporary:
            pq.write_table(stored, temporary)

    # --- model -------------------------------------------------------------------------------------------

    def model(self) -> BeQuec:
        """The learned model."""
        if not self.path("model.npz").exists():
            raise StudyError(f"{self.folder} has no model yet; learn one with `bequec learn {self.folder}`")
        return BeQuec.load(self.path("model.npz"))


def _refuse_repeated(table: pd.DataFrame, earlier: pd.DataFrame | None, source: Path) -> None:
    """Refuse an answer by the same person (or on the same sheet) to the same question."""
    keys = [key for key in ("sheet", "worker", "question", "task") if key in table]
    if not {"question", "task"} & set(keys) or not {"sheet", "worker"} & set(keys):
        return
    asked = [table[keys].astype("string")]
    if earlier is not None and set(keys) <= set(earlier.columns):
        asked.insert(0, earlier[keys])
    repeated = pd.concat(asked, ignore_index=True).duplicated()
    if repeated.any():
        row = int(repeated.idxmax()) - (len(repeated) - len(table))
        which = ", ".join(f"{key} {table[key].iloc[row]}" for key in keys)
        raise AnswersError(
            f"{source}, row {row + 1}: {which} is answered already ({repeated.sum()} such rows); "
            "remove them, or add a column worker if they are other people's answers"
        )
