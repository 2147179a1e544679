"""``refine="posterior"``: posterior memberships by the cavity method, from several starts."""

import dataclasses
import functools
from typing import NamedTuple

import numpy as np

from bequec.ask.answers import Answers, FloatArray
from bequec.learn.anchors import successive_projection
from bequec.learn.atoms import Atoms, are_stale, draw_atoms, posterior_moments
from bequec.learn.cavity import (
    SMALLEST_B,
    Belief,
    log_predictive,
    node_potentials,
    pair_sums,
    pearson_dispersion,
    update_interactions,
)
from bequec.learn.dense_blocks import DenseBlocks, fits_densely
from bequec.learn.dirichlet import fit_concentration
from bequec.learn.interactions import least_squares_interactions
from bequec.learn.matching import match_clusters
from bequec.learn.simplex import simplex_least_squares
from bequec.learn.split_merge import propose_moves
from bequec.learn.subspace import draw_centroids
from bequec.learn.swaps import propose_swaps
from bequec.learn.task import State, Task

FIRST_CONCENTRATION = 0.4
ANNEALING = np.linspace(0.2, 1.0, 15)  # the sharpness of a start's plain iterations
CAVITY = 10  # cavity iterations of a start
SETTLING, ALMOST_SETTLED = 40, 5e-4  # most cavity iterations before runs are compared, and when to stop earlier
RACE, RACE_CAVITY = np.array([0.6, 0.8, 1.0, 1.0]), 4  # the few iterations that tell good moves from bad ones
COARSE = 256  # atoms while searching
POLISH = (512, 2048, 8192)  # atoms while polishing
HALF_WAY = 0.5  # how far an iteration goes towards the new posterior
PATIENCE = 20  # after so many iterations steps get shorter, which ends a swing between two states
CLEAR_LEAD = 1.5  # standard errors
SAME_BASIN = 0.15  # relative distance of two states on their way to the same fixed point
CATCHES_UP = 300.0  # how far behind in log predictive a move may be after its race, more where there is more of it
MOST_MOVES = 12
FINALISTS = 3

TOO_LARGE = (
    "the posterior visits every one of the {:,} asked pairs, too many for this machine: these are the memberships "
    "of refine='subspace'; ask for that to be spared this warning"
)
UNSETTLED = {
    "time_limit": "the posterior ran out of time and returned the best that it had; raise time_limit",
    "max_iter": "the posterior was still moving after max_iter iterations; raise max_iter, or tol",
}


class Run(NamedTuple):
    """A belief and its leave-one-out log predictive, per node."""

    belief: Belief
    scores: FloatArray

    @property
    def score(self) -> float:
        """The total log predictive."""
        return float(self.scores.sum())

    def may_lead_elsewhere(self, best: "Run") -> bool:
        """Whether a few steps after a move it is neither back where it came from nor hopelessly behind."""
        M = best.belief.memberships
        distance = np.linalg.norm(match_clusters(self.belief.memberships, M) - M) / np.linalg.norm(M)
        return bool(distance > SAME_BASIN and self.score > best.score - CATCHES_UP * (1 + abs(best.score) / 150_000))

    def clearly_beats(self, other: "Run") -> bool:
        """Whether the difference of the log predictive is more than chance from node to node makes it."""
        lead = self.scores - other.scores
        return bool(lead.sum() > CLEAR_LEAD * np.sqrt(len(lead)) * lead.std())


def refine_posterior(task: Task, start: State) -> State:
    """Search the basin, leave it while a split and a merge help, then polish."""
    if not fits_densely(task.answers):
        return dataclasses.replace(start, unfinished=TOO_LARGE.format(task.answers.plan.n_pairs))
    blocks = DenseBlocks(task.answers)
    if np.any(task.answers.yes.data % 1):  # similarities vary less around p than yes and no do
        first = first_belief(task.answers, start.memberships)
        blocks = DenseBlocks(task.answers, pearson_dispersion(blocks, first))
    best = search(task, blocks, starting_points(task, start))
    best = leave_wrong_basins(task, blocks, best)
    best, n_iter, unfinished = polish(task, blocks, best)
    belief = best.belief
    return dataclasses.replace(
        start,
        memberships=belief.memberships / belief.memberships.sum(axis=1, keepdims=True),
        interactions=belief.interactions,
        anchors=belief.memberships.argmax(axis=0),
        covariances=belief.covariances,
        log_predictive=log_predictive(blocks, belief),
        n_iter=n_iter,
        unfinished=unfinished,
    )


