"""Ask a graph that we hold, or a function that knows the answer."""

import dataclasses
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.ask.checks import asked_entries, check_matrix
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import AnswersError, shortened
from bequec.plan.query_plan import QueryPlan

MOST_PAIRS_AT_ONCE = 2_000_000


def ask_graph(graph: Any, plan: QueryPlan, *, diagonal: bool = False) -> Answers:
    """The graph's answers to the planned questions; what the plan does not ask is checked, but not used.

    Parameters
    ----------
    graph : scipy sparse array or matrix, ndarray, networkx Graph, or function
        Symmetric, with values in [0, 1] in the plan's node order. A networkx graph is matched by the
        plan's names (without names: nodes 0 … N−1 by number, others give the plan their names). A function
        ``f(rows, columns) -> values`` is called with arrays of node indices, block by block.
    plan : QueryPlan
    diagonal : bool
        Whether the diagonal is observed, too. If not, it is ignored: unknown, not "no".

    Examples
    --------
    >>> import numpy as np
    >>> same = np.kron(np.eye(2), np.ones((4, 4)))
    >>> ask_graph(same, QueryPlan([0, 0, 1, 1] * 2, [(0, 0), (0, 1)]))
    Answers(22 of 22 asked pairs answered, 22 answers, 45.5 % yes)
    """
    if is_networkx(graph):
        graph, plan = _from_networkx(graph, plan)
    elif callable(graph):
        return Answers.each_once(plan, _ask_function(graph, plan, diagonal=diagonal), diagonal=diagonal)
    matrix = check_matrix(graph, plan, "graph", largest=1.0)
    yes, _, _ = asked_entries(matrix, plan, diagonal=diagonal)
    return Answers.each_once(plan, yes, diagonal=diagonal)


def is_networkx(graph: Any) -> bool:
    """Whether this is a networkx graph, without importing networkx."""
    networkx = sys.modules.get("networkx")  # whoever holds a networkx graph has imported it
    return networkx is not None and isinstance(graph, networkx.Graph)


def _from_networkx(graph: Any, plan: QueryPlan) -> tuple[sp.csr_array, QueryPlan]:
    """The adjacency matrix in the plan's node order, and the plan with the nodes' names."""
    import networkx as nx

    if plan.names is None and len(graph) != plan.n_nodes:
        raise AnswersError(f"the graph has {len(graph)} nodes, the plan {plan.n_nodes}; plan for this graph")
    numbered = plan.names is None and set(graph) == set(range(plan.n_nodes))
    if plan.names is None and not numbered:
        plan = dataclasses.replace(plan, names=tuple(graph))
    names = tuple(range(plan.n_nodes)) if plan.names is None else plan.names
    unknown = list(set(graph).difference(names))
    if unknown:
        raise AnswersError(f"the plan does not know the nodes {shortened(unknown)}; plan with names=list(graph)")
    missing = [name for name in names if name not in graph]
    if missing:
        raise AnswersError(
            f"the graph lacks the planned nodes {shortened(missing)}; "
            "if they have no edge, graph.add_nodes_from(plan.names)"
        )
    return nx.to_scipy_sparse_array(graph, nodelist=list(names), dtype=float, format="csr"), plan


def _ask_function(function: Callable[[IntArray, IntArray], Any], plan: QueryPlan, *, diagonal: bool) -> sp.csr_array:
    """The function's values on the asked pairs, each asked once, as a sparse matrix in group order."""
    rows: list[IntArray] = []
    columns: list[IntArray] = []
    values: list[FloatArray] = []
    questions: Iterator[tuple[IntArray, IntArray]] = plan.pairs()
    if diagonal:
        own = plan.order[np.repeat(plan.asked.diagonal(), plan.sizes)]
        questions = itertools.chain(questions, [(own, own)])
    for left, right in questions:
        for start in range(0, len(left), MOST_PAIRS_AT_ONCE):
            i, j = left[start : start + MOST_PAIRS_AT_ONCE], right[start : start + MOST_PAIRS_AT_ONCE]
            value = _check_function_values(function(i, j), i, j, plan)
            kept = value != 0
            rows.append(plan.position_of[i[kept]])
            columns.append(plan.position_of[j[kept]])
            values.append(value[kept])
    row, column, value = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    apart = row != column
    return sp.csr_array(
        (
            np.concatenate([value, value[apart]]),
            (np.concatenate([row, column[apart]]), np.concatenate([column, row[apart]])),
        ),
        shape=(plan.n_nodes, plan.n_nodes),
    )


def _check_function_values(values: Any, i: IntArray, j: IntArray, plan: QueryPlan) -> FloatArray:
    array = np.asarray(values)
    if array.shape != i.shape or array.dtype.kind not in "buif":
        raise AnswersError(
            f"the function returned {array.dtype} values of shape {array.shape} for {len(i)} pairs; "
            "it must return one number per pair: f(rows, columns) -> values"
        )
    array = array.astype(np.float64)
    wrong = ~((array >= 0) & (array <= 1))  # true for NaN and infinities, too
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise AnswersError(
            f"the function returned {array[at]:g} for the pair ({plan.name(i[at])}, {plan.name(j[at])}); "
            "answers must be in [0, 1]"
        )
    return array
