"""``refine="posterior"``: posterior memberships by the cavity method, from several starts."""

import dataclasses

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.learn.linalg.simplex import simplex_least_squares
from bequec.learn.posterior.cavity import Belief, log_predictive, pearson_dispersion
from bequec.learn.posterior.exact_likelihood import with_exact_likelihood
from bequec.learn.posterior.iterations import first_belief, iterate_to_convergence
from bequec.learn.posterior.moves import leave_wrong_basins
from bequec.learn.posterior.polish import polish
from bequec.learn.posterior.run import Run, beginning, has_few_yes, run_from, scored
from bequec.learn.posterior.sampling import Sample, draw_sample, extend
from bequec.learn.posterior.settings import POSTERIOR
from bequec.learn.problem import Problem
from bequec.learn.state import State
from bequec.learn.stitch.anchors import successive_projection
from bequec.learn.subspace.corners import draw_centroids
from bequec.learn.work import Work

TOO_LARGE = (
    "the posterior visits every one of the {:,} asked pairs, too many for this machine: these are the memberships "
    "of refine='subspace'; ask for it to avoid this warning"
)


def refine_posterior(problem: Problem, work: Work, start: State) -> State:
    """Search the basin, leave it while a split and a merge help, then polish."""
    if not problem.fits_in_memory:
        return dataclasses.replace(start, unfinished=TOO_LARGE.format(problem.answers.plan.n_pairs))
    sample = draw_sample(problem, work.rng, start)
    dispersion = answer_dispersion(sample.problem, sample.start)
    sample = sample._replace(problem=sample.problem.with_dispersion(dispersion))
    problem = problem.with_dispersion(dispersion)
    best = find_basin(sample.problem, work.with_share_of_time(POSTERIOR.share_of_time_for_search), sample.start)
    if sample.is_part:
        best = join_others(problem, work, start, sample, best)
    best, n_iter, unfinished = polish(problem, work, best)
    belief = best.belief
    if has_rare_yes(belief) and not has_few_yes(problem):
        belief = with_exact_likelihood(problem.blocks, belief, work.seed())
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


def has_rare_yes(belief: Belief) -> bool:
    """Whether a yes between most clusters is so rare that the quadratic form is worse than what the cavity corrects."""
    between = belief.interactions[~np.eye(len(belief.interactions), dtype=bool)]
    return bool(np.median(between) < POSTERIOR.rare_yes)


def answer_dispersion(problem: Problem, start: State) -> float:
    """How much answers vary in units of p (1 − p): similarities vary less around p than yes and no do."""
    if not problem.answers.has_similarities:
        return 1.0
    return pearson_dispersion(problem.blocks, first_belief(problem.answers, start.memberships))


def find_basin(problem: Problem, work: Work, start: State) -> Run:
    """The best run that starts and moves lead to, never one that is clearly worse than the start itself."""
    first = beginning(problem, start.memberships)
    best = search(problem, work, starting_points(problem, work, start)) or first
    if first.in_other_basin(best) and first.clearly_beats(best):
        best = first
    return leave_wrong_basins(problem, work, best)


def join_others(problem: Problem, work: Work, start: State, sample: Sample, best: Run) -> Run:
    """A run of all nodes; the sample settles first, where that is cheap, so that little moves afterwards."""
    settling = work.with_share_of_time(POSTERIOR.share_of_time_for_sample)
    settled = iterate_to_convergence(
        settling,
        sample.problem.blocks,
        best.belief,
        POSTERIOR.comparison_atoms,
        work.seed(),
        work.max_iter,
        work.tol,
    )
    run = scored(problem, extend(problem.answers, sample.positions, settled.belief))
    if work.out_of_time():  # nobody polishes those who joined, so the start may be better
        joined = beginning(problem, run.belief.memberships)
        run = max(joined, beginning(problem, start.memberships), key=lambda run: run.score)
    return run


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


def search(problem: Problem, work: Work, starts: list[FloatArray]) -> Run | None:
    """The best of several starts after plain and cavity iterations with few atoms; None if there was time for none.

    Low sharpness helps a start out of a wrong basin. With many clusters, or few yes per node, it also leads out of the
    right one, so that the first start is then run without it, too.
    """
    seed = work.seed()
    courses = [(start, POSTERIOR.annealed_start) for start in starts]
    if problem.n_clusters > POSTERIOR.smallest_face or has_few_yes(problem):
        courses.insert(0, (starts[0], POSTERIOR.cold_start))
    runs = work.mapper.map(
        "finding the basin", lambda course: run_from(problem, work, course[0], seed, course[1]), courses
    )
    return max((run for run in runs if run is not None), key=lambda run: run.score, default=None)
