"""The identities that define each kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.optimize import minimize, nnls

from bequec import Answers, ModelError, ask_graph, match_clusters, plan_queries
from bequec.learn.execution.parallel import Mapper
from bequec.learn.interactions import least_squares_interactions
from bequec.learn.linalg.krylov import krylov_eigenvectors, random_block
from bequec.learn.linalg.simplex import cone_memberships, simplex_least_squares
from bequec.learn.linalg.top_svd import top_svd
from bequec.learn.stitch.anchors import scale_groups_to_corners, successive_projection
from bequec.learn.stitch.small_groups import solve_rows
from bequec.learn.stitch.stitching import stitch
from bequec.learn.stitch.stitching_order import Stitch, stitching_order
from bequec.learn.stitch.windows import window_svd
from bequec.simulate import draw_interactions


@pytest.mark.parametrize("shape", [(30, 20), (400, 150), (150, 400)])
def test_top_svd_is_the_svd(rng, shape):
    matrix = sp.random_array(shape, density=0.2, rng=rng, format="csr")
    left, values, right = top_svd(matrix, 4, rng.standard_normal(400))
    assert_allclose(left.T @ left, np.eye(4), atol=1e-12)
    assert_allclose(right.T @ right, np.eye(4), atol=1e-12)
    assert_allclose(matrix @ right, left * values, atol=1e-9)
    assert_allclose(values, np.linalg.svd(matrix.toarray(), compute_uv=False)[:4], rtol=1e-10)


def test_top_svd_spans_an_exactly_low_rank_range_to_machine_precision(rng):
    """Although the Gram matrix squares the condition number, here 10⁵."""
    left = np.linalg.qr(rng.standard_normal((900, 4)))[0]
    right = np.linalg.qr(rng.standard_normal((700, 4)))[0]
    for n, m in [(500, 300), (900, 700)]:
        matrix = sp.csr_array(left[:n] @ np.diag([1, 1e-2, 1e-4, 1e-5]) @ right[:m].T)
        found, _, _ = top_svd(matrix, 4, rng.standard_normal(m))
        expected = np.linalg.qr(left[:n])[0]
        assert np.linalg.norm(found - expected @ (expected.T @ found)) < 1e-10


def scattered_yes(seed, shape, n_yes):
    """A structureless sparse 0/1 block: single ones, and now and then two or three in a row."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, shape[0], n_yes), rng.integers(0, shape[1], n_yes)
    matrix = sp.csr_array(sp.coo_array((np.ones(n_yes), places), shape=shape))
    matrix.data[:] = 1.0
    return matrix


@pytest.fixture
def always_iterated(monkeypatch):
    """Blocks that LAPACK would take go to the iteration, too."""
    monkeypatch.setattr("bequec.learn.linalg.krylov.SMALL", 0)
    monkeypatch.setattr("bequec.learn.linalg.krylov.MAX_BLOCKS", 4)


def check_against_lapack(matrix, rank, rtol=1e-8):
    left, values, right = top_svd(matrix, rank, np.ones(min(matrix.shape)))
    expected = np.linalg.svd(matrix.toarray(), compute_uv=False)
    assert_allclose(values, expected[:rank], atol=rtol * expected[0])
    assert_allclose(left.T @ left, np.eye(rank), atol=1e-9)
    assert_allclose(right.T @ right, np.eye(rank), atol=1e-9)
    assert_allclose(matrix @ right, left * values, atol=1e-9 * expected[0])


@pytest.mark.parametrize("seed", range(20))
def test_repeated_singular_values_of_scattered_answers_are_all_found(seed):
    """An iteration from one vector found 1.31 where √2 stands six times."""
    check_against_lapack(scattered_yes(seed, (400, 200), 30 + 4 * seed), 3 + seed % 10)


@pytest.mark.usefixtures("always_iterated")
@pytest.mark.parametrize("seed", range(20))
def test_the_iteration_finds_repeated_singular_values_too(seed):
    check_against_lapack(scattered_yes(seed, (400, 200), 30 + 4 * seed), 3 + seed % 10)


@pytest.mark.parametrize("shape", [(1500, 700), (700, 1500)])
def test_repeated_singular_values_of_a_large_block_are_all_found(shape):
    check_against_lapack(scattered_yes(5, shape, 500), 12)


@pytest.mark.usefixtures("always_iterated")
def test_top_svd_of_a_flat_spectrum(rng):
    """All singular values equal, and then all of them within a tenth: nothing stands out."""
    turn = np.linalg.qr(rng.standard_normal((300, 300)))[0]
    check_against_lapack(sp.csr_array(turn[:, :220]), 6)
    check_against_lapack(sp.csr_array(turn[:, :220] * np.linspace(1, 0.9, 220)), 6)


def test_rough_values_are_right_to_three_digits_and_the_others_exact(rng):
    matrix = sp.random_array((1400, 700), density=0.02, rng=rng, format="csr")
    matrix = matrix + sp.csr_array(np.outer(rng.random(1400), rng.random(700)) > 0.7)
    _, values, _ = top_svd(matrix, 7, n_rough=6)
    expected = np.linalg.svd(matrix.toarray(), compute_uv=False)[:7]
    assert_allclose(values[:1], expected[:1], rtol=1e-10)
    assert_allclose(values, expected, rtol=2e-3)


