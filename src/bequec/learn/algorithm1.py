"""The paper's Algorithm 1: stitch the range space, find its corners, read off the memberships."""

import dataclasses
from collections.abc import Callable

import numpy as np

from bequec.ask.answers import Answers
from bequec.errors import AnswersError, PlanError
from bequec.learn.anchors import scale_groups_to_corners, successive_projection
from bequec.learn.growing import grow_range_space
from bequec.learn.interactions import least_squares_interactions
from bequec.learn.simplex import cone_memberships, simplex_least_squares
from bequec.learn.stitching import RangeSpace, estimate_range_space
from bequec.learn.task import State, Task
from bequec.learn.wide_stitching import wide_range_space
from bequec.plan.growth import best_growth
from bequec.plan.identifiable import check_identifiable, is_identifiable
from bequec.plan.query_plan import BoolArray
from bequec.plan.sharing import usable_blocks


def stitch_and_project(task: Task) -> State:
    """Algorithm 1 on the answered blocks."""
    basis, singular_values, gaps = _range_space(task, estimate_range_space)
    anchors = successive_projection(basis, task.n_clusters)
    corners = basis[anchors]
    points, is_near = scale_groups_to_corners(basis, corners, task.answers.plan.starts[:-1])
    memberships = simplex_least_squares(points, corners)
    # In sparse graphs degrees differ by far and most rows end near the origin: there only their direction counts.
    memberships[~is_near] = cone_memberships(points[~is_near], corners)
    interactions = least_squares_interactions(task.answers, memberships)
    return State(basis, singular_values, gaps, memberships, interactions, anchors)


def stitch_widely(task: Task) -> State:
    """Where every refinement starts: the range space stitched on all shared columns."""
    space = _range_space(task, wide_range_space)
    successive_projection(space.basis, task.n_clusters)  # refuses answers that show fewer than K directions
    return State(*space)


def answered_usable_blocks(answers: Answers, n_clusters: int) -> BoolArray:
    """The blocks that learning can use; an error unless they identify the memberships."""
    plan = answers.plan
    if not answers.yes.nnz:
        raise AnswersError(
            f"none of the {answers.n_answered_pairs} answered pairs is a yes; there is nothing to cluster: collect "
            "answers, or check that labels and names were read as meant ('unsure' counts only with unsure='half')"
        )
    check_identifiable(plan, n_clusters, diagonal=answers.diagonal)
    answered = answers.share_answered_per_block > 0
    if answered.any() and not (answered == plan.asked).all():
        plan = dataclasses.replace(plan, asked=answered)
        if not is_identifiable(plan, n_clusters, diagonal=answers.diagonal):
            waiting = np.argwhere(np.triu(answers.plan.asked & ~answered))
            l, m = waiting[0]
            raise PlanError(
                f"{len(waiting)} asked blocks have no answer yet, e.g. ({plan.group_name(l)}, {plan.group_name(m)}), "
                "and without them the groups cannot be tied together; collect answers there (`bequec status`)"
            )
    return usable_blocks(plan, n_clusters, diagonal=answers.diagonal)


def _range_space(task: Task, stitch_groups: Callable[..., RangeSpace]) -> RangeSpace:
    """Stitched group by group, or grown from a seed where some group is smaller than K."""
    answers, K = task.answers, task.n_clusters
    start = task.rng.standard_normal(answers.plan.n_nodes)
    if answers.plan.sizes.min() < K:
        asked = answers.share_answered_per_block > 0
        growth = best_growth(asked, task.usable, answers.plan.sizes, K, diagonal=answers.diagonal)
        if growth is not None:
            return grow_range_space(answers, growth, K, start)
    return stitch_groups(answers, task.usable, K, start, task.mapper)
