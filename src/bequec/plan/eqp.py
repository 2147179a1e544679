"""The paper's edge query principle: an order of the groups in which each shares a column group with the next.

Condition: groups l_1 … l_L, all of them, and columns m_1 … m_{L−1} such that blocks (l_r, m_r) and (l_{r+1}, m_r) are
asked for every r < L: a Hamiltonian path of the sharing graph. Learning does not need one, a tree is enough, so most
masks that can be learned have no such order. Finding a Hamiltonian path is hard in general: the search is bounded, and
says whether there is none or whether it gave up.
"""

from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from bequec.core.arrays import BoolArray, IntArray
from bequec.core.errors import PlanError
from bequec.plan.mask.sharing import sharing_graph
from bequec.plan.query_plan import QueryPlan

MOST_STEPS = 200_000  # of the search for an order: some seconds


class EdgeQueryOrder(NamedTuple):
    """What came of the search.

    ``outcome`` is "found", "none exists" or "not found" (within the bound); only when found are ``groups`` (l_1 … l_L)
    and ``columns`` (m_1 … m_{L−1}) there. ``why`` says how it is known that none exists.
    """

    outcome: Literal["found", "none exists", "not found"]
    groups: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    why: str = ""


def edge_query_order(plan: QueryPlan, n_clusters: int, *, most_steps: int = MOST_STEPS) -> EdgeQueryOrder:
    """The orders (l_r) and (m_r) of the edge query principle, if the plan follows it.

    Parameters
    ----------
    plan : QueryPlan
    n_clusters : int
    most_steps : int
        How many steps to search before giving up.

    Examples
    --------
    >>> chain = QueryPlan([0] * 9 + [1] * 9 + [2] * 9, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)])
    >>> edge_query_order(chain, 3)
    EdgeQueryOrder(outcome='found', groups=(0, 1, 2), columns=(0, 1), why='')
    """
    if most_steps < 1:
        raise PlanError(f"most_steps={most_steps} must be at least 1")
    small = np.flatnonzero(plan.sizes < n_clusters)
    if len(small):
        name, size = plan.group_name(int(small[0])), plan.sizes[small[0]]
        return EdgeQueryOrder("none exists", why=f"group {name} has {size} nodes, fewer than {n_clusters} clusters")
    shares = sharing_graph(plan.asked).toarray() > 0
    in_order = np.arange(plan.n_groups)
    if plan.n_groups == 1 or shares[in_order[:-1], in_order[1:]].all():
        return _found(in_order.tolist(), plan.asked)  # our own diagonal and reference patterns, without a search
    why = _obstacle(shares, plan)
    if why:
        return EdgeQueryOrder("none exists", why=why)
    path, is_complete = _hamiltonian_path(shares, most_steps)
    if path:
        return _found(path, plan.asked)
    if is_complete:
        return EdgeQueryOrder("none exists", why="every order was tried")
    return EdgeQueryOrder("not found")


def _found(groups: list[int], asked: BoolArray) -> EdgeQueryOrder:
    columns = [int(np.argmax(asked[l] & asked[following])) for l, following in pairwise(groups)]
    return EdgeQueryOrder("found", tuple(groups), tuple(columns))


def _obstacle(shares: BoolArray, plan: QueryPlan) -> str:
    """A quick proof that there is no Hamiltonian path, if one of the usual ones applies."""
    n_parts, part = connected_components(shares, directed=False)
    if n_parts > 1:
        cut_off = plan.group_name(int(np.flatnonzero(part != part[0])[0]))
        return f"group {cut_off} shares no column group with group {plan.group_name(0)}, directly or through others"
    ends = np.flatnonzero(shares.sum(axis=1) == 1)
    if len(ends) > 2:
        named = ", ".join(plan.group_name(int(l)) for l in ends[:3])
        return f"{len(ends)} groups share a column group with one other only ({named}, …), and an order has two ends"
    for l in range(plan.n_groups):
        rest = np.delete(np.delete(shares, l, axis=0), l, axis=1)
        n_parts, _ = connected_components(rest, directed=False)
        if n_parts > 2:
            return (
                f"without group {plan.group_name(l)} the others fall into {n_parts} parts, and an order passes it once"
            )
    return ""


def _hamiltonian_path(shares: BoolArray, most_steps: int) -> tuple[list[int], bool]:
    """A Hamiltonian path by depth-first search, groups with the fewest ways on first; whether all was searched.

    A branch is cut when what is left is not connected, or has too many dead ends. The bound on steps is shared out
    over the starts, so that an unlucky first start does not use it up.
    """
    n_groups = len(shares)
    starts = np.argsort(shares.sum(axis=1), kind="stable").tolist()
    is_complete = True
    for start in starts:
        allowance = max(1, most_steps // n_groups)
        path, left = _search_from(start, shares, allowance)
        if path:
            return path, True
        is_complete &= left > 0
    return [], is_complete


def _search_from(start: int, shares: BoolArray, allowance: int) -> tuple[list[int], int]:
    """A path from ``start`` through all groups, or none; how many steps were left."""
    n_groups = len(shares)
    is_open = np.ones(n_groups, dtype=bool)
    is_open[start] = False
    path = [start]
    branches = [_ways_on(start, shares, is_open)]
    while path:
        if len(path) == n_groups:
            return path, allowance
        if allowance == 0:
            return [], 0
        if branches[-1]:
            allowance -= 1
            group = branches[-1].pop()
            path.append(group)
            is_open[group] = False
            branches.append(_ways_on(group, shares, is_open) if _can_go_on(group, shares, is_open) else [])
        else:
            branches.pop()
            is_open[path.pop()] = True
    return [], max(1, allowance)


def _ways_on(group: int, shares: BoolArray, is_open: BoolArray) -> list[int]:
    """The open neighbours, the one with the fewest ways on last, where it is popped first."""
    following = np.flatnonzero(shares[group] & is_open)
    ways = (shares[following] & is_open).sum(axis=1)
    ordered: IntArray = following[np.argsort(-ways, kind="stable")]
    return [int(l) for l in ordered]


def _can_go_on(group: int, shares: BoolArray, is_open: BoolArray) -> bool:
    """Whether the open groups are connected with this one, and at most one of them is a dead end."""
    here = is_open.copy()
    here[group] = True
    left = np.flatnonzero(here)
    inside = shares[np.ix_(left, left)]
    n_parts, _ = connected_components(inside, directed=False)
    at = int(np.searchsorted(left, group))
    dead_ends = np.delete(inside.sum(axis=1) <= 1, at).sum()
    return bool(n_parts == 1 and dead_ends <= 1)