@pytest.mark.parametrize("by", ["value", "magnitude"])
def test_the_iteration_finds_repeated_eigenvalues_of_a_graph_in_many_pieces(rng, by):
    """A graph of 300 separate triangles and 200 separate edges: eigenvalues 2 and ±1, hundreds of times."""
    triangle, edge = (sp.csr_array(np.ones((n, n)) - np.eye(n)) for n in (3, 2))
    graph = sp.block_diag([triangle] * 300 + [edge] * 200, format="csr")
    mixed = rng.permutation(graph.shape[0])
    graph = sp.csr_array(graph[mixed][:, mixed])
    values, vectors = krylov_eigenvectors(lambda x: graph @ x, random_block(len(mixed), 8), 8, by)
    assert_allclose(values, 2.0)
    assert_allclose(graph @ vectors, 2 * vectors, atol=1e-9)
    assert_allclose(vectors.T @ vectors, np.eye(8), atol=1e-9)


def test_top_svd_of_an_empty_block_is_zero(rng):
    for shape in [(200, 150), (900, 800)]:
        _, values, _ = top_svd(sp.csr_array(shape), 3, rng.standard_normal(800))
        assert not values.any()


@pytest.mark.parametrize("seed", range(3))
def test_directions_of_the_imputed_diagonal_alone_are_not_shown(seed):
    """Where all answers are yes there is one direction; the diagonal's repeated singular values are no others."""
    plan = plan_queries(400, 5, n_groups=10, random_state=seed)
    graph = sp.csr_array(np.ones((400, 400)) - np.eye(400))
    left, _, right = window_svd(ask_graph(graph, plan), [0, 1], [0], 5, np.random.default_rng(seed).random(400))
    assert np.count_nonzero(left.any(axis=0)) == 1
    assert np.count_nonzero(right.any(axis=0)) == 1


def test_stitch_expresses_the_new_group_in_known_coordinates(rng):
    M = rng.dirichlet(np.ones(4), size=30)
    G, other = rng.standard_normal((2, 4, 4))
    assert_allclose(stitch(M[:12] @ G, M @ other), M[12:] @ G, atol=1e-10)


def test_order_is_the_papers_chain_outward_from_the_middle():
    asked = np.eye(6, dtype=bool) | np.eye(6, k=1, dtype=bool) | np.eye(6, k=-1, dtype=bool)
    assert stitching_order(asked) == [
        Stitch(2, 3, 2), Stitch(3, 4, 3), Stitch(4, 5, 4), Stitch(2, 1, 1), Stitch(1, 0, 0),
    ]  # fmt: skip


def test_order_is_a_tree_from_the_center_when_neighbors_share_nothing():
    """Two stars joined: groups 0, 2, 4 ask about 0 and groups 1, 3 about 1; group 0 asks about 1, too."""
    asked = np.zeros((5, 5), dtype=bool)
    for l, m in [(0, 0), (2, 0), (4, 0), (1, 1), (3, 1), (0, 1)]:
        asked[l, m] = asked[m, l] = True
    order = stitching_order(asked)
    known = {order[0].known}
    for step in order:
        assert step.known in known
        assert asked[step.known, step.column]
        assert asked[step.new, step.column]
        known.add(step.new)
    assert known == set(range(5))


def test_spa_finds_planted_corners(rng):
    M = rng.dirichlet(np.full(5, 0.8), size=200)
    M[[3, 50, 77, 120, 199]] = np.eye(5)
    assert set(successive_projection(M @ rng.standard_normal((5, 5)), 5)) == {3, 50, 77, 120, 199}


def test_spa_says_how_many_directions_there_are(rng):
    with pytest.raises(ModelError, match="show only 2 directions, too few for 3 clusters"):
        successive_projection(rng.standard_normal((20, 2)) @ rng.standard_normal((2, 3)), 3)
    with pytest.raises(ModelError, match="show only 0 directions"):
        successive_projection(np.zeros((20, 3)), 3)


def test_scaling_to_the_corners_undoes_a_factor_per_group_and_nothing_else(rng):
    corners = rng.standard_normal((3, 3))
    points = rng.dirichlet(np.ones(3), size=30) @ corners
    starts = np.array([0, 7, 19])
    assert_allclose(scale_groups_to_corners(points, corners, starts)[0], points, atol=1e-12)
    shrunk = points * np.repeat([0.5, 1.3, 0.8], [7, 12, 11])[:, None]
    assert_allclose(scale_groups_to_corners(shrunk, corners, starts)[0], points, atol=1e-12)


