"""A plan among some of its nodes: the same questions, with fewer people to ask about."""

import numpy as np

from bequec.core.arrays import IntArray
from bequec.plan.query_plan import QueryPlan


def plan_among(plan: QueryPlan, nodes: IntArray) -> QueryPlan:
    """What the plan asks among some nodes, which are numbered anew; every group must keep one of its own."""
    new_index = np.full(plan.n_nodes, -1)
    new_index[nodes] = np.arange(len(nodes))
    unaskable, listed = new_index[plan.unaskable], new_index[plan.listed]
    kept = (listed >= 0).all(axis=1)
    n_kept = np.concatenate([[0], np.cumsum(kept)])
    return QueryPlan(
        plan.group_of[nodes],
        plan.asked,
        None if plan.names is None else [plan.names[node] for node in nodes],
        plan.group_names,
        unaskable[(unaskable >= 0).all(axis=1)],
        plan.later_blocks,
        listed[kept],
        n_kept[list(plan.listed_before)].tolist(),
    )
