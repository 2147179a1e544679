"""A study's table of answers: one form for every kind of file, nothing counted twice, nothing overwritten."""

from typing import Any

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
    rows = pd.DataFrame(
        {
            "left": names[parsed.left],
            "right": names[parsed.right],
            "label": labels,
            "n_answers": [f"{weight:g}" for weight in parsed.weights],
        }
    )
    used = {*PAIR, "source", "target", "weight"}
    for column in parsed.rows.columns:
        if column not in used and not str(column).startswith("unnamed:"):
            rows[column] = parsed.rows[column].map(_standard_text).to_numpy()
    return rows.astype("string")


def merge_answers(earlier: pd.DataFrame | None, new: pd.DataFrame, *, replace: bool) -> tuple[pd.DataFrame, int, int]:
    """The earlier rows and those of the new ones that are new; how many were added, and how many changed.

    A row is known by its sheet, worker and question (or pair), as far as it has them. Rows without sheet and worker
    are known by all that they say: only more of the same than before is new.
    """
    if earlier is None:
        if not {"sheet", "worker"} & set(new.columns):
            return new, len(new), 0
        earlier = new.iloc[:0]
    columns = list(dict.fromkeys([*earlier.columns, *new.columns]))
    earlier, new = (table.reindex(columns=columns).astype("string") for table in (earlier, new))
    before, now = _identities(earlier), _identities(new)
    place: dict[Any, int] = {}
    for position, identity in enumerate(before):
        place[identity] = position
    labels = earlier["label"].tolist()
    added, n_changed = [], 0
    for position, (identity, label) in enumerate(zip(now, new["label"], strict=True)):
        known = place.get(identity)
        if known is None:
            place[identity] = len(labels)
            labels.append(label)
            added.append(position)
        elif labels[known] != label:
            if labels[known] != "unsure" and not replace:
                raise AnswersError(
                    f"{_describe(new.iloc[position])} was answered {labels[known]!r} before and {label!r} now; "
                    "if it is another person's answer add a column worker, to correct it say --replace"
                )
            labels[known] = label
            n_changed += 1
    everything = pd.concat([earlier, new.iloc[added]], ignore_index=True)
    everything["label"] = pd.array(labels, dtype="string")
    return everything, len(added), n_changed


def _identities(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """What makes each row the row it is."""
    present = [column for column in IDENTITY if column in table]
    pair = [f"{min(l, r)}\n{max(l, r)}" for l, r in zip(table["left"], table["right"], strict=True)]
    given = table[present].fillna("").to_numpy(dtype=object) if present else np.empty((len(table), 0), dtype=object)
    by_person = [column for column in present if column != "question"]
    seen: dict[tuple[str, ...], int] = {}
    identities: list[tuple[str, ...]] = []
    for position in range(len(table)):
        marks = dict(zip(present, given[position], strict=True))
        if any(marks[column] for column in by_person):
            identities.append((marks.get("sheet", ""), marks.get("worker", ""), pair[position]))
            continue
        # Nobody says whose answer it is: the n-th row that says the same is the same row again.
        said = (pair[position], str(table["label"].iat[position]))
        seen[said] = seen.get(said, 0) + 1
        identities.append((*said, str(seen[said])))
    return identities


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
