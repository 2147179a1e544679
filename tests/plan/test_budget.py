import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from bequec import PlanError, is_identifiable, plan_queries
from bequec.advise.preview import AnswerModel, expected_accuracies
from bequec.plan import Budget, plan_cost
from bequec.plan.groups import pairs_in_blocks
from bequec.plan.mask.helpful_blocks import expected_error, helpful_blocks
from bequec.plan.pattern_choice import PATTERNS


def test_the_cost_sheet_reproduces_the_papers_dollars():
    """The paper paid $81.60 for 76,950 pairs, and says that all pairs would have cost $429."""
    plan = plan_queries(900, 5, n_groups=15, random_state=0)
    budget = Budget(money=81.60, pay_per_answer=81.60 / 76_950)
    assert budget.affordable_pairs == plan.n_pairs == 76_950
    assert budget.sheet(plan.n_pairs).money == pytest.approx(81.60)
    assert round(budget.sheet(900 * 899 // 2).money or 0, 1) == 429.0
    assert plan_queries(900, 5, budget=budget, random_state=0) == plan


def test_hours_pay_fee_and_answers_per_pair_all_count():
    budget = Budget(money=300.0, seconds_per_pair=9, hourly_pay=12.0, platform_fee=0.25, answers_per_pair=2)
    # 9 s at 12 an hour is 0.03; with the fee 0.0375; two answers 0.075.
    assert budget.affordable_pairs == 4000
    sheet = budget.sheet(4000)
    assert (sheet.pairs, sheet.answers) == (4000, 8000)
    assert sheet.hours == pytest.approx(20.0)
    assert sheet.money == pytest.approx(300.0)
    assert budget.times(0.5).affordable_pairs == 2000
    assert Budget(hours=20, seconds_per_pair=9, answers_per_pair=2).affordable_pairs == 4000
    assert Budget(hours=20, seconds_per_pair=9).sheet(1).money is None


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("80000", 80_000),
        ("80_000 pairs", 80_000),
        ("80,000", 80_000),
        ("40h", 14_400),
        ("5d", 14_400),
        ("$96", 19_200),
        ("96.00usd", 19_200),
    ],
)
def test_budgets_are_read_as_people_write_them(text, pairs):
    assert Budget.parse(text, seconds_per_pair=10, hourly_pay=1.8).affordable_pairs == pairs


def test_a_day_has_the_hours_that_are_said():
    assert Budget.parse("5d", seconds_per_pair=60, hours_per_day=6) == Budget(hours=30, seconds_per_pair=60)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lots", "budget 'lots' cannot be read; write pairs"),
        ("40 weeks", "cannot be read"),
        ("$40h", "cannot be read"),
        ("1.2.3", "write the number with a point"),
        ("0", "pairs=0 must be a number above 0"),
        ("40h", "a budget in hours needs seconds_per_pair"),
        ("$40", "a budget in money needs to know what an answer is paid"),
    ],
)
def test_unreadable_budgets_are_refused(text, message):
    with pytest.raises(PlanError, match=message):
        Budget.parse(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "one of pairs, hours or money, got none"),
        ({"pairs": 5, "hours": 2}, "got pairs and hours"),
        ({"pairs": -5}, "pairs=-5 must be a number above 0"),
        ({"pairs": float("nan")}, "pairs=nan must be"),
        ({"pairs": 5, "answers_per_pair": 0}, "answers_per_pair=0 must be"),
        ({"pairs": 5, "platform_fee": -1}, "platform_fee=-1 must be a share"),
        ({"money": 5, "hourly_pay": 1, "pay_per_answer": 1}, "hourly_pay or pay_per_answer, not both"),
    ],
)
def test_contradictory_budgets_are_refused(arguments, message):
    with pytest.raises(PlanError, match=message):
        Budget(**arguments)


def test_a_budget_that_is_no_number_is_refused():
    with pytest.raises(PlanError, match="budget='5d' must be a number of pairs or a Budget"):
        plan_queries(100, 3, budget="5d")  # type: ignore[arg-type]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_larger_budget_buys_more_pairs_and_nearly_all_of_it_is_spent(pattern):
    spent = []
    for budget in (20_000, 40_000, 80_000):
        plan = plan_queries(600, 4, pattern=pattern, budget=budget, random_state=0)
        assert is_identifiable(plan, 4)
        assert plan.n_pairs <= budget
        # What is left does not pay another block.
        assert budget - plan.n_pairs < np.square(plan.sizes.max())
        spent.append(plan.n_pairs)
    assert spent == sorted(spent)


