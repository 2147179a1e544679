"""A study is a folder: plan.json, items.csv, answers.parquet, model.npz, report.html.

``study.json`` says how many clusters the study looks for.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bequec.ask.answers import Answers
from bequec.ask.sheets import check_sheet
from bequec.ask.tables import answers_from_table, parse_table, read_table
from bequec.errors import AnswersError, StudyError
from bequec.files import read_json, whole_file, write_json
from bequec.learn.bequec import BeQuec
from bequec.plan.query_plan import QueryPlan, shortened

FORMAT, VERSION = "bequec study", 1
RULES = b"bequec"  # where answers.parquet keeps how its rows are to be read


class Added(NamedTuple):
    """What came of one file of answers: rows added, without a label, and already known (or dropped)."""

    source: Path
    n_added: int
    n_empty: int
    n_known: int


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
            {"format": FORMAT, "version": VERSION, "n_clusters": int(n_clusters)},
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
        sources: Sequence[str | os.PathLike[str]],
        *,
        unlisted: Literal["unanswered", "no"] = "unanswered",
        outside: Literal["error", "drop"] = "error",
    ) -> list[Added]:
        """Add files of answers to the study's table, all of them or none, with all their columns.

        A row that does not belong refuses everything. Rows without a label are left out, and so are answers that
        are already here, so that a sheet can be handed in again after more of it was filled in.
        """
        earlier, rules = self._answers_table() if self.has_answers() else (None, {"unlisted": unlisted, "files": []})
        if rules["unlisted"] != unlisted:
            raise StudyError(
                f"{self.folder} holds {'a graph' if rules['unlisted'] == 'no' else 'answers to questions'}; "
                "a graph and answers to questions cannot be mixed, start another study for one of them"
            )
        tables = [] if earlier is None else [earlier]
        files = set(rules["files"])
        added = []
        for source in map(Path, sources):
            table = read_table(source).rename(columns=lambda column: str(column).strip().lower())
            digest = hashlib.sha256(source.read_bytes()).hexdigest()
            filled = table[_has_label(table)].reset_index(drop=True)
            new = filled
            if digest in files:
                new = filled.iloc[:0]
            elif len(filled):
                try:
                    parsed = parse_table(filled, self.plan, unlisted=unlisted, outside=outside)
                    check_sheet(parsed.rows, self.plan, parsed.left, parsed.right)
                    new = _not_yet_known(parsed.rows.astype("string"), tables)
                except AnswersError as reason:
                    raise AnswersError(f"{source}: {reason}") from reason
            files.add(digest)
            tables.append(new.astype("string"))
            added.append(Added(source, len(new), len(table) - len(filled), len(filled) - len(new)))
        if not any(len(table) for table in tables[earlier is not None :]):
            raise AnswersError(
                f"there is no new answer in {shortened([str(one.source) for one in added], 3)}: "
                f"{sum(one.n_empty for one in added)} rows have no label, "
                f"{sum(one.n_known for one in added)} are known or not asked"
            )
        rules = {"unlisted": unlisted, "files": sorted(files)}
        self._write_answers(pd.concat(tables, ignore_index=True), rules)
        return added

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


def _has_label(table: pd.DataFrame) -> "pd.Series[bool]":
    if "label" not in table:
        return pd.Series(True, index=table.index)
    return table["label"].notna() & (table["label"].astype(str).str.strip() != "")


def _not_yet_known(new: pd.DataFrame, tables: list[pd.DataFrame]) -> pd.DataFrame:
    """The new rows without those that are here already; a changed answer to the same question is an error."""
    keys = [key for key in ("sheet", "worker", "question", "task") if key in new]
    if not {"question", "task"} & set(keys) or not {"sheet", "worker"} & set(keys):
        return new
    earlier = [table[[*keys, "label"]] for table in tables if {*keys, "label"} <= set(table.columns)]
    before = pd.concat([*earlier, new[[*keys, "label"]]], ignore_index=True)
    is_repeat = before.duplicated(keys)
    is_same = before.duplicated([*keys, "label"])
    if (is_repeat & ~is_same).any():
        row = int((is_repeat & ~is_same).idxmax()) - (len(before) - len(new))
        which = ", ".join(f"{key} {new[key].iloc[row]}" for key in keys)
        raise AnswersError(
            f"row {row + 1}: {which} was answered otherwise before, now {new['label'].iloc[row]!r}; "
            "if it is another person's answer, add a column worker"
        )
    return new[~is_same.to_numpy()[len(before) - len(new) :]]
