"""The paper's Algorithm 1: stitch the range space, find its corners, read off the memberships."""

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import BoolArray, FloatArray
from bequec.core.errors import PlanError
from bequec.learn.interactions import least_squares_interactions
from bequec.learn.linalg.simplex import cone_memberships, simplex_least_squares
from bequec.learn.problem import Problem
from bequec.learn.state import State
from bequec.learn.stitch.anchors import scale_groups_to_corners, successive_projection
from bequec.learn.stitch.centered_spectrum import is_scattered, scattered_range_space
from bequec.learn.stitch.settings import STITCH
from bequec.learn.stitch.small_groups import complete_range_space
from bequec.learn.stitch.stitching import RangeSpace, estimate_range_space
from bequec.learn.stitch.wide_stitching import wide_range_spaces
from bequec.learn.work import Work
from bequec.plan.mask.completion_order import best_completion
from bequec.plan.mask.identifiable import check_identifiable, is_identifiable
from bequec.plan.mask.mending import cut_off_groups
from bequec.plan.mask.sharing import mostly_asked_blocks, usable_among
from bequec.plan.query_plan import QueryPlan


def stitch_and_project(problem: Problem, work: Work) -> State:
    """Algorithm 1 on the answered blocks."""
    space = _grown_range_space(problem, work)
    if space is None:
        space = estimate_range_space(
            problem.answers, problem.usable, problem.n_clusters, _first_vector(problem, work), work.mapper
        )
    basis = space.basis
    anchors = successive_projection(basis, problem.n_clusters)
    corners = basis[anchors]
    points, is_near = scale_groups_to_corners(basis, corners, problem.answers.plan.starts[:-1])
    memberships = simplex_least_squares(points, corners)
    # In sparse graphs degrees differ by far and most rows end near the origin: there only their direction counts.
    memberships[~is_near] = cone_memberships(points[~is_near], corners)
    interactions = least_squares_interactions(problem.answers, memberships)
    return State(*space, memberships, interactions, anchors)


def stitch_widely(problem: Problem, work: Work) -> State:
    """Where every refinement starts: the range space stitched on all shared columns, or that of scattered answers."""
    if is_scattered(problem.answers):
        return State(*scattered_range_space(problem.answers.averaged(), problem.n_clusters))
    wider: tuple[FloatArray, ...] = ()
    space = _grown_range_space(problem, work)
    if space is None:
        space, wider = wide_range_spaces(problem.answers, problem.usable, problem.n_clusters, work.rng, work.mapper)
        if space.singular_values[problem.n_clusters - 1] < STITCH.hardly_visible * space.singular_values[0]:
            # So weak a direction may be the imputed diagonal's own, which only an exact SVD can tell.
            exact = estimate_range_space(
                problem.answers, problem.usable, problem.n_clusters, _first_vector(problem, work), work.mapper
            )
            successive_projection(exact.basis, problem.n_clusters)
    successive_projection(space.basis, problem.n_clusters)  # refuses answers that show fewer than K directions
    return State(*space, wider_bases=wider)


def answered_usable_blocks(answers: Answers, n_clusters: int) -> BoolArray:
    """The blocks that learning can use; an error unless they identify the memberships."""
    plan = answers.plan
    check_identifiable(plan, n_clusters, diagonal=answers.diagonal)
    answered = answers.share_answered_per_block > 0
    if answered.any() and (len(plan.listed) or not (answered == plan.asked).all()):
        plan = _answered_part(answers)
        if not is_identifiable(plan, n_clusters, diagonal=answers.diagonal):
            waiting = np.argwhere(np.triu(answers.plan.covered & ~answered))
            if not len(waiting):
                raise PlanError(
                    f"only {answers.n_answered_pairs} of {answers.plan.n_pairs} asked pairs are answered, too few to "
                    "tie all items together; collect answers (`bequec status`)"
                )
            l, m = waiting[0]
            raise PlanError(
                f"{len(waiting)} asked blocks have no answer yet, e.g. ({plan.group_name(l)}, {plan.group_name(m)}), "
                "and without them the groups cannot be tied together; collect answers there (`bequec status`)"
            )
    for asked in (mostly_asked_blocks(plan), plan.covered):  # blocks with few asked pairs only where they are needed
        if not cut_off_groups(asked, plan.sizes, n_clusters, diagonal=answers.diagonal):
            return usable_among(asked, plan.sizes, n_clusters, diagonal=answers.diagonal)
    raise PlanError(
        f"the asked pairs leave some of the {plan.n_groups} groups without a block that ties them to the rest; plan "
        "the same pairs in fewer groups"
    )


def _answered_part(answers: Answers) -> QueryPlan:
    """The asked blocks with an answer, and the single pairs with one."""
    plan, single = answers.plan, answers.plan.single_pairs
    has_answer = answers.totals_of(single.left, single.right) > 0
    return QueryPlan(
        plan.group_of,
        plan.asked & (answers.share_answered_per_block > 0),
        plan.names,
        plan.group_names,
        plan.unaskable,
        listed=np.stack([single.left, single.right], axis=1)[has_answer],
    )


def _grown_range_space(problem: Problem, work: Work) -> RangeSpace | None:
    """The range space grown from a seed where some group is smaller than K; None where it can be stitched."""
    answers, K = problem.answers, problem.n_clusters
    if answers.plan.sizes.min() >= K:
        return None
    asked = answers.share_answered_per_block > 0
    completion = best_completion(asked, problem.usable, answers.plan.sizes, K, diagonal=answers.diagonal)
    return None if completion is None else complete_range_space(answers, completion, K, _first_vector(problem, work))


def _first_vector(problem: Problem, work: Work) -> FloatArray:
    return work.rng.standard_normal(problem.answers.plan.n_nodes)