def test_the_fewest_groups_of_the_pattern_are_taken():
    plan = plan_queries(900, 5, budget=76_950, random_state=0)
    assert plan.n_groups == 15
    assert plan_queries(900, 5, budget=76_949, random_state=0).n_groups == 16


def test_given_groups_that_do_not_fit_say_what_would():
    villages = np.repeat([f"v{l}" for l in range(10)], 20)
    with pytest.raises(PlanError, match=r"needs 5,500 pairs; .* would do is 5500, or 3790 with pattern='cheapest'"):
        plan_queries(n_clusters=3, groups=villages, budget=1000)
    with pytest.raises(PlanError, match=r"no cheaper plan can work: the smallest budget that would do is 3790"):
        plan_queries(n_clusters=3, groups=villages, pattern="cheapest", budget=1000)
    hours = Budget(hours=10, seconds_per_pair=36)
    with pytest.raises(PlanError, match=r"would do is 55h, or 37\.9h with"):
        plan_queries(n_clusters=3, groups=villages, budget=hours)


def test_prices_count_against_the_budget():
    """A pair of price 2.5 costs as much as two and a half ordinary pairs."""
    villages = np.repeat([f"v{l}" for l in range(6)], 20)
    cost = np.full((6, 6), 2.5)
    assert plan_cost(plan_queries(n_clusters=3, groups=villages, pattern="cheapest", cost=cost), cost) == 2.5 * 2190
    richer = plan_queries(n_clusters=3, groups=villages, pattern="cheapest", cost=cost, budget=7000)
    assert 6000 < plan_cost(richer, cost) <= 7000


def test_extra_blocks_make_a_chain_shallower_and_its_ends_better_off():
    """A chain of 20 groups is 19 steps long; ten more blocks go where they shorten it, not at random."""
    sizes = np.full(20, 10)
    asked = np.eye(20, k=1, dtype=bool) | np.eye(20, k=-1, dtype=bool)
    asked[0, 0] = True
    pairs = pairs_in_blocks(sizes)
    chosen = helpful_blocks(pairs * asked, pairs * asked, pairs * ~asked, pairs, sizes, allowance=1000.0, n_clusters=3)
    assert len(chosen) >= 10

    def extended(blocks):
        more = asked.copy()
        for l, m in blocks:
            more[l, m] = more[m, l] = True
        return more

    better = extended(chosen)
    assert shortest_path(better, unweighted=True).max() <= 8
    assert pairs[tuple(np.array(chosen).T)].sum() <= 1000
    assert better.sum(axis=1).min() >= 2
    rng = np.random.default_rng(0)
    candidates = [(l, m) for l in range(20) for m in range(l + 1, 20) if not asked[l, m]]
    for _ in range(20):
        at_random = extended([candidates[at] for at in rng.choice(len(candidates), 10, replace=False)])
        assert expected_error(better, sizes, pairs, 3) < expected_error(at_random, sizes, pairs, 3)


def test_the_first_extra_block_is_the_best_single_one_by_brute_force():
    rng = np.random.default_rng(3)
    sizes = rng.integers(5, 15, size=7)
    asked = np.eye(7, k=1, dtype=bool) | np.eye(7, k=-1, dtype=bool)
    asked[0, 0] = True
    pairs = pairs_in_blocks(sizes)

    def after(block):
        more = asked.copy()
        more[block] = more[block[::-1]] = True
        return expected_error(more, sizes, pairs, 3)

    cost = np.ones((7, 7))
    candidates = [(l, m) for l in range(7) for m in range(l, 7) if not asked[l, m]]
    chosen = helpful_blocks(pairs * asked, pairs * asked, pairs * ~asked, cost, sizes, 1.0, 3)
    assert chosen == [min(candidates, key=after)]


def test_what_is_left_of_the_budget_buys_accuracy():
    """Half as much again to spend: at most half as many items in the wrong cluster.

    People err so often that the chain alone gets one in twenty-five wrong; with fewer errors there is nothing to gain.
    """
    groups = np.repeat(np.arange(10), 24)
    cost = np.where(np.abs(np.subtract.outer(np.arange(10), np.arange(10))) <= 1, 1.0, 1.2)  # the cheapest is a chain
    chain = plan_queries(n_clusters=3, groups=groups, pattern="cheapest", cost=cost)
    richer = plan_queries(
        n_clusters=3, groups=groups, pattern="cheapest", cost=cost, budget=1.5 * plan_cost(chain, cost)
    )
    answer_model = AnswerModel(false_no=0.35, false_yes=0.22, confusion=0.22)
    before, after = (
        1 - np.mean(expected_accuracies(plan, 3, answer_model, n_runs=6, random_state=1)) for plan in (chain, richer)
    )
    assert before > 0.02
    assert after < before / 2
