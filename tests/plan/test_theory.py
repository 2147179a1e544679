import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gamma

from bequec import PlanError, QueryPlan, plan_queries
from bequec.plan.theory import (
    corner_chances,
    enough_nodes,
    estimated_concentration,
    sample_size,
    separability_constant,
    simulated_separability,
    theorem_two,
)
from bequec.simulate import draw_interactions

TABLE_I = [([0.5, 0.5, 0.5], 0.0450, 1e-4), ([2.0, 0.5, 0.5], 8.46e-4, 1e-6), ([3.0, 3.0, 3.0], 7.0e-5, 1e-7)]


@pytest.mark.parametrize(("nu", "expected", "tolerance"), TABLE_I)
def test_table_one_of_the_paper(nu, expected, tolerance):
    assert separability_constant(0.1, nu) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("nu", [nu for nu, _, _ in TABLE_I])
def test_the_constant_is_its_formula(nu):
    by_corner = [
        gamma(sum(nu))
        / math.prod(gamma(v) for v in nu)
        * math.prod((0.1 / math.sqrt(2)) ** v / v for i, v in enumerate(nu) if i != k)
        for k in range(3)
    ]
    assert separability_constant(0.1, nu) == pytest.approx(min(by_corner))


def test_the_sample_size_solves_its_equation():
    """K exp(−2 N G²) = μ."""
    G = separability_constant(0.1, [0.5, 0.5, 0.5])
    n_nodes = sample_size(0.1, [0.5, 0.5, 0.5], failure=0.05)
    assert 3 * math.exp(-2 * n_nodes * G**2) <= 0.05 < 3 * math.exp(-2 * (n_nodes - 1) * G**2)


@pytest.mark.parametrize("nu", [[0.5, 0.5, 0.5], [2.0, 0.5, 0.5], [3.0, 3.0, 3.0], [0.2] * 5])
def test_drawn_graphs_of_that_size_are_separable(nu, rng):
    """At least 95 % of them must be, also where hundreds of millions of nodes are asked for."""
    assert simulated_separability(sample_size(0.1, nu, failure=0.05), 0.1, nu, 200, rng) >= 0.95


@pytest.mark.parametrize("nu", [[0.5, 0.5, 0.5], [2.0, 0.5, 0.5], [0.3, 0.7]])
def test_chances_at_the_corners_are_those_of_drawn_nodes(nu, rng):
    drawn = rng.dirichlet(nu, 400_000)
    close = np.array([((drawn - corner) ** 2).sum(axis=1) <= 0.1**2 for corner in np.eye(len(nu))]).mean(axis=1)
    assert_allclose(corner_chances(0.1, nu, rng), close, atol=5 * np.sqrt(close.max() / 400_000), rtol=0.05)


def test_enough_nodes_are_enough_and_one_fewer_is_not(rng):
    chances = corner_chances(0.1, [0.5, 0.5, 0.5], rng)
    n_nodes = enough_nodes(chances, 0.05)
    assert ((1 - chances) ** n_nodes).sum() <= 0.05 < ((1 - chances) ** (n_nodes - 1)).sum()
    assert simulated_separability(n_nodes, 0.1, [0.5, 0.5, 0.5], 400, rng) == pytest.approx(0.95, abs=0.04)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: separability_constant(0.1, [0.5]), r"one entry per cluster, at least 2, got \[0.5\]"),
        (lambda: separability_constant(0.1, [0.5, -1]), "ν must be positive"),
        (lambda: separability_constant(0.9, [0.5, 0.5]), "ε=0.9 must be above 0 and at most 0.7"),
        (lambda: sample_size(0.1, [0.5, 0.5], failure=1.0), "failure=1 must be a probability"),
    ],
)
def test_impossible_parameters_are_refused(call, message):
    with pytest.raises(PlanError, match=message):
        call()


def test_the_quantities_of_theorem_two(rng):
    plan = plan_queries(300, 3, n_groups=4, random_state=0)
    M, B = rng.dirichlet([0.3] * 3, 300), draw_interactions(3, 0.1, rng)
    q = theorem_two(M, B, plan, [0.3] * 3)
    P = M @ B @ M.T
    assert q.rho == pytest.approx(P.max())
    assert q.largest_degree == pytest.approx((P - np.diag(np.diag(P))).sum(axis=1).max())
    assert q.gamma == pytest.approx(max(np.linalg.cond(M[group]) for group in plan.groups))
    assert q.kappa_b == pytest.approx(np.linalg.cond(B))
    assert q.epsilon == pytest.approx(1 / (3 * q.gamma**3))
    bound = (3 * q.gamma**2) ** 2 * q.kappa_b * math.sqrt(q.rho) / (q.sigma_min_b * math.sqrt(75))
    assert q.log10_subspace_bound == pytest.approx(math.log10(bound))
    assert_allclose(estimated_concentration(M), 0.3, rtol=0.25)


def test_each_failing_condition_names_the_side_that_is_short(rng):
    plan = plan_queries(300, 3, n_groups=20, random_state=0)
    M = rng.dirichlet([0.3] * 3, 300)
    q = theorem_two(M, 0.05 * np.eye(3), plan, [0.3] * 3)
    told = {one.name: one.told for one in q.conditions if not one.holds}
    assert told["enough yes answers"].startswith("ρ is too small: 0.05 against L log(N/L) / N = 0.18")
    assert told["nodes for the groups"] == "N is too small: 300 against L² = 400"
    assert "nodes for the chain of stitches" in told
    assert theorem_two(M, np.eye(3), plan_queries(300, 3, n_groups=2, random_state=0)).conditions[2].told == "holds"


def test_sizes_that_do_not_fit_are_refused(rng):
    with pytest.raises(PlanError, match="do not fit together"):
        theorem_two(rng.dirichlet([1] * 3, 5), np.eye(3), QueryPlan([0] * 6, [(0, 0)]))
