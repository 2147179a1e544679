import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bequec import PlanError, is_identifiable, plan_queries
from bequec.plan import plan_cost
from bequec.plan.pattern_choice import PATTERNS
from bequec.plan.patterns import spread_blocks


@settings(deadline=None)
@given(
    st.sampled_from(PATTERNS),
    st.integers(2, 6),
    st.integers(60, 400),
    st.integers(0, 2**32 - 1),
    st.one_of(st.none(), st.floats(0.02, 1.0)),
)
def test_every_plan_that_is_returned_can_work(pattern, n_clusters, n_nodes, seed, share):
    """Over patterns, sizes and budgets; what does not fit is an error that names the smallest budget that does."""
    budget = None if share is None else max(1, int(share * n_nodes * (n_nodes - 1) / 2))
    arguments: dict[str, Any] = {"n_nodes": n_nodes, "n_clusters": n_clusters, "pattern": pattern, "random_state": seed}
    try:
        plan = plan_queries(**arguments, budget=budget)
    except PlanError as error:
        [least] = re.findall(r"smallest budget that would do is (\d+)", str(error))
        assert budget is not None
        assert int(least) > budget
        plan = plan_queries(**arguments, budget=int(least))
        assert plan.n_pairs <= int(least)
        with pytest.raises(PlanError, match=f"that would do is {least}"):
            plan_queries(**arguments, budget=int(least) - 1)
    assert is_identifiable(plan, n_clusters)
    assert plan.n_nodes == n_nodes
    assert np.ptp(plan.sizes) <= 1  # nobody is dropped, and the groups are as equal as they can be


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(3, 20), min_size=2, max_size=8), st.integers(2, 5), st.data())
def test_every_plan_of_given_groups_with_costs_and_a_budget_can_work(sizes, n_clusters, data):
    n_groups = len(sizes)
    prices = data.draw(st.lists(st.sampled_from([0.5, 1, 3, np.inf]), min_size=n_groups**2, max_size=n_groups**2))
    upper = np.triu(np.reshape(prices, (n_groups, n_groups)))
    cost = np.maximum(upper, upper.T)
    labels = np.repeat(np.arange(n_groups), sizes).tolist()
    pairs = st.tuples(st.integers(0, sum(sizes) - 1), st.integers(0, sum(sizes) - 1)).filter(lambda p: p[0] != p[1])
    unaskable = data.draw(st.lists(pairs, max_size=12))
    budget = data.draw(st.integers(1, 2 * sum(sizes) ** 2))
    arguments: dict[str, Any] = {"groups": labels, "pattern": "cheapest", "cost": cost, "unaskable": unaskable}
    try:
        plan = plan_queries(n_clusters=n_clusters, **arguments, budget=budget)
    except PlanError as error:
        least = re.findall(r"smallest budget that would do is (\d+)", str(error))
        if not least:
            return
        plan = plan_queries(n_clusters=n_clusters, **arguments, budget=int(least[0]))
        budget = int(least[0])
    assert is_identifiable(plan, n_clusters)
    assert plan_cost(plan, cost) <= budget
    assert not plan.cannot_be_asked(*(np.concatenate(side) for side in zip(*plan.pairs(), strict=True))).any()


@pytest.mark.parametrize(("n_groups", "degree"), [(4, 3), (5, 2), (7, 3), (12, 5), (80, 3), (9, 8), (10, 9)])
def test_spread_is_regular_without_loops(n_groups, degree, rng):
    blocks = spread_blocks(n_groups, degree, rng)
    degrees = np.bincount(np.ravel(blocks), minlength=n_groups)
    assert all(l < m for l, m in blocks)
    assert len(set(blocks)) == len(blocks)
    # An odd number of ends cannot be dealt out evenly: then one group has one block more.
    assert sorted(degrees - degree) == [0] * (n_groups - 1) + [n_groups * degree % 2]


def test_spread_is_shallow_where_the_diagonal_pattern_is_deep():
    """A chain of 80 groups is 79 steps long, a random cubic graph a few."""
    from scipy.sparse.csgraph import shortest_path

    plan = plan_queries(800, 2, n_groups=80, pattern="spread", random_state=1)
    assert shortest_path(plan.asked, unweighted=True).max() <= 10


