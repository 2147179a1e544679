"""The graph of asked pairs over items: which items are linked with most others, and asked about often enough."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from bequec.core.arrays import IntArray
from bequec.plan.query_plan import QueryPlan


def cut_off_items(plan: QueryPlan, n_clusters: int) -> IntArray:
    """The items outside the largest component of the graph of asked pairs, and those with fewer than K asked pairs.

    If there are any, the plan is not enough: nothing ties an item of another component to the rest, and an item's K
    coordinates in the range of the memberships take K answers. If there are none, the plan may be enough. Whether it is
    depends on how the pairs are spread and on which answers come, so that is judged from the answers.
    """
    component = _components(plan)
    largest = np.bincount(component).argmax()
    return np.flatnonzero((component != largest) | (pairs_per_node(plan) < n_clusters))


def pairs_per_node(plan: QueryPlan) -> IntArray:
    """How many pairs each node is asked in."""
    in_loop = plan.asked.diagonal().astype(np.int64)
    count = (plan.asked @ plan.sizes - in_loop)[plan.group_of]
    unaskable = plan.unaskable[plan.asked[tuple(plan.group_of[plan.unaskable].T)]]
    single = np.concatenate([plan.single_pairs.left, plan.single_pairs.right])
    count -= np.bincount(unaskable.ravel(), minlength=plan.n_nodes)
    return np.asarray(count + np.bincount(single, minlength=plan.n_nodes))


def _components(plan: QueryPlan) -> IntArray:
    """The component of each node. A block asked whole is a star: a vertex of its own, linked with all its nodes."""
    has_gaps = np.zeros(plan.asked.shape, dtype=bool)
    has_gaps[tuple(plan.group_of[plan.unaskable].T)] = True
    edges = [(plan.single_pairs.left, plan.single_pairs.right)]
    n_vertices = plan.n_nodes
    for l, m in plan.blocks.tolist():
        if has_gaps[l, m] or has_gaps[m, l]:
            edges.append(plan.block_pairs(l, m))
        else:
            nodes = np.concatenate([plan.groups[l], plan.groups[m]])
            edges.append((nodes, np.full(len(nodes), n_vertices)))
            n_vertices += 1
    left, right = (np.concatenate(side) for side in zip(*edges, strict=True))
    graph = sp.coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(n_vertices, n_vertices))
    _, component = connected_components(graph, directed=False)
    return np.asarray(component[: plan.n_nodes], dtype=np.int64)
