"""Answers from tables and back: CSV, Parquet, pandas; pairs, crowd-kit tasks or plain edge lists."""

import os
import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from bequec.ask.answers import Answers, FloatArray
from bequec.ask.table_files import read_table
from bequec.errors import AnswersError
from bequec.plan.pairs import pairs_numbered
from bequec.plan.query_plan import BoolArray, IntArray, QueryPlan, shortened

LABELS = {"same": 1.0, "yes": 1.0, "true": 1.0, "different": 0.0, "no": 0.0, "false": 0.0, "unsure": np.nan}
MOST_ANSWERS = 1e9
PAIR_COLUMNS = (("left", "right"), ("source", "target"))


def answers_from_table(
    table: "pd.DataFrame | str | os.PathLike[str]",
    plan: QueryPlan,
    *,
    unlisted: Literal["unanswered", "no"] = "unanswered",
    unsure: Literal["unanswered", "half"] = "unanswered",
    outside: Literal["error", "drop"] = "error",
) -> Answers:
    """Count the answers of a table; several answers for a pair add up.

    Parameters
    ----------
    table : DataFrame, or path of a CSV, TSV or Parquet file
        Columns ``left, right, label`` with the nodes' names (``source, target`` do as well); or
        crowd-kit's ``task, worker, label``, where a task is "left|right" or a question's number; or an
        edge list without labels, where each listed pair is a yes (with ``unlisted="no"``). Labels are
        same/different/unsure, yes/no, true/false, 1/0 or a similarity between. An optional column
        ``n_answers`` says how many answers a row stands for.
    plan : QueryPlan
    unlisted : {"unanswered", "no"}
        What an asked pair means that the table does not list.
    unsure : {"unanswered", "half"}
        Whether "unsure" is no answer, or half a yes.
    outside : {"error", "drop"}
        What to do with pairs that the plan does not ask; dropping is said in a warning.
    """
    _check_choice("unlisted", unlisted, ("unanswered", "no"))
    _check_choice("unsure", unsure, ("unanswered", "half"))
    _check_choice("outside", outside, ("error", "drop"))
    if isinstance(table, str | os.PathLike):
        table = read_table(table)
    if not isinstance(table, pd.DataFrame):
        raise AnswersError(f"expected a pandas DataFrame or the path of a table, got {type(table).__name__}")
    table = table.reset_index(drop=True)
    _, left, right, labels, weights = parse_table(table, plan, unlisted=unlisted, outside=outside)
    is_unsure = np.isnan(labels)
    labels = np.where(is_unsure, 0.5, labels)
    answered = weights * (1.0 if unsure == "half" else ~is_unsure)
    yes = _symmetric(plan, left, right, labels * answered)
    if unlisted == "unanswered":
        return Answers.from_totals(plan, yes, _symmetric(plan, left, right, answered))
    # Every asked pair counts as answered once unless it is listed: then by its own answers.
    listed = _symmetric(plan, left, right, np.ones(len(left)))
    listed.data[:] = 1.0
    correction = (_symmetric(plan, left, right, answered) - listed).tocsr()
    correction.eliminate_zeros()
    return Answers(plan, yes, baseline=1, correction=correction if correction.nnz else None)


class ParsedTable(NamedTuple):
    """The rows that the plan asks: as they came, and as nodes, labels in [0, 1] (NaN: unsure) and counts."""

    rows: pd.DataFrame
    left: IntArray
    right: IntArray
    labels: FloatArray
    weights: FloatArray


def parse_table(table: pd.DataFrame, plan: QueryPlan, *, unlisted: str, outside: str) -> ParsedTable:
    """Check every row of a table of answers; the first that cannot be read is an error that names it.

    The table's index holds the rows' numbers in their file, counted from 0.
    """
    if table.empty and unlisted == "unanswered":
        raise AnswersError("the table has no rows; give one row per answer")
    table = _with_plain_columns(table)
    left, right = _pairs(table, plan)
    is_edge_list = unlisted == "no" and "label" not in table
    if is_edge_list and (left == right).any():
        warnings.warn(f"dropped {(left == right).sum()} edges of a node with itself", stacklevel=3)
        table, left, right = table[left != right], left[left != right], right[left != right]
    labels, weights = _labels(table, unlisted), _weights(table)
    _refuse_self_pairs(table, left, right, plan)
    kept = np.flatnonzero(_inside(table, left, right, plan, outside))
    if not {"label", "weight"} & set(
        table.columns
    ):  # an edge list: listed twice, or from both ends, it is still one edge
        low, high = np.minimum(left, right)[kept], np.maximum(left, right)[kept]
        _, first = np.unique(low * plan.n_nodes + high, return_index=True)
        kept = kept[np.sort(first)]
    return ParsedTable(table.iloc[kept], left[kept], right[kept], labels[kept], weights[kept])


def answers_to_table(answers: Answers) -> pd.DataFrame:
    """One row per answered pair: left, right, label (the share of yes) and n_answers."""
    plan = answers.plan
    parts = [_answered_pairs(answers, l, m) for l, m in plan.blocks.tolist()]
    left, right, yes, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    names = np.empty(plan.n_nodes, dtype=object)
    names[:] = [plan.name(node) for node in range(plan.n_nodes)]
    table = {"left": names[left], "right": names[right], "label": yes / counts, "n_answers": counts}
    return pd.DataFrame(table).infer_objects()


