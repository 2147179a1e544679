import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bequec import BeQuec, PlanError, QueryPlan, check_identifiable, is_identifiable, match_clusters, plan_queries
from bequec.plan import plan_cost
from bequec.plan.mask.cheapest import cheapest_spanning_blocks
from bequec.simulate import draw_interactions, expected_answers


def is_independent(blocks, n_groups):
    """A forest, or a forest plus one edge that closes an odd cycle: by painting, and by counting edges."""
    colour: dict[int, int] = {}
    neighbours: dict[int, list[int]] = {l: [] for l in range(n_groups)}
    for l, m in blocks:
        neighbours[l].append(m)
        neighbours[m].append(l)
    n_cycles, odd_components = 0, 0
    for root in range(n_groups):
        if root in colour:
            continue
        colour[root] = 0
        component, queue = {root}, [root]
        while queue:
            l = queue.pop()
            for m in neighbours[l]:
                if m not in colour:
                    colour[m] = 1 - colour[l]
                    component.add(m)
                    queue.append(m)
        inside = [(l, m) for l, m in blocks if l in component]
        n_cycles += len(inside) - (len(component) - 1)
        odd_components += any(colour[l] == colour[m] for l, m in inside)
    return n_cycles == 0 or (n_cycles == 1 and odd_components == 1)


def looped_complete(n_groups):
    return list(itertools.combinations_with_replacement(range(n_groups), 2))


@pytest.mark.parametrize("n_groups", [1, 2, 3, 4])
def test_independent_sets_have_the_exchange_property(n_groups):
    """A smaller independent set can always take a block of a larger one; subsets of independent sets are such."""
    blocks = looped_complete(n_groups)
    independent = {
        frozenset(chosen)
        for size in range(n_groups + 2)
        for chosen in itertools.combinations(blocks, size)
        if is_independent(chosen, n_groups)
    }
    assert max(map(len, independent)) == n_groups
    for large in independent:
        assert all(large - {block} in independent for block in large)
    by_size = {size: [s for s in independent if len(s) == size] for size in range(n_groups + 1)}
    for size in range(n_groups):
        for small, large in itertools.product(by_size[size], by_size[size + 1]):
            assert any(small | {block} in independent for block in large - small)


def test_five_groups_have_the_exchange_property_on_random_pairs(rng):
    """All pairs of independent sets of five groups are too many: a thousand at random."""
    blocks = looped_complete(5)

    def random_independent(size):
        chosen: list[tuple[int, int]] = []
        for at in rng.permutation(len(blocks)):
            if len(chosen) < size and is_independent([*chosen, blocks[at]], 5):
                chosen.append(blocks[at])
        return set(chosen)

    for _ in range(1000):
        size = int(rng.integers(0, 5))
        small, large = random_independent(size), random_independent(size + 1)
        assert any(is_independent([*small, block], 5) for block in large - small)


