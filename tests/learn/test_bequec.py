import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.scikit_learn_checks import NOT_A_GRAPH, graphs_instead_of_inner_products
from threadpoolctl import threadpool_limits

from bequec import Answers, AnswersError, BeQuec, BequecError, ModelError, PlanError, QueryPlan, ask_graph, plan_queries
from bequec.look import accuracy, mean_squared_error
from bequec.simulate import simulate_clusters, simulate_mixed_memberships


@parametrize_with_checks(
    [BeQuec(3, refine=None), BeQuec(3, refine="subspace"), BeQuec(3)], expected_failed_checks=lambda _: NOT_A_GRAPH
)
def test_scikit_learn_checks(estimator, check):
    with graphs_instead_of_inner_products():
        check(estimator)


def planted(n_nodes=400, n_clusters=4, n_groups=5, seed=0, **options):
    plan = plan_queries(n_nodes, n_clusters, n_groups=n_groups, random_state=seed)
    return simulate_clusters(plan, n_clusters, random_state=seed, **options)


def test_clusters_are_found_ordered_by_size_and_rows_are_on_the_simplex():
    answers, truth, _ = planted()
    model = BeQuec(4, random_state=0).fit(answers)
    assert accuracy(model.labels_, truth.argmax(axis=1)) > 0.99
    assert (np.diff(model.memberships_.sum(axis=0)) <= 0).all()
    assert (model.memberships_ >= 0).all()
    assert_allclose(model.memberships_.sum(axis=1), 1)
    assert len(model.singular_values_) > 4
    assert (np.diff(model.singular_values_) <= 0).all()


def test_the_callers_node_order_does_not_matter(rng):
    answers, _, _ = planted()
    plan = answers.plan
    graph = np.zeros((400, 400))
    graph[np.ix_(plan.order, plan.order)] = answers.yes.toarray()
    shuffle = rng.permutation(400)
    # Inside a group the order changes, so only the sums over nodes may differ, by rounding.
    moved = ask_graph(graph[np.ix_(shuffle, shuffle)], QueryPlan(plan.group_of[shuffle], plan.asked))
    # The posterior's starts are drawn among the nodes, so that it comes to rest at slightly different places.
    for refine, tolerance in ((None, 1e-7), ("posterior", 0.05)):
        first, second = (BeQuec(4, refine=refine, random_state=0).fit(a) for a in (answers, moved))
        assert_allclose(second.memberships_, first.memberships_[shuffle], atol=tolerance)
        assert (second.labels_ == first.labels_[shuffle]).all()


@pytest.mark.parametrize(("refine", "n_jobs"), [(None, 2), (None, -1), ("posterior", 2)])
def test_same_bytes_whatever_the_threads(refine, n_jobs):
    answers, _, _ = planted(900, 4, 5)
    one = BeQuec(4, refine=refine, random_state=3).fit(answers)
    with threadpool_limits(limits=2):
        many = BeQuec(4, refine=refine, random_state=3, n_jobs=n_jobs).fit(answers)
    for name in ("memberships_", "basis_", "interactions_", "anchors_", "singular_values_"):
        assert getattr(one, name).tobytes() == getattr(many, name).tobytes(), name


def test_dense_sparse_and_answers_agree_on_a_fully_observed_graph():
    plan = QueryPlan(np.zeros(150, dtype=int), [(0, 0)])
    answers, truth, _ = simulate_clusters(plan, 3, random_state=1)
    graph = answers.yes.toarray()
    models = [BeQuec(3, random_state=0).fit(X) for X in (answers, graph, sp.csr_array(graph), graph.astype(int))]
    for model in models:
        assert_allclose(model.memberships_, models[0].memberships_, atol=1e-12)
        assert accuracy(model.labels_, truth.argmax(axis=1)) == 1


def test_nan_marks_unobserved_pairs():
    """A block mask written as NaN is found again, and gaps inside blocks are unanswered pairs."""
    answers, truth, _ = planted(300, 3, 5, between=0.05)
    plan = answers.plan
    graph = np.full((300, 300), np.nan)
    ordered = np.where(
        np.repeat(np.repeat(plan.asked, plan.sizes, axis=0), plan.sizes, axis=1), answers.yes.toarray(), np.nan
    )
    graph[np.ix_(plan.order, plan.order)] = ordered
    np.fill_diagonal(graph, np.nan)
    model = BeQuec(3, refine=None, random_state=0).fit(graph)
    reference = BeQuec(3, refine=None, random_state=0).fit(answers)
    assert accuracy(model.labels_, truth.argmax(axis=1)) > 0.98
    assert_allclose(np.sort(model.singular_values_), np.sort(reference.singular_values_), rtol=0.2)
    rng = np.random.default_rng(0)
    gaps = np.triu(rng.random((300, 300)) < 0.05, k=1)
    graph[gaps | gaps.T] = np.nan
    assert accuracy(BeQuec(3, random_state=0).fit(graph).labels_, truth.argmax(axis=1)) > 0.97


