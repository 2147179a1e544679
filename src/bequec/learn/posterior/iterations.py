"""Iterations of the cavity method: one of them, a course of a few, and as many as it takes to settle."""

from typing import NamedTuple

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.learn.interactions import least_squares_interactions
from bequec.learn.pair_blocks import PairBlocks
from bequec.learn.posterior.atoms import Atoms
from bequec.learn.posterior.cavity import Belief, node_potentials, pair_sums, update_interactions
from bequec.learn.posterior.dirichlet import fit_concentration
from bequec.learn.posterior.node_posteriors import NodePosteriors
from bequec.learn.posterior.settings import POSTERIOR, Course, NumberOfAtoms
from bequec.learn.work import Work


class PriorUpdate(NamedTuple):
    """How the prior is learned: the least E[log x] that a node counts with, and the multiple of B's usual step."""

    least_mean_log: FloatArray | float
    interactions_step: float


PLAIN_PRIOR = PriorUpdate(-np.inf, 1.0)


def first_belief(answers: Answers, memberships: FloatArray) -> Belief:
    """No uncertainty yet, interactions by least squares, a flat prior."""
    n_nodes, K = memberships.shape
    least = POSTERIOR.smallest_interaction
    interactions = np.clip(least_squares_interactions(answers, memberships), least, 1 - least)
    return Belief(memberships, np.zeros((n_nodes, K, K)), interactions, np.full(K, POSTERIOR.first_concentration))


def iterate(
    blocks: PairBlocks,
    belief: Belief,
    atoms: Atoms | None,
    n_atoms: NumberOfAtoms,
    seed: int,
    *,
    sharpness: float = 1.0,
    cavity: bool = True,
    learn_prior: bool = True,
    step: float = POSTERIOR.damping,
    prior: PriorUpdate = PLAIN_PRIOR,
) -> tuple[Belief, Atoms]:
    """One iteration: part of the way to every node's posterior given all others; then the prior and B."""
    if atoms is None or not atoms.suit(belief.concentration):
        # Reuse the seed: fresh draws add noise each iteration.
        atoms = Atoms.draw(belief.concentration, np.random.default_rng(seed), *n_atoms)
    sums = pair_sums(blocks, belief, cavity=cavity)
    b, H = node_potentials(belief, sums)
    concentration = belief.concentration
    priors = np.tile(concentration, (len(b), 1))
    posteriors = NodePosteriors(sharpness * b, sharpness * H, priors, belief.memberships, belief.covariances)
    moments = atoms.moments(posteriors)
    if learn_prior:
        mean_log = np.maximum(moments.mean_log, prior.least_mean_log).mean(axis=0)
        concentration = fit_concentration(mean_log, concentration)
    return (
        Belief(
            belief.memberships + step * (moments.mean - belief.memberships),
            belief.covariances + step * (moments.covariance - belief.covariances),
            update_interactions(belief, sums, step / 2),  # memberships follow B, so longer steps oscillate
            concentration,
        ),
        atoms,
    )


def follow(course: Course, work: Work, blocks: PairBlocks, belief: Belief, seed: int) -> Belief | None:
    """Plain iterations at rising sharpness find the basin, cavity iterations take back what an answer says twice.

    None if the time did not suffice.
    """
    atoms: Atoms | None = None
    for step, beta in enumerate(course.sharpness):
        if work.out_of_time():
            return None
        learn_prior = step >= POSTERIOR.first_prior_update
        belief, atoms = iterate(
            blocks, belief, atoms, course.n_atoms, seed, sharpness=beta, cavity=False, learn_prior=learn_prior
        )
    for _ in range(course.n_cavity):
        if work.out_of_time():
            return None
        belief, atoms = iterate(blocks, belief, atoms, course.n_atoms, seed)
    return belief


class Settled(NamedTuple):
    """Where iterations came to, after how many, and whether they are settled there."""

    belief: Belief
    n_iter: int
    is_settled: bool


def iterate_to_convergence(
    work: Work,
    blocks: PairBlocks,
    belief: Belief,
    n_atoms: NumberOfAtoms,
    seed: int,
    max_iter: int,
    tol: float,
    prior: PriorUpdate = PLAIN_PRIOR,
) -> Settled:
    """Cavity iterations until hardly anything moves; every few of them B and ν are extrapolated to their limit."""
    atoms: Atoms | None = None
    marks, damping = [belief], POSTERIOR.damping
    for n_iter in range(1, max_iter + 1):
        previous, step = belief, min(damping, damping * POSTERIOR.undamped_iterations / n_iter)
        belief, atoms = iterate(blocks, belief, atoms, n_atoms, seed, step=step, prior=prior)
        if n_iter % POSTERIOR.extrapolation_interval == 0:
            marks.append(belief)
        if len(marks) == 3:
            # A short step moves little whether or not the state is settled.
            is_still = movement(previous, belief) < tol * step / damping
            belief, jump = extrapolate(*marks)
            if is_still and jump < POSTERIOR.largest_jump * tol:
                return Settled(belief, n_iter, True)
            marks = [belief]
        if work.out_of_time():
            break
    return Settled(belief, n_iter, False)


def extrapolate(first: Belief, second: Belief, third: Belief) -> tuple[Belief, float]:
    """The limit of B and ν, and how far B moves from the second to the limit, root mean square by size.

    Memberships depend on B and the prior, and these on the memberships, so that near the fixed point all three change
    slowly together: a geometric sequence, whose limit Aitken's formula finds from three of its members.
    """
    older, old, new = (np.append(b.interactions.ravel(), np.log(b.concentration)) for b in (first, second, third))
    change, before = new - old, old - older
    ratio = float(np.clip(change @ before / max(before @ before, 1e-300), 0.0, POSTERIOR.largest_ratio))
    if change @ before < POSTERIOR.least_cosine * np.linalg.norm(change) * np.linalg.norm(before):
        ratio = 0.0  # no geometric sequence: a jump would keep B from settling
    limit = new + change * ratio / (1 - ratio)
    K = len(third.concentration)
    least = POSTERIOR.smallest_interaction
    interactions = np.clip(limit[:-K].reshape(K, K), least, 1 - least)
    sizes = third.memberships.mean(axis=0)  # the interactions of an empty cluster are unknown, and need not settle
    jump = float(np.sqrt(sizes @ (interactions - second.interactions) ** 2 @ sizes))
    concentration = np.clip(np.exp(limit[-K:]), POSTERIOR.smallest_concentration, POSTERIOR.largest_concentration)
    return third._replace(interactions=interactions, concentration=concentration), jump


def movement(previous: Belief, belief: Belief) -> float:
    """How far the memberships moved, root mean square."""
    return float(np.sqrt(np.mean((belief.memberships - previous.memberships) ** 2)))
