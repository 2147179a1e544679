"""A state of the posterior with its score, by which runs from several starts are compared."""

from typing import NamedTuple

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.learn.matching import match_clusters
from bequec.learn.posterior.atoms import Atoms
from bequec.learn.posterior.cavity import Belief, log_predictive
from bequec.learn.posterior.iterations import first_belief, follow, iterate
from bequec.learn.posterior.settings import POSTERIOR, Course
from bequec.learn.problem import Problem
from bequec.learn.work import Work


class Run(NamedTuple):
    """A belief and its leave-one-out log predictive, per node."""

    belief: Belief
    scores: FloatArray

    @property
    def score(self) -> float:
        """The total log predictive."""
        return float(self.scores.sum())

    def in_other_basin(self, other: "Run") -> bool:
        """Whether its memberships are too far from another one's to be on the way to the same fixed point."""
        M = other.belief.memberships
        distance = np.linalg.norm(match_clusters(self.belief.memberships, M) - M) / np.linalg.norm(M)
        return bool(distance > POSTERIOR.same_basin_distance)

    @property
    def allowed_deficit(self) -> float:
        """How much smaller a move's log predictive may be after its race, more where the log predictive is larger."""
        return POSTERIOR.allowed_deficit * (1 + abs(self.score) / POSTERIOR.deficit_doubles_at)

    def clearly_beats(self, other: "Run", n_errors: float = POSTERIOR.clear_lead) -> bool:
        """Whether it leads in log predictive by more than so many standard errors from node to node."""
        lead = self.scores - other.scores
        return bool(lead.sum() > n_errors * np.sqrt(len(lead)) * lead.std())


def scored(problem: Problem, belief: Belief) -> Run:
    """A belief with its score."""
    return Run(belief, log_predictive(problem.blocks, belief))


def beginning(problem: Problem, memberships: FloatArray) -> Run:
    """First memberships after a few cavity iterations, whatever the time.

    Without them a score would be in-sample: the memberships were fitted to the answers, with no covariance that
    could take that back.
    """
    belief = first_belief(problem.answers, memberships)
    atoms: Atoms | None = None
    for _ in range(POSTERIOR.iterations_of_beginning):
        belief, atoms = iterate(problem.blocks, belief, atoms, POSTERIOR.annealed_start.n_atoms, seed=0)
    return scored(problem, belief)


def run_from(problem: Problem, work: Work, memberships: FloatArray, seed: int, course: Course) -> Run | None:
    """From first memberships along a course to a belief and its score; None if the time did not suffice."""
    return run_on(problem, work, first_belief(problem.answers, memberships), seed, course)


def run_on(problem: Problem, work: Work, belief: Belief, seed: int, course: Course) -> Run | None:
    """From one belief along a course to another one and its score; None if the time did not suffice.

    Half-way along a course the score does not compare with others.
    """
    followed = follow(course, work, problem.blocks, belief, seed)
    return None if followed is None else scored(problem, followed)


def has_few_yes(problem: Problem) -> bool:
    """Whether nodes have so few yes that annealing leads astray, and log predictives favor too certain a model."""
    return bool(problem.answers.yes.nnz < POSTERIOR.few_yes_per_node * problem.answers.plan.n_nodes)