def test_gaps_all_over_the_place_are_unanswered_pairs_of_one_group(rng):
    plan = QueryPlan(np.zeros(300, dtype=int), [(0, 0)])
    answers, truth, _ = simulate_clusters(plan, 3, between=0.05, random_state=1)
    graph = answers.yes.toarray()
    gaps = np.triu(rng.random((300, 300)) < 0.6, k=1)
    graph[gaps | gaps.T] = np.nan
    assert accuracy(BeQuec(3, random_state=0).fit(graph).labels_, truth.argmax(axis=1)) > 0.97


def test_partly_answered_blocks_are_scaled_by_their_share(rng):
    """A block answered by a third must not look like a block of a third of the yes answers."""
    answers, truth, _ = planted(800, 3, 5, between=0.05)
    plan = answers.plan
    share = rng.uniform(0.3, 1.0, (5, 5))
    kept = np.triu(rng.random((800, 800)) < share[np.ix_(plan.group_of, plan.group_of)], k=1)
    kept = kept | kept.T
    asked = plan.asked[np.ix_(plan.group_of, plan.group_of)] & ~np.eye(800, dtype=bool)
    yes = np.empty((800, 800))
    yes[np.ix_(plan.order, plan.order)] = answers.yes.toarray()
    partly = Answers.from_counts(plan, yes * kept, (asked & kept).astype(float))
    model = BeQuec(3, random_state=0).fit(partly)
    assert accuracy(model.labels_, truth.argmax(axis=1)) > 0.97


def test_error_falls_as_the_graph_grows():
    errors = []
    for n_nodes in (500, 2000, 6000):
        answers, truth, _ = simulate_mixed_memberships(
            plan_queries(n_nodes, 3, n_groups=5, random_state=0), 3, random_state=0
        )
        errors.append(mean_squared_error(BeQuec(3, refine=None, random_state=0).fit(answers).memberships_, truth))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_refitting_starts_afresh_and_parameters_are_stored_verbatim():
    first, second = planted(seed=1).answers, planted(seed=2).answers
    model = BeQuec(4, refine="subspace", random_state=5, n_jobs=2)
    assert clone(model).get_params() == model.get_params()
    again = model.fit(first).fit(second).memberships_
    assert_allclose(again, BeQuec(4, refine="subspace", random_state=5).fit(second).memberships_, atol=0)
    assert (model.fit_predict(second) == model.labels_).all()


def test_progress_hears_of_every_stitch_and_stage():
    heard = []
    BeQuec(4, random_state=0).fit(planted().answers, progress=lambda *said: heard.append(said))
    assert heard[:4] == [("stitching groups", done, 4) for done in range(1, 5)]
    assert list(dict.fromkeys(what for what, _, _ in heard)) == [
        "stitching groups",
        "finding the basin",
        "splitting, merging, swapping",
        "polishing",
    ]
    assert all(done <= total for _, done, total in heard)


def test_saved_models_come_back(tmp_path):
    model = BeQuec(4, random_state=0).fit(planted().answers)
    model.save(tmp_path / "model.npz")
    again = BeQuec.load(tmp_path / "model.npz")
    for name in ("memberships_", "labels_", "interactions_", "anchors_", "basis_", "singular_values_"):
        assert (getattr(again, name) == getattr(model, name)).all(), name
    assert again.n_clusters == 4
    with np.load(tmp_path / "model.npz", allow_pickle=False) as stored:
        assert json.loads(str(stored["header"]))["version"] == 1


def test_broken_model_files_are_refused(tmp_path):
    with pytest.raises(ModelError, match=r"cannot read .*gone.npz: No such file"):
        BeQuec.load(tmp_path / "gone.npz")
    (tmp_path / "text.npz").write_text("no model", encoding="utf-8")
    with pytest.raises(ModelError, match="is not a bequec model"):
        BeQuec.load(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", header=np.asarray('{"format": "other"}'))
    with pytest.raises(ModelError, match="is not a bequec model file"):
        BeQuec.load(tmp_path / "other.npz")


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (BeQuec(1), PlanError, "n_clusters=1 is too small"),
        (BeQuec(401), PlanError, "n_clusters=401 is more than the 400 nodes"),
        (BeQuec(2.0), PlanError, "must be a whole number"),  # type: ignore[arg-type]
        (BeQuec(79), PlanError, "groups 1, 3 cannot be tied to the rest.*79 clusters"),
        (BeQuec(399), PlanError, "groups are too small for 399 clusters .*use fewer, larger groups, fewer clusters"),
        (
            BeQuec(3, refine="nonsense"),
            ModelError,
            "refine='nonsense' is unknown; choose one of: None, 'subspace', 'posterior'",
        ),
    ],
)
def test_impossible_parameters_are_refused_before_any_work(estimator, error, message):
    with pytest.raises(error, match=message):
        estimator.fit(planted().answers)


