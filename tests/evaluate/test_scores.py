import itertools

import numpy as np
import pytest
from scipy.stats import spearmanr

from bequec import ModelError
from bequec.look import (
    accuracy,
    mean_squared_error,
    normalized_mutual_information,
    rank_correlation,
    relative_error,
    score_memberships,
    subspace_distance,
)


@pytest.fixture
def pair(rng):
    truth = rng.dirichlet(np.full(4, 0.4), size=60)
    learned = 0.7 * truth[:, [2, 0, 3, 1]] + 0.3 * rng.dirichlet(np.ones(4), size=60)
    return learned, truth


def best(score, learned, sense):
    return sense(score(learned[:, list(order)]) for order in itertools.permutations(range(4)))


def test_mse_is_the_papers_minimum_over_all_permutations(pair):
    learned, truth = pair

    def mse(candidate):
        unit = candidate / np.linalg.norm(candidate, axis=0) - truth / np.linalg.norm(truth, axis=0)
        return np.mean(np.sum(unit**2, axis=0))

    assert mean_squared_error(learned, truth) == pytest.approx(best(mse, learned, min), abs=1e-12)


def test_re_is_the_papers_minimum_over_all_permutations(pair):
    learned, truth = pair
    expected = best(lambda c: np.linalg.norm(c - truth) / np.linalg.norm(truth), learned, min)
    assert relative_error(learned, truth) == pytest.approx(expected, abs=1e-12)


def test_src_is_the_best_mean_of_spearmans_correlations(pair):
    learned, truth = pair
    expected = best(lambda c: np.mean([spearmanr(c[:, k], truth[:, k])[0] for k in range(4)]), learned, max)
    assert rank_correlation(learned, truth) == pytest.approx(expected, abs=1e-12)


def test_src_of_constant_memberships_is_zero(pair):
    assert rank_correlation(np.full((60, 4), 0.25), pair[1]) == 0


def test_subspace_distance_is_zero_for_any_basis_and_one_for_an_orthogonal_direction(pair, rng):
    _, truth = pair
    assert subspace_distance(truth @ rng.standard_normal((4, 4)), truth) < 1e-12
    outside = truth.copy()
    outside[:, 0] = np.linalg.svd(truth, full_matrices=True)[0][:, 10]
    assert subspace_distance(outside, truth) == pytest.approx(1, abs=1e-12)
    P = np.eye(60) - truth @ np.linalg.inv(truth.T @ truth) @ truth.T
    noisy = truth + 0.1 * rng.standard_normal(truth.shape)
    assert subspace_distance(noisy, truth) == pytest.approx(np.linalg.norm(P @ np.linalg.qr(noisy)[0], 2))


def test_accuracy_is_the_best_one_to_one_matching(rng):
    truth, labels = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    expected = max(np.mean(np.array(order)[labels] == truth) for order in itertools.permutations(range(4)))
    assert accuracy(labels, truth) == pytest.approx(expected)
    assert accuracy(["b", "b", "a", "c"], [1, 1, 2, 2]) == 0.75  # more clusters than classes
    assert normalized_mutual_information([2, 2, 0, 1], ["x", "x", "y", "z"]) == pytest.approx(1)


def test_scores_refuse_what_cannot_be_compared(pair):
    learned, truth = pair
    with pytest.raises(ModelError, match=r"shape \(60, 3\), true ones \(60, 4\)"):
        score_memberships(learned[:, :3], truth)
    with pytest.raises(ModelError, match=r"shape \(3,\), true ones \(2,\)"):
        accuracy([0, 1, 1], [0, 1])
