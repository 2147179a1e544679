import numpy as np
import pytest
from numpy.testing import assert_allclose

from bequec import Answers, BequecError, QueryPlan, plan_queries
from bequec.simulate import (
    draw_answers,
    draw_interactions,
    expected_answers,
    simulate_clusters,
    simulate_mixed_memberships,
    simulate_people,
)


@pytest.mark.parametrize("largest", [0.09, 0.5])  # below 0.1 edges are drawn by thinning, above pair by pair
def test_answers_have_the_planted_probability_pair_by_pair(rng, largest):
    plan = QueryPlan(np.arange(24) // 8, [(0, 0), (0, 1), (1, 2)])
    memberships = rng.dirichlet(np.full(3, 0.5), size=24)
    interactions = draw_interactions(3, 0.3, rng)
    interactions *= largest / interactions.max()
    n_draws = 4000
    mean = sum(draw_answers(plan, memberships, interactions, rng).yes for _ in range(n_draws)) / n_draws
    expected = expected_answers(plan, memberships, interactions, diagonal=False).yes.toarray()
    spread = np.sqrt(expected * (1 - expected) / n_draws)
    z = (mean.toarray() - expected)[expected > 0] / spread[expected > 0]
    assert np.abs(z).max() < 5
    assert np.std(z) == pytest.approx(1, abs=0.25)
    assert not mean.toarray()[expected == 0].any()


def test_interactions_are_the_papers(rng):
    drawn = np.array([draw_interactions(5, 0.1, rng) for _ in range(200)])
    assert (drawn == drawn.transpose(0, 2, 1)).all()
    inside = drawn[:, np.arange(5), np.arange(5)]
    between = drawn[:, ~np.eye(5, dtype=bool)]
    assert inside.min() >= 0.8
    assert inside.max() <= 1
    assert between.max() <= 0.1
    assert inside.mean() == pytest.approx(0.9, abs=0.01)
    assert between.mean() == pytest.approx(0.05, abs=0.005)


def test_concentration_and_anchors(rng):
    plan = plan_queries(3000, 3, n_groups=5, random_state=0)
    pure = simulate_mixed_memberships(plan, 3, concentration=0.01, random_state=0).memberships
    mixed = simulate_mixed_memberships(plan, 3, concentration=[5, 5, 20], random_state=0).memberships
    assert pure.max(axis=1).mean() > 0.97
    assert_allclose(mixed.mean(axis=0), [1 / 6, 1 / 6, 2 / 3], atol=0.02)
    anchored = simulate_mixed_memberships(plan, 3, concentration=5, anchors=True, random_state=0).memberships
    assert sorted(anchored[anchored.max(axis=1) == 1].argmax(axis=1)) == [0, 1, 2]


def test_average_degree_counts_yes_answers_per_node():
    plan = plan_queries(20_000, 4, n_groups=20, random_state=0)
    for simulate in (simulate_mixed_memberships, simulate_clusters):
        answers = simulate(plan, 4, average_degree=12, random_state=0).answers
        assert answers.yes.nnz / 20_000 == pytest.approx(12, rel=0.03)
    with pytest.raises(BequecError, match="average_degree=100000 would need a probability of"):
        simulate_clusters(plan, 4, average_degree=100_000, random_state=0)


def test_seeds_repeat():
    plan = plan_queries(100, 2, n_groups=3, random_state=0)
    first, second = (simulate_mixed_memberships(plan, 2, random_state=4).answers.yes for _ in range(2))
    assert (first != second).nnz == 0


def test_people_err_at_the_given_rates():
    plan = plan_queries(400, 3, n_groups=4, random_state=0)
    labels = np.arange(400) % 3
    table = simulate_people(labels, plan, error_rate=(0.3, 0.05), unsure_rate=0.1, random_state=0)
    assert len(table) == plan.n_pairs
    sure = table[table.label != "unsure"]
    assert 1 - len(sure) / len(table) == pytest.approx(0.1, abs=0.01)
    truth = labels[sure.left.to_numpy(dtype=int)] == labels[sure.right.to_numpy(dtype=int)]
    said_same = (sure.label == "same").to_numpy()
    assert (~said_same[truth]).mean() == pytest.approx(0.3, abs=0.01)
    assert said_same[~truth].mean() == pytest.approx(0.05, abs=0.01)
    assert (table.groupby("worker").size() <= 120).all()
    with pytest.raises(BequecError, match=r"error_rate=1\.5 must be a probability"):
        simulate_people(labels, plan, error_rate=1.5)


def test_several_opinions_are_counted_per_pair():
    plan = plan_queries(60, 2, n_groups=2, random_state=0)
    same = lambda rows, columns: (rows < 30) == (columns < 30)  # noqa: E731
    answers = Answers.from_table(simulate_people(same, plan, error_rate=0, opinions=3, random_state=0), plan)
    assert answers.n_answers == 3 * plan.n_pairs
    assert set(answers.to_table().label) == {0.0, 1.0}
