"""``refine="posterior"``: posterior memberships by the cavity method, from several starts."""

import dataclasses
import functools
from typing import NamedTuple

import numpy as np

from bequec.ask.answers import Answers, FloatArray
from bequec.learn.anchors import successive_projection
from bequec.learn.atoms import Atoms
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

NumberOfAtoms = tuple[int, int]
COARSER, COARSE, FINE, FINEST = (128, 0), (256, 0), (256, 64), (256, 256)  # shared atoms, and local ones
HALF_WAY = 0.5  # how far an iteration goes towards the new posterior
PATIENCE = 20  # after so many iterations steps get shorter, which ends a swing between two states
PACE = 4  # iterations between the members of a sequence that is extrapolated
LARGEST_RATIO, LARGEST_JUMP = 0.9, 3.0
ROUGHLY = 5.0  # times the tolerance, where more atoms follow
CLEAR_LEAD = 1.5  # standard errors
SAME_BASIN = 0.15  # relative distance of two states on their way to the same fixed point
CATCHES_UP = 300.0
HOPELESS = 1.5  # allowances that a move may be behind half way through its race
UNDECIDED = 100.0  # a difference of log predictives that fewer atoms or iterations can make
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

    def is_elsewhere(self, other: "Run") -> bool:
        """Whether it is so far from another one that they are in different basins."""
        M = other.belief.memberships
        distance = np.linalg.norm(match_clusters(self.belief.memberships, M) - M) / np.linalg.norm(M)
        return bool(distance > SAME_BASIN)

    @property
    def allowance(self) -> float:
        """How far behind in log predictive a move may be after its race, more where there is more of it."""
        return CATCHES_UP * (1 + abs(self.score) / 150_000)

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
        finalists: list[Run] = []
        kinds = (*propose_moves(task.answers, blocks, best.belief), propose_swaps(blocks, best.belief))
        for moved in kinds:  # each kind of move races among its own
            raced = task.mapper.map("", functools.partial(race, task, blocks, best, seed), moved)
            promising = [run for run in raced if run is not None]
            finalists += sorted(promising, key=lambda run: -run.score)[:FINALISTS]
        if not finalists:
            break
        finished = task.mapper.map("", functools.partial(finish, task, blocks, seed), finalists)
        winner, best = compare(task, blocks, max(finished, key=lambda run: run.score), best, seed)
        if not winner.clearly_beats(best):
            break
        best = winner
    return best


def race(task: Task, blocks: DenseBlocks, best: Run, seed: int, moved: FloatArray) -> Run | None:
    """A few iterations after a move; None if they lead back to the best run or fall far behind it."""
    run = run_from(task, blocks, moved, seed, RACE, 0, COARSER)
    if run.score < best.score - HOPELESS * best.allowance:
        return None
    belief = anneal(task, blocks, run.belief, seed, np.empty(0), RACE_CAVITY, COARSER)
    run = Run(belief, log_predictive(blocks, belief))
    return run if run.is_elsewhere(best) and run.score > best.score - best.allowance else None


def compare(task: Task, blocks: DenseBlocks, challenger: Run, best: Run, seed: int) -> tuple[Run, Run]:
    """Both carried on until little moves: scores rise or swing on the way. The closer they are, the farther."""
    for n_atoms in (FINE, FINEST):
        run = functools.partial(creep, task, blocks, n_atoms=n_atoms, seed=seed, max_iter=SETTLING, tol=ALMOST_SETTLED)
        settled = task.mapper.map("", run, [challenger.belief, best.belief])
        challenger, best = (Run(found.belief, log_predictive(blocks, found.belief)) for found in settled)
        if abs(challenger.score - best.score) > UNDECIDED:
            break
    return challenger, best


def run_from(
    task: Task,
    blocks: DenseBlocks,
    memberships: FloatArray,
    seed: int,
    sharpness: FloatArray,
    n_cavity: int,
    n_atoms: NumberOfAtoms,
) -> Run:
    """From first memberships to a belief and its score."""
    belief = first_belief(task.answers, memberships)
    belief = anneal(task, blocks, belief, seed, sharpness, n_cavity, n_atoms)
    return Run(belief, log_predictive(blocks, belief))


