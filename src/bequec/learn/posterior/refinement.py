"""``refine="posterior"``: posterior memberships by the cavity method, from several starts."""

import dataclasses
import functools
from typing import NamedTuple

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.learn.linalg.simplex import simplex_least_squares
from bequec.learn.matching import match_clusters
from bequec.learn.posterior.cavity import Belief, log_predictive, pearson_dispersion
from bequec.learn.posterior.faces import SMALLEST_FACE
from bequec.learn.posterior.iterations import NumberOfAtoms, anneal, creep, first_belief
from bequec.learn.posterior.sampling import Sample, draw_sample, extend
from bequec.learn.posterior.split_merge import propose_moves
from bequec.learn.posterior.swaps import propose_swaps
from bequec.learn.problem import Problem
from bequec.learn.state import State
from bequec.learn.stitch.anchors import successive_projection
from bequec.learn.subspace.refinement import draw_centroids
from bequec.learn.work import Work

ANNEALING, COLD = np.linspace(0.2, 1.0, 15), np.ones(6)  # the sharpness of a start's plain iterations
CAVITY = 10  # cavity iterations of a start
FEW_YES = 30  # a node
SETTLING, ALMOST_SETTLED = 40, 5e-4  # most cavity iterations before runs are compared, and when to stop earlier
TO_SCORE = 8  # iterations with many atoms before a score counts
RACE, RACE_CAVITY = np.array([0.6, 0.8, 1.0, 1.0]), 4  # the few iterations that tell good moves from bad ones
COARSER, COARSE, FINE, FINEST = (128, 0), (256, 0), (256, 64), (256, 256)  # shared atoms, and local ones
ROUGHLY = 5.0  # times the tolerance, where more atoms follow
CLEAR_LEAD = 1.5  # standard errors
SAME_BASIN = 0.15  # relative distance of two states on their way to the same fixed point
CATCHES_UP = 100.0
HOPELESS = 1.5  # allowances that a move may be behind half way through its race
UNDECIDED = 100.0  # a difference of log predictives that fewer atoms or iterations can make
MOST_MOVES = 12
FOR_SETTLING = 0.75  # of a limited time, until the sample of nodes is settled
FOR_SEARCHING = 0.6  # of the time, if it is limited: an unpolished state is worse than a good one of a wrong basin
FINALISTS = 3

