import itertools
import time

import numpy as np
import pytest

from bequec import PlanError, QueryPlan, is_identifiable, plan_queries
from bequec.plan.eqp import edge_query_order
from bequec.plan.mask.sharing import sharing_graph


def follows_the_principle(plan, order):
    l, m = order.groups, order.columns
    assert sorted(l) == list(range(plan.n_groups))
    assert len(m) == plan.n_groups - 1
    assert all(plan.asked[l[r], m[r]] and plan.asked[l[r + 1], m[r]] for r in range(plan.n_groups - 1))
    return True


@pytest.mark.parametrize("pattern", ["diagonal", "random", "reference", "spread"])
@pytest.mark.parametrize("seed", range(5))
def test_our_own_patterns_have_an_order(pattern, seed):
    plan = plan_queries(300, 3, n_groups=12, pattern=pattern, random_state=seed)
    order = edge_query_order(plan, 3)
    assert order.outcome == "found"
    assert follows_the_principle(plan, order)


def test_large_spread_and_random_plans_are_ordered_in_seconds():
    for pattern in ("random", "spread"):
        plan = plan_queries(3000, 3, n_groups=100, pattern=pattern, random_state=0)
        begin = time.perf_counter()
        order = edge_query_order(plan, 3)
        assert order.outcome in ("found", "not found")
        assert order.outcome == "not found" or follows_the_principle(plan, order)
        assert time.perf_counter() - begin < 60


def test_found_and_none_exists_agree_with_all_permutations(rng):
    n_groups = 6
    blocks = list(itertools.combinations_with_replacement(range(n_groups), 2))
    outcomes = set()
    for _ in range(150):
        chosen = [blocks[at] for at in rng.choice(len(blocks), size=int(rng.integers(4, 9)), replace=False)]
        plan = QueryPlan(np.repeat(np.arange(n_groups), 5), chosen)
        shares = sharing_graph(plan.asked).toarray() > 0
        exists = any(shares[list(p[:-1]), list(p[1:])].all() for p in itertools.permutations(range(n_groups)))
        order = edge_query_order(plan, 3)
        assert order.outcome == ("found" if exists else "none exists")
        assert not exists or follows_the_principle(plan, order)
        outcomes.add((order.outcome, order.why == "every order was tried"))
    assert {("found", False), ("none exists", False)} <= outcomes


def test_five_arms_can_be_learned_but_have_no_order():
    """Five chains of three meet in group 0, the only one that is asked about itself."""
    arms = [(0 if step == 0 else 3 * arm + step, 3 * arm + step + 1) for arm in range(5) for step in range(3)]
    plan = QueryPlan(np.repeat(np.arange(16), 9), [(0, 0), *arms])
    assert is_identifiable(plan, 3)
    order = edge_query_order(plan, 3)
    assert order.outcome == "none exists"
    assert "order" in order.why


def test_giving_up_is_not_called_impossible():
    """Ten groups that all share with a few only: one step is too few to know."""
    plan = plan_queries(400, 3, n_groups=20, pattern="spread", random_state=1)
    assert edge_query_order(plan, 3, most_steps=1).outcome == "not found"
    assert edge_query_order(plan, 3).outcome == "found"
    with pytest.raises(PlanError, match="most_steps=0 must be at least 1"):
        edge_query_order(plan, 3, most_steps=0)


def test_groups_smaller_than_k_break_the_first_condition():
    plan = QueryPlan([0, 0, 1, 1, 1], [(0, 0), (0, 1)], group_names=["A", "B"])
    assert edge_query_order(plan, 3).why == "group A has 2 nodes, fewer than 3 clusters"
