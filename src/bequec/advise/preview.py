"""What will it buy? Simulate a plan before anybody is asked, and see how accurate the result would be."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.core.errors import PlanError
from bequec.core.progress import Progress
from bequec.evaluate.scores import accuracy
from bequec.learn.bequec import BeQuec
from bequec.plan.among import plan_among
from bequec.plan.money.budget import Budget, as_budget
from bequec.plan.money.prices import plan_cost
from bequec.plan.pattern_choice import PATTERNS, smallest_full_group
from bequec.plan.planning import plan_queries
from bequec.plan.query_plan import QueryPlan
from bequec.simulate.mixed_membership import draw_answers

MOST_NODES_SIMULATED = 2000  # a fit of so many takes seconds
FEWEST_RUNS, MOST_RUNS = 3, 8
LARGEST_STANDARD_ERROR = 0.01  # of the mean accuracy: more runs than the fewest only where it is larger


@dataclass(frozen=True)
class AnswerModel:
    """How answers are expected to turn out; the defaults are those of people who compared photos of dogs.

    Parameters
    ----------
    false_no : float
        How often two items of one cluster are called different.
    false_yes : float
        How often two items of different clusters are called the same.
    confusion : float
        The same for the two clusters that are most alike.
    balance : float
        Size of the largest cluster over that of the smallest; the sizes between grow by a constant factor.
    mixing : float
        0: every item is in one cluster. Above, memberships are Dirichlet with this mean parameter: 0.2 is mostly pure,
        1 is evenly mixed.
    answers_per_pair : int
        How many people answer each pair.
    """

    false_no: float = 0.22
    false_yes: float = 0.04
    confusion: float = 0.18
    balance: float = 1.0
    mixing: float = 0.0
    answers_per_pair: int = 1

    def __post_init__(self) -> None:
        for name in ("false_no", "false_yes", "confusion"):
            if not 0 <= getattr(self, name) <= 1:
                raise PlanError(f"{name}={getattr(self, name):g} must be a probability in [0, 1]")
        if not self.balance >= 1:
            raise PlanError(f"balance={self.balance:g} must be at least 1: largest over smallest cluster")
        if not 0 <= self.mixing < math.inf:
            raise PlanError(f"mixing={self.mixing:g} must be at least 0, where 0 means one cluster per item")
        if self.answers_per_pair < 1:
            raise PlanError(f"answers_per_pair={self.answers_per_pair} must be at least 1")

    def shares(self, n_clusters: int) -> FloatArray:
        """The clusters' expected shares of the items."""
        weight = np.asarray(self.balance ** (np.arange(n_clusters) / max(1, n_clusters - 1)))
        return np.asarray(weight / weight.sum())

    def interactions(self, n_clusters: int) -> FloatArray:
        """The chance of a yes between clusters; the first two are most alike."""
        chance = np.full((n_clusters, n_clusters), self.false_yes)
        chance[0, 1] = chance[1, 0] = max(self.confusion, self.false_yes)
        np.fill_diagonal(chance, 1 - self.false_no)
        return chance

    def memberships(self, n_nodes: int, n_clusters: int, rng: np.random.Generator) -> FloatArray:
        """Drawn memberships."""
        shares = self.shares(n_clusters)
        if self.mixing:
            return rng.dirichlet(self.mixing * n_clusters * shares, n_nodes)
        return np.asarray(np.eye(n_clusters)[rng.choice(n_clusters, n_nodes, p=shares)])


@dataclass(frozen=True)
class Expectation:
    """Expected accuracy of one plan: the share of items whose largest membership is right."""

    name: str
    n_pairs: int
    cost: float
    accuracies: tuple[float, ...]
    why_not: str = ""

    @property
    def mean(self) -> float:
        """The expected accuracy; NaN where no plan fits."""
        return float(np.mean(self.accuracies)) if self.accuracies else math.nan

    @property
    def spread(self) -> float:
        """The standard deviation from run to run."""
        return float(np.std(self.accuracies, ddof=1)) if len(self.accuracies) > 1 else math.nan

    @property
    def standard_error(self) -> float:
        """Of the expected accuracy."""
        return self.spread / math.sqrt(len(self.accuracies)) if self.accuracies else math.nan


def expected_accuracies(
    plan: QueryPlan,
    n_clusters: int,
    answer_model: AnswerModel | None = None,
    *,
    n_runs: int | None = None,
    refine: str | None = "subspace",
    random_state: int = 0,
) -> tuple[float, ...]:
    """The accuracies of simulated studies with this plan, each learned as ``BeQuec`` would.

    Without ``n_runs`` there are three to eight of them: as many as make the standard error of their mean at most one
    per cent. Above 2000 nodes a thinned plan is simulated: see ``thinned``.
    """
    answer_model = AnswerModel() if answer_model is None else answer_model
    plan = thinned(plan, n_clusters)
    found: list[float] = []
    for run in range(MOST_RUNS if n_runs is None else n_runs):
        if n_runs is None and run >= FEWEST_RUNS and np.std(found, ddof=1) / math.sqrt(run) <= LARGEST_STANDARD_ERROR:
            break
        rng = np.random.default_rng([random_state, run])  # the same items for every plan of as many nodes
        memberships = answer_model.memberships(plan.n_nodes, n_clusters, rng)
        answers = _draw(plan, memberships, answer_model, n_clusters, rng)
        model = BeQuec(n_clusters, refine=refine, random_state=rng).fit(answers)
        found.append(accuracy(model.labels_, memberships.argmax(axis=1)))
    return tuple(found)


