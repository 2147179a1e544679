import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from bequec import Answers, AnswersError, QueryPlan, ask_graph, plan_queries


@pytest.fixture
def plan():
    return plan_queries(60, 3, n_groups=4, random_state=0)


@pytest.fixture
def graph(rng):
    upper = np.triu(rng.random((60, 60)) < 0.4, k=1)
    return (upper | upper.T).astype(float)


def in_group_order(matrix, plan):
    """What Answers.yes must be: asked entries only, rows and columns group after group, no diagonal."""
    expected = np.where(plan.asked[np.ix_(plan.group_of, plan.group_of)], matrix, 0.0)
    np.fill_diagonal(expected, 0.0)
    return expected[np.ix_(plan.order, plan.order)]


def test_every_kind_of_graph_gives_the_same_answers(plan, graph):
    expected = in_group_order(graph, plan)
    for kind in (
        graph,
        graph.astype(bool),
        sp.csr_array(graph),
        sp.coo_matrix(graph),
        nx.from_numpy_array(graph),
        lambda rows, columns: graph[rows, columns],
    ):
        answers = ask_graph(kind, plan)
        assert (answers.yes.toarray() == expected).all()
        assert answers.n_answered_pairs == plan.n_pairs


def test_blocks_are_the_papers(plan, graph):
    answers = ask_graph(graph, plan)
    for l, m in plan.blocks:
        block = graph[np.ix_(plan.groups[l], plan.groups[m])].copy()
        if l == m:
            np.fill_diagonal(block, 0)
        assert (answers.block(l, m).toarray() == block).all()
    with pytest.raises(AnswersError, match=r"block \(0, 3\) was not asked: its pairs are unknown, not 'no'"):
        answers.block(0, 3)


def test_the_diagonal_is_kept_only_if_it_was_given(plan, graph):
    np.fill_diagonal(graph, 0.7)
    assert not ask_graph(graph, plan).yes.diagonal().any()
    for kind in (graph, lambda rows, columns: graph[rows, columns]):
        assert (ask_graph(kind, plan, diagonal=True).yes.diagonal() == 0.7).all()


def test_networkx_names_survive_the_round_trip(tmp_path):
    graph = nx.relabel_nodes(nx.karate_club_graph(), lambda node: f"member {node}")
    nx.set_edge_attributes(graph, 1, "weight")
    plan = plan_queries(names=list(graph), n_clusters=2, n_groups=3, random_state=0)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(reversed(list(graph)))
    shuffled.add_edges_from(graph.edges)
    table = ask_graph(shuffled, plan).to_table()
    for row in table.itertuples():
        assert row.label == graph.has_edge(row.left, row.right)
    unnamed = plan_queries(len(graph), 2, n_groups=3, random_state=0)
    assert ask_graph(graph, unnamed).plan.names == tuple(graph)


def test_only_asked_pairs_are_put_to_a_function(plan):
    asked: set[frozenset[int]] = set()

    def answer(rows, columns):
        pairs = {frozenset(pair) for pair in zip(rows.tolist(), columns.tolist(), strict=True)}
        assert not pairs & asked
        asked.update(pairs)
        return np.zeros(len(rows))

    ask_graph(answer, plan)
    assert len(asked) == plan.n_pairs


def test_a_large_sparse_graph_is_asked_without_anything_dense():
    """A million nodes: one dense row a node would be eight terabytes."""
    n_nodes = 1_000_000
    ring = sp.diags_array([np.ones(n_nodes - 1), np.ones(n_nodes - 1)], offsets=[-1, 1], format="csr")
    plan = QueryPlan(np.arange(n_nodes) // 1000, [(l, l) for l in range(1000)] + [(l, l + 1) for l in range(999)])
    answers = ask_graph(ring, plan)
    assert answers.yes.nnz == ring.nnz


def changed(matrix, i, j, value):
    matrix = matrix.copy()
    matrix[i, j] = matrix[j, i] = value
    return matrix


@pytest.mark.parametrize("as_kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, r"graph\[2, 5\] = nan .*is NaN"),
        (np.inf, r"graph\[2, 5\] = inf .*is infinite"),
        (-0.5, r"graph\[2, 5\] = -0.5 .*is negative"),
        (1.5, r"graph\[2, 5\] = 1.5 .*is above 1; scale the similarities to \[0, 1\]"),
    ],
)
def test_bad_values_are_refused_with_their_place(plan, graph, as_kind, value, message):
    with pytest.raises(AnswersError, match=message):
        ask_graph(as_kind(changed(graph, 2, 5, value)), plan)


def test_asymmetry_is_refused(plan, graph):
    graph[2, 5] = 1 - graph[2, 5]
    with pytest.raises(AnswersError, match=r"not symmetric: graph\[2, 5\] = .* but graph\[5, 2\]"):
        ask_graph(graph, plan)