def starting_points(task: Task, start: State) -> list[FloatArray]:
    """Memberships from three choices of corners: those of the start, plain successive projection, random ones."""
    points, K = start.basis, task.n_clusters
    centroids = draw_centroids(points, K, task.rng)
    corners = [points[successive_projection(points, K)], random_corners(centroids, K, task.rng)]
    return [start.memberships, *(simplex_least_squares(points, corner) for corner in corners)]


def random_corners(points: FloatArray, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """The farthest points along random directions, each orthogonal to the corners found before."""
    chosen: list[int] = []
    for _ in range(n_clusters):
        direction = np.asarray(rng.standard_normal(points.shape[1]))
        if chosen:
            known, _ = np.linalg.qr(points[chosen].T)
            direction = direction - known @ (known.T @ direction)
        chosen.append(int(np.abs(points @ direction).argmax()))
    return points[chosen]


def search(task: Task, blocks: DenseBlocks, starts: list[FloatArray]) -> Run:
    """The best of several starts after plain and cavity iterations with few atoms."""
    seed = int(task.rng.integers(2**31))
    run = functools.partial(run_from, task, blocks, seed=seed, sharpness=ANNEALING, n_cavity=CAVITY, n_atoms=COARSE)
    return max(task.mapper.map("finding the basin", run, starts), key=lambda run: run.score)


def leave_wrong_basins(task: Task, blocks: DenseBlocks, best: Run) -> Run:
    """Split, merge and swap while it helps: all moves run a few steps, the most promising ones to the end."""
    for done in range(MOST_MOVES):
        task.say("splitting, merging, swapping", done, MOST_MOVES)
        if task.out_of_time():
            break
        seed = int(task.rng.integers(2**31))
        race = functools.partial(run_from, task, blocks, sharpness=RACE, n_cavity=RACE_CAVITY, n_atoms=COARSE // 2)
        finalists: list[Run] = []
        kinds = (*propose_moves(task.answers, blocks, best.belief), propose_swaps(blocks, best.belief))
        for moved in kinds:  # each kind of move races among its own
            raced = task.mapper.map("", functools.partial(race, seed=seed), moved)
            promising = [run for run in raced if run.may_lead_elsewhere(best)]
            finalists += sorted(promising, key=lambda run: -run.score)[:FINALISTS]
        if not finalists:
            break
        finished = [finish(task, blocks, run.belief, seed) for run in finalists]
        winner = settle(task, blocks, max(finished, key=lambda run: run.score), seed)
        best = settle(task, blocks, best, seed)
        if not winner.clearly_beats(best):
            break
        best = winner
    return best


def run_from(
    task: Task,
    blocks: DenseBlocks,
    memberships: FloatArray,
    seed: int,
    sharpness: FloatArray,
    n_cavity: int,
    n_atoms: int,
) -> Run:
    """From first memberships to a belief and its score."""
    belief = first_belief(task.answers, memberships)
    belief = anneal(task, blocks, belief, np.random.default_rng(seed), sharpness, n_cavity, n_atoms)
    return Run(belief, log_predictive(blocks, belief))


def finish(task: Task, blocks: DenseBlocks, belief: Belief, seed: int) -> Run:
    """Carry a raced belief as far as the best one has been carried, so that their scores compare."""
    belief = anneal(task, blocks, belief, np.random.default_rng(seed), np.linspace(0.7, 1.0, 4), CAVITY, COARSE)
    return Run(belief, log_predictive(blocks, belief))


def settle(task: Task, blocks: DenseBlocks, run: Run, seed: int) -> Run:
    """Cavity iterations until little moves: scores rise or swing on the way, and only settled runs compare."""
    belief, atoms, rng = run.belief, None, np.random.default_rng(seed)
    for _ in range(SETTLING):
        previous = belief
        belief, atoms = iterate(blocks, belief, atoms, 8 * COARSE, rng)  # few atoms make scores noisy
        if movement(previous, belief) < ALMOST_SETTLED or task.out_of_time():
            break
    return Run(belief, log_predictive(blocks, belief))


def polish(task: Task, blocks: DenseBlocks, best: Run) -> tuple[Run, int, str]:
    """Cavity iterations with more and more atoms until nothing moves; a stage that lowers the score is undone."""
    n_iter, unfinished = 1, ""
    for stage, n_atoms in enumerate(POLISH):
        if task.out_of_time():
            return best, n_iter, UNSETTLED["time_limit"]
        task.say("polishing", stage, len(POLISH))
        belief = best.belief
        atoms: Atoms | None = None
        rng = np.random.default_rng(int(task.rng.integers(2**31)))
        settled = False
        for n_iter in range(1, task.max_iter + 1):
            previous, step = belief, min(HALF_WAY, HALF_WAY * PATIENCE / n_iter)
            belief, atoms = iterate(blocks, belief, atoms, n_atoms, rng, step=step)
            settled = (
                movement(previous, belief) < task.tol * step / HALF_WAY
            )  # short steps must not pass for being settled
            if settled or task.out_of_time():
                break
        run = Run(belief, log_predictive(blocks, belief))
        best = max(best, run, key=lambda run: run.score)
        unfinished = ""
        if not settled:
            unfinished = UNSETTLED["time_limit" if task.out_of_time() else "max_iter"]
    return best, n_iter, unfinished


def anneal(
    task: Task,
    blocks: DenseBlocks,
    belief: Belief,
    rng: np.random.Generator,
    sharpness: FloatArray,
    n_cavity: int,
    n_atoms: int,
) -> Belief:
    """Plain iterations at rising sharpness find the basin, cavity iterations correct for the answers' echo."""
    atoms: Atoms | None = None
    for step, beta in enumerate(sharpness.tolist()):
        if task.out_of_time():
            return belief
        belief, atoms = iterate(
            blocks, belief, atoms, n_atoms, rng, sharpness=beta, cavity=False, learn_prior=step >= 2
        )
    for _ in range(n_cavity):
        if task.out_of_time():
            break
        belief, atoms = iterate(blocks, belief, atoms, n_atoms, rng)
    return belief


def iterate(
    blocks: DenseBlocks,
    belief: Belief,
    atoms: Atoms | None,
    n_atoms: int,
    rng: np.random.Generator,
    *,
    sharpness: float = 1.0,
    cavity: bool = True,
    learn_prior: bool = True,
    step: float = HALF_WAY,
) -> tuple[Belief, Atoms]:
    """One iteration: part of the way to every node's posterior given all others; then the prior and B."""
    if atoms is None or are_stale(atoms, belief.concentration):
        atoms = draw_atoms(belief.concentration, n_atoms, rng)
    sums = pair_sums(blocks, belief, cavity=cavity)
    b, H = node_potentials(belief, sums)
    moments = posterior_moments(atoms, b, H, belief.concentration, belief.memberships, sharpness)
    concentration = belief.concentration
    if learn_prior:
        concentration = fit_concentration(moments.mean_log, concentration)
    return (
        Belief(
            belief.memberships + step * (moments.mean - belief.memberships),
            belief.covariances + step * (moments.covariance - belief.covariances),
            update_interactions(belief, sums, step / 2),  # memberships follow B, so a longer step swings
            concentration,
        ),
        atoms,
    )


def movement(previous: Belief, belief: Belief) -> float:
    """How far the memberships moved, root mean square."""
    return float(np.sqrt(np.mean((belief.memberships - previous.memberships) ** 2)))


def first_belief(answers: Answers, memberships: FloatArray) -> Belief:
    """No uncertainty yet, interactions by least squares, a flat prior."""
    n_nodes, K = memberships.shape
    interactions = np.clip(least_squares_interactions(answers, memberships), SMALLEST_B, 1 - SMALLEST_B)
    return Belief(memberships, np.zeros((n_nodes, K, K)), interactions, np.full(K, FIRST_CONCENTRATION))
