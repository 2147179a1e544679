"""What the rows of a table come to: sums over the answers of each pair, all counted alike or weighted by row."""

import difflib
from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from bequec.ask.answer_table import AnswerTable
from bequec.ask.answers import Answers
from bequec.ask.pair_counts import single_pairs_once
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import AnswersError, shortened
from bequec.plan.query_plan import QueryPlan


class Reading(NamedTuple):
    """What an asked pair means that a table does not list, and what "unsure" means."""

    unlisted: Literal["unanswered", "no"] = "unanswered"
    unsure: Literal["unanswered", "half"] = "unanswered"


def count_answers(
    table: AnswerTable,
    plan: QueryPlan,
    *,
    unlisted: Literal["unanswered", "no"] = "unanswered",
    unsure: Literal["unanswered", "half"] = "unanswered",
    weights: FloatArray | None = None,
) -> Answers:
    """The sums of the answers to each pair, for learning; all rows must be of pairs that the plan asks.

    With ``weights``, an answer of a row counts so often instead of once.
    """
    reading = Reading(unlisted, unsure)
    left, right = table.left, table.right
    labels, answered = counted_rows(table, reading)
    if weights is not None:
        answered = answered * weights
    yes = _symmetric(plan, left, right, labels * answered)
    total = _symmetric(plan, left, right, answered)
    if unlisted == "unanswered":
        return Answers.from_totals(plan, yes, total, table, reading)
    # Every asked pair counts as answered once unless it is listed: then by its own answers.
    listed = _symmetric(plan, left, right, np.ones(len(left)))
    listed.data[:] = 1.0
    correction = (total - listed).tocsr()
    correction.eliminate_zeros()
    once = single_pairs_once(plan)
    if once is not None:
        correction = (correction + once).tocsr()
    correction = correction if correction.nnz else None
    return Answers(plan, yes, baseline=1, correction=correction, table=table, reading=reading)


def counted_rows(table: AnswerTable, reading: Reading) -> tuple[FloatArray, FloatArray]:
    """The share of yes and the number of answers that each row counts for."""
    is_unsure = np.isnan(table.label)
    return np.where(is_unsure, 0.5, table.label), table.n_answers * (1.0 if reading.unsure == "half" else ~is_unsure)


def has_similarities(answers: Answers) -> bool:
    """Whether some answers are neither yes nor no; answers that count more or less than once are not."""
    if answers.table is not None and answers.reading is not None:
        labels, answered = counted_rows(answers.table, answers.reading)
        n_yes = (labels * answered)[(answered > 0) & (labels > 0) & (labels < 1)]
        return bool((np.abs(n_yes - np.rint(n_yes)) > 1e-9).any())
    # Of a pair whose number of answers is not whole the yes need not be whole either.
    is_whole = answers.total_at_yes % 1 == 0
    return bool((is_whole & (answers.yes.data % 1 != 0)).any())


def weighted(answers: Answers, weights: FloatArray) -> Answers:
    """The same answers, each row of their table counted so often."""
    table, reading = _table_of(answers)
    return count_answers(table, answers.plan, unlisted=reading.unlisted, unsure=reading.unsure, weights=weights)


def without_workers(answers: Answers, names: Iterable[str]) -> Answers:
    """The answers of everybody else; see ``Answers.without_workers``."""
    table, reading = _table_of(answers)
    worker = table.texts("worker")
    known = [str(name) for name in worker.categories[np.unique(worker.codes[worker.codes >= 0])]]
    if not known:
        raise AnswersError("no answer says who gave it, so nobody can be left out; add a column worker to the table")
    left_out = [str(name).strip() for name in names]
    for name in left_out:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            hint = f"the nearest names are {', '.join(near)}" if near else f"those who did are {shortened(known)}"
            raise AnswersError(f"nobody called {name!r} answered anything; {hint}")
    kept = ~np.isin(worker.codes, worker.categories.get_indexer(left_out))
    if not kept.any():
        raise AnswersError(f"without {', '.join(left_out)} no answer is left; leave out fewer people")
    return count_answers(table.take(kept), answers.plan, unlisted=reading.unlisted, unsure=reading.unsure)


def _table_of(answers: Answers) -> tuple[AnswerTable, Reading]:
    if answers.table is None or answers.reading is None:
        raise AnswersError("these answers are sums that do not say who answered; read them from a table")
    return answers.table, answers.reading


def _symmetric(plan: QueryPlan, left: IntArray, right: IntArray, values: FloatArray) -> sp.csr_array:
    """Sum values over pairs, both ways round, in group order."""
    i, j = plan.position_of[left], plan.position_of[right]
    entries = np.concatenate([values, values]), (np.concatenate([i, j]), np.concatenate([j, i]))
    matrix = sp.csr_array(entries, shape=(plan.n_nodes, plan.n_nodes))
    matrix.eliminate_zeros()
    return matrix