def test_inputs_that_cannot_be_learned_from_are_refused(rng):
    plan = plan_queries(60, 3, n_groups=3, random_state=0)
    with pytest.raises(AnswersError, match=r"none of the .* answered pairs is a yes"):
        BeQuec(3).fit(ask_graph(np.zeros((60, 60)), plan))
    with pytest.raises(PlanError, match=r"cannot be tied to the rest.*also ask block"):
        BeQuec(3).fit(ask_graph(np.ones((60, 60)), QueryPlan(np.arange(60) // 20, [(0, 1), (1, 2)])))
    with pytest.raises(ModelError, match="show only 1 directions, too few for 3 clusters; use fewer clusters"):
        BeQuec(3).fit(ask_graph(np.ones((60, 60)), plan, diagonal=True))
    with pytest.raises(AnswersError, match=r"square array .*got shape \(10, 3\)"):
        BeQuec(3).fit(rng.random((10, 3)))
    one_way = np.where(np.eye(8, k=1), np.nan, 1.0)
    with pytest.raises(AnswersError, match=r"pair \(0, 1\) is known one way round and NaN the other"):
        BeQuec(2).fit(one_way)


def test_blocks_without_any_answer_are_named(rng):
    answers, _, _ = planted(200, 3, 4)
    plan = answers.plan
    asked = plan.asked[np.ix_(plan.group_of, plan.group_of)] & ~np.eye(200, dtype=bool)
    waiting = np.zeros((4, 4), dtype=bool)
    waiting[2, 3] = waiting[3, 2] = waiting[3, 3] = True
    total = asked & ~waiting[np.ix_(plan.group_of, plan.group_of)]
    yes = np.empty((200, 200))
    yes[np.ix_(plan.order, plan.order)] = answers.yes.toarray()
    with pytest.raises(PlanError, match=r"2 asked blocks have no answer yet, e.g. \(2, 3\).*bequec status"):
        BeQuec(3).fit(Answers.from_counts(plan, yes * total, total.astype(float)))


@pytest.mark.parametrize("refine", [None, "subspace"])
@pytest.mark.parametrize("given", [{"max_iter": 50}, {"tol": 0.1}, {"time_limit": 10}, {"keep_covariances": True}])
def test_parameters_that_only_the_posterior_uses_are_refused_elsewhere(refine, given):
    [(name, value)] = given.items()
    with pytest.raises(ModelError, match=f"{name}={value} has no effect with refine={refine!r}: only .*'posterior'"):
        BeQuec(4, refine=refine, **given).fit(planted().answers)
    BeQuec(4, refine=refine, n_jobs=2, random_state=1).fit(planted().answers)


def test_a_model_is_pickled_and_cloned_whoever_hears_of_the_progress():
    answers = planted().answers
    model = BeQuec(4, refine="subspace", random_state=0).fit(answers, progress=lambda *said: None)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.memberships_, model.memberships_)
    assert_array_equal(clone(again).fit(answers).memberships_, model.memberships_)
    with pytest.raises(TypeError, match="callback"):
        BeQuec(4, callback=print)  # type: ignore[call-arg]
    with pytest.raises(ModelError, match="progress=3 must be a function"):
        model.fit(answers, progress=3)  # type: ignore[arg-type]


def test_an_unfitted_model_raises_scikit_learns_error_and_ours(tmp_path):
    for error in (NotFittedError, ModelError, BequecError):
        with pytest.raises(error, match="not fitted; call fit before save"):
            BeQuec(3).save(tmp_path / "model.npz")
    assert not (tmp_path / "model.npz").exists()


def test_the_learned_prior_is_in_the_clusters_order_and_comes_back_with_the_model(tmp_path):
    plan = plan_queries(1000, 3, n_groups=4, random_state=0)
    nu = [0.1, 0.2, 0.6]
    answers, _, _ = simulate_mixed_memberships(plan, 3, concentration=nu, random_state=2)
    model = BeQuec(3, random_state=0).fit(answers)
    assert_allclose(model.concentration_, nu[::-1], rtol=0.35)  # the largest cluster first
    model.save(tmp_path / "model.npz")
    assert_array_equal(BeQuec.load(tmp_path / "model.npz").concentration_, model.concentration_)
    assert not hasattr(model.set_params(refine="subspace").fit(answers), "concentration_")


def test_a_model_of_an_earlier_version_has_no_prior():
    model = BeQuec.load(Path(__file__).parents[1] / "fixtures" / "0.1" / "model-posterior.npz")
    assert hasattr(model, "memberships_std_")
    assert not hasattr(model, "concentration_")
