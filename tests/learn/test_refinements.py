"""Subspace and posterior: identities of their kernels, and what they promise over Algorithm 1."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import dirichlet
from sklearn.exceptions import ConvergenceWarning

from bequec import Answers, BeQuec, ModelError, QueryPlan, ask_graph, match_clusters, plan_queries
from bequec.learn.linalg.symmetric import full, inner_weights, outer_triangles, triangles
from bequec.learn.pair_blocks import PairBlocks, yes_product
from bequec.learn.posterior.atoms import Atoms
from bequec.learn.posterior.cavity import Belief, log_predictive, node_potentials, pair_sums, update_interactions
from bequec.learn.posterior.dirichlet import fit_concentration
from bequec.learn.posterior.iterations import extrapolate, first_belief, iterate
from bequec.learn.posterior.local_atoms import LocalAtoms
from bequec.learn.posterior.node_posteriors import NodePosteriors
from bequec.learn.posterior.refinement import random_corners
from bequec.learn.posterior.shared_atoms import SharedAtoms
from bequec.learn.posterior.split_merge import cluster_structure, propose_moves, split
from bequec.learn.posterior.swaps import propose_swaps, sides_of_cuts, swap_gain, swap_names
from bequec.learn.posterior.tilted_gamma import TiltedGamma
from bequec.learn.stitch.wide_stitching import tree_ties
from bequec.learn.stitch.windows import rough_window_svd, window_svd
from bequec.learn.subspace.refinement import (
    alternate_rows,
    least_squares_rows,
    symmetric_core,
    symmetric_points,
    weighted_sums,
)
from bequec.look import accuracy, mean_squared_error, subspace_distance
from bequec.simulate import (
    draw_answers,
    draw_interactions,
    expected_answers,
    simulate_clusters,
    simulate_mixed_memberships,
)


@pytest.fixture
def small(rng):
    """Answers to a small plan, part of them missing and part repeated, with a belief about them."""
    plan = plan_queries(45, 3, n_groups=3, random_state=1)
    memberships = rng.dirichlet(np.full(3, 0.5), size=45)
    interactions = draw_interactions(3, 0.3, rng)
    asked = plan.asked[np.ix_(plan.group_of, plan.group_of)]
    total = np.triu(asked * rng.integers(0, 3, (45, 45)), k=1)
    yes = rng.binomial(total, np.clip(memberships @ interactions @ memberships.T, 0, 1))
    answers = Answers.from_counts(plan, (yes + yes.T).astype(float), (total + total.T).astype(float))
    root = 0.05 * rng.standard_normal((45, 3, 3))
    belief = Belief(memberships[plan.order], root @ root.transpose(0, 2, 1), interactions, np.full(3, 0.5))
    A, W = ((x + x.T)[np.ix_(plan.order, plan.order)].astype(float) for x in (yes, total))
    return answers, belief, A, W


def dense_terms(belief, A, W):
    """p, w, s and r of every ordered pair, from their definitions."""
    M, C, B, _ = belief
    p = np.clip(M @ B @ M.T, 0.002, 0.998)
    w = W / (p * (1 - p))
    s = (A - W * p) / (p * (1 - p))
    Z = M @ B
    spread = np.einsum("ja,iab,jb->ij", Z, C, Z)
    r = 1 + np.clip(w * (spread + spread.T), 0, 1)
    return p, w, s, r, Z


def test_triangles_keep_everything(rng):
    matrices = rng.standard_normal((5, 4, 4))
    matrices = matrices + matrices.transpose(0, 2, 1)
    assert_allclose(full(triangles(matrices), 4), matrices)
    vectors = rng.standard_normal((5, 4))
    inner = (triangles(matrices) * outer_triangles(vectors)) @ inner_weights(4)
    assert_allclose(inner, np.einsum("na,nab,nb->n", vectors, matrices, vectors))


def test_potentials_are_the_sums_over_pairs(small):
    answers, belief, A, W = small
    _, w, s, _, Z = dense_terms(belief, A, W)
    M, C, B, _ = belief
    H = np.einsum("ij,ja,jb->iab", w, Z, Z)
    D = np.einsum("ij,ab,jbc,cd->iad", w, B, C, B)
    b = s @ Z + np.einsum("iab,ib->ia", H - D, M)
    found_b, found_H = node_potentials(belief, pair_sums(PairBlocks.of(answers), belief))
    assert_allclose(found_H, H, rtol=2e-4, atol=1e-3)
    assert_allclose(found_b, b, rtol=2e-4, atol=5e-3)


def test_interaction_step_is_a_quarter_of_a_newton_step(small):
    answers, belief, A, W = small
    _, w, s, r, _ = dense_terms(belief, A, W)
    M, C, B, _ = belief
    H = np.einsum("ij,ia,ic,jb,jd->abcd", w, M, M, M, M).reshape(9, 9)
    echo = np.einsum("iab,bc,icd->ad", C, B, np.einsum("ij,jc,jd->icd", w, M, M))
    step = np.linalg.solve(H, (M.T @ (s * r) @ M - echo - echo.T).ravel()).reshape(3, 3)
    expected = np.clip(B + 0.25 * np.clip((step + step.T) / 2, -0.3, 0.3), 0.004, 0.996)
    assert_allclose(update_interactions(belief, pair_sums(PairBlocks.of(answers), belief)), expected, atol=2e-4)


def test_log_predictive_counts_every_pair_once(small):
    answers, belief, A, W = small
    p, _, _, r, _ = dense_terms(belief, A, W)
    a = np.divide(A, W, out=np.zeros_like(A), where=W > 0)
    cavity = np.clip(a - (a - p) * r, 0.002, 0.998)
    expected = np.triu(W * (a * np.log(cavity) + (1 - a) * np.log(1 - cavity)), k=1).sum()
    assert log_predictive(PairBlocks.of(answers), belief).sum() == pytest.approx(expected, rel=1e-5)


def belief_about(memberships, covariances, concentration):
    K = len(concentration)
    return Belief(np.asarray(memberships), np.asarray(covariances), np.eye(K), concentration)


def one_node(b, H, mean, concentration, covariance=0.0):
    K = len(concentration)
    rows = (b, H, concentration, mean, np.broadcast_to(covariance, (K, K)))
    return NodePosteriors(*(np.array(row, dtype=float)[None] for row in rows))


def test_atoms_have_the_moments_of_the_dirichlet(rng):
    concentration = np.array([0.15, 0.6, 2.0])
    atoms = SharedAtoms.draw(concentration, rng, 8192)
    nothing, flat = (np.zeros(3), np.zeros((3, 3))), np.full(3, 1 / 3)
    moments = atoms.moments(one_node(*nothing, flat, concentration))
    assert_allclose(moments.mean[0], dirichlet.mean(concentration), atol=2e-3)
    assert_allclose(moments.covariance[0], dirichlet.cov(concentration), atol=2e-3)
    # The mean of log x is what the prior is learned from: it must give the concentration back.
    assert_allclose(fit_concentration(moments.mean_log[0], np.full(3, 0.4)), concentration, rtol=0.02)
    moved = np.array([0.17, 0.55, 2.1])
    reweighted = atoms.moments(one_node(*nothing, flat, moved))
    assert_allclose(reweighted.mean[0], dirichlet.mean(moved), atol=4e-3)
    assert moments.n_effective[0] == pytest.approx(8192)
    assert 4000 < reweighted.n_effective[0] < 8192


@pytest.mark.parametrize("kind", [SharedAtoms, LocalAtoms])
def test_posterior_on_the_simplex_agrees_with_a_fine_grid(kind, rng):
    """K = 2 with ν = (1, 1): the posterior is a Gaussian in x_1, cut off at 0 and 1."""
    concentration = np.ones(2)
    b, H = np.array([9.0, 4.0]), np.array([[20.0, 3.0], [3.0, 12.0]])
    grid = np.linspace(0, 1, 200_001)
    x = np.column_stack([grid, 1 - grid])
    weight = np.exp(x @ b - 0.5 * np.einsum("na,ab,nb->n", x, H, x))
    mean = (weight[:, None] * x).sum(axis=0) / weight.sum()
    node = one_node(b, H, np.full(2, 0.5), concentration, 0.05 * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    moments = kind.draw(concentration, rng, 8192).moments(node)
    assert_allclose(moments.mean[0], mean, atol=1e-3)
    assert moments.covariance[0, 0, 0] == pytest.approx((weight * (grid - mean[0]) ** 2).sum() / weight.sum(), rel=0.01)
    inside = slice(1, -1)  # log 0
    mean_log = (weight[inside, None] * np.log(x[inside])).sum(axis=0) / weight.sum()
    assert_allclose(moments.mean_log[0], mean_log, rtol=0.01)


@pytest.mark.parametrize(("K", "precision"), [(4, 900.0), (12, 900.0), (4, 90.0)])
def test_local_atoms_agree_with_many_shared_ones_and_need_far_fewer(K, precision, rng):
    """A node clearly in two clusters and perhaps in a third, seen with correlated errors."""
    concentration = np.full(K, 0.3)
    root = np.eye(K) + 0.3 * rng.standard_normal((K, K))
    H = precision * (root @ root.T) / K
    truth = np.zeros(K)
    truth[:3] = 0.6, 0.35, 0.05
    node = one_node(H @ truth, H, truth * 0.9 + 0.1 / K, concentration)
    local = LocalAtoms.draw(concentration, rng, 512)
    for _ in range(6):  # each look at the posterior says better where to draw
        moments = local.moments(node)
        node = node._replace(mean=moments.mean, covariance=moments.covariance)
    exact = LocalAtoms.draw(concentration, rng, 2**16).moments(node)
    spread = np.sqrt(np.trace(exact.covariance[0]))
    assert np.linalg.norm(moments.mean - exact.mean) < 0.25 * spread
    assert moments.n_effective[0] > 30
    if K == 4:
        shared = SharedAtoms.draw(concentration, rng, 2**17).moments(node)
        assert np.linalg.norm(shared.mean - exact.mean) < 0.1 * spread
        assert_allclose(shared.covariance, exact.covariance, atol=0.1 * spread**2)
        assert moments.n_effective[0] / 512 > (4 if precision > 100 else 1) * shared.n_effective[0] / 2**17


def test_atoms_are_chosen_by_need(rng):
    """A node about which nothing is known rests on the shared atoms, one that is well known on its own."""
    concentration = np.full(3, 0.5)
    truth = np.array([[0.3, 0.3, 0.4], [0.5, 0.3, 0.2]])
    H = np.stack([np.zeros((3, 3)), 2000 * np.eye(3)])
    covariances = np.stack([np.zeros((3, 3)), (np.eye(3) - 1 / 3) / 2000])
    nodes = NodePosteriors(np.einsum("nab,nb->na", H, truth), H, np.tile(concentration, (2, 1)), truth, covariances)
    atoms = Atoms.draw(concentration, rng, 128, 64)
    moments = atoms.moments(nodes)
    assert atoms.local is not None
    assert_allclose(moments.mean[0], atoms.shared.moments(nodes).mean[0])
    assert_allclose(moments.mean[1], atoms.local.moments(nodes.take([1])).mean[0])
    assert moments.n_effective[1] > 20
    assert atoms.suit(1.05 * concentration)
    assert not atoms.suit(1.2 * concentration)


def test_many_clusters_are_handled_on_faces(rng):
    """Nodes in two to four of sixteen clusters, seen as noisily as real ones: as with very many atoms everywhere."""
    N, K = 64, 16
    concentration = np.full(K, 0.15)
    truth = rng.dirichlet(concentration, N)
    root = np.eye(K) + 0.2 * rng.standard_normal((N, K, K))
    H = 300.0 * root @ root.transpose(0, 2, 1)
    noise = np.einsum("nab,nb->na", root, rng.standard_normal((N, K))) * np.sqrt(300.0)
    b = np.einsum("nab,nb->na", H, truth) + noise
    nodes = NodePosteriors(b, H, np.tile(concentration, (N, 1)), 0.9 * truth + 0.1 / K, np.zeros((N, K, K)))
    atoms, many = Atoms.draw(concentration, rng, 256, 256), LocalAtoms.draw(concentration, rng, 2**13)
    for _ in range(6):
        moments = atoms.moments(nodes)
        nodes = nodes._replace(mean=moments.mean, covariance=moments.covariance)
    exact = many.moments(nodes)
    exact = many.moments(nodes._replace(mean=exact.mean, covariance=exact.covariance))
    assert_allclose(moments.mean.sum(axis=1), 1, rtol=1e-6)
    spread = np.sqrt(np.trace(exact.covariance, axis1=1, axis2=2).mean())
    assert np.sqrt(((moments.mean - exact.mean) ** 2).sum(axis=1).mean()) < 0.35 * spread
    # The prior is learned from the mean of log x: a bias of the many small memberships would shrink it without end.
    learned, expected = (fit_concentration(found.mean_log.mean(axis=0), concentration) for found in (moments, exact))
    assert_allclose(learned.mean(), expected.mean(), rtol=0.1)


@pytest.mark.parametrize("shape", [0.05, 0.3, 1.0])
@pytest.mark.parametrize(("slope", "curvature"), [(0.0, 300.0), (20.0, 250.0), (-60.0, 300.0), (500.0, 100.0)])
def test_a_tilted_gamma_has_the_moments_that_integration_finds(shape, slope, curvature):
    log_x = np.linspace(-30 / shape, np.log(1.5), 1_000_001)
    x = np.exp(log_x)
    exponent = shape * log_x - slope * x - curvature * x**2 / 2
    weight = np.exp(exponent - exponent.max())
    expected = [(weight * values).sum() / weight.sum() for values in (x, x**2, log_x)]
    assert_allclose(TiltedGamma.tabulate(shape).moments(np.array(slope), np.array(curvature)), expected, rtol=0.02)


def test_extrapolation_finds_the_limit_of_a_geometric_sequence(rng):
    limit, off = np.full((2, 2), 0.5), 0.1 * rng.standard_normal((2, 2))
    beliefs = [
        belief_about(np.ones((1, 2)) / 2, np.zeros((1, 2, 2)), np.exp(-1 + 0.3 * 0.8**n * np.ones(2)))._replace(
            interactions=limit + 0.8**n * off
        )
        for n in range(3)
    ]
    found, jump = extrapolate(*beliefs)
    assert_allclose(found.interactions, limit, atol=1e-12)
    assert_allclose(found.concentration, np.exp(-1))
    assert jump == pytest.approx(0.8 * np.sqrt(np.mean(off**2)))


def test_least_squares_rows_solve_each_rows_own_system(small, rng):
    answers, _, A, W = small
    Q = np.linalg.qr(rng.standard_normal((45, 3)))[0]
    rows = least_squares_rows(answers, answers.yes @ Q, Q, np.zeros(45))
    own = np.diag(answers.baseline * np.repeat(answers.plan.asked.diagonal(), answers.plan.sizes)).astype(float)
    for i in range(45):
        H = (Q * (W + own)[i][:, None]).T @ Q
        H += 1e-3 * np.trace(H) / 3 * np.eye(3)
        assert_allclose(rows[i], np.linalg.solve(H, Q.T @ A[i]), atol=1e-8)


@pytest.mark.parametrize("diagonal", [False, True])
def test_products_by_dense_blocks_are_the_sparse_ones(diagonal, rng):
    plan = plan_queries(60, 3, n_groups=4, random_state=0)
    asked = plan.asked[np.ix_(plan.group_of, plan.group_of)]
    shares = np.triu(asked * (rng.random((60, 60)) < 0.5), k=0 if diagonal else 1)
    yes = sp.csr_array((shares + np.triu(shares, k=1).T).astype(float)[np.ix_(plan.order, plan.order)])
    answers = Answers(plan, yes, diagonal=diagonal)
    Q = rng.standard_normal((60, 3))
    by_blocks = yes_product(answers, PairBlocks.of(answers))(Q)
    assert_allclose(by_blocks, yes @ Q, atol=1e-5)  # single precision
    assert not np.array_equal(by_blocks, yes @ Q), "the dense blocks were not used"


@pytest.mark.parametrize("scale", [0.01, 1.0], ids=["unlikely", "likely"])
@pytest.mark.parametrize("kind", ["whole", "with a diagonal", "partly answered"])
def test_weighted_sums_count_every_pair_with_its_weight(small, scale, kind, rng):
    """Whether few pairs are likely, and visited one by one, or many."""
    answers, _, A, W = small
    answers, A, W = answers.averaged(), A / np.maximum(W, 1), np.minimum(W, 1)
    if kind != "partly answered":
        W = np.kron(answers.plan.asked, np.ones((15, 15))) - (kind == "whole") * np.eye(45)
        answers = Answers(answers.plan, answers.yes, diagonal=kind != "whole")
    Q, S = rng.random((45, 3)) / 3, 2 * scale * np.eye(3)
    Q[4] *= 5
    p = Q @ S @ Q.T
    assert (p > 0.02).mean() < 0.05 if scale < 1 else (p > 0.02).mean() > 0.5
    w = W / (np.clip(p, 0.02, 0.98) * (1 - np.clip(p, 0.02, 0.98)))
    gram, right = weighted_sums(answers, lambda Q: answers.yes @ Q, PairBlocks.of(answers), Q, S)
    assert_allclose(full(gram, 3), np.einsum("ij,ja,jb->iab", w, Q, Q), rtol=1e-5, atol=1e-5)
    assert_allclose(right, (w * A) @ Q, rtol=1e-5, atol=1e-5)


def test_with_six_yes_a_node_the_posterior_keeps_what_its_start_shows():
    """Annealing melts so little for good."""
    plan = plan_queries(1200, 4, n_groups=4, random_state=0)
    planted = simulate_clusters(plan, 4, average_degree=6, random_state=0)
    model = BeQuec(4, random_state=0).fit(planted.answers)
    assert accuracy(model.labels_, planted.memberships.argmax(axis=1)) > 0.92


def test_where_degrees_differ_rows_are_read_by_their_direction(rng):
    """Hubs have forty times the yes of others: read by its length, a row says how well connected a node is."""
    truth, pull = rng.integers(3, size=900), 1 + rng.pareto(2.5, 900)
    p = np.where(truth[:, None] == truth, 1.0, 0.1) * np.outer(pull, pull)
    above = np.triu(rng.random((900, 900)) < 40 * 900 * p / p.sum(), k=1)
    answers = ask_graph((above + above.T).astype(float), plan_queries(900, 3, n_groups=3, random_state=0))
    model = BeQuec(3, refine="subspace", random_state=0).fit(answers)
    assert accuracy(model.labels_, truth) > 0.98


def test_rough_windows_show_what_exact_ones_do(rng):
    plan = plan_queries(300, 3, n_groups=4, random_state=0)
    answers = simulate_mixed_memberships(plan, 3, concentration=[0.2] * 3, random_state=1).answers
    exact, values, _ = window_svd(answers, [0, 1], [0, 1], 3, rng.standard_normal(300), more=1)
    rough, rough_values = rough_window_svd(answers, [0, 1], [0, 1], 6, rng.standard_normal((300, 6)))
    assert subspace_distance(rough[:, :3], exact) < 0.05
    assert_allclose(rough_values[:4], values, rtol=0.02)
    nothing = Answers(plan, sp.csr_array((300, 300)))
    left, values = rough_window_svd(nothing, [0, 1], [0], 6, rng.standard_normal((300, 6)))
    assert not left.any()
    assert not values.any()


def test_alternation_settles_at_the_range_space_of_noiseless_answers(rng):
    plan = plan_queries(240, 3, n_groups=4, random_state=0)
    memberships = rng.dirichlet(np.full(3, 0.5), size=240)
    answers = expected_answers(plan, memberships, draw_interactions(3, 0.2, rng))
    truth = memberships[plan.order]
    start = np.linalg.qr(truth + 0.2 * rng.standard_normal(truth.shape))[0]
    assert subspace_distance(start, truth) > 0.2
    Q = alternate_rows(answers, yes_product(answers, None), start)
    assert subspace_distance(Q, truth) < 5e-3  # the ridge keeps it from being exact
    core = symmetric_core(answers, np.linalg.qr(truth)[0])
    Q = np.linalg.qr(truth)[0]
    assert_allclose((Q @ core @ Q.T)[:5, :5], answers.yes.toarray()[:5, :5], atol=1e-8)
    points = symmetric_points(answers, Q)
    assert subspace_distance(points, truth) < 1e-8


def test_the_tree_is_heaviest_and_starts_at_its_center():
    asked = np.eye(7, dtype=bool) | np.eye(7, k=1, dtype=bool) | np.eye(7, k=-1, dtype=bool)
    ties = tree_ties(asked, np.full(7, 10))
    assert ties[0][0] == 3
    known = {3}
    for parent, child in ties:
        assert parent in known
        assert abs(parent - child) == 1  # neighbors share two groups, others one
        known.add(child)
    assert known == set(range(7))


def test_a_cluster_that_hides_two_stands_out_and_is_split_along_them(rng):
    plan = plan_queries(600, 4, n_groups=4, random_state=0)
    label = rng.integers(4, size=600)
    truth = np.eye(4)[label]
    answers = draw_answers(plan, truth, draw_interactions(4, 0.1, rng), rng)
    ordered = truth[plan.order]
    joined = np.column_stack([ordered[:, 0] + ordered[:, 1], ordered[:, 2:]])
    blocks = PairBlocks.of(answers)
    structure = cluster_structure(blocks, first_belief(answers, joined), joined)
    assert np.argmax([score for score, _ in structure]) == 0
    halves = split(joined[:, 0], structure[0][1])
    inside = joined[:, 0] > 0
    assert accuracy(halves[inside].argmax(axis=1), ordered[inside, 1]) > 0.97


def test_moves_keep_memberships_on_the_simplex(small):
    answers, belief, _, _ = small
    splits, resplits = propose_moves(answers, PairBlocks.of(answers), belief)
    assert len(splits) == 3  # of three clusters, one is split and the two others merged
    assert len(resplits) == 3
    for moved in splits + resplits:
        assert moved.shape == belief.memberships.shape
        assert_allclose(moved.sum(axis=1), 1)
        assert (moved >= 0).all()


def test_random_corners_are_extreme_points(rng):
    corners = np.eye(3) * [1.0, 2.0, 3.0]
    points = np.vstack([rng.dirichlet(np.ones(3), size=50) @ corners, corners])
    found = random_corners(points, 3, rng)
    assert {tuple(row) for row in found} == {tuple(row) for row in corners}


def test_an_iteration_at_the_truth_stays_near_it():
    plan = plan_queries(800, 3, n_groups=4, random_state=0)
    answers, truth, interactions = simulate_mixed_memberships(plan, 3, random_state=0)
    belief = Belief(truth[plan.order], np.zeros((800, 3, 3)), interactions, np.full(3, 0.2))
    blocks, atoms = PairBlocks.of(answers), None
    for _ in range(10):
        belief, atoms = iterate(blocks, belief, atoms, (256, 128), 0)
    assert mean_squared_error(belief.memberships, truth[plan.order]) < 0.02
    assert_allclose(belief.interactions, interactions, atol=0.05)
    assert_allclose(belief.concentration, 0.2, atol=0.06)


@pytest.fixture(scope="module")
def planted():
    plan = plan_queries(1000, 4, n_groups=6, random_state=0)
    return simulate_mixed_memberships(plan, 4, concentration=[0.2, 0.2, 0.2, 0.6], random_state=3)


@pytest.fixture(scope="module")
def models(planted):
    return {
        refine: BeQuec(4, refine=refine, random_state=0).fit(planted.answers)
        for refine in (None, "subspace", "posterior")
    }


def test_each_refinement_is_more_accurate(planted, models):
    errors = {refine: mean_squared_error(model.memberships_, planted.memberships) for refine, model in models.items()}
    assert errors["posterior"] < errors["subspace"] < errors[None]
    assert errors["posterior"] < 0.5 * errors[None]


def test_error_bars_cover_the_truth(planted, models):
    """Means ± 1.645 standard errors should hold nine truths in ten."""
    model = models["posterior"]
    order = [np.argmax(row) for row in planted.memberships.T @ model.memberships_]
    off = np.abs(model.memberships_[:, order] - planted.memberships)
    assert 0.85 < np.mean(off <= 1.645 * model.memberships_std_[:, order]) < 0.97
    assert model.log_predictive_ == pytest.approx(model.log_predictive_per_node_.sum())


def test_the_posterior_is_the_same_whatever_the_threads_and_survives_saving(planted, models, tmp_path):
    again = BeQuec(4, refine="posterior", random_state=0, n_jobs=2, keep_covariances=True).fit(planted.answers)
    assert again.memberships_.tobytes() == models["posterior"].memberships_.tobytes()
    assert_allclose(np.sqrt(np.diagonal(again.memberships_covariance_, axis1=1, axis2=2)), again.memberships_std_)
    again.save(tmp_path / "model.npz")
    loaded = BeQuec.load(tmp_path / "model.npz")
    assert (loaded.memberships_std_ == again.memberships_std_).all()
    assert (loaded.memberships_covariance_ == again.memberships_covariance_).all()
    assert loaded.n_iter_ == again.n_iter_
    assert_array_equal(loaded.concentration_, again.concentration_)
    again.set_params(refine=None, keep_covariances=False).fit(planted.answers)
    assert not hasattr(again, "memberships_std_")
    assert not hasattr(again, "concentration_")


def test_limits_are_honoured_with_a_word(planted):
    with pytest.warns(ConvergenceWarning, match="raise time_limit"):
        model = BeQuec(4, refine="posterior", random_state=0, time_limit=1e-3).fit(planted.answers)
    assert_allclose(model.memberships_.sum(axis=1), 1)
    with pytest.warns(ConvergenceWarning, match="raise max_iter, or tol"):
        BeQuec(4, refine="posterior", random_state=0, max_iter=1, tol=0).fit(planted.answers)
    wrongs = ({"max_iter": 0}, {"max_iter": 2.5}, {"tol": -1}, {"time_limit": 0}, {"n_jobs": 0})
    for wrong in wrongs:
        [(name, value)] = wrong.items()
        with pytest.raises(ModelError, match=f"{name}={value}"):
            BeQuec(4, refine="posterior", **wrong).fit(planted.answers)


@pytest.mark.parametrize("refine", ["subspace", "posterior"])
def test_any_mask_missing_repeated_and_small_groups(refine, rng):
    """A tree with a loop, groups of 20 to 150, a third unanswered, a third answered twice, and one group below K."""
    sizes = [150, 80, 40, 120, 3]
    plan = QueryPlan(np.repeat(np.arange(5), sizes), [(0, 0), (0, 1), (0, 2), (1, 3), (0, 4)])
    label = rng.integers(4, size=plan.n_nodes)
    truth = np.eye(4)[label]
    p = np.clip(truth @ draw_interactions(4, 0.1, rng) @ truth.T, 0, 1)
    asked = plan.asked[np.ix_(plan.group_of, plan.group_of)]
    total = np.triu(asked * rng.integers(0, 3, p.shape), k=1)
    yes = rng.binomial(total, p)
    answers = Answers.from_counts(plan, (yes + yes.T).astype(float), (total + total.T).astype(float))
    model = BeQuec(4, refine=refine, random_state=0).fit(answers)
    assert accuracy(model.labels_, label) > 0.97


def test_pairs_missing_at_random_from_a_fully_asked_plan(rng):
    """The setting of the convex methods: everything asked, one answer in ten there."""
    label = rng.integers(3, size=300)
    truth = np.eye(3)[label]
    graph = np.triu(rng.random((300, 300)) < truth @ draw_interactions(3, 0.1, rng) @ truth.T, k=1)
    graph = (graph | graph.T).astype(float)
    gaps = np.triu(rng.random((300, 300)) < 0.85, k=1)
    graph[gaps | gaps.T] = np.nan
    for refine in ("subspace", "posterior"):
        assert accuracy(BeQuec(3, refine=refine, random_state=0).fit(graph).labels_, label) > 0.97


def test_a_long_chain_does_not_drift():
    plan = plan_queries(12_000, 3, n_groups=80, random_state=0)
    answers, truth, _ = simulate_mixed_memberships(plan, 3, random_state=0)
    model = BeQuec(3, refine="subspace", random_state=0).fit(answers)
    matched = match_clusters(model.memberships_, truth)
    off = [
        np.linalg.norm((matched - truth)[near]) / np.linalg.norm(truth[near])
        for near in (plan.group_of < 8, np.abs(plan.group_of - 40) < 4, plan.group_of >= 72)
    ]
    assert max(off[0], off[2]) < 1.2 * off[1]


def test_swapped_names_along_a_chain_are_found_and_put_right(rng):
    """Two clusters exchange their names between the third and the fourth of eight groups."""
    plan = plan_queries(480, 4, n_groups=8, random_state=0)
    truth = np.eye(4)[rng.integers(4, size=480)][plan.order]
    answers = draw_answers(plan, truth[plan.position_of], draw_interactions(4, 0.1, rng), rng)
    blocks = PairBlocks.of(answers)
    assert propose_swaps(blocks, first_belief(answers, 0.97 * truth + 0.0075)) == []
    swapped = swap_names(truth, (1, 3), np.arange(480) < plan.starts[3])
    moves = propose_swaps(blocks, first_belief(answers, 0.97 * swapped + 0.0075))
    assert accuracy(moves[0].argmax(axis=1), truth.argmax(axis=1)) == 1
    gain = swap_gain(np.diag([9.0, 9.0]), np.full((2, 2), 10.0), np.array([[0.9, 0.1], [0.1, 0.9]]), (0, 1))
    # A block of two clusters that says 9 of 10 yes inside and 0 of 10 across, read the other way round.
    assert gain == pytest.approx(2 * (8 * np.log(0.1 / 0.9)) + 2 * (10 * np.log(0.1 / 0.9)))


def test_every_cut_of_the_tree_has_two_sides():
    plan = QueryPlan(np.repeat(np.arange(4), 10), [(0, 0), (0, 1), (1, 2), (1, 3)])
    sides = {tuple(np.flatnonzero(side).tolist()) for side in sides_of_cuts(plan)}
    assert sides == {(0,), (2,), (3,)}
