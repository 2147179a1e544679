"""A study is a folder: plan.json, items.csv, answers.parquet, sorts.parquet, model.npz, report.html.

``study.json`` says how many clusters the study looks for, and which questions went out on sheets.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd

from bequec.ask.add_to_record import Added, add_to_record
from bequec.ask.answers import Answers
from bequec.ask.counting import count_answers
from bequec.ask.handed_in import read_handed_in
from bequec.ask.sheets import last_sheet_in, unanswered_questions, write_sheets
from bequec.ask.sorts import SortTable, with_sorts
from bequec.ask.store.answer_store import AnswerRecord, AnswerStore
from bequec.ask.store.parquet import ParquetRecord
from bequec.core.errors import StudyError
from bequec.core.files import only_writer, read_json, whole_file, write_json
from bequec.core.progress import Progress
from bequec.core.tables import read_table
from bequec.plan.extension import is_extension
from bequec.plan.query_plan import QueryPlan
from bequec.study.item_columns import column_by_node

if TYPE_CHECKING:
    from bequec.learn.bequec import BeQuec

FORMAT, VERSION = "bequec study", 1


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
        self.store: AnswerStore = ParquetRecord(self.path("answers.parquet"))

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
        if study.has_answers():
            raise StudyError(f"{folder} already holds answers to another plan; choose another folder (folder=)")
        if study.path("study.json").exists() and not overwrite:
            raise StudyError(f"{folder} is already a study; choose another folder (folder=), or say overwrite=True")
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
            raise StudyError(f"{self.path('study.json')} does not say n_clusters; give it (n_clusters=)")
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
            raise StudyError(f"{self.folder} lacks plan.json; restore it from a copy, or plan anew in another folder")
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
            if self.has_answers() and self._record().unlisted == "no":
                raise StudyError(
                    f"{self.folder} holds a graph, whose edges outside the plan were dropped: new blocks would be read "
                    "as if they had none; plan anew in another folder, with a larger budget, and ask the graph again"
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
        images = column_by_node(self.items, "image", self.plan, self.path("items.csv"))
        return [self.folder / image for image in images]

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
                    f"hand them in with `{self.ask_command}`, or deal them anew on other sheets with again=True"
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
        if self.has_answers():
            record = self._record()
            told += [rows.largest_sheet() for rows in (record.table, record.sorts) if rows is not None]
        return max(told)

    # --- answers -----------------------------------------------------------------------------------------

    def has_answers(self) -> bool:
        """Whether any answer came in yet."""
        return self.store.has_answers()

    def answers(
        self, *, unsure: Literal["unanswered", "half"] | None = None, without_workers: Sequence[str] | None = None
    ) -> Answers:
        """All answers so far, those of sorts with them.

        "Unsure" means what it meant when the study was last learned, and who was left out then is, unless said here.
        """
        record = self._record()
        unsure = unsure or self.settings.get("unsure", "unanswered")
        left_out = self.settings.get("without_workers", []) if without_workers is None else without_workers
        table = with_sorts(record.table, record.sorts, self.plan)
        answers = count_answers(table, self.plan, unlisted=record.unlisted, unsure=unsure)
        return answers.without_workers(left_out) if left_out else answers

    def sorts(self) -> SortTable | None:
        """Every sort so far; None if nobody sorted."""
        return self._record().sorts if self.has_answers() else None

    def add_answers(
        self,
        sources: Sequence[str | os.PathLike[str]],
        *,
        unlisted: Literal["unanswered", "no"] = "unanswered",
        outside: Literal["error", "drop"] = "error",
        replace: bool = False,
        progress: Progress | None = None,
    ) -> list[Added]:
        """Add files of answers and of sorts to the study's record, all of them or none, with all their columns.

        A row that does not belong refuses everything. Rows without a label, sheets without a pile and what is
        already here are left out, so that a file can be handed in again after more was filled in. An answer that
        was "unsure" and an item without a pile may change; any other only with ``replace``.
        ``progress(what, done, total)`` is called as files are read and added.
        """
        with only_writer(self.folder):
            earlier = self._record() if self.has_answers() else None
            if earlier is not None and earlier.unlisted != unlisted:
                raise StudyError(
                    f"{self.folder} holds {'a graph' if earlier.unlisted == 'no' else 'answers to questions'}; "
                    "a graph and answers to questions cannot be mixed, start another study for one of them"
                )
            handed = read_handed_in(sources, self.plan, unlisted=unlisted, outside=outside, progress=progress)
            record, added = add_to_record(earlier, handed, self.plan, unlisted=unlisted, files=sources, replace=replace)
            if any(one.n_added or one.n_changed for one in added):
                self.store.write(record, self.plan)
        return added

    def _record(self) -> AnswerRecord:
        if not self.has_answers():
            raise StudyError(
                f"{self.folder} has no answers yet; collect some with `{self.ask_command}`"
                + (f", then `bequec ask {self.folder} --answers FILE`" if not self.dealt_until else "")
            )
        return self.store.read(self.plan)

    # --- model -------------------------------------------------------------------------------------------

    def model(self) -> "BeQuec":
        """The learned model."""
        if not self.path("model.npz").exists():
            raise StudyError(f"{self.folder} has no model yet; learn one with `bequec learn {self.folder}`")
        from bequec.learn.bequec import BeQuec  # scikit-learn is slow to load, and most commands need no model

        return BeQuec.load(self.path("model.npz"))

    def model_is_older_than_answers(self) -> bool:
        """Whether answers came in after the model was learned."""
        return self.path("model.npz").stat().st_mtime < self.store.changed_at()
