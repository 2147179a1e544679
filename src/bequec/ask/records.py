"""A study's table of answers: one form for every kind of file, nothing counted twice, nothing overwritten."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bequec.ask.tables import ParsedTable
from bequec.core.errors import AnswersError
from bequec.plan.query_plan import QueryPlan

PAIR = ["left", "right", "label", "n_answers"]
IDENTITY = ["sheet", "worker", "question"]


def has_label(table: pd.DataFrame) -> "pd.Series[bool]":
    """Which rows are answered; in a list of edges, all."""
    column = next((name for name in table.columns if str(name).strip().lower() == "label"), None)
    if column is None:
        return pd.Series(True, index=table.index)
    return table[column].notna() & (table[column].astype(str).str.strip() != "")


def standard_rows(parsed: ParsedTable, plan: QueryPlan) -> pd.DataFrame:
    """The rows as texts with the columns left, right, label and n_answers first, and all others as they came."""
    names = np.empty(plan.n_nodes, dtype=object)
    names[:] = [str(plan.name(node)) for node in range(plan.n_nodes)]
    labels = [_standard_label(value) for value in parsed.labels]
    is_sum = "n_answers" in parsed.rows
    rows = pd.DataFrame(
        {
            "left": names[parsed.left],
            "right": names[parsed.right],
            "label": labels,
            # Only rows that say how many answers they stand for keep it: they are sums, one a pair.
            "n_answers": [f"{weight:.15g}" for weight in parsed.weights] if is_sum else pd.NA,
        }
    )
    used = {*PAIR, "source", "target", "weight"}
    for column in parsed.rows.columns:
        if column not in used and not str(column).startswith("unnamed:"):
            rows[column] = parsed.rows[column].map(_standard_text).to_numpy()
    return rows.astype("string")


class AnswerRecords:
    """The rows of a study, and where each stands, so that a file costs its own rows however many came before.

    A row is known by its pair and its sheet or worker; a row that stands for a number of answers by its pair. Rows
    without any of these are known by what they say: only more of the same than before is new. What is known changes
    only with ``replace``, or if it was "unsure".
    """

    def __init__(self, earlier: pd.DataFrame | None, *, replace: bool) -> None:
        self.replace = replace
        self.parts = [] if earlier is None else [earlier.astype("string")]
        self.n_indexed = 0  # of the parts
        self.values: list[tuple[Any, Any]] = []  # label and n_answers of the indexed rows
        self.has_changed = False
        self.place: dict[tuple[str, ...], int] = {}
        self.of_sheet: dict[tuple[str, str], tuple[str, ...]] = {}  # the first row of each pair and sheet
        self.said: dict[tuple[str, ...], int] = {}

    def add(self, new: pd.DataFrame) -> tuple[int, int]:
        """Take in the rows of one file that are new; how many were added, and how many changed."""
        if not self.parts and not {"sheet", "worker"} & set(new.columns) and new["n_answers"].isna().all():
            self.parts.append(new)  # perhaps a graph of millions of edges, all new: indexed only if another file comes
            return len(new), 0
        self._index()
        self.said.clear()
        added, n_changed = [], 0
        values = zip(new["label"], new["n_answers"], strict=True)
        for position, (row, value) in enumerate(zip(_identified(new), values, strict=True)):
            identity = self._identity(row)
            known_as = self._find(identity, row)
            if known_as is None:
                self._put(identity, row, value)
                added.append(position)
            elif str(self.values[self.place[known_as]]) != str(value):
                self._change(known_as, identity, value, new.iloc[position])
                n_changed += 1
        self.parts.append(new.iloc[added])
        self.n_indexed = len(self.parts)
        return len(added), n_changed

    def table(self) -> pd.DataFrame:
        """All rows, in the order in which they came."""
        if len(self.parts) == 1 and not self.has_changed:
            return self.parts[0]
        columns = list(dict.fromkeys(column for part in self.parts for column in part.columns))
        parts = [part.reindex(columns=columns).astype("string") for part in self.parts if len(part)]
        everything = pd.concat(parts, ignore_index=True)
        if self.has_changed:
            for column, name in enumerate(("label", "n_answers")):
                everything[name] = pd.array([value[column] for value in self.values], dtype="string")
        return everything

    def _index(self) -> None:
        for part in self.parts[self.n_indexed :]:
            for row, value in zip(_identified(part), zip(part["label"], part["n_answers"], strict=True), strict=True):
                self._put(self._identity(row), row, value)
        self.n_indexed = len(self.parts)

    def _put(self, identity: tuple[str, ...], row: "_Row", value: tuple[Any, Any]) -> None:
        self.place[identity] = len(self.values)
        self.values.append(value)
        if row.sheet:
            self.of_sheet.setdefault((row.pair, row.sheet), identity)

    def _identity(self, row: "_Row") -> tuple[str, ...]:
        if row.sheet or row.worker:
            return ("given", row.pair, row.sheet, row.worker)
        if row.is_sum:
            return ("sum", row.pair)
        # Nobody says whose answer it is: the n-th row that says the same is the same row again.
        said = ("said", row.pair) if self.replace else ("said", row.pair, row.label)
        self.said[said] = self.said.get(said, 0) + 1
        return (*said, str(self.said[said]))

    def _find(self, identity: tuple[str, ...], row: "_Row") -> tuple[str, ...] | None:
        """What this row is known as, if it is; a sheet whose worker was or is not told is the same sheet."""
        if identity in self.place:
            return identity
        if row.sheet:
            of_sheet = self.of_sheet.get((row.pair, row.sheet))
            is_unnamed = ("given", row.pair, row.sheet, "")
            return of_sheet if not row.worker else is_unnamed if is_unnamed in self.place else None
        return self._last_unsure(row.pair) if identity[0] == "said" else None

    def _last_unsure(self, pair: str) -> tuple[str, ...] | None:
        """The last of a pair's rows that says unsure and not who says so."""
        found = None
        for number in itertools.count(1):
            identity = ("said", pair, "unsure", str(number))
            if identity not in self.place:
                return found
            found = identity
        return found

    def _change(
        self, known_as: tuple[str, ...], identity: tuple[str, ...], value: tuple[Any, Any], row: "pd.Series[Any]"
    ) -> None:
        at = self.place[known_as]
        before = self.values[at][0]
        if before != "unsure" and not self.replace:
            raise AnswersError(
                f"{_describe(row)} was answered {before!r} before and {value[0]!r} now; "
                "if it is another person's answer add a column worker, to correct it say --replace"
            )
        self.values[at] = value
        self.has_changed = True
        if identity[0] == "said":  # known by what it says, which is another thing now
            self.place[identity] = self.place.pop(known_as)


