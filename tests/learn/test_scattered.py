"""Answers to few pairs: blocks as lists, the centered spectrum, windows at their mean, corners by direction."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from bequec import Answers, BeQuec, QueryPlan, plan_queries
from bequec.learn import pair_blocks
from bequec.learn.linalg.sparse_plus import SparsePlusLowRank
from bequec.learn.linalg.top_svd import top_svd
from bequec.learn.pair_blocks import DenseBlock, ListedBlock, PairBlocks
from bequec.learn.posterior import polish
from bequec.learn.posterior.cavity import Belief, log_predictive, pair_sums
from bequec.learn.posterior.exact_likelihood import GroupAnswers
from bequec.learn.stitch.centered_spectrum import (
    degree_corrected_basis,
    expected_degrees,
    is_scattered,
    scattered_range_space,
)
from bequec.learn.stitch.windows import centered_block
from bequec.learn.subspace.corners import direction_corners
from bequec.look import accuracy, relative_error
from bequec.simulate.mixed_membership import draw_answers


def scattered(n_nodes, n_pairs, labels, rng, *, plan=None, miss=0.15, false_alarm=0.07, most_answers=1):
    """Answers to random pairs, some of them several times."""
    plan = plan or QueryPlan(np.zeros(n_nodes, dtype=int), [(0, 0)])
    rows, columns = np.triu_indices(n_nodes, k=1)
    asked = np.flatnonzero(plan.asked[plan.group_of[rows], plan.group_of[columns]])
    at = rng.choice(asked, n_pairs, replace=False)
    i, j = rows[at], columns[at]
    total = rng.integers(1, most_answers + 1, n_pairs)
    yes = rng.binomial(total, np.where(labels[i] == labels[j], 1 - miss, false_alarm))
    ends = (np.concatenate([i, j]), np.concatenate([j, i]))
    shape = (n_nodes, n_nodes)
    yes, total = (sp.csr_array((np.tile(values.astype(float), 2), ends), shape=shape) for values in (yes, total))
    yes.eliminate_zeros()
    return Answers.from_counts(plan, yes, total)


@pytest.fixture
def belief(rng):
    M = rng.dirichlet([0.4] * 3, 120)
    spread = np.stack([np.diag(m) - np.outer(m, m) for m in M]) * 0.1
    return Belief(M, spread, np.full((3, 3), 0.1) + 0.7 * np.eye(3), np.full(3, 0.4))


@pytest.fixture(params=["one group", "three groups"])
def few(request, rng):
    groups = np.zeros(120, dtype=int) if request.param == "one group" else np.arange(120) % 3
    blocks = [(0, 0)] if request.param == "one group" else [(0, 0), (0, 1), (1, 2)]
    return scattered(120, 300, rng.integers(0, 3, 120), rng, plan=QueryPlan(groups, blocks), most_answers=3)


def as_dense(answers, monkeypatch):
    monkeypatch.setattr(pair_blocks, "LISTED_BELOW", 0.0)
    return PairBlocks.of(answers)


def test_lists_of_pairs_and_dense_blocks_give_the_same_sums(few, belief, monkeypatch):
    listed = PairBlocks.of(few)
    assert all(isinstance(block, ListedBlock) for block in listed)
    dense = as_dense(few, monkeypatch)
    assert all(isinstance(block, DenseBlock) for block in dense)
    for one, other in zip(pair_sums(listed, belief), pair_sums(dense, belief), strict=True):
        assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    for blocks in (listed, listed.counted_once()):
        same = dense.counted_once() if blocks.is_counted_once else dense
        assert_allclose(log_predictive(blocks, belief), log_predictive(same, belief), rtol=1e-4)


def test_the_exact_likelihood_is_the_sum_over_all_answers(few, belief, rng, monkeypatch):
    plan, x = few.plan, rng.dirichlet([0.5] * 3, (120, 7)).transpose(0, 2, 1).astype(np.float32)
    z = (belief.memberships @ belief.interactions).astype(np.float32)
    total = few.correction.toarray() + few.baseline * 0
    yes = few.yes.toarray()
    expected = np.zeros((120, 7))
    for i in range(120):
        p = np.clip(z @ x[i], 0.002, 0.998)
        expected[i] = yes[i] @ np.log(p) + (total[i] - yes[i]) @ np.log1p(-p)
    for blocks in (PairBlocks.of(few), as_dense(few, monkeypatch)):
        for group in range(plan.n_groups):
            span = plan.span(group)
            answers = GroupAnswers.of(blocks, span, z)
            for part in (slice(0, 5), slice(5, int(plan.sizes[group]))):
                found = answers.log_likelihood(x[span][part], part)
                assert_allclose(found, expected[span][part], rtol=2e-4, atol=1e-3)


def test_the_centered_spectrum_is_that_of_what_the_mean_leaves(rng):
    answers = scattered(90, 900, rng.integers(0, 3, 90), rng).averaged()
    assert is_scattered(answers)
    space = scattered_range_space(answers, 3)
    left = answers.yes.toarray() - answers.share_yes * answers.correction.toarray()
    values = np.linalg.eigvalsh(left)[::-1]
    assert_allclose(space.singular_values[1:3], values[:2], rtol=1e-9)
    within = space.basis @ np.linalg.lstsq(space.basis, np.ones(90), rcond=None)[0]
    assert_allclose(within, 1.0, atol=1e-9)  # memberships sum to one, so that one is in the range space


def test_whole_blocks_and_many_answers_are_not_scattered(rng):
    labels = rng.integers(0, 3, 60)
    chain = QueryPlan(np.arange(60) % 3, [(0, 0), (0, 1), (1, 2)])
    assert not is_scattered(scattered(60, 500, labels, rng, plan=chain))
    assert not is_scattered(scattered(60, 1200, labels, rng))


@pytest.mark.parametrize("refine", ["subspace", "posterior"])
def test_scattered_pairs_sort_items(refine):
    rng = np.random.default_rng(5)
    labels = rng.permutation(np.arange(600) % 4)
    answers = scattered(600, 7500, labels, rng)
    learned = BeQuec(4, refine=refine, random_state=0).fit(answers).labels_
    assert accuracy(learned, labels) > (0.93 if refine == "subspace" else 0.97)


def test_expected_degrees_add_up_to_the_degrees(rng):
    plan = QueryPlan(np.arange(90) % 3, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)])
    degrees = rng.uniform(1, 9, 90)
    t = expected_degrees(plan, degrees)
    asked_sum = plan.asked.astype(float) @ np.add.reduceat(t, plan.starts[:-1])
    assert_allclose(t * np.repeat(asked_sum, plan.sizes), degrees, rtol=1e-4)


def test_the_degree_corrected_spectrum_sees_clusters_behind_hubs(rng):
    labels = rng.integers(0, 3, 600)
    weight = np.minimum(rng.pareto(2.5, 600) + 1, 8)
    p = np.where(labels[:, None] == labels, 0.12, 0.01) * weight[:, None] * weight / weight.mean() ** 2
    upper = np.triu(rng.random((600, 600)) < np.minimum(p, 1), 1).astype(float)
    answers = Answers(QueryPlan(np.zeros(600, dtype=int), [(0, 0)]), sp.csr_array(upper + upper.T))
    basis = degree_corrected_basis(answers, 3)[:, 1:]
    corners = direction_corners(np.column_stack([basis, np.zeros(600)])[:, :2], 2, rng)
    assert corners is not None
    directions = basis / np.linalg.norm(basis, axis=1, keepdims=True)
    centers = np.stack([directions[labels == k].mean(axis=0) for k in range(3)])
    nearest = ((directions[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == labels).mean() > 0.9


@pytest.mark.parametrize("n_pairs", [250, 450, 570])  # of 780: listed as they are, or as exceptions
def test_a_pair_without_an_answer_stands_at_the_mean_of_its_block(n_pairs, rng):
    answers = scattered(40, n_pairs, rng.integers(0, 2, 40), rng)
    sparse, constant = centered_block(answers, 0, 0)
    window = sparse.toarray() + constant
    total = sum(answers.block_totals(0, 0)[i, j] > 0 for i in range(40) for j in range(40)) / (40 * 39)
    yes, seen = answers.yes.toarray(), answers.block_totals(0, 0) > 0
    mean = yes.sum() / seen.sum()
    expected = np.where(seen, (yes - mean) / total + mean, mean)
    np.fill_diagonal(expected, 0.0)  # imputed by itself
    assert_allclose(window, expected, atol=1e-9)


def test_a_sparse_matrix_plus_one_of_low_rank_multiplies_as_their_sum(rng):
    sparse = sp.random_array((70, 40), density=0.1, rng=rng, format="csr")
    matrix = SparsePlusLowRank(sparse, rng.standard_normal((70, 2)), rng.standard_normal((40, 2)))
    dense = sparse.toarray() + matrix.left @ matrix.right.T
    V = rng.standard_normal((40, 3))
    assert_allclose(matrix @ V, dense @ V)
    assert_allclose(matrix.T.toarray(), dense.T)
    assert_allclose(matrix.sum(axis=1), dense.sum(axis=1))
    assert_allclose((matrix + sparse).toarray(), dense + sparse.toarray())
    assert_allclose(top_svd(matrix, 4).values, np.linalg.svd(dense, compute_uv=False)[:4])
    assert_allclose(top_svd(matrix.T, 4).values, np.linalg.svd(dense, compute_uv=False)[:4])


def test_corners_by_direction_do_not_depend_on_the_lengths_of_rows(rng):
    corners = np.array([[2.0, 0.1, 0.0], [0.0, 1.0, 0.2], [0.1, 0.0, 1.5]])
    labels = np.repeat([0, 1, 2], 50)
    points = corners[labels] * rng.uniform(0.2, 3.0, (150, 1))
    found = direction_corners(points, 3, rng)
    assert found is not None
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    wanted = corners / np.linalg.norm(corners, axis=1, keepdims=True)
    assert_allclose((unit @ wanted.T).max(axis=0), 1.0, atol=1e-6)
    assert direction_corners(points[:, :1] @ np.ones((1, 3)), 3, rng) is None  # one direction only


def test_a_floored_prior_is_taken_where_votes_have_exact_zeros(monkeypatch):
    """Ten people vote on each item; most kinds get no vote, which no Dirichlet distribution does."""
    rng = np.random.default_rng(0)
    n, K = 2000, 6
    truth = rng.dirichlet([0.15] * K, n)
    truth = np.array([rng.multinomial(10, m) for m in truth]) / 10
    plan = plan_queries(n, K, n_groups=12, pattern="diagonal", random_state=0)
    answers = draw_answers(plan, truth, np.eye(K), 0)
    floored = BeQuec(K, random_state=0).fit(answers)
    monkeypatch.setattr(polish, "has_few_yes", lambda problem: True)
    plain = BeQuec(K, random_state=0).fit(answers)
    assert plain.concentration_.max() < 0.1 < floored.concentration_.min()
    lost = [1 - np.diag(model.interactions_).mean() for model in (floored, plain)]
    assert lost[0] < 0.5 * lost[1]  # of interactions that are one in truth
    assert relative_error(floored.memberships_, truth) < relative_error(plain.memberships_, truth)