TOO_LARGE = (
    "the posterior visits every one of the {:,} asked pairs, too many for this machine: these are the memberships "
    "of refine='subspace'; ask for that to be spared this warning"
)
UNSETTLED = {
    "time_limit": "the posterior ran out of time and returned the best that it had; raise time_limit (--time-limit)",
    "max_iter": "the posterior was still moving after max_iter iterations; raise max_iter, or tol (--max-iter, --tol)",
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


def refine_posterior(problem: Problem, work: Work, start: State) -> State:
    """Search the basin, leave it while a split and a merge help, then polish."""
    if not problem.fits_densely:
        return dataclasses.replace(start, unfinished=TOO_LARGE.format(problem.answers.plan.n_pairs))
    sample = draw_sample(problem, work.rng, start)
    dispersion = answer_dispersion(sample.problem, sample.start)
    sample = sample._replace(problem=sample.problem.with_dispersion(dispersion))
    problem = problem.with_dispersion(dispersion)
    best = find_basin(sample.problem, work.with_share_of_time(FOR_SEARCHING), sample.start)
    if sample.is_part:
        best = join_others(problem, work, start, sample, best)
    best, n_iter, unfinished = polish(problem, work, best)
    belief = best.belief
    return dataclasses.replace(
        start,
        memberships=belief.memberships / belief.memberships.sum(axis=1, keepdims=True),
        interactions=belief.interactions,
        anchors=belief.memberships.argmax(axis=0),
        covariances=belief.covariances,
        concentration=belief.concentration,
        log_predictive=log_predictive(problem.blocks, belief),
        n_iter=n_iter,
        unfinished=unfinished,
    )


def answer_dispersion(problem: Problem, start: State) -> float:
    """How much answers vary in units of p (1 − p): similarities vary less around p than yes and no do."""
    if not np.any(problem.answers.yes.data % 1):
        return 1.0
    return pearson_dispersion(problem.blocks, first_belief(problem.answers, start.memberships))


def find_basin(problem: Problem, work: Work, start: State) -> Run:
    """The best run that starts and moves lead to."""
    return leave_wrong_basins(problem, work, search(problem, work, starting_points(problem, work, start)))


def join_others(problem: Problem, work: Work, start: State, sample: Sample, best: Run) -> Run:
    """A run of all nodes; the sample settles first, where that is cheap, so that little moves afterwards."""
    settling = work.with_share_of_time(FOR_SETTLING)
    settled = creep(settling, sample.problem.blocks, best.belief, FINE, work.seed(), work.max_iter, work.tol)
    beliefs = [extend(problem.answers, sample.positions, settled.belief)]
    if work.out_of_time():  # nobody polishes those who joined, so the start may be better
        beliefs.append(first_belief(problem.answers, start.memberships))
    return max((scored(problem, belief) for belief in beliefs), key=lambda run: run.score)


def scored(problem: Problem, belief: Belief) -> Run:
    """A belief with its score."""
    return Run(belief, log_predictive(problem.blocks, belief))


def starting_points(problem: Problem, work: Work, start: State) -> list[FloatArray]:
    """Memberships from three choices of corners: those of the start, plain successive projection, random ones."""
    points, K = start.basis, problem.n_clusters
    centroids = draw_centroids(points, K, work.rng)
    corners = [points[successive_projection(points, K)], random_corners(centroids, K, work.rng)]
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


def search(problem: Problem, work: Work, starts: list[FloatArray]) -> Run:
    """The best of several starts after plain and cavity iterations with few atoms.

    Low sharpness helps a start out of a wrong basin. With many clusters, or few yes a node, it also helps out of the
    right one, so that the first start is then run without it, too.
    """
    seed = work.seed()
    courses = [(start, ANNEALING) for start in starts]
    if problem.n_clusters > SMALLEST_FACE or problem.answers.yes.nnz < FEW_YES * problem.answers.plan.n_nodes:
        courses.insert(0, (starts[0], COLD))

    def run(course: tuple[FloatArray, FloatArray]) -> Run:
        return run_from(problem, work, course[0], seed, course[1], CAVITY, COARSE)

    return max(work.mapper.map("finding the basin", run, courses), key=lambda run: run.score)


def leave_wrong_basins(problem: Problem, work: Work, best: Run) -> Run:
    """Split, merge and swap while it helps: all moves run a few steps, the most promising ones to the end."""
    for done in range(MOST_MOVES):
        work.say("splitting, merging, swapping", done, MOST_MOVES)
        if work.out_of_time():
            break
        seed = work.seed()
        half_way = sprint(problem, work, seed, best.belief.memberships)
        pace = half_way, run_on(problem, work, seed, half_way)
        finalists: list[Run] = []
        kinds = (
            *propose_moves(problem.answers, problem.blocks, best.belief),
            propose_swaps(problem.blocks, best.belief),
        )
        for moved in kinds:  # each kind of move races among its own
            raced = work.mapper.map("", functools.partial(race, problem, work, best, pace, seed), moved)
            promising = [run for run in raced if run is not None]
            finalists += sorted(promising, key=lambda run: -run.score)[:FINALISTS]
        if not finalists:
            break
        finished = work.mapper.map("", functools.partial(finish, problem, work, seed), finalists)
        winner = max(finished, key=lambda run: run.score)
        if not winner.is_elsewhere(best):  # it came back, and those that did not are behind
            break
        winner, best = compare(problem, work, winner, best, seed)
        if not (winner.is_elsewhere(best) and winner.clearly_beats(best)):
            break
        best = winner
    return best


def race(problem: Problem, work: Work, best: Run, pace: tuple[Run, Run], seed: int, moved: FloatArray) -> Run | None:
    """A few iterations after a move; None if they lead back to the best run, or fall far behind it on this course."""
    run = sprint(problem, work, seed, moved)
    if run.score < pace[0].score - HOPELESS * best.allowance:
        return None
    run = run_on(problem, work, seed, run)
    return run if run.is_elsewhere(best) and run.score > pace[1].score - best.allowance else None


def sprint(problem: Problem, work: Work, seed: int, memberships: FloatArray) -> Run:
    """The first half of a race: plain iterations."""
    return run_from(problem, work, memberships, seed, RACE, 0, COARSER)


def run_on(problem: Problem, work: Work, seed: int, run: Run) -> Run:
    """The second half: cavity iterations."""
    belief = anneal(work, problem.blocks, run.belief, seed, np.empty(0), RACE_CAVITY, COARSER)
    return scored(problem, belief)


def compare(problem: Problem, work: Work, challenger: Run, best: Run, seed: int) -> tuple[Run, Run]:
    """Both carried on until little moves: scores rise or swing on the way. The closer they are, the farther."""

    def carry_on(run: Run, n_atoms: NumberOfAtoms, max_iter: int) -> Run:
        belief = creep(work, problem.blocks, run.belief, n_atoms, seed, max_iter, ALMOST_SETTLED).belief
        return scored(problem, belief)

    challenger = carry_on(challenger, FINE, SETTLING)
    if not challenger.is_elsewhere(best):  # it came back after all
        return challenger, best
    best = carry_on(best, FINE, SETTLING)
    for max_iter in (TO_SCORE, SETTLING):  # few atoms flatter some states
        challenger, best = (carry_on(run, FINEST, max_iter) for run in (challenger, best))
        if abs(challenger.score - best.score) > UNDECIDED:
            break
    return challenger, best


def run_from(
    problem: Problem,
    work: Work,
    memberships: FloatArray,
    seed: int,
    sharpness: FloatArray,
    n_cavity: int,
    n_atoms: NumberOfAtoms,
) -> Run:
    """From first memberships to a belief and its score."""
    belief = first_belief(problem.answers, memberships)
    belief = anneal(work, problem.blocks, belief, seed, sharpness, n_cavity, n_atoms)
    return scored(problem, belief)


def finish(problem: Problem, work: Work, seed: int, run: Run) -> Run:
    """Carry a raced belief as far as the best one has been carried, so that their scores compare."""
    belief = anneal(work, problem.blocks, run.belief, seed, np.linspace(0.7, 1.0, 4), CAVITY, COARSE)
    return scored(problem, belief)


def polish(problem: Problem, work: Work, best: Run) -> tuple[Run, int, str]:
    """Cavity iterations with more and more atoms until nothing moves; a stage that falls out of the basin is undone."""
    n_iter, unfinished = 1, ""
    for stage, (n_atoms, tol) in enumerate(((FINE, ROUGHLY * work.tol), (FINEST, work.tol))):
        if work.out_of_time():
            return best, n_iter, UNSETTLED["time_limit"]
        work.say("polishing", stage, 2)
        seed = work.seed()
        belief, n_iter, is_settled = creep(work, problem.blocks, best.belief, n_atoms, seed, work.max_iter, tol)
        run = scored(problem, belief)
        if run.score > best.score or not run.is_elsewhere(best):  # few atoms flatter the score inside a basin
            best = run
        unfinished = ""
        if not is_settled:
            unfinished = UNSETTLED["time_limit" if work.out_of_time() else "max_iter"]
    return best, n_iter, unfinished
