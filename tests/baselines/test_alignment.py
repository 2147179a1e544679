import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bequec import Answers, ModelError, PlanError, QueryPlan, ask_graph, match_clusters, plan_queries
from bequec.baselines import BASELINES
from bequec.baselines.alignment import find_windows, fix_permutations, joining_order, window_graph

# Triangles of groups that share a side each: 0-1-2, 1-2-3, 2-3-4.
TRIANGLES = [(l, l) for l in range(5)] + [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]


def everything_yes(plan):
    return ask_graph(np.ones((plan.n_nodes, plan.n_nodes)), plan)


def shuffled_truth(answers, truth, rng):
    """A kernel that knows the truth of each window in turn but not the order of the clusters."""
    windows = iter(joining_order(find_windows(answers), answers.plan))

    def kernel(_):
        _, nodes = window_graph(answers, next(windows))
        return truth[answers.plan.order][nodes][:, rng.permutation(truth.shape[1])]

    return kernel


@pytest.mark.parametrize(
    ("group_of", "asked"),
    [
        (np.arange(90) // 15, [(l, l) for l in range(6)] + [(l, l + 1) for l in range(5)]),
        (np.repeat(np.arange(6), [9, 30, 1, 17, 5, 28]), [(l, l) for l in range(6)] + [(l, l + 1) for l in range(5)]),
        (np.tile(np.arange(5), 18), TRIANGLES),
        (np.repeat(np.arange(5), [40, 4, 20, 9, 17]), TRIANGLES),
        (np.zeros(90, dtype=int), [(0, 0)]),
        (np.arange(90) // 18, [(l, l) for l in range(5)] + [(l, (l + 1) % 5) for l in range(5)]),  # a ring
    ],
)
def test_windows_that_only_differ_in_the_order_of_clusters_are_joined_to_the_truth(group_of, asked, rng):
    truth = rng.dirichlet([0.3] * 4, 90)
    answers = everything_yes(QueryPlan(group_of, asked))
    joined = fix_permutations(answers, 4, shuffled_truth(answers, truth, rng))
    joined = joined[answers.plan.position_of]
    assert_allclose(match_clusters(joined, truth), truth, atol=1e-12)


def test_windows_that_share_no_yes_are_not_joined_by_chance():
    """Three groups in a chain; the middle one says no to everybody in the third."""
    label = np.repeat([0, 1], 20)
    graph = np.zeros((84, 84))
    graph[:40, :40] = graph[44:, 44:] = label[:, None] == label
    graph[40:44, :40] = label == 0
    graph = np.maximum(graph, graph.T)
    chain = QueryPlan(np.repeat([0, 1, 2], [40, 4, 40]), [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)])
    with pytest.raises(ModelError, match="no node of groups 1, 2 that another window shows has a yes there"):
        BASELINES["spacl"](2, 0).fit(ask_graph(graph, chain))


def test_windows_are_neighbors_on_the_diagonal_and_cliques_elsewhere():
    diagonal = plan_queries(60, 3, n_groups=4, random_state=0)
    assert find_windows(everything_yes(diagonal)) == [(0, 1), (1, 2), (2, 3)]
    triangles = QueryPlan(np.repeat(np.arange(5), 6), TRIANGLES)
    assert find_windows(everything_yes(triangles)) == [(0, 1, 2), (1, 2, 3), (2, 3, 4)]
    complete = QueryPlan(np.repeat(np.arange(5), 6), np.ones((5, 5), dtype=bool))
    assert find_windows(everything_yes(complete)) == [(0, 1, 2, 3, 4)]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8).flatmap(lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))))
def test_windows_are_complete_maximal_and_hold_every_block(blocks):
    n_groups = max((max(block) for block in blocks), default=0) + 1
    plan = QueryPlan(np.repeat(np.arange(n_groups), 2), [*blocks, *[(l, l) for l in range(n_groups)]])
    windows = find_windows(everything_yes(plan))
    held = np.zeros_like(plan.asked)
    for window in windows:
        inside = np.isin(np.arange(n_groups), window)
        assert plan.asked[np.ix_(window, window)].all()
        assert not plan.asked[~inside][:, inside].all(axis=1).any()
        held[np.ix_(window, window)] = True
    assert_array_equal(held, plan.asked)


def test_the_largest_overlap_is_joined_first_and_windows_without_news_are_left_out():
    plan = QueryPlan(np.repeat(np.arange(4), [2, 9, 5, 3]), np.ones((4, 4), dtype=bool))
    windows = [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert joining_order(windows, plan) == [(0, 1), (1, 3), (2, 3)]


def test_of_two_windows_the_later_one_is_kept():
    answers = everything_yes(QueryPlan(np.arange(30) // 10, [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2)]))
    calls = []

    def kernel(graph):
        calls.append(graph.shape[0])
        certain = 0.6 + 0.1 * len(calls)
        return np.tile([certain, 1 - certain], (graph.shape[0], 1))

    joined = fix_permutations(answers, 2, kernel)
    assert calls == [20, 20]
    assert_allclose(joined[:10, 0], 0.7)
    assert_allclose(joined[10:, 0], 0.8)


def test_nodes_that_a_window_says_nothing_about_keep_what_is_known_or_are_uniform():
    plan = QueryPlan(np.arange(30) // 10, [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2)])
    graph = np.ones((30, 30))
    graph[15, 10:] = graph[10:, 15] = 0  # node 15 has a yes in the first window only
    graph[3] = graph[:, 3] = 0  # node 3 has none at all
    joined = fix_permutations(ask_graph(graph, plan), 2, lambda window: np.tile([0.9, 0.1], (window.shape[0], 1)))
    assert_allclose(joined[3], 0.5)
    assert_allclose(joined[15], [0.9, 0.1])


def test_window_graphs_hold_mean_answers_scaled_by_the_answered_share():
    plan = QueryPlan([0, 0, 1, 1], [(0, 0), (0, 1), (1, 1)])
    total = np.array([[0, 4, 1, 0], [4, 0, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0]])
    yes = np.array([[0, 3, 1, 0], [3, 0, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0]])
    graph, nodes = window_graph(Answers.from_counts(plan, yes, total), (0, 1))
    assert_array_equal(nodes, [0, 1, 2, 3])
    cross = 4 / 3  # three of the four pairs between the groups are answered
    assert_allclose(
        graph.toarray(), [[0, 0.75, cross, 0], [0.75, 0, cross, cross], [cross, cross, 0, 1], [0, cross, 1, 0]]
    )


def test_plans_without_overlapping_windows_are_refused_with_the_block_to_ask():
    def uniform(window):
        return np.full((window.shape[0], 3), 1 / 3)

    spread = plan_queries(80, 3, n_groups=8, pattern="spread", random_state=0)
    with pytest.raises(
        PlanError, match=r"groups 0, 1, 2, 3, 4, 5, 6, 7 have no answered block of their own.*ask block \(0, 0\)"
    ):
        fix_permutations(everything_yes(spread), 3, uniform)
    apart = QueryPlan(np.arange(40) // 10, [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (2, 3)])
    with pytest.raises(
        PlanError, match=r"groups 2, 3 share no group with those of the others.*also ask block \(1, 2\)"
    ):
        fix_permutations(everything_yes(apart), 3, uniform)
    named = QueryPlan([0, 0, 1, 1, 2, 2], [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2)], group_names=["a", "b", "c"])
    with pytest.raises(ModelError, match="window of groups a, b only 4 nodes have a yes, too few for 5 clusters"):
        fix_permutations(everything_yes(named), 5, uniform)
