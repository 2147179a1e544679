import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bequec import PlanError, QueryPlan, is_identifiable, plan_queries
from bequec.plan import extend_plan, plan_cost
from bequec.plan.money.budget import Budget
from bequec.plan.pairs import pair_numbers, pairs_numbered


@settings(deadline=None, max_examples=30)
@given(st.integers(3, 12), st.integers(0, 2**32 - 1), st.lists(st.integers(500, 6000), min_size=1, max_size=3))
def test_earlier_questions_keep_their_numbers_through_every_extension(n_groups, seed, budgets):
    plan = plan_queries(200, 3, n_groups=n_groups, unaskable=[(0, 1), (5, 9)], random_state=seed)
    for budget in budgets:
        if plan.asked.all() or budget < plan.sizes.max() ** 2:
            return  # nothing may be addable: see the refusals below
        extended = extend_plan(plan, 3, budget=budget)
        numbers = np.arange(plan.n_numbers)
        left, right = pairs_numbered(plan, numbers)
        assert (pair_numbers(extended, left, right) == numbers).all()
        assert (extended.blocks[: len(plan.blocks)] == plan.blocks).all()
        assert 0 < extended.n_pairs - plan.n_pairs <= budget
        assert (extended.group_of == plan.group_of).all()
        assert is_identifiable(extended, 3)
        plan = extended


def test_extended_plans_are_saved_with_their_order(tmp_path):
    plan = extend_plan(plan_queries(200, 3, n_groups=6, random_state=0), 3, also=[(0, 5), (0, 3)])
    assert plan.blocks[-2:].tolist() == [[0, 5], [0, 3]]
    plan.save(tmp_path / "plan.json")
    again = QueryPlan.load(tmp_path / "plan.json")
    assert again == plan
    assert again.blocks.tolist() == plan.blocks.tolist()
    assert QueryPlan(plan.group_of, plan.asked) != plan  # other numbers, so another plan


def test_prices_and_forbidden_blocks_hold_for_extensions_too():
    villages = np.repeat([f"v{l}" for l in range(6)], 10)
    cost = np.full((6, 6), 2.0)
    cost[0, 3:] = cost[3:, 0] = np.inf
    plan = plan_queries(n_clusters=3, groups=villages, pattern="cheapest", cost=cost)
    extended = extend_plan(plan, 3, budget=1500, cost=cost)
    assert not extended.asked[0, 3:].any()
    assert 1000 < plan_cost(extended, cost) - plan_cost(plan, cost) <= 1500
    opened = extend_plan(plan, 3, budget=300, cost=cost, also=[("v0", "v5")])
    assert opened.later_blocks[0] == (0, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "say what to add: budget= or also="),
        ({"also": [(0, 1)]}, "nothing can be added"),
        ({"budget": 10}, "nothing can be added: every block .* or costs more than the budget"),
        ({"budget": 10, "also": [(0, 5)]}, r"enough for 10 new pairs, but .* need 1,\d+; the smallest .* is 1\d+"),
        ({"budget": Budget(hours=1, seconds_per_pair=36), "also": [(0, 5)]}, r"would do is 11\.\d+h"),
    ],
)
def test_extensions_that_add_nothing_or_cost_too_much_are_refused(arguments, message):
    with pytest.raises(PlanError, match=message):
        extend_plan(plan_queries(200, 3, n_groups=6, random_state=0), 3, **arguments)