def test_cheapest_is_the_brute_force_optimum_on_500_random_cost_matrices(rng):
    """Every identifying set of L blocks is tried; forbidden blocks, ties and zero prices are common."""
    for n_groups in (3, 4, 5):
        blocks = looped_complete(n_groups)
        group_of = np.repeat(np.arange(n_groups), 9)
        # Identifiability by the library's check, which is independent of how plans are chosen.
        bases = [
            chosen
            for chosen in itertools.combinations(range(len(blocks)), n_groups)
            if is_independent([blocks[at] for at in chosen], n_groups)
        ]
        for chosen in bases[:: max(1, len(bases) // 50)]:
            assert is_identifiable(QueryPlan(group_of, [blocks[at] for at in chosen]), 2)
        each_basis = np.array(bases)
        for _ in range(167):
            price = rng.choice([0.0, 1.0, 2.0, rng.random(), rng.random(), np.inf], size=len(blocks))
            cost = np.zeros((n_groups, n_groups))
            cost[tuple(zip(*blocks, strict=True))] = price
            cost = np.maximum(cost, cost.T)
            best = price[each_basis].sum(axis=1).min()
            cheapest = cheapest_spanning_blocks(cost)
            assert is_independent(cheapest, n_groups)
            if np.isfinite(best):
                assert len(cheapest) == n_groups
                assert sum(cost[block] for block in cheapest) == pytest.approx(best, abs=1e-12)
            else:
                assert len(cheapest) < n_groups


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(4, 14), min_size=2, max_size=4), st.integers(0, 2**32 - 1))
def test_plans_of_unequal_groups_cost_least(sizes, seed):
    """Cost is price times pairs, and a diagonal block counts only if it completes its diagonal; K = 4."""
    rng = np.random.default_rng(seed)
    n_groups = len(sizes)
    upper = np.triu(rng.choice([1.0, 2.0, 5.0, np.inf], size=(n_groups, n_groups), p=[0.3, 0.3, 0.2, 0.2]))
    cost = np.maximum(upper, upper.T)
    labels = np.repeat(np.arange(n_groups), sizes).tolist()
    blocks = looped_complete(n_groups)
    costs = [
        plan_cost(plan, cost)
        for size in range(1, len(blocks) + 1)
        for chosen in itertools.combinations(blocks, size)
        if np.isfinite([cost[block] for block in chosen]).all()
        and is_identifiable(plan := QueryPlan(labels, chosen), 4)
    ]
    if costs:
        plan = plan_queries(n_clusters=4, groups=labels, pattern="cheapest", cost=cost)
        assert plan_cost(plan, cost) == pytest.approx(min(costs))
    else:
        with pytest.raises(PlanError, match=r"no plan can work|does not help"):
            plan_queries(n_clusters=4, groups=labels, pattern="cheapest", cost=cost)


VILLAGES = np.repeat(["Abera", "Bole", "Chala", "Dire"], 12).tolist()


def test_cheapest_asks_as_many_blocks_as_groups_where_diagonal_asks_nearly_twice_as_many():
    cheapest = plan_queries(n_clusters=3, groups=VILLAGES, pattern="cheapest")
    assert len(cheapest.blocks) == 4
    assert len(plan_queries(n_clusters=3, groups=VILLAGES).blocks) == 7


def test_unreachable_groups_and_the_blocks_to_open_are_named():
    cost = {(a, b): 1.0 for a, b in itertools.combinations_with_replacement(["Abera", "Bole", "Chala"], 2)}
    with pytest.raises(
        PlanError, match=r"groups Dire cannot be reached.*opens the forbidden block \(Abera, Dire\)"
    ) as e:
        plan_queries(n_clusters=3, groups=VILLAGES, pattern="cheapest", cost=cost)
    assert str(e.value).endswith("also=[('Abera', 'Dire')]")
    opened = plan_queries(n_clusters=3, groups=VILLAGES, pattern="cheapest", cost=cost, also=[("Abera", "Dire")])
    assert opened.asked[0, 3]
    assert is_identifiable(opened, 3)
    assert len(opened.blocks) == 4


def test_two_sides_that_never_meet_are_named():
    ring = {("Abera", "Bole"): 1, ("Bole", "Chala"): 1, ("Chala", "Dire"): 1, ("Dire", "Abera"): 1}
    with pytest.raises(PlanError, match=r"between two sides \(Abera, Chala \| Bole, Dire\), never inside one"):
        plan_queries(n_clusters=3, groups=VILLAGES, pattern="cheapest", cost=ring)


def test_what_is_asked_already_is_not_paid_again():
    """The same greedy with asked blocks at cost 0 completes a plan."""
    cost = np.full((4, 4), 9.0)
    plan = plan_queries(n_clusters=3, groups=VILLAGES, pattern="cheapest", cost=cost, also=[("Bole", "Dire"), (2, 2)])
    assert plan.asked[1, 3]
    assert plan.asked[2, 2]
    assert len(plan.blocks) == 4


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 9), min_size=3, max_size=7), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_groups_smaller_than_k_get_a_plan_that_works_or_an_error(sizes, n_clusters, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.choice([1.0, 2.0, 5.0, np.inf], size=(len(sizes),) * 2, p=[0.4, 0.3, 0.2, 0.1]))
    cost = np.maximum(upper, upper.T)
    labels = np.repeat(np.arange(len(sizes)), sizes).tolist()
    if n_clusters > len(labels):
        return
    try:
        plan = plan_queries(n_clusters=n_clusters, groups=labels, pattern="cheapest", cost=cost)
    except PlanError:
        allowed = np.isfinite(cost)
        assert not allowed.any() or not is_identifiable(QueryPlan(labels, allowed), n_clusters)
    else:
        check_identifiable(plan, n_clusters)
        assert np.isfinite(cost[plan.asked]).all()


