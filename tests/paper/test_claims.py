"""What the paper says, and what its public code was seen to reach."""

import numpy as np
import pytest

from bequec import BeQuec, plan_queries
from bequec.datasets import load_dogs
from bequec.look import accuracy, mean_squared_error, normalized_mutual_information, subspace_distance
from bequec.simulate import simulate_mixed_memberships


@pytest.mark.parametrize(("n_nodes", "largest_mse"), [(2000, 0.085), (4000, 0.038)])
def test_binary_answers_balanced_clusters(n_nodes, largest_mse):
    """Table III: K = 5, L = 10, η = 0.1, diagonal pattern, ν = 0.2; the mean of 20 trials."""
    errors = []
    for trial in range(20):
        plan = plan_queries(n_nodes, 5, n_groups=10, random_state=1000 + trial)
        answers, truth, _ = simulate_mixed_memberships(plan, 5, random_state=2000 + trial)
        errors.append(mean_squared_error(BeQuec(5, refine=None, random_state=0).fit(answers).memberships_, truth))
    assert np.mean(errors) <= largest_mse


def test_subspace_distance_falls_as_in_the_paper():
    """Table II prints .321, .208 and .141; the public code reaches .433, .261 and .185 for N = 2000, 4000, 8000."""
    distances = []
    for n_nodes in (2000, 4000, 8000):
        plan = plan_queries(n_nodes, 5, n_groups=10, pattern="random", random_state=3)
        answers, truth, _ = simulate_mixed_memberships(plan, 5, random_state=4)
        distances.append(subspace_distance(BeQuec(5, refine=None, random_state=0).fit(answers).basis_, truth))
    assert distances[0] < 0.48
    assert distances[1] < 0.32
    assert distances[2] < 0.22


def test_dogs(dogs_folder):
    """Table V: 99.22 % accuracy, NMI 0.972, from 76,950 answers of which 9.63 % are wrong."""
    dogs = load_dogs(dogs_folder)
    assert dogs.answers.plan.n_pairs == 76_950
    model = BeQuec(5, refine=None, random_state=0).fit(dogs.answers)
    assert accuracy(model.labels_, dogs.labels) >= 0.99
    assert normalized_mutual_information(model.labels_, dogs.labels) >= 0.965
    table = dogs.answers.to_table()
    breed_of = dict(zip(dogs.answers.plan.names or (), dogs.labels, strict=True))
    truth = np.array([breed_of[l] == breed_of[r] for l, r in zip(table.left, table.right, strict=True)])
    assert np.mean(table.label != truth) == pytest.approx(0.0963, abs=5e-5)