class _Row(NamedTuple):
    """What makes a row the row it is."""

    pair: str
    sheet: str
    worker: str
    label: str
    is_sum: bool


def _identified(table: pd.DataFrame) -> Iterator[_Row]:
    columns = [table[name].fillna("") if name in table else [""] * len(table) for name in ("sheet", "worker")]
    sums = table["n_answers"].notna()
    for left, right, sheet, worker, label, is_sum in zip(
        table["left"], table["right"], *columns, table["label"], sums, strict=True
    ):
        number = str(int(sheet)) if sheet.isdecimal() else sheet  # 01 is sheet 1
        yield _Row(f"{min(left, right)}\n{max(left, right)}", number, worker, label, is_sum)


def _describe(row: "pd.Series[Any]") -> str:
    marks = [f"{column} {row[column]}" for column in IDENTITY if column in row and pd.notna(row[column])]
    return ", ".join([*marks, f"pair ({row['left']}, {row['right']})"])


def _standard_label(value: float) -> str:
    if np.isnan(value):
        return "unsure"
    return {1.0: "same", 0.0: "different"}.get(value, f"{value:.12g}")


def _standard_text(value: Any) -> Any:
    """Spreadsheets turn 7 into 7.0; nothing else is changed."""
    if pd.isna(value):
        return pd.NA
    text = str(value).strip()
    return text[:-2] if text.endswith(".0") and text[:-2].isdecimal() else text
