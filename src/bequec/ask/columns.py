"""The columns of a table of answers: pairs, labels and numbers of answers, each checked row by row."""

from typing import Any

import numpy as np
import pandas as pd

from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import AnswersError, shortened
from bequec.plan.pairs import pairs_numbered
from bequec.plan.query_plan import QueryPlan

LABELS = {"same": 1.0, "yes": 1.0, "true": 1.0, "different": 0.0, "no": 0.0, "false": 0.0, "unsure": np.nan}
MOST_ANSWERS = 1e9
PAIR_COLUMNS = (("left", "right"), ("source", "target"))


def node_indices(names: "pd.Series[Any]", plan: QueryPlan) -> IntArray:
    """The node of each name; numbers and their texts are taken for the same name."""
    known = pd.Index(range(plan.n_nodes) if plan.names is None else list(plan.names), tupleize_cols=False)
    found = np.asarray(known.get_indexer(pd.Index(names, tupleize_cols=False)))
    if (found < 0).any():
        as_text = known.map(str)
        if as_text.is_unique:
            missing = found < 0
            found[missing] = as_text.get_indexer(pd.Index(names[missing].map(_text), tupleize_cols=False))
    unknown = names[found < 0]
    if len(unknown):
        raise AnswersError(
            f"row {row_number(unknown, 0)}: unknown node {unknown.iloc[0]!r} "
            f"({unknown.nunique()} unknown in all); the plan's {len(known)} nodes are {shortened(list(known), 4)}"
        )
    return found.astype(np.int64)


def with_plain_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Column names in lower case without blanks; two of the same name are refused."""
    table = table.rename(columns=lambda column: str(column).strip().lower())
    repeated = table.columns[table.columns.duplicated()]
    if len(repeated):
        raise AnswersError(f"the table has several columns {repeated[0]!r}; keep one")
    return table


def check_pair_columns(table: pd.DataFrame) -> None:
    """Refuse a table whose columns name no pairs."""
    columns = {str(column).strip().lower() for column in table.columns}
    if not any(columns.issuperset(names) for names in (*PAIR_COLUMNS, ("task",))):
        raise AnswersError(
            f"the table has the columns {shortened(list(table.columns))}; it needs left, right and label (or source, "
            "target and label; or task, worker and label) in its first line"
        )


def read_pairs(table: pd.DataFrame, plan: QueryPlan) -> tuple[IntArray, IntArray]:
    """The two nodes of every row, by their names or by the question's number."""
    for one, other in PAIR_COLUMNS:
        if one in table and other in table:
            for column in (one, other):
                _refuse_missing(table[column], column, "name both items of every pair")
            return node_indices(table[one], plan), node_indices(table[other], plan)
    check_pair_columns(table)
    tasks = table["task"].map(_text)
    _refuse_missing(tasks, "task", "name the pair of every answer")
    named = tasks.str.contains("|", regex=False).to_numpy(dtype=bool)
    left, right = np.empty(len(tasks), dtype=np.int64), np.empty(len(tasks), dtype=np.int64)
    left[~named], right[~named] = _pairs_of_numbers(tasks[~named], plan)
    if named.any():
        halves = tasks[named].str.split("|", n=1, expand=True)
        left[named], right[named] = node_indices(halves[0], plan), node_indices(halves[1], plan)
    return left, right


def _pairs_of_numbers(tasks: "pd.Series[Any]", plan: QueryPlan) -> tuple[IntArray, IntArray]:
    """The pairs of tasks that are questions' numbers; the first that is none is named."""
    numbers = pd.to_numeric(tasks, errors="coerce").to_numpy(dtype=float)
    for wrong, why in (
        (np.isnan(numbers) | (numbers % 1 != 0), "names no pair; use 'left|right' or the question's number"),
        (
            (numbers < 0) | (numbers >= plan.n_numbers),
            f"is no question of the plan, whose are 0 … {plan.n_numbers - 1}",
        ),
    ):
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise AnswersError(f"row {row_number(tasks, at)}: task {tasks.iloc[at]!r} {why}")
    return pairs_numbered(plan, numbers.astype(np.int64))


def read_labels(table: pd.DataFrame, unlisted: str) -> FloatArray:
    """One number in [0, 1] per row, NaN for "unsure"; a graph's weights are labels, too."""
    column = next((name for name in ("label", "weight") if name in table), None)
    if column is None:
        if unlisted != "no":
            raise AnswersError(
                f"the table has no column 'label' (its columns are {shortened(list(table.columns))}); "
                'add it, or read it as a list of edges with unlisted="no"'
            )
        return np.ones(len(table))
    labels = table[column]
    _refuse_missing(labels, column, "answer it, write 'unsure', or remove the row")
    values = label_values(labels)
    wrong = np.flatnonzero(~(np.isnan(values) | ((values >= 0) & (values <= 1))))
    if len(wrong):
        at = int(wrong[0])
        raise AnswersError(
            f"row {row_number(labels, at)}: {column} {str(labels.iloc[at])!r} is unknown ({len(wrong)} such rows); "
            "use same/different/unsure, yes/no, true/false, 1/0 or a similarity in [0, 1]"
        )
    return values


def label_values(labels: "pd.Series[Any]") -> FloatArray:
    """Labels as numbers: 1 for same, 0 for different, NaN for unsure, −1 for what is no label."""
    codes, unique = pd.factorize(labels)
    return np.asarray(np.array([_label_value(label) for label in unique], dtype=float)[codes])


def _label_value(label: Any) -> float:
    """The number of a label, NaN for "unsure", −1 where it is none."""
    if isinstance(label, bool | np.bool_):
        return float(label)
    text = str(label).strip().lower()
    if text in LABELS:
        return LABELS[text]
    try:
        value = float(text)
    except ValueError:
        return -1.0
    return -1.0 if np.isnan(value) else value


def read_weights(table: pd.DataFrame) -> FloatArray:
    """How many answers each row stands for: one unless ``n_answers`` says otherwise."""
    if "n_answers" not in table:
        return np.ones(len(table))
    given = table["n_answers"].where(table["n_answers"].notna(), 1)  # rows of other files in a study's table
    weights: FloatArray = pd.to_numeric(given, errors="coerce").to_numpy(dtype=float)
    wrong = np.flatnonzero(~((weights > 0) & (weights <= MOST_ANSWERS)))
    if len(wrong):
        value = table["n_answers"].iloc[wrong[0]]
        raise AnswersError(f"row {row_number(table, wrong[0])}: n_answers is {value!r}; it must be a positive number")
    return weights


def _refuse_missing(column: "pd.Series[Any]", name: str, remedy: str) -> None:
    missing = (column.isna() | (column.map(_text) == "")).to_numpy()
    if missing.any():
        row = row_number(column, np.flatnonzero(missing)[0])
        raise AnswersError(f"row {row}: {name} is empty ({missing.sum()} such rows); {remedy}")


def _text(value: Any) -> str:
    return str(value).strip()


def row_number(table: "pd.DataFrame | pd.Series[Any]", position: int) -> int:
    """The row as people count them, from 1 and without the header, in the file that it came from."""
    return int(table.index[int(position)]) + 1