def preview(
    plan_arguments: Mapping[str, Any],
    answer_model: AnswerModel | None = None,
    *,
    n_runs: int | None = None,
    refine: str | None = "subspace",
    random_state: int = 0,
    progress: Progress | None = None,
) -> tuple[list[Expectation], list[Expectation]]:
    """Half, one and two times the budget; and the patterns side by side for the budget.

    Parameters
    ----------
    plan_arguments : mapping
        The arguments of ``plan_queries``. Without a budget, what its plan costs is the budget.
    answer_model : AnswerModel, optional
        How answers are expected to turn out.
    n_runs, refine, random_state :
        As in ``expected_accuracies``.
    progress : callable, optional
        Called as ``progress(what, done, total)``.
    """
    prices = plan_arguments.get("cost")
    asked_for = plan_queries(**plan_arguments)
    budget = as_budget(plan_arguments.get("budget") or max(1, math.ceil(plan_cost(asked_for, prices))))
    pattern = plan_arguments.get("pattern", "diagonal")
    by_budget = [
        _Alternative(f"{factor:g} × budget", _with(plan_arguments, pattern, budget.times(factor)))
        for factor in (0.5, 1.0, 2.0)
    ]
    by_budget[1] = _Alternative("1 × budget", dict(plan_arguments))
    # Prices and forbidden blocks leave no choice of pattern.
    others = () if prices is not None else tuple(name for name in PATTERNS if name != pattern)
    by_pattern = [_Alternative(name, _with(plan_arguments, name, budget)) for name in others]
    plans = [alternative.plan() for alternative in (*by_budget, *by_pattern)]
    rows = []
    for done, (alternative, (plan, why_not)) in enumerate(zip((*by_budget, *by_pattern), plans, strict=True)):
        if progress is not None:
            progress("simulating", done, len(plans))
        if plan is None:
            rows.append(Expectation(alternative.name, 0, math.nan, (), why_not))
            continue
        found = expected_accuracies(
            plan, plan_arguments["n_clusters"], answer_model, n_runs=n_runs, refine=refine, random_state=random_state
        )
        rows.append(Expectation(alternative.name, plan.n_pairs, plan_cost(plan, prices), found))
    this = Expectation(pattern, rows[1].n_pairs, rows[1].cost, rows[1].accuracies)
    return rows[:3], [this, *rows[3:]]


def thinned(plan: QueryPlan, n_clusters: int) -> QueryPlan:
    """The same blocks with fewer nodes in each group, so that some 2000 are left in all.

    Each node then has fewer answers than in the real study, so what a thinned plan reaches is a cautious figure.
    """
    if plan.n_nodes <= MOST_NODES_SIMULATED:
        return plan
    least = smallest_full_group(n_clusters)
    share = MOST_NODES_SIMULATED / plan.n_nodes
    kept = np.minimum(plan.sizes, np.maximum(np.ceil(share * plan.sizes), least)).astype(np.int64)
    if kept.sum() > 2 * MOST_NODES_SIMULATED:
        raise PlanError(
            f"{plan.n_groups} groups are too many to preview: with {least} nodes in each, {kept.sum():,} would have to "
            f"be simulated (at most {2 * MOST_NODES_SIMULATED:,}); preview a plan with fewer groups"
        )
    nodes = np.sort(np.concatenate([group[:n] for group, n in zip(plan.groups, kept, strict=True)]))
    return plan_among(plan, nodes)


@dataclass(frozen=True)
class _Alternative:
    """One plan to compare: what it is called, and the arguments of ``plan_queries`` that make it."""

    name: str
    arguments: Mapping[str, Any]

    def plan(self) -> tuple[QueryPlan | None, str]:
        """The plan, or why there is none."""
        try:
            return plan_queries(**self.arguments), ""
        except PlanError as reason:
            return None, str(reason)


def _with(plan_arguments: Mapping[str, Any], pattern: str, budget: Budget) -> dict[str, Any]:
    """The same arguments with another pattern or budget; the number of groups then follows from the budget."""
    own = () if pattern == plan_arguments.get("pattern", "diagonal") else ("n_references", "degree")
    same = {key: value for key, value in plan_arguments.items() if key not in ("n_groups", *own)}
    return {**same, "pattern": pattern, "budget": budget}


def _draw(
    plan: QueryPlan, memberships: FloatArray, answer_model: AnswerModel, n_clusters: int, rng: np.random.Generator
) -> Answers:
    """Every pair answered ``answers_per_pair`` times."""
    interactions = answer_model.interactions(n_clusters)
    opinions = [draw_answers(plan, memberships, interactions, rng) for _ in range(answer_model.answers_per_pair)]
    if len(opinions) == 1:
        return opinions[0]
    yes = sum((one.yes for one in opinions[1:]), opinions[0].yes).tocsr()
    left, right = (np.concatenate(side) for side in zip(*plan.pairs(), strict=True))
    i, j = plan.position_of[left], plan.position_of[right]
    total = np.zeros((plan.n_nodes, plan.n_nodes))
    total[i, j] = total[j, i] = len(opinions)
    return Answers.from_totals(plan, yes, sp.csr_array(total))