@given(st.integers(2, 9), st.data())
def test_simplex_fit_satisfies_the_optimality_conditions(n_corners, data):
    """Feasible; the gradient is equal on the support and nowhere smaller outside it: a global minimum."""
    numbers = st.floats(-3, 3, width=32)
    points = data.draw(arrays(float, (6, n_corners), elements=numbers))
    corners = np.eye(n_corners) + 0.3 * data.draw(arrays(float, (n_corners, n_corners), elements=st.floats(-0.3, 0.3)))
    weights = simplex_least_squares(points, corners)
    assert (weights >= 0).all()
    assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    gradient = (weights @ corners - points) @ corners.T
    lowest = gradient.min(axis=1, keepdims=True)
    assert (weights * (gradient - lowest) < 1e-8).all()


def test_simplex_fit_agrees_with_a_general_solver(rng):
    corners, points = rng.standard_normal((4, 4)), rng.standard_normal((5, 4))
    for point, weights in zip(points, simplex_least_squares(points, corners), strict=True):
        found = minimize(
            lambda m, u=point: np.sum((u - m @ corners) ** 2),
            np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints={"type": "eq", "fun": lambda m: m.sum() - 1},
            options={"ftol": 1e-14},
        )  # fmt: skip
        assert_allclose(weights, found.x, atol=1e-5)


def test_simplex_fit_of_many_rows_is_the_fit_of_each(rng):
    corners, points = rng.standard_normal((8, 8)), rng.standard_normal((60_000, 8))
    some = [0, 1, 49_999, 50_000, 59_999]
    assert_allclose(
        simplex_least_squares(points, corners)[some], simplex_least_squares(points[some], corners), atol=1e-9
    )


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.7, 0.2])
def test_interactions_are_the_least_squares_solution_over_answered_pairs(rng, share, diagonal):
    """Against a plain regression that lists every ordered answered pair."""
    plan = plan_queries(40, 3, n_groups=3, random_state=2)
    M = rng.dirichlet(np.ones(3), size=40)
    B = draw_interactions(3, 0.3, rng)
    asked = plan.asked[np.ix_(plan.group_of, plan.group_of)]
    upper = np.triu(asked & (rng.random((40, 40)) < share), k=1) * rng.integers(1, 3, (40, 40))
    total = (upper + upper.T).astype(float)
    P = np.clip(M @ B @ M.T + np.where(upper + upper.T > 0, 0.1 * np.triu(rng.random((40, 40))), 0), 0, 1)
    P = np.triu(P) + np.triu(P, k=1).T
    answers = Answers.from_counts(plan, total * P, total)
    if diagonal:
        with_diagonal = answers.yes + sp.diags_array(np.diag(P)[plan.order], format="csr")
        answers = Answers(plan, with_diagonal.tocsr(), answers.baseline, answers.correction, diagonal=True)
        in_loop = plan.asked.diagonal()[plan.group_of]
        total = total + np.diag(in_loop.astype(float))
    i, j = np.nonzero(total)
    design = np.einsum("na,nb->nab", M[i], M[j]).reshape(len(i), -1) * np.sqrt(total[i, j])[:, None]
    expected = np.linalg.lstsq(design, P[i, j] * np.sqrt(total[i, j]), rcond=None)[0].reshape(3, 3)
    found = least_squares_interactions(answers, M[plan.order])
    assert_allclose(found, np.clip((expected + expected.T) / 2, 0, 1), atol=1e-8)


def test_growing_leaves_out_the_unobserved_diagonal(rng):
    known, new = rng.standard_normal((12, 4)), rng.standard_normal((5, 4))
    block = new @ known.T
    own = np.arange(3, 8)
    block[np.arange(5), own] = 99.0
    unknown = block.copy()
    unknown[np.arange(5), own] = 0.0
    assert_allclose(solve_rows(sp.csr_array(unknown), known, own), new, atol=1e-9)
    assert_allclose(solve_rows(sp.csr_array(new @ known.T), known, None), new, atol=1e-9)


def test_match_clusters_undoes_any_permutation(rng):
    truth = rng.dirichlet(np.full(6, 0.3), size=50)
    assert_allclose(match_clusters(truth[:, rng.permutation(6)], truth), truth)
    with pytest.raises(ModelError, match=r"shape \(50, 6\), true ones \(49, 6\)"):
        match_clusters(truth, truth[1:])


def test_mapper_keeps_the_order_and_reports_progress():
    heard = []
    results = Mapper(n_jobs=2, progress=lambda *said: heard.append(said)).map("squares", lambda x: x * x, range(5))
    assert results == [0, 1, 4, 9, 16]
    assert heard == [("squares", done, 5) for done in range(1, 6)]


def test_memberships_on_the_cone_are_nonnegative_least_squares_divided_by_their_sum(rng):
    corners = rng.standard_normal((4, 4))
    points = np.vstack([rng.standard_normal((50, 4)) * 10.0 ** rng.integers(-6, 3, 50)[:, None], np.zeros((1, 4))])
    expected = np.array([nnls(corners.T, point)[0] for point in points])
    sums = expected.sum(axis=1, keepdims=True)
    expected = np.where(sums > 0, expected / np.where(sums > 0, sums, 1), 0.25)
    assert_allclose(cone_memberships(points, corners), expected, atol=1e-9)