def test_defaults_ask_about_a_fifth_of_the_pairs():
    for pattern in set(PATTERNS) - {"cheapest"}:
        assert 0.15 < plan_queries(3000, 5, pattern=pattern, random_state=0).share_asked < 0.22


def test_seeds_repeat_and_differ():
    assert plan_queries(300, 3, random_state=7) == plan_queries(300, 3, random_state=7)
    assert plan_queries(300, 3, random_state=7) != plan_queries(300, 3, random_state=8)


def test_given_groups_keep_their_names():
    villages = ["Bole", "Abera", "Chala"] * 20
    plan = plan_queries(n_clusters=3, groups=villages)
    assert plan.group_names == ("Abera", "Bole", "Chala")
    assert [plan.group_name(plan.group_of[i]) for i in range(3)] == ["Bole", "Abera", "Chala"]


def test_also_asks_further_blocks_by_name_or_index():
    villages = ["Abera", "Bole", "Chala"] * 20
    assert plan_queries(n_clusters=3, groups=villages, also=[("Abera", "Chala")]).asked[0, 2]
    assert plan_queries(60, 3, n_groups=3, also=[(0, 2)]).asked[0, 2]
    numbered = plan_queries(n_clusters=3, groups=[1, 2, 10] * 20, also=[("1", "10")])
    assert numbered.group_names == ("1", "2", "10")  # by size, and a text is a name where a number is an index
    assert numbered.asked[0, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_nodes": 100}, "n_clusters is required"),
        ({"n_clusters": 3}, "how many nodes"),
        ({"n_nodes": 100, "n_clusters": 1}, "n_clusters=1 is too small"),
        ({"n_nodes": 100, "n_clusters": 101}, "n_clusters=101 is more than the 100 nodes"),
        ({"n_nodes": 1, "n_clusters": 2}, "n_nodes must be a whole number of at least 2, got 1"),
        ({"n_nodes": 100, "n_clusters": 5, "n_groups": 30}, "use at most 20 groups"),
        ({"n_nodes": 100, "n_clusters": 5, "n_groups": 0}, "n_groups=0 must be a whole number of at least 1"),
        ({"n_nodes": 100, "n_clusters": 5, "pattern": "zigzag"}, "pattern='zigzag' is unknown; choose one of diagonal"),
        ({"n_nodes": 100, "n_clusters": 5, "degree": 3}, "degree=3 belongs to pattern 'spread'"),
        ({"n_nodes": 100, "n_clusters": 5, "n_references": 1}, "belongs to pattern 'reference'"),
        ({"n_nodes": 90, "n_clusters": 3, "pattern": "reference", "n_groups": 3, "n_references": 9}, "n_references=9"),
        ({"n_nodes": 90, "n_clusters": 3, "pattern": "spread", "n_groups": 2}, "at least 3 groups, got 2"),
        ({"n_nodes": 90, "n_clusters": 3, "pattern": "spread", "n_groups": 4, "degree": 4}, "degree=4 must be between"),
        ({"n_nodes": 3, "n_clusters": 2, "names": ["a", "b"]}, "n_nodes says 3, names says 2"),
        ({"n_clusters": 2, "names": ["a"] * 20}, "the name 'a' is given to several nodes"),
        ({"n_clusters": 2, "groups": ["x", "y"] * 10, "n_groups": 3}, "n_groups=3, but groups= names 2"),
        ({"n_clusters": 2, "groups": [1.0, np.nan] * 10}, "node 1 has no group label"),
        ({"n_clusters": 2, "groups": ["a", " "] * 10}, "node 1 has no group label"),
        ({"n_clusters": 2, "groups": ["1", 1] * 10}, "of several types .int, str."),
        ({"n_nodes": 100, "n_clusters": 3, "n_groups": 4, "also": [0, 3]}, "must list pairs of groups"),
        (
            {"n_nodes": 100, "n_clusters": 3, "n_groups": 4, "also": [(0, 9)]},
            "there is no group 9; group indices are 0 … 3",
        ),
    ],
)
def test_wrong_arguments_are_refused_with_the_value(arguments, message):
    with pytest.raises(PlanError, match=message):
        plan_queries(**arguments)