def _answered_pairs(answers: Answers, l: int, m: int) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Left and right nodes, yes and number of answers of a block's answered pairs, each pair once."""
    plan = answers.plan
    if answers.baseline == 0 and answers.correction is not None:  # few answers: no dense block is made
        total = answers.correction[plan.span(l)][:, plan.span(m)].tocsr()
    else:
        total = sp.csr_array(answers.block_totals(l, m))
    if l == m:
        total = sp.triu(total, k=1, format="csr")
    row, column = total.nonzero()
    yes = answers.block(l, m)[row, column] if len(row) else np.empty(0)
    counts = total[row, column] if len(row) else np.empty(0)
    return plan.groups[l][row], plan.groups[m][column], _flat(yes), _flat(counts)


def _flat(values: Any) -> FloatArray:
    """Entries picked out of a sparse array, which scipy gives as a sparse or a dense row, as a plain array."""
    return np.asarray(values.todense() if sp.issparse(values) else values, dtype=float).ravel()


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
            f"row {_row(unknown, 0)}: unknown node {unknown.iloc[0]!r} "
            f"({unknown.nunique()} unknown in all); the plan's {len(known)} nodes are {shortened(list(known), 4)}"
        )
    return found.astype(np.int64)


def _with_plain_columns(table: pd.DataFrame) -> pd.DataFrame:
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


def _pairs(table: pd.DataFrame, plan: QueryPlan) -> tuple[IntArray, IntArray]:
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
            raise AnswersError(f"row {_row(tasks, at)}: task {tasks.iloc[at]!r} {why}")
    return pairs_numbered(plan, numbers.astype(np.int64))


def _labels(table: pd.DataFrame, unlisted: str) -> FloatArray:
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
            f"row {_row(labels, at)}: {column} {str(labels.iloc[at])!r} is unknown ({len(wrong)} such rows); "
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


def _weights(table: pd.DataFrame) -> FloatArray:
    if "n_answers" not in table:
        return np.ones(len(table))
    given = table["n_answers"].where(table["n_answers"].notna(), 1)  # rows of other files in a study's table
    weights: FloatArray = pd.to_numeric(given, errors="coerce").to_numpy(dtype=float)
    wrong = np.flatnonzero(~((weights > 0) & (weights <= MOST_ANSWERS)))
    if len(wrong):
        value = table["n_answers"].iloc[wrong[0]]
        raise AnswersError(f"row {_row(table, wrong[0])}: n_answers is {value!r}; it must be a positive number")
    return weights


def _refuse_missing(column: "pd.Series[Any]", name: str, remedy: str) -> None:
    missing = (column.isna() | (column.map(_text) == "")).to_numpy()
    if missing.any():
        row = _row(column, np.flatnonzero(missing)[0])
        raise AnswersError(f"row {row}: {name} is empty ({missing.sum()} such rows); {remedy}")


def _refuse_self_pairs(table: pd.DataFrame, left: IntArray, right: IntArray, plan: QueryPlan) -> None:
    same = left == right
    if same.any():
        at = int(np.flatnonzero(same)[0])
        raise AnswersError(
            f"row {_row(table, at)}: {plan.name(left[at])} is paired with itself ({same.sum()} such rows); "
            "a self-pair is not a question: remove it"
        )


def _inside(table: pd.DataFrame, left: IntArray, right: IntArray, plan: QueryPlan, outside: str) -> BoolArray:
    """Which rows the plan asks; the others are an error, or dropped with a word."""
    inside = plan.asked[plan.group_of[left], plan.group_of[right]] & ~plan.cannot_be_asked(left, right)
    if inside.all():
        return inside
    n_outside = int((~inside).sum())
    if outside == "drop":
        warnings.warn(f"dropped {n_outside} of {len(inside)} rows that the plan does not ask", stacklevel=4)
        return inside
    at = int(np.flatnonzero(~inside)[0])
    if plan.cannot_be_asked(left[[at]], right[[at]])[0]:
        raise AnswersError(
            f"row {_row(table, at)}: the pair ({plan.name(left[at])}, {plan.name(right[at])}) is listed in the plan as "
            f"one that cannot be asked ({n_outside} rows are not asked); "
            'drop them with outside="drop" (--outside drop), or plan without listing the pair (unaskable=)'
        )
    l, m = (plan.group_name(plan.group_of[node]) for node in (left[at], right[at]))
    raise AnswersError(
        f"row {_row(table, at)}: the plan does not ask the pair ({plan.name(left[at])}, {plan.name(right[at])}): "
        f"it is in block ({l}, {m}) ({n_outside} such rows); "
        'drop them with outside="drop" (--outside drop), or plan for their blocks'
    )


def _symmetric(plan: QueryPlan, left: IntArray, right: IntArray, values: FloatArray) -> sp.csr_array:
    """Sum values over pairs, both ways round, in group order."""
    i, j = plan.position_of[left], plan.position_of[right]
    entries = np.concatenate([values, values]), (np.concatenate([i, j]), np.concatenate([j, i]))
    matrix = sp.csr_array(entries, shape=(plan.n_nodes, plan.n_nodes))
    matrix.eliminate_zeros()
    return matrix


def _check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise AnswersError(f"{option}={value!r} is unknown; choose one of {', '.join(choices)}")


def _text(value: Any) -> str:
    return str(value).strip()


def _row(table: "pd.DataFrame | pd.Series[Any]", position: int) -> int:
    """The row as people count them, from 1 and without the header, in the file that it came from."""
    return int(table.index[int(position)]) + 1
