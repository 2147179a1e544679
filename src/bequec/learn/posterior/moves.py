"""Out of a wrong basin: moves are run a few iterations, and the best of them is compared with the best run."""

import functools

from bequec.core.arrays import FloatArray
from bequec.learn.posterior.iterations import iterate_to_convergence
from bequec.learn.posterior.run import Run, run_from, run_on, scored
from bequec.learn.posterior.settings import POSTERIOR, NumberOfAtoms
from bequec.learn.posterior.split_merge import propose_moves
from bequec.learn.posterior.swaps import propose_swaps
from bequec.learn.problem import Problem
from bequec.learn.work import Work


def leave_wrong_basins(problem: Problem, work: Work, best: Run) -> Run:
    """Split, merge and swap while it helps: all moves run a few steps, the most promising ones to the end."""
    for done in range(POSTERIOR.most_rounds_of_moves):
        work.say("splitting, merging, swapping", done, POSTERIOR.most_rounds_of_moves)
        if work.out_of_time():
            break
        seed = work.seed()
        finalists = race_all(problem, work, best, seed)
        if not finalists:
            break
        finished = work.mapper.map("", functools.partial(finish, problem, work, seed), finalists)
        winner = max((run for run in finished if run is not None), key=lambda run: run.score, default=best)
        if not winner.in_other_basin(best):  # back in the old basin, and it has the best score
            break
        winner, best = compare(problem, work, winner, best, seed)
        if not (winner.in_other_basin(best) and winner.clearly_beats(best)):
            break
        best = winner
    return best


def race_all(problem: Problem, work: Work, best: Run, seed: int) -> list[Run]:
    """The best few moves of each kind after their race; each kind of move races among its own."""
    halfway = plain_stage(problem, work, seed, best.belief.memberships)
    paced = None if halfway is None else cavity_stage(problem, work, seed, halfway)
    if halfway is None or paced is None:
        return []
    pace = halfway, paced
    kinds = (*propose_moves(problem.answers, problem.blocks, best.belief), propose_swaps(problem.blocks, best.belief))
    finalists: list[Run] = []
    for moved in kinds:
        raced = work.mapper.map("", functools.partial(race, problem, work, best, pace, seed), moved)
        promising = [run for run in raced if run is not None]
        finalists += sorted(promising, key=lambda run: -run.score)[: POSTERIOR.n_finalists]
    return finalists


def race(problem: Problem, work: Work, best: Run, pace: tuple[Run, Run], seed: int, moved: FloatArray) -> Run | None:
    """A few iterations after a move; None if they lead back to the best run, or to a far lower score.

    ``pace`` is the best run itself after each of the two stages.
    """
    run = plain_stage(problem, work, seed, moved)
    if run is None or run.score < pace[0].score - POSTERIOR.halfway_deficit_factor * best.allowed_deficit:
        return None
    run = cavity_stage(problem, work, seed, run)
    return (
        run
        if run is not None and run.in_other_basin(best) and run.score > pace[1].score - best.allowed_deficit
        else None
    )


def plain_stage(problem: Problem, work: Work, seed: int, memberships: FloatArray) -> Run | None:
    """The first half of a race: plain iterations."""
    return run_from(problem, work, memberships, seed, POSTERIOR.plain_stage)


def cavity_stage(problem: Problem, work: Work, seed: int, run: Run) -> Run | None:
    """The second half: cavity iterations."""
    return run_on(problem, work, run.belief, seed, POSTERIOR.cavity_stage)


def finish(problem: Problem, work: Work, seed: int, run: Run) -> Run | None:
    """Carry a raced run as far as the best one has been carried, so that their scores compare."""
    return run_on(problem, work, run.belief, seed, POSTERIOR.final_stage)


def compare(problem: Problem, work: Work, challenger: Run, best: Run, seed: int) -> tuple[Run, Run]:
    """Both runs after further iterations, more of them the closer their scores are: on the way scores still change."""

    def carry_on(run: Run, n_atoms: NumberOfAtoms, max_iter: int) -> Run:
        tol = POSTERIOR.comparison_tolerance
        settled = iterate_to_convergence(work, problem.blocks, run.belief, n_atoms, seed, max_iter, tol)
        return scored(problem, settled.belief)

    most = POSTERIOR.comparison_iterations
    challenger = carry_on(challenger, POSTERIOR.comparison_atoms, most)
    if not challenger.in_other_basin(best):  # back in the old basin after all
        return challenger, best
    best = carry_on(best, POSTERIOR.comparison_atoms, most)
    for max_iter in (POSTERIOR.short_comparison_iterations, most):  # with few atoms some states score too high
        challenger, best = (carry_on(run, POSTERIOR.final_atoms, max_iter) for run in (challenger, best))
        if abs(challenger.score - best.score) > POSTERIOR.undecided_lead:
            break
    return challenger, best
