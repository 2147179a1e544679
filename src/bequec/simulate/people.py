"""Simulated people who answer question sheets, and err."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bequec.core.arrays import IntArray
from bequec.plan.pairs import pairs_numbered, question_numbers
from bequec.plan.query_plan import QueryPlan
from bequec.simulate.checks import check_counts, check_rates

Same = Sequence[int] | npt.NDArray[Any] | Callable[[IntArray, IntArray], Any]


def simulate_people(
    same: Same,
    plan: QueryPlan,
    *,
    error_rate: float | tuple[float, float] = 0.1,
    unsure_rate: float = 0.0,
    questions_each: int = 120,
    opinions: int = 1,
    random_state: int | np.random.Generator | None = None,
) -> pd.DataFrame:
    """A table of answers (worker, question, left, right, label) to every question of the plan.

    Parameters
    ----------
    same : labels of the nodes, or function (rows, columns) -> bool
        The truth: do the two belong together?
    plan : QueryPlan
    error_rate : float, or (false no, false yes)
        How often a "same" pair is called different, and a "different" pair same.
    unsure_rate : float
        How often the answer is "unsure" instead.
    questions_each : int
        How many questions a person answers, none of them twice.
    opinions : int
        How many people answer each question.
    random_state : int, Generator or None
    """
    false_no, false_yes = error_rate if isinstance(error_rate, tuple) else (error_rate, error_rate)
    check_rates(error_rate=false_no)
    check_rates(error_rate=false_yes, unsure_rate=unsure_rate)
    check_counts(questions_each=questions_each, opinions=opinions)
    rng = np.random.default_rng(random_state)
    # Whole rounds over all questions, each in a new order: nobody meets a question twice.
    asked = question_numbers(plan)
    question = np.concatenate([rng.permutation(asked) for _ in range(opinions)])
    sheets_each = -(-plan.n_pairs // questions_each)
    worker = np.concatenate([r * sheets_each + np.arange(plan.n_pairs) // questions_each + 1 for r in range(opinions)])
    left, right = pairs_numbered(plan, question)
    if callable(same):
        truth = np.asarray(same(left, right))
    else:
        labels = np.asarray(same)
        truth = np.asarray(labels[left] == labels[right])
    wrong = rng.random(len(truth)) < np.where(truth, false_no, false_yes)
    label = np.where(truth.astype(bool) ^ wrong, "same", "different").astype(object)
    label[rng.random(len(truth)) < unsure_rate] = "unsure"
    names = np.fromiter((plan.name(node) for node in range(plan.n_nodes)), dtype=object, count=plan.n_nodes)
    return pd.DataFrame(
        {
            "worker": worker,
            "question": question,
            "left": names[left],
            "right": names[right],
            "label": label,
        }
    )