def test_directed_graphs_are_refused(plan):
    with pytest.raises(AnswersError, match="not symmetric"):
        ask_graph(nx.gnp_random_graph(60, 0.2, directed=True, seed=0), plan)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros((5, 5)), r"graph has shape \(5, 5\), but the plan has 60 nodes"),
        (np.zeros(60), "must be a square matrix"),
        (np.full((60, 60), "yes"), "must hold numbers"),
        (np.zeros((60, 60), dtype=complex), "must hold numbers"),
        (lambda rows, columns: np.zeros(3), "returned float64 values of shape"),
        (lambda rows, columns: np.full(len(rows), np.nan), r"returned nan for the pair .*answers must be in \[0, 1\]"),
        (lambda rows, columns: np.full(len(rows), 2), "returned 2 for the pair"),
        (nx.path_graph(5), "the graph has 5 nodes, the plan 60"),
    ],
)
def test_graphs_that_do_not_fit_are_refused(plan, wrong, message):
    with pytest.raises(AnswersError, match=message):
        ask_graph(wrong, plan)


def test_unknown_and_missing_networkx_nodes_are_named():
    plan = plan_queries(names=[f"n{i}" for i in range(20)], n_clusters=2, n_groups=2)
    with pytest.raises(AnswersError, match="does not know the nodes stranger"):
        ask_graph(nx.relabel_nodes(nx.path_graph(20), lambda i: f"n{i}" if i else "stranger"), plan)
    with pytest.raises(AnswersError, match="lacks the planned nodes n19; if they have no edge"):
        ask_graph(nx.relabel_nodes(nx.path_graph(19), lambda i: f"n{i}"), plan)


# --- counts ----------------------------------------------------------------------------------------------


def test_counts_keep_not_asked_not_answered_and_no_apart(two_villages):
    yes, total = np.zeros((6, 6)), np.zeros((6, 6))
    total[0, 1] = total[1, 0] = 3
    yes[0, 1] = yes[1, 0] = 2
    total[0, 4] = total[4, 0] = 1
    answers = Answers.from_counts(two_villages, yes, total)
    assert answers.n_answered_pairs == 2
    assert answers.n_answers == 4
    assert answers.block_totals(0, 0).tolist() == [[0, 3, 0], [3, 0, 0], [0, 0, 0]]
    assert answers.block_totals(0, 1)[0].tolist() == [0, 1, 0]
    assert answers.to_table().to_dict("list") == {
        "left": ["ann", "ann"],
        "right": ["bob", "eve"],
        "label": [pytest.approx(2 / 3), 0.0],
        "n_answers": [3.0, 1.0],
    }


@pytest.mark.parametrize("share", [0.0, 0.2, 0.8, 1.0])
def test_totals_are_the_same_however_they_are_stored(rng, share):
    """Few answers are stored as such, many as a correction to one each: every reading must agree."""
    plan = plan_queries(50, 3, n_groups=3, random_state=1)
    asked = np.triu(plan.asked[np.ix_(plan.group_of, plan.group_of)], k=1)
    total = np.where(asked & (rng.random((50, 50)) < share), rng.integers(1, 4, (50, 50)), 0).astype(float)
    yes = np.floor(total * rng.random((50, 50)))
    answers = Answers.from_counts(plan, yes + yes.T, total + total.T)
    ordered = (total + total.T)[np.ix_(plan.order, plan.order)]
    for l, m in plan.blocks:
        assert (answers.block_totals(l, m) == ordered[plan.span(l), plan.span(m)]).all()
    assert answers.n_answers == total.sum()
    assert answers.n_answered_pairs == (total > 0).sum()
    dense_yes = answers.yes.toarray()
    assert (answers.total_at_yes == ordered[dense_yes > 0]).all()


@pytest.mark.parametrize(
    ("yes", "total", "message"),
    [
        ({(0, 1): 2}, None, r"pair \(ann, bob\) has 2 yes; give total="),
        ({(0, 1): 2}, {(0, 1): 1}, r"pair \(ann, bob\) has 1 more yes than answers"),
        ({(0, 1): -1}, None, "is negative"),
        ({(0, 1): np.nan}, None, "is NaN"),
        ({(0, 0): 1}, None, "yes has 1 entries on its diagonal: a self-pair is not a question"),
        ({(3, 4): 1}, None, "yes has 2 entries outside the asked pairs"),
        ({(0, 1): 1}, {(0, 1): 1, (3, 4): 1}, "total has 2 entries outside the asked pairs"),
    ],
)
def test_wrong_counts_are_refused(two_villages, yes, total, message):
    def matrix(entries):
        dense = np.zeros((6, 6))
        for (i, j), value in entries.items():
            dense[i, j] = dense[j, i] = value
        return sp.csr_array(dense)

    with pytest.raises(AnswersError, match=message):
        Answers.from_counts(two_villages, matrix(yes), None if total is None else matrix(total))
