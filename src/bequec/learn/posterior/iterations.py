"""Iterations of the cavity method: one of them, few at rising sharpness, and as many as it takes to settle."""

from typing import NamedTuple

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.learn.dense_blocks import DenseBlocks
from bequec.learn.interactions import least_squares_interactions
from bequec.learn.posterior.atoms import Atoms
from bequec.learn.posterior.cavity import SMALLEST_B, Belief, node_potentials, pair_sums, update_interactions
from bequec.learn.posterior.dirichlet import LARGEST, SMALLEST, fit_concentration
from bequec.learn.posterior.node_posteriors import Nodes
from bequec.learn.work import Work

NumberOfAtoms = tuple[int, int]  # shared atoms, and local ones

FIRST_CONCENTRATION = 0.4
HALF_WAY = 0.5  # how far an iteration goes towards the new posterior
PATIENCE = 20  # after so many iterations steps get shorter, which ends a swing between two states
PACE = 4  # iterations between the members of a sequence that is extrapolated
LARGEST_RATIO, LARGEST_JUMP = 0.9, 0.75
SAME_WAY = 0.7  # the cosine of two changes one after the other


def first_belief(answers: Answers, memberships: FloatArray) -> Belief:
    """No uncertainty yet, interactions by least squares, a flat prior."""
    n_nodes, K = memberships.shape
    interactions = np.clip(least_squares_interactions(answers, memberships), SMALLEST_B, 1 - SMALLEST_B)
    return Belief(memberships, np.zeros((n_nodes, K, K)), interactions, np.full(K, FIRST_CONCENTRATION))


def iterate(
    blocks: DenseBlocks,
    belief: Belief,
    atoms: Atoms | None,
    n_atoms: NumberOfAtoms,
    seed: int,
    *,
    sharpness: float = 1.0,
    cavity: bool = True,
    learn_prior: bool = True,
    step: float = HALF_WAY,
) -> tuple[Belief, Atoms]:
    """One iteration: part of the way to every node's posterior given all others; then the prior and B."""
    if atoms is None or not atoms.suit(belief.concentration):
        # Always of the same random numbers: others would shake all memberships.
        atoms = Atoms.draw(belief.concentration, np.random.default_rng(seed), *n_atoms)
    sums = pair_sums(blocks, belief, cavity=cavity)
    b, H = node_potentials(belief, sums)
    concentration = belief.concentration
    prior = np.tile(concentration, (len(b), 1))
    moments = atoms.moments(Nodes(sharpness * b, sharpness * H, prior, belief.memberships, belief.covariances))
    if learn_prior:
        concentration = fit_concentration(moments.mean_log.mean(axis=0), concentration)
    return (
        Belief(
            belief.memberships + step * (moments.mean - belief.memberships),
            belief.covariances + step * (moments.covariance - belief.covariances),
            update_interactions(belief, sums, step / 2),  # memberships follow B, so a longer step swings
            concentration,
        ),
        atoms,
    )


def anneal(
    work: Work,
    blocks: DenseBlocks,
    belief: Belief,
    seed: int,
    sharpness: FloatArray,
    n_cavity: int,
    n_atoms: NumberOfAtoms,
) -> Belief:
    """Plain iterations at rising sharpness find the basin, cavity iterations correct for the answers' echo."""
    atoms: Atoms | None = None
    for step, beta in enumerate(sharpness.tolist()):
        if work.out_of_time():
            return belief
        belief, atoms = iterate(
            blocks, belief, atoms, n_atoms, seed, sharpness=beta, cavity=False, learn_prior=step >= 2
        )
    for _ in range(n_cavity):
        if work.out_of_time():
            break
        belief, atoms = iterate(blocks, belief, atoms, n_atoms, seed)
    return belief


class Settled(NamedTuple):
    """Where iterations came to, after how many, and whether they are settled there."""

    belief: Belief
    n_iter: int
    is_settled: bool


def creep(
    work: Work, blocks: DenseBlocks, belief: Belief, n_atoms: NumberOfAtoms, seed: int, max_iter: int, tol: float
) -> Settled:
    """Cavity iterations until hardly anything moves; every few of them B and ν jump to where they are going."""
    atoms: Atoms | None = None
    marks = [belief]
    for n_iter in range(1, max_iter + 1):
        previous, step = belief, min(HALF_WAY, HALF_WAY * PATIENCE / n_iter)
        belief, atoms = iterate(blocks, belief, atoms, n_atoms, seed, step=step)
        if n_iter % PACE == 0:
            marks.append(belief)
        if len(marks) == 3:
            # Short steps must not pass for being settled.
            rests = movement(previous, belief) < tol * step / HALF_WAY
            belief, jump = extrapolate(*marks)
            if rests and jump < LARGEST_JUMP * tol:
                return Settled(belief, n_iter, True)
            marks = [belief]
        if work.out_of_time():
            break
    return Settled(belief, n_iter, False)


def extrapolate(first: Belief, second: Belief, third: Belief) -> tuple[Belief, float]:
    """Where B and ν are going, and how far B moves from the second to the limit, root mean square by size.

    Memberships follow B and the prior and answer to them, so that all three creep along together: a geometric
    sequence, whose limit Aitken's formula finds from three of its members.
    """
    older, old, new = (np.append(b.interactions.ravel(), np.log(b.concentration)) for b in (first, second, third))
    change, before = new - old, old - older
    ratio = float(np.clip(change @ before / max(before @ before, 1e-300), 0.0, LARGEST_RATIO))
    if change @ before < SAME_WAY * np.linalg.norm(change) * np.linalg.norm(before):
        ratio = 0.0  # no such sequence: B wanders, and a jump would only keep it from coming to rest
    limit = new + change * ratio / (1 - ratio)
    K = len(third.concentration)
    interactions = np.clip(limit[:-K].reshape(K, K), SMALLEST_B, 1 - SMALLEST_B)
    sizes = third.memberships.mean(axis=0)  # of an empty cluster nothing is known, and nothing has to rest
    jump = float(np.sqrt(sizes @ (interactions - second.interactions) ** 2 @ sizes))
    concentration = np.clip(np.exp(limit[-K:]), SMALLEST, LARGEST)
    return third._replace(interactions=interactions, concentration=concentration), jump


def movement(previous: Belief, belief: Belief) -> float:
    """How far the memberships moved, root mean square."""
    return float(np.sqrt(np.mean((belief.memberships - previous.memberships) ** 2)))
