"""Where there are many answers, the basin is sought on a sample of each group's nodes; then the others join them."""

import dataclasses
from typing import NamedTuple

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import IntArray
from bequec.learn.posterior.cavity import Belief
from bequec.learn.posterior.settings import POSTERIOR
from bequec.learn.problem import Problem
from bequec.learn.state import State
from bequec.learn.subspace.refinement import least_squares_memberships
from bequec.plan.among import plan_among


class Sample(NamedTuple):
    """Some nodes of each group, by position, the problem among them, and their part of a start."""

    positions: IntArray
    problem: Problem
    start: State
    is_part: bool


def draw_sample(problem: Problem, rng: np.random.Generator, start: State) -> Sample:
    """As many nodes of each group as tell the basins apart; all of them where that takes most."""
    plan, K = problem.answers.plan, problem.n_clusters
    wanted = np.ceil(share_needed(problem.answers, K) * plan.sizes).astype(np.int64)
    wanted = np.clip(wanted, np.minimum(plan.sizes, POSTERIOR.smallest_sampled_group * K), plan.sizes)
    if wanted.sum() > POSTERIOR.largest_sample * plan.n_nodes:
        return Sample(np.arange(plan.n_nodes), problem, start, is_part=False)
    chosen = [
        plan.starts[l] + np.sort(rng.choice(int(plan.sizes[l]), int(wanted[l]), replace=False))
        for l in range(plan.n_groups)
    ]
    positions = np.concatenate(chosen)
    return Sample(
        positions,
        dataclasses.replace(problem, answers=among(problem.answers, positions)),
        dataclasses.replace(start, basis=start.basis[positions], memberships=start.memberships[positions]),
        is_part=True,
    )


def share_needed(answers: Answers, n_clusters: int) -> float:
    """The share of the nodes that has enough answered pairs, and enough of the rarer answer at each node."""
    n_rarer = answers.n_answers * min(answers.share_yes, 1 - answers.share_yes)
    by_pairs = np.sqrt(n_clusters * POSTERIOR.sampled_pairs_per_cluster / max(answers.n_answered_pairs, 1))
    by_nodes = n_clusters * POSTERIOR.sampled_answers_per_cluster / max(2 * n_rarer / answers.plan.n_nodes, 1e-300)
    return float(max(by_pairs, by_nodes))


def among(answers: Answers, positions: IntArray) -> Answers:
    """The answers among some nodes, at least one of each group."""
    plan = answers.plan
    correction = None if answers.correction is None else answers.correction[positions][:, positions]
    return Answers(
        plan_among(plan, plan.order[positions]),
        answers.yes[positions][:, positions],
        answers.baseline,
        correction,
        answers.diagonal,
    )


def extend(answers: Answers, positions: IntArray, belief: Belief) -> Belief:
    """The belief about all nodes: the others get the memberships that fit their answers with the sample best."""
    n_nodes, K = answers.plan.n_nodes, len(belief.concentration)
    known = np.zeros((n_nodes, K))
    known[positions] = belief.memberships
    memberships = least_squares_memberships(answers, known, belief.interactions)
    covariances = np.tile(belief.covariances.mean(axis=0), (n_nodes, 1, 1))
    memberships[positions], covariances[positions] = belief.memberships, belief.covariances
    return belief._replace(memberships=memberships, covariances=covariances)
