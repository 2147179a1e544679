"""The paper's Algorithm 1: stitch the range space, find its corners, read off the memberships."""

import dataclasses

import numpy as np

from bequec.ask.answers import Answers
from bequec.errors import AnswersError, PlanError
from bequec.learn.anchors import scale_groups_to_corners, successive_projection
from bequec.learn.growing import grow_range_space
from bequec.learn.interactions import least_squares_interactions
from bequec.learn.parallel import Mapper
from bequec.learn.simplex import simplex_least_squares
from bequec.learn.state import State
from bequec.learn.stitching import estimate_range_space
from bequec.plan.growth import best_growth
from bequec.plan.identifiable import check_identifiable, is_identifiable
from bequec.plan.query_plan import BoolArray
from bequec.plan.sharing import usable_blocks


def stitch_and_project(answers: Answers, n_clusters: int, rng: np.random.Generator, mapper: Mapper) -> State:
    """Algorithm 1 on the answered blocks."""
    usable = answered_usable_blocks(answers, n_clusters)
    start = rng.standard_normal(answers.plan.n_nodes)
    growth = best_growth(usable, answers.plan.sizes, n_clusters) if answers.plan.sizes.min() < n_clusters else None
    if growth is None:
        basis, singular_values = estimate_range_space(answers, usable, n_clusters, start, mapper)
    else:
        basis, singular_values = grow_range_space(answers, growth, n_clusters, start)
    anchors = successive_projection(basis, n_clusters)
    corners = basis[anchors]
    points = scale_groups_to_corners(basis, corners, answers.plan.starts[:-1])
    memberships = simplex_least_squares(points, corners)
    interactions = least_squares_interactions(answers, memberships)
    return State(memberships, interactions, anchors, basis, singular_values)


def answered_usable_blocks(answers: Answers, n_clusters: int) -> BoolArray:
    """The blocks that learning can use; an error unless they identify the memberships."""
    plan = answers.plan
    if not answers.yes.nnz:
        raise AnswersError(
            f"none of the {answers.n_answered_pairs} answered pairs is a yes; there is nothing to cluster: "
            "collect answers, or check that labels and names were read as meant"
        )
    check_identifiable(plan, n_clusters, diagonal=answers.diagonal)
    answered = plan.asked & (answers.answers_per_pair > 0)
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
