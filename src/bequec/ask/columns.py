"""The columns of a table of answers, each checked and turned into numbers or texts once.

The index of a table holds its rows' numbers in their file, counted from 0. Columns are read by their distinct
values, which are few, and not row by row.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import AnswersError, shortened
from bequec.plan.node_names import nodes_named
from bequec.plan.pairs import pairs_numbered
from bequec.plan.query_plan import QueryPlan

LABELS = {"same": 1.0, "yes": 1.0, "true": 1.0, "different": 0.0, "no": 0.0, "false": 0.0, "unsure": np.nan}
MOST_ANSWERS = 1e9
LARGEST_QUESTION = 2.0**53  # larger whole numbers are not exact as floats
PAIR_COLUMNS = (("left", "right"), ("source", "target"))
AN_INSTANT = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d"


# --- pairs -----------------------------------------------------------------------------------------------


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
        sorts = "; sorts are read by Answers.from_sorts" if columns.issuperset(("item", "pile")) else ""
        raise AnswersError(
            f"the table has the columns {shortened(list(table.columns))}; it needs left, right and label (or source, "
            f"target and label; or task, worker and label) in its first line{sorts}"
        )


def node_indices(names: "pd.Series[Any]", plan: QueryPlan) -> IntArray:
    """The node of each name; numbers and their texts are taken for the same name."""
    nodes = known_nodes(names, plan)
    if (nodes < 0).any():
        refuse_missing(names, str(names.name), "name both items of every pair")
        refuse_unknown(names[nodes < 0], plan)
    return nodes


def known_nodes(names: "pd.Series[Any]", plan: QueryPlan) -> IntArray:
    """The node of each name; −1 where the plan knows none."""
    codes, unique = distinct(names)
    return np.append(nodes_named(unique, plan.names, plan.n_nodes), -1)[codes].astype(np.int64)


def refuse_unknown(unknown: "pd.Series[Any]", plan: QueryPlan, remedy: str = "") -> None:
    """The plan knows none of these names."""
    known = range(plan.n_nodes) if plan.names is None else plan.names
    raise AnswersError(
        f"row {row_number(unknown, 0)}: unknown node {unknown.iloc[0]!r} "
        f"({unknown.nunique()} unknown in all); the plan's {len(known)} nodes are {shortened(known, 4)}{remedy}"
    )


def read_pairs(table: pd.DataFrame, plan: QueryPlan) -> tuple[IntArray, IntArray]:
    """The two nodes of every row, by their names or by the question's number."""
    for one, other in PAIR_COLUMNS:
        if one in table and other in table:
            return node_indices(table[one], plan), node_indices(table[other], plan)
    check_pair_columns(table)
    refuse_missing(table["task"], "task", "name the pair of every answer")
    tasks = table["task"].astype(str).str.strip()
    named = tasks.str.contains("|", regex=False).to_numpy(dtype=bool)
    left, right = np.empty(len(tasks), dtype=np.int64), np.empty(len(tasks), dtype=np.int64)
    left[~named], right[~named] = _pairs_of_numbers(tasks[~named], plan)
    if named.any():
        halves = tasks[named].str.split("|", n=1, expand=True)
        left[named], right[named] = (node_indices(halves[half].rename("task"), plan) for half in (0, 1))
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


# --- labels and numbers of answers -----------------------------------------------------------------------


def has_label(table: pd.DataFrame) -> BoolArray:
    """Which rows are answered; in a list of edges, all."""
    column = next((name for name in table.columns if str(name).strip().lower() == "label"), None)
    return np.ones(len(table), dtype=bool) if column is None else ~is_blank(table[column])


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
    refuse_missing(labels, column, "answer it, write 'unsure', or remove the row")
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
    codes, unique = distinct(labels)
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


def label_text(value: float) -> str:
    """The label as it is written: the shortest text that means the same number."""
    if np.isnan(value):
        return "unsure"
    return {1.0: "same", 0.0: "different"}.get(value, repr(float(value)))


