"""The last step where people sorted items into piles: memberships from the placements instead of from their pairs."""

import dataclasses

import numpy as np

from bequec.ask.answers import Answers
from bequec.ask.counting import weighted
from bequec.core.arrays import FloatArray
from bequec.learn.interactions import least_squares_interactions
from bequec.learn.pair_blocks import PairBlocks
from bequec.learn.people.piles import read_placements, rows_of_screens
from bequec.learn.people.placements import PilePosterior, sample_memberships
from bequec.learn.people.settings import PILES
from bequec.learn.posterior.cavity import Belief, log_predictive
from bequec.learn.posterior.iterations import iterate
from bequec.learn.posterior.settings import POSTERIOR
from bequec.learn.problem import Problem
from bequec.learn.state import State
from bequec.learn.work import Work


def has_sorts(answers: Answers) -> bool:
    """Whether some of the answers are pairs of a sort."""
    return answers.table is not None and answers.reading is not None and len(rows_of_screens(answers.table).row) > 0


def refine_by_piles(problem: Problem, work: Work, start: State, weights: FloatArray | None) -> State:
    """The posterior given placements, and what single pairs say besides; ``weights`` are those of the table's rows.

    A misplaced item errs in all of its pairs at once, so that pairs of sorts, taken for independent, give error bars
    that are too small, and hard clusters look mixed. They find the clusters; how sure they are the placements tell.
    """
    answers = problem.answers
    if start.covariances is None or start.concentration is None or answers.table is None:
        return start
    placements = read_placements(answers.table)
    placements = placements._replace(item=answers.plan.position_of[placements.item])
    pairs, seed = single_pairs(answers, weights), work.seed()
    belief = Belief(start.memberships, start.covariances, start.interactions, start.concentration)
    n_rounds = 1 if pairs is None else PILES.rounds_with_pairs
    for done in range(n_rounds):
        work.say("reading piles", done, n_rounds)
        known = None if pairs is None else as_dirichlet(pairs, belief, seed)
        posterior = sample_memberships(placements, belief.memberships, known, np.random.default_rng(seed))
        belief = Belief(
            posterior.memberships,
            posterior.covariances,
            interactions_of_both(posterior, pairs, len(placements.item)),
            posterior.concentration,
        )
    return dataclasses.replace(
        start,
        memberships=belief.memberships,
        covariances=belief.covariances,
        interactions=belief.interactions,
        concentration=belief.concentration,
        anchors=belief.memberships.argmax(axis=0),
        log_predictive=log_predictive(problem.blocks, belief),
    )


def single_pairs(answers: Answers, weights: FloatArray | None) -> Answers | None:
    """The answers to single pairs alone; None where there are none."""
    if answers.table is None:
        return None
    weights = np.ones(len(answers.table)) if weights is None else weights.copy()
    weights[rows_of_screens(answers.table).row] = 0.0
    pairs = weighted(answers, weights)
    return pairs if pairs.n_answers else None


def interactions_of_both(posterior: PilePosterior, pairs: Answers | None, n_placements: int) -> FloatArray:
    """Those of the piles and those that fit single pairs best, averaged by the number of placements and answers."""
    interactions = posterior.interactions
    if pairs is not None:
        share = pairs.n_answers / (pairs.n_answers + n_placements)
        fitted = least_squares_interactions(pairs, posterior.memberships)
        interactions = interactions + share * (fitted - interactions)
    return np.asarray(np.clip(interactions, POSTERIOR.smallest_interaction, 1 - POSTERIOR.smallest_interaction))


def as_dirichlet(pairs: Answers, belief: Belief, seed: int) -> FloatArray:
    """(N, K): what single pairs say of each item, the others' memberships given, as a Dirichlet distribution.

    It has the posterior's mean m and total variance: α = m ((1 − Σ m²) / tr C − 1).
    """
    prior = np.maximum(belief.concentration, POSTERIOR.smallest_concentration)
    blocks, belief = PairBlocks.of(pairs), belief._replace(concentration=prior)
    given, _ = iterate(blocks, belief, None, POSTERIOR.final_atoms, seed, step=1.0, learn_prior=False)
    m = np.maximum(given.memberships, PILES.smallest_mean)
    m /= m.sum(axis=1, keepdims=True)
    variance = np.maximum(np.trace(given.covariances, axis1=1, axis2=2), 1e-12)
    total = (1 - (m**2).sum(axis=1)) / variance - 1
    return np.asarray(np.clip(total, PILES.smallest_total, PILES.largest_total)[:, None] * m)
