"""Answers weighed by who gave them: workers are judged by a first fit that took them all for equal."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bequec.ask.answers import Answers
from bequec.ask.counting import counted_rows
from bequec.ask.pair_counts import stored_values
from bequec.core.arrays import FloatArray
from bequec.learn.people.piles import rows_of_screens
from bequec.learn.people.settings import WORKERS
from bequec.learn.people.workers import clearly_worse, efficiency, fit_lines, left_out_probabilities, weights_of
from bequec.learn.state import State, WorkerQuality

if TYPE_CHECKING:
    from bequec.ask.answer_table import AnswerTable


class NamedAnswers(NamedTuple):
    """A table that says who answered, and the share of yes and the number of answers that each row counts for."""

    table: "AnswerTable"
    mean: FloatArray
    n_answers: FloatArray


class Weighed(NamedTuple):
    """What was learned about the workers, and how often each row of the table counts; None where all count alike."""

    quality: WorkerQuality | None = None
    weights: FloatArray | None = None


def named_answers(answers: Answers) -> NamedAnswers | None:
    """The answers by who gave them; None unless at least two people gave enough to be judged.

    They must all be in the table: that of a graph holds edges only, whoever reported them, and a "no" is nobody's.
    """
    if answers.table is None or answers.reading is None:
        return None
    named = NamedAnswers(answers.table, *counted_rows(answers.table, answers.reading))
    code = named.table.texts("worker").codes
    known = (code >= 0) & (named.n_answers > 0)
    is_all = bool(np.isclose(named.n_answers.sum(), answers.n_answers))
    is_enough = named.n_answers[known].sum() >= WORKERS.fewest_answers
    return named if is_all and is_enough and len(np.unique(code[known])) > 1 else None


def weigh_workers(answers: Answers, named: NamedAnswers, state: State) -> Weighed:
    """Judge every worker by a state that was learned from all answers alike.

    A screen of n items counts as n answers, as a misplaced item errs in all of its pairs.
    """
    table, mean, n_answers = named
    worker = table.texts("worker")
    known = np.flatnonzero((worker.codes >= 0) & (n_answers > 0))
    number, codes = np.unique(worker.codes[known], return_inverse=True)
    effective = n_answers * share_of_an_answer(table)
    p = _left_out(answers, table.take(known), state)
    lines = fit_lines(p, mean[known], effective[known], codes, len(number))
    names = np.array([str(name) for name in worker.categories[number]])
    order = np.argsort(names, kind="stable")
    quality = WorkerQuality(
        worker=names[order],
        n_answers=np.asarray(np.bincount(codes, n_answers[known])[order], dtype=float),
        reliability=lines.slope[order],
        standard_error=lines.standard_error[order],
        flagged=clearly_worse(lines)[order],
    )
    weights = np.ones(len(table))  # nothing is known of those without a name
    weights[known] = weights_of(lines)[codes]
    are_alike = efficiency(weights, effective) > WORKERS.largest_efficiency
    return Weighed(quality, None if are_alike else weights)


def _left_out(answers: Answers, table: "AnswerTable", state: State) -> FloatArray:
    """The probability of a yes of each row, its pair's answers left out where the state has covariances."""
    i, j = answers.plan.position_of[table.left], answers.plan.position_of[table.right]
    total = answers.totals_of(table.left, table.right)
    mean = stored_values(answers.yes, i, j) / np.maximum(total, 1e-300)
    return left_out_probabilities(state.memberships, state.covariances, state.interactions, i, j, mean, total)


def share_of_an_answer(table: "AnswerTable") -> FloatArray:
    """How much each row tells of its worker: one for an answer to a pair, 2 / (n − 1) for a pair of a screen of n."""
    share = np.ones(len(table))
    screens = rows_of_screens(table)
    n_items = (1 + np.sqrt(1 + 8 * np.bincount(screens.screen))) / 2  # n (n − 1) / 2 pairs
    share[screens.row] = (2 / np.maximum(n_items - 1, 1))[screens.screen]
    return share
