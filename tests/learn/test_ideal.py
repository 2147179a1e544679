"""The ideal case: answers are the probabilities themselves, anchors are planted; recovery must be exact."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bequec import BeQuec, QueryPlan, is_identifiable, match_clusters, plan_queries
from bequec.look import subspace_distance
from bequec.plan.pattern_choice import PATTERNS
from bequec.simulate import draw_interactions, expected_answers


def planted(plan, n_clusters, rng):
    """Memberships with anchors; every group spans all clusters well, as the theory asks."""
    memberships = rng.dirichlet(np.full(n_clusters, 0.5), size=plan.n_nodes)
    memberships[rng.choice(plan.n_nodes, n_clusters, replace=False)] = np.eye(n_clusters)
    return memberships, draw_interactions(n_clusters, 0.3, rng)


def assert_recovers(plan, n_clusters, rng):
    memberships, interactions = planted(plan, n_clusters, rng)
    model = BeQuec(n_clusters, refine=None, random_state=0).fit(expected_answers(plan, memberships, interactions))
    assert subspace_distance(model.basis_, memberships) <= 1e-10
    assert_allclose(match_clusters(model.memberships_, memberships), memberships, atol=1e-6)
    return model, memberships, interactions


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("n_clusters", [2, 5, 8])
def test_every_pattern_recovers_exactly(pattern, n_clusters, rng):
    plan = plan_queries(607, n_clusters, n_groups=7, pattern=pattern, random_state=1)
    assert_recovers(plan, n_clusters, rng)


@settings(deadline=None, max_examples=60)
@given(st.data(), st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_random_identifiable_masks_recover_exactly(data, n_clusters, seed):
    sizes = data.draw(st.lists(st.integers(2 * n_clusters, 5 * n_clusters), min_size=1, max_size=6))
    all_blocks = list(itertools.combinations_with_replacement(range(len(sizes)), 2))
    blocks = data.draw(st.lists(st.sampled_from(all_blocks), min_size=len(sizes), max_size=2 * len(sizes)))
    rng = np.random.default_rng(seed)
    plan = QueryPlan(rng.permutation(np.repeat(np.arange(len(sizes)), sizes)), blocks)
    assume(is_identifiable(plan, n_clusters, diagonal=True))
    assert_recovers(plan, n_clusters, rng)


@pytest.mark.parametrize(
    ("sizes", "blocks", "n_clusters"),
    [
        ([3] * 8, [(l, m) for l in range(8) for m in range(l)], 5),
        ([2] * 12, [(l, m) for l in range(12) for m in range(l) if (l + m) % 5], 4),
        ([30, 30, 3, 2], [(0, 0), (0, 1), (0, 2), (1, 2), (1, 3)], 5),
        ([4, 4, 4, 30], [(0, 3), (1, 3), (2, 3), (3, 3)], 6),
    ],
)
def test_groups_smaller_than_k_recover_exactly(sizes, blocks, n_clusters, rng):
    plan = QueryPlan(rng.permutation(np.repeat(np.arange(len(sizes)), sizes)), blocks)
    assert plan.sizes.min() < n_clusters
    assert_recovers(plan, n_clusters, rng)


def test_interactions_and_anchors_are_recovered(rng):
    plan = plan_queries(300, 4, n_groups=5, random_state=3)
    model, memberships, interactions = assert_recovers(plan, 4, rng)
    order = np.argsort(-memberships.sum(axis=0))
    assert_allclose(model.interactions_, interactions[np.ix_(order, order)], atol=1e-6)
    assert_allclose(memberships[model.anchors_][:, order], np.eye(4), atol=1e-6)
    assert (model.labels_ == memberships[:, order].argmax(axis=1)).all()


def test_an_unobserved_diagonal_costs_little(rng):
    """Imputed in three rounds it is not exact, but far nearer than a diagonal of zeros."""
    plan = plan_queries(400, 3, n_groups=4, random_state=3)
    memberships, interactions = planted(plan, 3, rng)
    model = BeQuec(3, refine=None, random_state=0).fit(
        expected_answers(plan, memberships, interactions, diagonal=False)
    )
    assert subspace_distance(model.basis_, memberships) < 1e-3
    graph = memberships @ interactions @ memberships.T
    np.fill_diagonal(graph, 0.0)
    from bequec import ask_graph

    zeros = BeQuec(3, refine=None, random_state=0).fit(ask_graph(graph, plan, diagonal=True))
    assert subspace_distance(zeros.basis_, memberships) > 10 * subspace_distance(model.basis_, memberships)