def finish(task: Task, blocks: DenseBlocks, seed: int, run: Run) -> Run:
    """Carry a raced belief as far as the best one has been carried, so that their scores compare."""
    belief = anneal(task, blocks, run.belief, seed, np.linspace(0.7, 1.0, 4), CAVITY, COARSE)
    return Run(belief, log_predictive(blocks, belief))


def polish(task: Task, blocks: DenseBlocks, best: Run) -> tuple[Run, int, str]:
    """Cavity iterations with more and more atoms until nothing moves; a stage that falls out of the basin is undone."""
    n_iter, unfinished = 1, ""
    for stage, (n_atoms, tol) in enumerate(((FINE, ROUGHLY * task.tol), (FINEST, task.tol))):
        if task.out_of_time():
            return best, n_iter, UNSETTLED["time_limit"]
        task.say("polishing", stage, 2)
        seed = int(task.rng.integers(2**31))
        belief, n_iter, is_settled = creep(task, blocks, best.belief, n_atoms, seed, task.max_iter, tol)
        run = Run(belief, log_predictive(blocks, belief))
        if run.score > best.score or not run.is_elsewhere(best):  # few atoms flatter the score inside a basin
            best = run
        unfinished = ""
        if not is_settled:
            unfinished = UNSETTLED["time_limit" if task.out_of_time() else "max_iter"]
    return best, n_iter, unfinished


class Settled(NamedTuple):
    """Where iterations came to, after how many, and whether they are settled there."""

    belief: Belief
    n_iter: int
    is_settled: bool


def creep(
    task: Task, blocks: DenseBlocks, belief: Belief, n_atoms: NumberOfAtoms, seed: int, max_iter: int, tol: float
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
        if task.out_of_time():
            break
    return Settled(belief, n_iter, False)


def anneal(
    task: Task,
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
        if task.out_of_time():
            return belief
        belief, atoms = iterate(
            blocks, belief, atoms, n_atoms, seed, sharpness=beta, cavity=False, learn_prior=step >= 2
        )
    for _ in range(n_cavity):
        if task.out_of_time():
            break
        belief, atoms = iterate(blocks, belief, atoms, n_atoms, seed)
    return belief


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
    moments = atoms.moments(sharpness * b, sharpness * H, belief)
    concentration = belief.concentration
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


def extrapolate(first: Belief, second: Belief, third: Belief) -> tuple[Belief, float]:
    """Where B and ν are going, and the largest change of B on the way there from the second to the limit.

    Memberships follow B and the prior and answer to them, so that all three creep along together: a geometric
    sequence, whose limit Aitken's formula finds from three of its members.
    """
    older, old, new = (np.append(b.interactions.ravel(), np.log(b.concentration)) for b in (first, second, third))
    change, before = new - old, old - older
    ratio = float(np.clip(change @ before / max(before @ before, 1e-300), 0.0, LARGEST_RATIO))
    limit = new + change * ratio / (1 - ratio)
    K = len(third.concentration)
    interactions = np.clip(limit[:-K].reshape(K, K), SMALLEST_B, 1 - SMALLEST_B)
    jump = float(np.abs(interactions - second.interactions).max())
    return third._replace(interactions=interactions, concentration=np.exp(limit[-K:])), jump


def movement(previous: Belief, belief: Belief) -> float:
    """How far the memberships moved, root mean square."""
    return float(np.sqrt(np.mean((belief.memberships - previous.memberships) ** 2)))


def first_belief(answers: Answers, memberships: FloatArray) -> Belief:
    """No uncertainty yet, interactions by least squares, a flat prior."""
    n_nodes, K = memberships.shape
    interactions = np.clip(least_squares_interactions(answers, memberships), SMALLEST_B, 1 - SMALLEST_B)
    return Belief(memberships, np.zeros((n_nodes, K, K)), interactions, np.full(K, FIRST_CONCENTRATION))
