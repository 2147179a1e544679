import numpy as np
import pytest

from bequec import Answers, BeQuec, PlanError, plan_queries
from bequec.advise.preview import AnswerModel, Expectation, expected_accuracies, preview, thinned
from bequec.evaluate.scores import accuracy
from bequec.plan.pattern_choice import PATTERNS
from bequec.simulate import simulate_people


def test_expected_accuracy_agrees_with_real_runs_of_simulated_people():
    """A hard case, so that there is something to be wrong about: within two standard errors of the difference."""
    plan = plan_queries(160, 3, n_groups=5, random_state=0)
    answer_model = AnswerModel(false_no=0.35, false_yes=0.22, confusion=0.22)
    expected = Expectation("", plan.n_pairs, 0.0, expected_accuracies(plan, 3, answer_model, n_runs=12, random_state=1))
    real = []
    for seed in range(12):
        labels = np.random.default_rng(100 + seed).integers(0, 3, plan.n_nodes)
        people = simulate_people(labels, plan, error_rate=(0.35, 0.22), random_state=seed)
        model = BeQuec(3, refine="subspace", random_state=seed).fit(Answers.from_table(people, plan))
        real.append(accuracy(model.labels_, labels))
    error = np.hypot(expected.standard_error, np.std(real, ddof=1) / np.sqrt(len(real)))
    assert 0.5 < expected.mean < 0.999
    assert abs(expected.mean - np.mean(real)) < 2 * error


def test_a_larger_budget_is_expected_to_buy_more():
    calls: list[tuple[str, int, int]] = []
    by_budget, by_pattern = preview(
        {"n_nodes": 150, "n_clusters": 3, "budget": 2500, "random_state": 0},
        AnswerModel(false_no=0.3, false_yes=0.15, confusion=0.15),
        n_runs=2,
        progress=lambda what, done, total: calls.append((what, done, total)),
    )
    assert [one.name for one in by_budget] == ["0.5 × budget", "1 × budget", "2 × budget"]
    assert by_budget[0].n_pairs < by_budget[1].n_pairs <= 2500 < by_budget[2].n_pairs <= 5000
    assert by_budget[0].mean < by_budget[2].mean
    assert [one.name for one in by_pattern] == list(PATTERNS)
    assert by_pattern[0].accuracies == by_budget[1].accuracies
    assert all(one.n_pairs <= 2500 for one in by_pattern)
    assert len(calls) == 7


def test_what_does_not_fit_says_why():
    villages = np.repeat(["a", "b", "c", "d"], 15)
    by_budget, _ = preview({"groups": villages, "n_clusters": 2, "random_state": 0}, n_runs=2)
    assert by_budget[0].accuracies == ()
    assert np.isnan(by_budget[0].mean)
    assert "smallest budget that would do" in by_budget[0].why_not


def test_large_plans_are_thinned_with_the_same_blocks():
    plan = plan_queries(9000, 4, n_groups=12, unaskable=[(0, 1)], random_state=0)
    fewer = thinned(plan, 4)
    assert (fewer.asked == plan.asked).all()
    assert 2000 <= fewer.n_nodes <= 2012
    assert thinned(fewer, 4).n_nodes in (fewer.n_nodes, 2000)
    small = plan_queries(500, 4, random_state=0)
    assert thinned(small, 4) is small
    with pytest.raises(PlanError, match="800 groups are too many to preview"):
        thinned(plan_queries(16_000, 4, n_groups=800, pattern="spread", random_state=0), 4)


def test_several_answers_a_pair_help():
    plan = plan_queries(120, 3, n_groups=5, random_state=0)
    hard = {"false_no": 0.5, "false_yes": 0.3, "confusion": 0.3}
    one, three = (
        np.mean(expected_accuracies(plan, 3, AnswerModel(**hard, answers_per_pair=n), n_runs=4)) for n in (1, 3)
    )
    assert three > one + 0.05


def test_drawn_memberships_and_answers_follow_the_model(rng):
    answer_model = AnswerModel(balance=4.0, confusion=0.3)
    shares = answer_model.shares(3)
    assert shares[2] / shares[0] == pytest.approx(4)
    assert answer_model.interactions(3)[0, 1] == 0.3
    assert answer_model.interactions(3)[0, 2] == 0.04
    pure = answer_model.memberships(5000, 3, rng)
    assert set(np.unique(pure)) == {0.0, 1.0}
    assert pure.mean(axis=0) == pytest.approx(shares, abs=0.03)
    mixed = AnswerModel(mixing=1.0).memberships(5000, 3, rng)
    assert mixed.max(axis=1).mean() < 0.75


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"false_no": 1.2}, "false_no=1.2 must be a probability"),
        ({"balance": 0.5}, "balance=0.5 must be at least 1"),
        ({"mixing": -1}, "mixing=-1 must be at least 0"),
        ({"answers_per_pair": 0}, "answers_per_pair=0 must be at least 1"),
    ],
)
def test_impossible_answer_models_are_refused(arguments, message):
    with pytest.raises(PlanError, match=message):
        AnswerModel(**arguments)
