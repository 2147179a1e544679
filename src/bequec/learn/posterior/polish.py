"""The last iterations: more and more atoms until nothing moves, with the prior that predicts the answers better."""

import numpy as np

from bequec.learn.posterior.iterations import PLAIN_PRIOR, PriorUpdate, iterate_to_convergence
from bequec.learn.posterior.run import Run, has_few_yes, scored
from bequec.learn.posterior.settings import POSTERIOR, NumberOfAtoms
from bequec.learn.problem import Problem
from bequec.learn.work import Work

UNSETTLED = {
    "time_limit": "the posterior ran out of time and returned the best that it had; raise time_limit",
    "max_iter": "the posterior was still moving after max_iter iterations; raise max_iter, or tol",
}


def polish(problem: Problem, work: Work, best: Run) -> tuple[Run, int, str]:
    """Cavity iterations with more and more atoms; a stage that falls out of the basin is undone."""
    stages = (
        (POSTERIOR.comparison_atoms, POSTERIOR.first_tolerance_factor * work.tol),
        (POSTERIOR.final_atoms, work.tol),
    )
    n_iter, is_settled = 1, False
    for stage, (n_atoms, tol) in enumerate(stages):
        if work.out_of_time():
            return best, n_iter, UNSETTLED["time_limit"]
        work.say("polishing", stage, len(stages))
        best, n_iter, is_settled = settle(problem, work, best, n_atoms, work.max_iter, tol)
    if is_settled and best.belief.concentration.min() < POSTERIOR.sparse_prior and not has_few_yes(problem):
        best, n_iter, is_settled = with_better_prior(problem, work, best, n_iter)
    if is_settled:
        return best, n_iter, ""
    return best, n_iter, UNSETTLED["time_limit" if work.out_of_time() else "max_iter"]


def with_better_prior(problem: Problem, work: Work, best: Run, n_iter: int) -> tuple[Run, int, bool]:
    """The run, or one with a floored prior where that clearly predicts the answers better.

    Memberships of people and items often have exact zeros, which no Dirichlet has: its ν then falls as far as it may,
    mixed nodes are taken for pure ones, and B falls with them. With E[log x] floored, ν is that of the others.
    """
    n_answers = np.maximum(problem.answers.answers_per_node[problem.answers.plan.order], 1.0)
    floor = np.log(np.minimum(POSTERIOR.floor_of_memberships, 1 / n_answers))[:, None]
    moving, resting = PriorUpdate(floor, POSTERIOR.prior_step), PriorUpdate(floor, 1.0)
    most = min(POSTERIOR.prior_iterations, work.max_iter)
    roughly = POSTERIOR.first_tolerance_factor * work.tol
    floored, _, _ = settle(problem, work, best, POSTERIOR.comparison_atoms, most, roughly, moving)
    if not floored.clearly_beats(best):  # more atoms never made up for that
        return best, n_iter, True
    # With few atoms some states score too high.
    few = min(POSTERIOR.short_comparison_iterations, work.max_iter)
    floored, n_floored, is_settled = settle(problem, work, floored, POSTERIOR.final_atoms, few, work.tol, resting)
    if not floored.clearly_beats(best, POSTERIOR.clear_lead_of_prior):
        return best, n_iter, True
    if is_settled:
        return floored, n_floored, True
    return settle(problem, work, floored, POSTERIOR.final_atoms, work.max_iter, work.tol, resting)


def settle(
    problem: Problem,
    work: Work,
    run: Run,
    n_atoms: NumberOfAtoms,
    max_iter: int,
    tol: float,
    prior: PriorUpdate = PLAIN_PRIOR,
) -> tuple[Run, int, bool]:
    """A run carried on until little moves, after how many iterations, and whether it is settled there.

    Where that leads out of its basin to a lower score, it is undone.
    """
    belief, n_iter, is_settled = iterate_to_convergence(
        work, problem.blocks, run.belief, n_atoms, work.seed(), max_iter, tol, prior
    )
    settled = scored(problem, belief)
    if settled.score > run.score or not settled.in_other_basin(run):  # with few atoms a basin's score is too high
        return settled, n_iter, is_settled
    return run, n_iter, is_settled
