"""A study is a folder: plan.json, items.csv, answers.parquet, model.npz, report.html.

``study.json`` says how many clusters the study looks for, and which questions went out on sheets.
"""

import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bequec.ask.answers import Answers
from bequec.ask.handed_in import named_in_errors, read_handed_in
from bequec.ask.records import AnswerRecords
from bequec.ask.sheets import last_sheet_in, unanswered_questions, write_sheets
from bequec.ask.tables import answers_from_table
from bequec.core.errors import StudyError
from bequec.core.files import only_writer, read_json, whole_file, write_json
from bequec.core.tables import read_table
from bequec.plan.extension import is_extension
from bequec.plan.query_plan import QueryPlan
from bequec.study.item_columns import column_by_name

if TYPE_CHECKING:
    from bequec.learn.bequec import BeQuec

FORMAT, VERSION = "bequec study", 1
RULES = b"bequec"  # where answers.parquet keeps how its rows are to be read


class Added(NamedTuple):
    """What came of one file of answers, in rows."""

    source: Path
    n_added: int
    n_empty: int
    n_known: int
    n_dropped: int
    n_changed: int


class Dealt(NamedTuple):
    """What went out: how many questions, on which sheets, and how many of them had gone out before."""

    n_questions: int
    first_sheet: int
    last_sheet: int
    n_again: int


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
        if last_sheet_in(study.path("sheets")):
            raise StudyError(f"{study.path('sheets')} holds sheets of an earlier plan; move or remove the folder first")
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
        if study.path("study.json").exists():
            _ = study.settings  # says what is wrong with it now, not later
        else:
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
        if not isinstance(self.settings.get("n_clusters"), int):
            raise StudyError(f"{self.path('study.json')} does not say n_clusters; give it with -k")
        return int(self.settings["n_clusters"])

    def remember(self, **settings: object) -> None:
        """Keep a choice that later commands must share."""
        with only_writer(self.folder):
            self._remember(settings)

    def _remember(self, settings: dict[str, object]) -> None:
        self.__dict__.pop("settings", None)  # another command may have kept something meanwhile
        value = {**self.settings, **settings}
        write_json(self.path("study.json"), value)
        self.__dict__["settings"] = value

    @cached_property
    def plan(self) -> QueryPlan:
        """The study's plan."""
        if not self.path("plan.json").exists():
            raise StudyError(
                f"{self.folder} lacks plan.json; restore it from a copy, or plan anew (bequec plan --study)"
            )
        return QueryPlan.load(self.path("plan.json"))

    def extend(self, plan: QueryPlan) -> None:
        """Replace the plan by a larger one whose earlier questions keep their numbers; answers stay as they are."""
        with only_writer(self.folder):
            earlier = QueryPlan.load(self.path("plan.json"))
            if not is_extension(plan, earlier):
                raise StudyError(
                    f"this plan does not extend that of {self.folder}: items, groups and earlier questions must stay; "
                    "extend the study's own plan (extend_plan), or start another study"
                )
            if self.has_answers() and self._answers_table()[1]["unlisted"] == "no":
                raise StudyError(
                    f"{self.folder} holds a graph, whose edges outside the plan were dropped: new blocks would be read "
                    "as if they had none; plan anew with a larger budget (--study) and ask the graph again"
                )
            plan.save(self.path("plan.json"))
            self.__dict__["plan"] = plan

    @cached_property
    def items(self) -> pd.DataFrame:
        """One row per item, at least with its name."""
        return read_table(self.path("items.csv"))

    @property
    def images(self) -> list[Path] | None:
        """The items' image files, where items are images."""
        if "image" not in self.items:
            return None
        path_of = column_by_name(self.items, "image", self.plan, self.path("items.csv"))
        return [self.folder / path_of[str(self.plan.name(node))] for node in range(self.plan.n_nodes)]

    # --- sheets ------------------------------------------------------------------------------------------

    @property
    def dealt_until(self) -> int:
        """Questions with smaller numbers are answered or went out; those of an extension have larger ones."""
        return int(self.settings.get("dealt_until", 0))

    def deal(self, questions_each: int, rng: np.random.Generator, *, again: bool = False) -> Dealt:
        """Write sheets of the questions that are neither answered nor out; ``again``: of all without an answer."""
        with only_writer(self.folder):
            self.__dict__.pop("settings", None)  # another command may have dealt meanwhile
            unanswered = unanswered_questions(self.plan, self.answers() if self.has_answers() else None)
            is_out = unanswered < self.dealt_until
            if not len(unanswered):
                raise StudyError(f"every question of {self.folder} is answered; there is nothing left to ask")
            if is_out.all() and not again:
                raise StudyError(
                    f"all {len(unanswered):,} questions of {self.folder} without an answer went out on sheets already; "
                    f"hand them in with `{self.ask_command}`, or deal them anew on other sheets with --again"
                )
            questions = unanswered if again else unanswered[~is_out]
            first = self._last_sheet() + 1
            n_sheets = write_sheets(self.path("sheets"), self.plan, questions, questions_each, rng, first)
            last = first + n_sheets - 1
            self._remember({"last_sheet": last, "dealt_until": self.plan.n_numbers})
        return Dealt(len(questions), first, last, int(is_out.sum()) if again else 0)

    @property
    def ask_command(self) -> str:
        """How to go on asking: questions out, or answers in."""
        if self.dealt_until < self.plan.n_numbers and (self.dealt_until or not self.has_answers()):
            return f"bequec ask {self.folder} --sheets 120"
        sheets = self.path("sheets")
        return f"bequec ask {self.folder} --answers {sheets if last_sheet_in(sheets) else 'FILE'}"

    def _last_sheet(self) -> int:
        """The largest number of a sheet that was dealt, lies in the study or came back."""
        told = [int(self.settings.get("last_sheet", 0)), last_sheet_in(self.path("sheets"))]
        table = self._answers_table()[0] if self.has_answers() else pd.DataFrame()
        if "sheet" in table:
            numbers = pd.to_numeric(table["sheet"], errors="coerce").dropna()
            told += [int(number) for number in numbers.nlargest(1)]
        return max(told)

    # --- answers -----------------------------------------------------------------------------------------

    def has_answers(self) -> bool:
        """Whether any answer came in yet."""
        return self.path("answers.parquet").exists()

    def answers(self, *, unsure: Literal["unanswered", "half"] | None = None) -> Answers:
        """All answers so far; "unsure" means what it meant when the study was last learned, unless said here."""
        table, rules = self._answers_table()
        unsure = unsure or self.settings.get("unsure", "unanswered")
        return answers_from_table(table, self.plan, unlisted=rules["unlisted"], unsure=unsure)

    def add_answers(
        self,
        sources: Sequence[str | os.PathLike[str]],
        *,
        unlisted: Literal["unanswered", "no"] = "unanswered",
        outside: Literal["error", "drop"] = "error",
        replace: bool = False,
        callback: Callable[[str, int, int], None] | None = None,
    ) -> list[Added]:
        """Add files of answers to the study's table, all of them or none, with all their columns.

        A row that does not belong refuses everything. Rows without a label are left out, and so are answers that
        are already here, so that a file can be handed in again after more was filled in. An answer that was
        "unsure" may change; any other only with ``replace``. ``callback(what, done, total)`` is called as files
        are read and added.
        """
        with only_writer(self.folder):
            earlier, rules = self._answers_table() if self.has_answers() else (None, {"unlisted": unlisted})
            if rules["unlisted"] != unlisted:
                raise StudyError(
                    f"{self.folder} holds {'a graph' if rules['unlisted'] == 'no' else 'answers to questions'}; "
                    "a graph and answers to questions cannot be mixed, start another study for one of them"
                )
            records, added = AnswerRecords(earlier, replace=replace), []
            show = callback or (lambda *_: None)
            for one in read_handed_in(sources, self.plan, unlisted=unlisted, outside=outside, callback=show):
                with named_in_errors(one.source):
                    n_new, n_changed = records.add(one.rows) if len(one.rows) else (0, 0)
                n_known = len(one.rows) - n_new - n_changed
                added.append(Added(one.source, n_new, one.n_empty, n_known, one.n_dropped, n_changed))
                show("adding answers", len(added), len(sources))
            if any(one.n_added + one.n_changed for one in added):
                everything = records.table()
                # Read it as it will be read later, before it takes the place of what is there.
                answers_from_table(everything, self.plan, unlisted=unlisted)
                self._write_answers(everything, {"unlisted": unlisted})
        return added

    def _answers_table(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        path = self.path("answers.parquet")
        if not path.exists():
            raise StudyError(
                f"{self.folder} has no answers yet; collect some with `{self.ask_command}`"
                + (f", then `bequec ask {self.folder} --answers FILE`" if not self.dealt_until else "")
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

    def model(self) -> "BeQuec":
        """The learned model."""
        if not self.path("model.npz").exists():
            raise StudyError(f"{self.folder} has no model yet; learn one with `bequec learn {self.folder}`")
        from bequec.learn.bequec import BeQuec  # scikit-learn is slow to load, and most commands need no model

        return BeQuec.load(self.path("model.npz"))

    def model_is_older_than_answers(self) -> bool:
        """Whether answers came in after the model was learned."""
        return self.path("model.npz").stat().st_mtime < self.path("answers.parquet").stat().st_mtime