def test_arrays_tables_and_mappings_of_costs_mean_the_same():
    names = ["Abera", "Bole", "Chala", "Dire"]
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((4, 4)) + 1)
    cost = np.maximum(upper, upper.T)
    cost[0, 3] = cost[3, 0] = np.inf
    as_text = pd.DataFrame(cost, columns=names).map(lambda price: "" if np.isinf(price) else f"{price:.17g}")
    as_text.insert(0, "village", names)
    rows = [(names[l], names[m], cost[l, m]) for l in range(4) for m in range(l, 4) if (l, m) != (0, 3)]
    plans = [
        plan_queries(n_clusters=3, groups=VILLAGES, pattern="cheapest", cost=given)
        for given in (
            cost,
            pd.DataFrame(cost, index=names, columns=names).iloc[::-1],
            as_text,
            pd.DataFrame(rows, columns=["from", "to", "price"]),
            {(l, m): price for l, m, price in rows},
        )
    ]
    assert all(plan == plans[0] for plan in plans)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ones((3, 3)), r"cost has shape \(3, 3\), but there are 4 groups"),
        ([[1, 2, 1, 1], [3, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], "not symmetric: .Abera, Bole. costs 2 and .*3"),
        (np.full((4, 4), np.nan), r"cost\[0, 0\] is NaN"),
        (-np.ones((4, 4)), "costs -1 a pair; it cannot be < 0: give a price of 0 or more, or inf"),
        ({("Abera", "Atlantis"): 1}, "'Atlantis', which is no group of the plan; the groups are Abera"),
        ({("Abera", "Bole"): 1, ("Bole", "Abera"): 2}, "costs 1 in one row and 2 in another"),
        ({"Abera": 1}, "keys are pairs of groups"),
        ({(0, 7): 1}, "group indices are 0 … 3"),
        ([["a"]], "cost must hold numbers"),
        (
            pd.DataFrame([["Abera", 1, 1]] * 2, columns=["", "Abera", "Bole"]),
            "columns name 2 groups, the plan has 4; missing: Chala",
        ),
        (pd.DataFrame({"a": ["Abera"], "b": ["Bole"], "c": ["cheap"]}), "cost 'cheap' is not a number"),
    ],
)
def test_wrong_costs_are_refused_with_the_value(cost, message):
    with pytest.raises(PlanError, match=message):
        plan_queries(n_clusters=3, groups=VILLAGES, pattern="cheapest", cost=cost)


def test_costs_belong_to_the_cheapest_pattern():
    with pytest.raises(PlanError, match="cost belongs to pattern 'cheapest', not to 'diagonal'"):
        plan_queries(n_clusters=3, groups=VILLAGES, cost=np.ones((4, 4)))
    with pytest.raises(PlanError, match="cost names groups; say which node is in which"):
        plan_queries(90, 3, pattern="cheapest", cost={("A", "B"): 1})
    assert plan_queries(90, 3, pattern="cheapest", cost=np.ones((5, 5))).n_groups == 5


@pytest.mark.parametrize("seed", range(4))
def test_cheapest_plans_recover_planted_memberships_exactly(seed):
    """L blocks, no more, with random prices and forbidden blocks; answers are the probabilities themselves."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.choice([1.0, 2.0, 3.0, np.inf], size=(7, 7), p=[0.3, 0.3, 0.2, 0.2]))
    plan = plan_queries(420, 4, pattern="cheapest", cost=np.maximum(upper, upper.T), random_state=seed)
    assert len(plan.blocks) == 7
    memberships = rng.dirichlet([0.5] * 4, plan.n_nodes)
    memberships[rng.choice(plan.n_nodes, 4, replace=False)] = np.eye(4)
    answers = expected_answers(plan, memberships, draw_interactions(4, 0.3, rng))
    learned = BeQuec(4, refine=None, random_state=0).fit(answers).memberships_
    assert_allclose(match_clusters(learned, memberships), memberships, atol=1e-6)
