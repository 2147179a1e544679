import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from bequec import Answers, ModelError, QueryPlan, ask_graph, plan_queries
from bequec.baselines import ConvexOpt
from bequec.baselines.convex import low_rank_plus_sparse, objective, observed
from bequec.simulate import simulate_clusters


def solve_with_cvxpy(values, known, penalty):
    """The least ‖L‖_* + λ ‖S‖₁ with S = A − L on the known pairs and zero elsewhere, where nothing forces it."""
    L = cp.Variable(values.shape, symmetric=True)
    S = cp.multiply(known, values - L)
    program = cp.Problem(cp.Minimize(cp.normNuc(L) + penalty * cp.sum(cp.abs(S))), [L >= 0, L <= 1])
    return program.solve(solver="CLARABEL", tol_gap_abs=1e-6, tol_gap_rel=1e-6, tol_feas=1e-6)


@pytest.mark.parametrize("zero_filled", [False, True])
@pytest.mark.parametrize("penalty", [0.15, 0.3, 0.6])
def test_the_optimum_is_that_of_a_general_solver(penalty, zero_filled):
    plan = QueryPlan(np.arange(16) // 4, [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (1, 2), (2, 3)])
    answers, _, _ = simulate_clusters(plan, 2, between=0.3, random_state=4)
    values, known = observed(answers, zero_filled=zero_filled)
    expected = solve_with_cvxpy(values, known.astype(float), penalty)
    found = low_rank_plus_sparse(values, penalty * known, 5000, 1e-6).low_rank
    assert found.min() >= 0
    assert found.max() <= 1
    assert objective(found, values, penalty * known) == pytest.approx(expected, rel=1e-4)


def test_clean_answers_are_completed_to_the_clusters_themselves():
    truth = np.repeat([0, 1, 2], 20)
    same = (truth[:, None] == truth).astype(float)
    plan = QueryPlan(np.tile(np.arange(4), 15), [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (1, 2), (2, 3)])
    model = ConvexOpt(3, penalty=0.2, tol=1e-5, max_iter=3000, random_state=0).fit(ask_graph(same, plan))
    assert_allclose(model.low_rank_, same, atol=1e-2)
    assert model.objective_ == pytest.approx(60, rel=1e-3)  # the nuclear norm of the clusters
    assert (model.labels_ == model.labels_[np.repeat([0, 20, 40], 20)]).all()


def test_unanswered_pairs_are_a_no_only_when_zero_filled():
    plan = QueryPlan(np.arange(12) // 4, [(0, 0), (0, 1), (1, 2), (2, 2)])
    answers = ask_graph(np.ones((12, 12)), plan)
    values, known = observed(answers, zero_filled=False)
    assert (values[known] == 1).all()
    assert not known[:4, 8:].any()
    assert not known[4:8, 4:8][~np.eye(4, dtype=bool)].any()
    assert known.diagonal().all()  # everybody belongs with itself
    assert observed(answers, zero_filled=True)[1].all()


def test_nodes_that_the_optimum_leaves_out_join_where_they_have_most_yes():
    truth = np.repeat([0, 1], 20)
    same = (truth[:, None] == truth).astype(float)
    same[0, 5:20] = same[5:20, 0] = 0  # 4 yes and 15 no: to belong would cost more than it saves
    model = ConvexOpt(2, penalty=0.3, random_state=0).fit(same)
    assert model.low_rank_[0, 1:].max() < 0.1
    assert (model.labels_ == truth).all() or (model.labels_ == 1 - truth).all()


def test_penalties_that_make_clusters_too_dear_are_refused():
    same = np.kron(np.eye(3), np.ones((10, 10)))
    with pytest.raises(ModelError, match=r"with penalty=0.01 the optimum links only 0 nodes.*use a larger penalty"):
        ConvexOpt(3, penalty=0.01).fit(same)
    with pytest.raises(ModelError, match="penalty=0 must be a positive number"):
        ConvexOpt(3, penalty=0).fit(same)


def test_what_is_too_large_is_refused_before_any_work():
    plan = plan_queries(7000, 3, n_groups=70, random_state=0)
    answers = Answers(plan, sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(7000, 7000)))
    with pytest.raises(ModelError, match="dense 7000 × 7000 matrices, too large above 6000 nodes; use BeQuec"):
        ConvexOpt(3).fit(answers)