def read_n_answers(table: pd.DataFrame) -> FloatArray:
    """How many answers each row stands for; NaN where it does not say so: then it is one."""
    if "n_answers" not in table:
        return np.full(len(table), np.nan)
    given = table["n_answers"].notna().to_numpy()
    n_answers: FloatArray = pd.to_numeric(table["n_answers"], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = np.flatnonzero(given & ~((n_answers > 0) & (n_answers <= MOST_ANSWERS)))
    if len(wrong):
        value = table["n_answers"].iloc[wrong[0]]
        raise AnswersError(f"row {row_number(table, wrong[0])}: n_answers is {value!r}; it must be a positive number")
    return n_answers


# --- all other columns -----------------------------------------------------------------------------------


def read_further(name: str, values: "pd.Series[Any]") -> Any:
    """A column of its type: questions and seconds as numbers, answered_at as instants, all others as texts.

    A column with a value that is not of its type stays text, so that nothing is lost.
    """
    if name in ("question", "seconds"):
        numbers = pd.to_numeric(values.astype("str"), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        unread = np.isnan(numbers)
        if not is_blank(values[unread]).all():
            return text_column(values)
        if name == "seconds":
            return numbers
        whole = (numbers % 1 == 0) & (np.abs(numbers) < LARGEST_QUESTION)
        if (unread | whole).all():
            return pd.arrays.IntegerArray(np.where(unread, -1.0, numbers).astype(np.int64), unread)
    texts = text_column(values)
    if name == "answered_at" and texts.categories.str.match(AN_INSTANT).all():
        try:
            instants = pd.to_datetime(texts.categories, format="ISO8601")
        except ValueError:  # no such day, or several time zones
            return texts
        return instants.take(texts.codes, allow_fill=True, fill_value=pd.NaT)
    return texts


def read_others(table: pd.DataFrame, used: Collection[str]) -> dict[str, Any]:
    """All columns but those that were read already: who answered, when, and whatever else somebody wrote down."""
    names = [name for name in table.columns if name not in used and not name.startswith("unnamed:")]
    return {name: read_further(name, table[name]) for name in names}


def text_column(values: "pd.Series[Any]") -> pd.Categorical:
    """Texts as codes of their distinct values; what is blank is missing."""
    codes, unique = distinct(values)
    new_codes, categories = pd.factorize(np.array([_text(value) for value in unique], dtype=object))
    return pd.Categorical.from_codes(np.append(new_codes, -1)[codes], pd.Index(categories, dtype="str"))


def sheet_name(text: str) -> str:
    """What a sheet is known by: sheet 01 is sheet 1."""
    return str(int(text)) if text.isdecimal() else text


def _text(value: Any) -> str | None:
    """Spreadsheets turn 7 into 7.0; nothing else is changed."""
    text = str(value).strip()
    return (text[:-2] if text.endswith(".0") and text[:-2].isdecimal() else text) or None


# --- rows ------------------------------------------------------------------------------------------------


def distinct(values: "pd.Series[Any]") -> tuple[IntArray, Any]:
    """For each row the index of its value among the distinct ones, −1 where it is missing."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return np.asarray(values.cat.codes), values.cat.categories
    codes, unique = pd.factorize(values)
    return np.asarray(codes), unique


def is_blank(values: "pd.Series[Any]") -> BoolArray:
    """Which rows say nothing: missing values and empty texts."""
    codes, unique = distinct(values)
    blank = [not str(value).strip() for value in unique]
    return np.asarray(np.append(np.array(blank, dtype=bool), True)[codes])


def refuse_missing(column: "pd.Series[Any]", name: str, remedy: str) -> None:
    """Every row must say something in this column."""
    missing = is_blank(column)
    if missing.any():
        row = row_number(column, np.flatnonzero(missing)[0])
        raise AnswersError(f"row {row}: {name} is empty ({missing.sum()} such rows); {remedy}")


def row_number(table: "pd.DataFrame | pd.Series[Any]", position: int) -> int:
    """The row as people count them, from 1 and without the header, in the file that it came from."""
    return int(table.index[int(position)]) + 1
