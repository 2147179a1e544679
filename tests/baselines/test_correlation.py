from itertools import product

import numpy as np
import pytest

from bequec import Answers, QueryPlan
from bequec.baselines import CorrelationClusters
from bequec.baselines.correlation import best_moves, cluster_signed_pairs, signed_pairs, yes_minus_no_inside
from bequec.simulate import simulate_clusters


def random_answers(rng, n_nodes=9, repeated=True):
    """Answers with unanswered pairs and, if wanted, pairs answered up to three times, on three groups."""
    plan = QueryPlan(np.arange(n_nodes) % 3, [(0, 0), (0, 1), (1, 2), (2, 2)])
    asked = plan.asked[np.ix_(plan.group_of, plan.group_of)] & ~np.eye(n_nodes, dtype=bool)
    total = np.triu(rng.integers(0, 4 if repeated else 2, (n_nodes, n_nodes)) * asked, k=1)
    yes = rng.binomial(total, 0.5)
    return Answers.from_counts(plan, yes + yes.T, total + total.T), yes + yes.T, total + total.T


def yes_minus_no(yes, total, labels):
    same = np.asarray(labels)[:, None] == np.asarray(labels)
    return float(((2 * yes - total) * same).sum() / 2)


@pytest.mark.parametrize("seed", range(6))
def test_the_objective_is_yes_minus_no_answers_inside_clusters(seed):
    rng = np.random.default_rng(seed)
    answers, yes, total = random_answers(rng, repeated=bool(seed % 2))
    labels = rng.integers(3, size=9)
    ordered = labels[answers.plan.order]
    assert yes_minus_no_inside(signed_pairs(answers), ordered) == pytest.approx(yes_minus_no(yes, total, labels))


@pytest.mark.parametrize("seed", range(6))
def test_small_problems_are_solved_to_their_optimum(seed):
    answers, yes, total = random_answers(np.random.default_rng(seed))
    optimum = max(yes_minus_no(yes, total, labels) for labels in product(range(3), repeat=9))
    model = CorrelationClusters(3, n_init=20, random_state=0).fit(answers)
    assert yes_minus_no(yes, total, model.labels_) == pytest.approx(optimum)
    n_agree = optimum + (total - yes).sum() / 2
    assert model.agreement_ == pytest.approx(n_agree / (total.sum() / 2))


def test_no_single_move_gains_at_the_end(rng):
    plan = QueryPlan(np.arange(120) // 30, [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (1, 2), (2, 3)])
    answers, _, _ = simulate_clusters(plan, 4, between=0.45, random_state=1)
    pairs = signed_pairs(answers)
    labels = cluster_signed_pairs(pairs, 4, rng)
    value = yes_minus_no_inside(pairs, labels)
    for node, there in product(range(0, 120, 7), range(4)):
        moved = labels.copy()
        moved[node] = there
        assert yes_minus_no_inside(pairs, moved) <= value + 1e-9
    assert (best_moves(pairs, labels, 4, rng) == labels).all()


def test_clusters_are_followed_along_a_chain_of_many_groups():
    """Local moves alone would leave a cluster with one label at one end of the chain and another at the other."""
    groups = 12
    plan = QueryPlan(np.arange(240) // 20, [(l, l) for l in range(groups)] + [(l, l + 1) for l in range(groups - 1)])
    answers, truth, _ = simulate_clusters(plan, 3, between=0.2, random_state=5)
    model = CorrelationClusters(3, n_init=3, random_state=0).fit(answers)
    best = truth.argmax(axis=1)
    assert len(set(zip(best.tolist(), model.labels_.tolist(), strict=True))) == 3


def test_clusters_that_nobody_needs_stay_empty():
    model = CorrelationClusters(4, random_state=0).fit(np.kron(np.eye(2), np.ones((6, 6))))
    assert np.bincount(model.labels_, minlength=4).tolist() == [6, 6, 0, 0]
