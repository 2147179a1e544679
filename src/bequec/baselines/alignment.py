"""Permutation fixing (Algorithm 4): a method for whole graphs, applied window by window and joined.

A window is a set of groups all of whose blocks, their own included, were answered. On the diagonal pattern the
windows are the neighbors {l, l + 1}, as in the paper; on other plans they are maximal cliques of the group graph.
Clusters have no names, so each window's clusters come in an order of their own; the groups that a window shares with
what is known already say which is which (Hungarian method).
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import ModelError, PlanError, shortened
from bequec.core.progress import Progress
from bequec.learn.matching import best_assignment
from bequec.learn.stitch.windows import answered_block
from bequec.plan.query_plan import QueryPlan

Window = tuple[int, ...]
Kernel = Callable[[sp.csr_array], FloatArray]


def fix_permutations(answers: Answers, n_clusters: int, kernel: Kernel, progress: Progress | None = None) -> FloatArray:
    """The memberships that ``kernel`` finds in each window, with the clusters of all windows in one order.

    M_new Π with Π the permutation for which ⟨M_new Π, M_known⟩ over the shared nodes is largest. Of a node that two
    windows show, the later window's estimate is kept, as in Algorithm 4. A node without any yes inside a window is
    not shown to the kernel: the window says nothing about it, so an earlier estimate stays, and without one its
    memberships are uniform.
    """
    memberships = np.full((answers.plan.n_nodes, n_clusters), 1.0 / n_clusters)
    known = np.zeros(answers.plan.n_nodes, dtype=bool)
    windows = joining_order(find_windows(answers), answers.plan)
    for done, window in enumerate(windows, start=1):
        graph, nodes = window_graph(answers, window)
        if len(nodes) < n_clusters:
            raise ModelError(
                f"in the window of groups {_named(window, answers.plan)} only {len(nodes)} nodes have a yes, too few "
                f"for {n_clusters} clusters; use fewer clusters, larger groups, or collect more answers"
            )
        found = kernel(graph)
        shared = known[nodes]
        if known.any() and not shared.any():
            raise ModelError(
                f"no node of groups {_named(window, answers.plan)} that another window shows has a yes there, so that "
                "their clusters cannot be told which is which; collect more answers, or use BeQuec"
            )
        order = best_assignment(found[shared].T @ memberships[nodes[shared]])
        memberships[nodes] = found[:, order]
        known[nodes] = True
        if progress is not None:
            progress("fitting windows", done, len(windows))
    return memberships


def window_graph(answers: Answers, window: Window) -> tuple[sp.csr_array, IntArray]:
    """The mean answers inside a window, over the nodes that have a yes there, and these nodes' positions.

    Partly answered blocks are scaled by their answered share. An unobserved diagonal is left at zero, as published:
    imputing it from the top eigenvectors changed the error of SPACL from 0.0344 to 0.0346 and that of GeoNMF from
    0.0346 to 0.0350 (N = 2000, K = 5, L = 10, balanced, 5 trials).
    """
    blocks = [[_block(answers, l, m) for m in window] for l in window]
    graph = sp.block_array(blocks, format="csr")
    positions = np.concatenate([np.arange(answers.plan.starts[l], answers.plan.starts[l + 1]) for l in window])
    linked = np.flatnonzero(np.asarray(graph.sum(axis=1)).ravel() > 0)
    return graph[linked][:, linked].tocsr(), positions[linked]


def find_windows(answers: Answers) -> list[Window]:
    """Maximal sets of groups between and inside which everything was answered; together they hold every such block."""
    plan = answers.plan
    complete = _complete_blocks(answers)
    outside = np.flatnonzero(~complete.diagonal())
    if len(outside):
        raise PlanError(
            f"groups {_named(outside, plan)} have no answered block of their own, so no window of whole groups holds "
            f"them and a method for whole graphs cannot be applied; also ask block "
            f"({plan.group_name(outside[0])}, {plan.group_name(outside[0])}), use pattern 'diagonal', or BeQuec, "
            "which needs no windows"
        )
    windows: list[Window] = []
    held = np.zeros_like(complete)
    for l, m in np.argwhere(np.triu(complete, k=1)).tolist() + [(l, l) for l in range(plan.n_groups)]:
        if not held[l, m]:
            window = _extend({l, m}, complete)
            windows.append(window)
            held[np.ix_(window, window)] = True
    return sorted(windows)


def joining_order(windows: Sequence[Window], plan: QueryPlan) -> list[Window]:
    """Windows outward from the first, the largest overlap with what is known first; none that shows nothing new."""
    order, waiting = [windows[0]], list(windows[1:])
    known = set(windows[0])
    while len(known) < plan.n_groups:
        shared = [
            0 if known.issuperset(window) else int(plan.sizes[list(known.intersection(window))].sum())
            for window in waiting
        ]
        if not any(shared):
            cut_off = sorted(set(range(plan.n_groups)) - known)
            l, m = max(known), cut_off[0]
            raise PlanError(
                f"the windows of groups {_named(cut_off, plan)} share no group with those of the others, so the order "
                f"of their clusters cannot be told; also ask block ({plan.group_name(l)}, {plan.group_name(m)})"
            )
        window = waiting.pop(int(np.argmax(shared)))
        order.append(window)
        known.update(window)
    return order


def _complete_blocks(answers: Answers) -> BoolArray:
    """(L, L): whether a block was answered, at least partly; a group of one node has no pairs inside to answer."""
    single = np.diag(answers.plan.sizes == 1)
    return np.asarray((answers.share_answered_per_block > 0) | single)


def _extend(window: set[int], complete: BoolArray) -> Window:
    """The window with every further group, lowest first, that is complete with all that it holds."""
    fits: BoolArray = np.asarray(complete[list(window)].all(axis=0))
    fits[list(window)] = False
    while fits.any():
        group = int(fits.argmax())
        window.add(group)
        fits &= complete[group]
        fits[group] = False
    return tuple(sorted(window))


def _block(answers: Answers, l: int, m: int) -> sp.csr_array:
    if answers.share_answered_per_block[l, m] == 0:  # inside a group of one node
        return sp.csr_array((1, 1))
    return answered_block(answers, l, m)


def _named(groups: Window | list[int] | IntArray, plan: QueryPlan) -> str:
    return shortened([plan.group_name(group) for group in groups])
