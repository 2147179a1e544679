"""A study's table of answers: one form for every kind of file, nothing counted twice, nothing overwritten."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bequec.ask.tables import ParsedTable
from bequec.errors import AnswersError
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


def merge_answers(earlier: pd.DataFrame | None, new: pd.DataFrame, *, replace: bool) -> tuple[pd.DataFrame, int, int]:
    """The earlier rows and those of the new ones that are new; how many were added, and how many changed.

    A row is known by its pair and its sheet or worker; a row that stands for a number of answers by its pair. Rows
    without any of these are known by what they say: only more of the same than before is new. What is known changes
    only with ``replace``, or if it was "unsure".
    """
    if earlier is None:
        if not {"sheet", "worker"} & set(new.columns) and new["n_answers"].isna().all():
            return new, len(new), 0
        earlier = new.iloc[:0]
    columns = list(dict.fromkeys([*earlier.columns, *new.columns]))
    earlier, new = (table.reindex(columns=columns).astype("string") for table in (earlier, new))
    known = _Known(replace)
    for position, row in enumerate(_identified(earlier)):
        known.place[known.identity(row)] = position
    known.counts.clear()
    values = list(zip(earlier["label"], earlier["n_answers"], strict=True))
    added, n_changed = [], 0
    for position, row in enumerate(_identified(new)):
        identity, value = known.identity(row), (new["label"].iat[position], new["n_answers"].iat[position])
        at = known.find(identity, row)
        if at is None:
            known.place[identity] = len(values)
            values.append(value)
            added.append(position)
        elif str(values[at]) != str(value):
            if values[at][0] != "unsure" and not replace:
                raise AnswersError(
                    f"{_describe(new.iloc[position])} was answered {values[at][0]!r} before and {value[0]!r} now; "
                    "if it is another person's answer add a column worker, to correct it say --replace"
                )
            values[at] = value
            n_changed += 1
    everything = pd.concat([earlier, new.iloc[added]], ignore_index=True)
    for column, name in enumerate(("label", "n_answers")):
        everything[name] = pd.array([value[column] for value in values], dtype="string")
    return everything, len(added), n_changed


class _Row(NamedTuple):
    """What makes a row the row it is."""

    pair: str
    sheet: str
    worker: str
    label: str
    is_sum: bool


class _Known:
    """Where each known row stands."""

    def __init__(self, replace: bool) -> None:
        self.replace = replace
        self.place: dict[tuple[str, ...], int] = {}
        self.counts: dict[tuple[str, ...], int] = {}

    def identity(self, row: _Row) -> tuple[str, ...]:
        if row.sheet or row.worker:
            return (row.pair, row.sheet, row.worker)
        if row.is_sum:
            return (row.pair, "sum")
        # Nobody says whose answer it is: the n-th row that says the same is the same row again.
        said = (row.pair,) if self.replace else (row.pair, row.label)
        self.counts[said] = self.counts.get(said, 0) + 1
        return (*said, str(self.counts[said]), "plain")

    def find(self, identity: tuple[str, ...], row: _Row) -> int | None:
        """The known row with this identity; a sheet whose worker was or is not told is the same sheet."""
        if identity in self.place or not (row.sheet or identity[-1] == "plain"):
            return self.place.get(identity)
        if row.sheet:
            if row.worker:
                return self.place.get((row.pair, row.sheet, ""))
            return next((at for key, at in self.place.items() if key[:2] == (row.pair, row.sheet)), None)
        return self.place.get((row.pair, "unsure", "1", "plain"))


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
