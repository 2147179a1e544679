"""Answers from tables and back: CSV, Parquet, pandas; pairs, crowd-kit tasks or plain edge lists."""

import os
import warnings
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp

from bequec.ask.answer_table import CORE, EMPTY, AnswerTable
from bequec.ask.answers import Answers
from bequec.ask.columns import read_labels, read_n_answers, read_others, read_pairs, row_number, with_plain_columns
from bequec.ask.counting import count_answers
from bequec.ask.pair_counts import stored_values
from bequec.ask.sort_files import parse_sorts
from bequec.ask.sorts import with_sorts
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import AnswersError
from bequec.core.tables import read_table
from bequec.plan.query_plan import QueryPlan

NOT_FURTHER = {*CORE, "source", "target", "weight"}


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

    Examples
    --------
    >>> said = pd.DataFrame({"left": ["ann"], "right": ["eve"], "label": ["same"]})
    >>> answers_from_table(said, QueryPlan([0, 0, 0], [(0, 0)], names=["ann", "bob", "eve"]))
    Answers(1 of 3 asked pairs answered, 1 answers, 100.0 % yes)
    """
    _check_choice("unlisted", unlisted, ("unanswered", "no"))
    _check_choice("unsure", unsure, ("unanswered", "half"))
    _check_choice("outside", outside, ("error", "drop"))
    parsed, _ = parse_table(_opened(table), plan, unlisted=unlisted, outside=outside)
    return count_answers(parsed, plan, unlisted=unlisted, unsure=unsure)


def answers_from_tables(
    plan: QueryPlan,
    *,
    answers: "pd.DataFrame | str | os.PathLike[str] | None" = None,
    sorts: "pd.DataFrame | str | os.PathLike[str] | None" = None,
    unsure: Literal["unanswered", "half"] = "unanswered",
    outside: Literal["error", "drop"] = "error",
) -> Answers:
    """Count answers to pairs and sorts together; one of the two may be missing.

    On one sheet of one worker, items on the same pile are the same and items on different piles are different. Pairs
    that the plan does not ask do not count. One person has one answer per pair: of several sheets the last counts
    (the latest by ``answered_at``, or the one furthest down), and what a worker answered to the pair itself counts
    instead of their piles. Two people's answers add up.

    Parameters
    ----------
    plan : QueryPlan
    answers : DataFrame or path of a file, optional
        As for ``answers_from_table``.
    sorts : DataFrame or path of a file, optional
        Columns ``sheet, item, pile``, one row per item and sheet, with the items' names. The name of a pile means
        something only on its own sheet; an empty one means "not sure": the item's pairs on this sheet are unanswered.
        ``worker`` tells apart people who sorted the same sheet; without it the sheet is the person. ``seconds``,
        ``answered_at`` and other columns may be there.
    unsure : {"unanswered", "half"}
        Whether the answer "unsure" to a pair is no answer, or half a yes.
    outside : {"error", "drop"}
        What to do with pairs in ``answers`` that the plan does not ask, and with items in ``sorts`` that it does not
        know; dropping is said in a warning.

    Examples
    --------
    >>> piles = pd.DataFrame({"sheet": 1, "item": ["ann", "bob", "eve"], "pile": ["a", "a", "b"]})
    >>> answers_from_tables(QueryPlan([0, 0, 0], [(0, 0)], names=["ann", "bob", "eve"]), sorts=piles)
    Answers(3 of 3 asked pairs answered, 3 answers, 33.3 % yes)
    """
    _check_choice("unsure", unsure, ("unanswered", "half"))
    _check_choice("outside", outside, ("error", "drop"))
    if answers is None and sorts is None:
        raise AnswersError("there is nothing to count: give answers=, sorts= or both")
    parsed, placed = EMPTY, None
    if answers is not None:
        parsed, _ = parse_table(_opened(answers), plan, unlisted="unanswered", outside=outside)
    if sorts is not None:
        placed, _ = parse_sorts(_opened(sorts), plan, outside=outside)
    return count_answers(with_sorts(parsed, placed, plan), plan, unsure=unsure)


def _opened(table: "pd.DataFrame | str | os.PathLike[str]") -> pd.DataFrame:
    """The table itself, or that of a file, its rows numbered from 0."""
    if isinstance(table, str | os.PathLike):
        table = read_table(table)
    if not isinstance(table, pd.DataFrame):
        raise AnswersError(f"expected a pandas DataFrame or the path of a table, got {type(table).__name__}")
    return table.reset_index(drop=True)


def parse_table(table: pd.DataFrame, plan: QueryPlan, *, unlisted: str, outside: str) -> tuple[AnswerTable, IntArray]:
    """The rows that the plan asks, and their places in ``table``; the first that cannot be read is an error.

    The table's index holds the rows' numbers in their file, counted from 0.
    """
    if table.empty and unlisted == "unanswered":
        raise AnswersError("the table has no rows; give one row per answer")
    table = with_plain_columns(table)
    left, right = read_pairs(table, plan)
    rows = np.arange(len(table))
    if unlisted == "no" and "label" not in table and (left == right).any():
        warnings.warn(f"dropped {(left == right).sum()} edges of a node with itself", stacklevel=3)
        rows = np.flatnonzero(left != right)
        table, left, right = table.iloc[rows], left[rows], right[rows]
    parsed = AnswerTable.of(
        left, right, read_labels(table, unlisted), read_n_answers(table), read_others(table, NOT_FURTHER)
    )
    _refuse_self_pairs(parsed, plan, table)
    kept = np.flatnonzero(_inside(parsed, plan, table, outside))
    if not {"label", "weight"} & set(table.columns):  # edges: listed twice, or from both ends, it is still one edge
        low, high = np.minimum(left, right)[kept], np.maximum(left, right)[kept]
        _, first = np.unique(low * plan.n_nodes + high, return_index=True)
        kept = kept[np.sort(first)]
    return (parsed if len(kept) == len(parsed) else parsed.take(kept)), rows[kept]


def answers_to_table(answers: Answers) -> pd.DataFrame:
    """One row per answered pair: left, right, label (the share of yes) and n_answers."""
    plan = answers.plan
    parts = [_answered_pairs(answers, l, m) for l, m in plan.blocks.tolist()]
    parts.append(_answered_single_pairs(answers))
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


def _answered_single_pairs(answers: Answers) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """The same for listed pairs outside the blocks."""
    single, position_of = answers.plan.single_pairs, answers.plan.position_of
    counts = answers.totals_of(single.left, single.right)
    left, right = single.left[counts > 0], single.right[counts > 0]
    return left, right, stored_values(answers.yes, position_of[left], position_of[right]), counts[counts > 0]


def _flat(values: Any) -> FloatArray:
    """Entries picked out of a sparse array, which scipy gives as a sparse or a dense row, as a plain array."""
    return np.asarray(values.todense() if sp.issparse(values) else values, dtype=float).ravel()


def _refuse_self_pairs(parsed: AnswerTable, plan: QueryPlan, table: pd.DataFrame) -> None:
    same = parsed.left == parsed.right
    if same.any():
        at = int(np.flatnonzero(same)[0])
        raise AnswersError(
            f"row {row_number(table, at)}: {plan.name(parsed.left[at])} is paired with itself "
            f"({same.sum()} such rows); a self-pair is not a question: remove it"
        )


def _inside(parsed: AnswerTable, plan: QueryPlan, table: pd.DataFrame, outside: str) -> BoolArray:
    """Which rows the plan asks; the others are an error, or dropped with a word."""
    left, right = parsed.left, parsed.right
    inside = plan.asks(left, right)
    if inside.all():
        return inside
    n_outside = int((~inside).sum())
    if outside == "drop":
        warnings.warn(f"dropped {n_outside} of {len(inside)} rows that the plan does not ask", stacklevel=4)
        return inside
    at = int(np.flatnonzero(~inside)[0])
    if plan.cannot_be_asked(left[[at]], right[[at]])[0]:
        raise AnswersError(
            f"row {row_number(table, at)}: the pair ({plan.name(left[at])}, {plan.name(right[at])}) is listed in the "
            f"plan as one that cannot be asked ({n_outside} rows are not asked); "
            'drop them with outside="drop", or plan without listing the pair (unaskable=)'
        )
    l, m = (plan.group_name(plan.group_of[node]) for node in (left[at], right[at]))
    raise AnswersError(
        f"row {row_number(table, at)}: the plan does not ask the pair ({plan.name(left[at])}, {plan.name(right[at])}): "
        f"it is in block ({l}, {m}) ({n_outside} such rows); "
        'drop them with outside="drop", or plan for their blocks'
    )


def _check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise AnswersError(f"{option}={value!r} is unknown; choose one of {', '.join(choices)}")
