import json

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from bequec import Answers, AnswersError, BeQuec, ModelError, PlanError, QueryPlan, ask_graph, plan_queries
from bequec.look import accuracy, mean_squared_error
from bequec.simulate import simulate_clusters, simulate_mixed_memberships

NO_GRAPH = "feeds points or their inner products; BeQuec clusters graphs, with values in [0, 1]"
NOT_A_GRAPH = dict.fromkeys(
    [
        "check_clustering",
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_empty_data_messages",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_1sample",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_non_transformer_estimators_n_iter",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_complex_data",
    ],
    NO_GRAPH,
)


class OnSimilarities(BeQuec):
    """BeQuec on the similarities of points, so that scikit-learn's checks, which feed points, run through fit."""

    def fit(self, X, y=None):
        from sklearn.metrics.pairwise import rbf_kernel
        from sklearn.utils.validation import validate_data

        if sp.issparse(X):
            X = X.tocsr()
        X = validate_data(self, X, accept_sparse="csr", ensure_min_samples=2)
        if sp.issparse(X):
            X = X.toarray()
        n_features = self.n_features_in_
        similarity = rbf_kernel(X.astype(float), gamma=1 / X.shape[1] / max(X.var(), 1e-12))
        super().fit((similarity + similarity.T) / 2)
        self.n_features_in_ = n_features
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False
        tags.input_tags.allow_nan = False
        return tags


@parametrize_with_checks(
    [BeQuec(3, refine=None), BeQuec(3, refine="subspace"), BeQuec(3)], expected_failed_checks=lambda _: NOT_A_GRAPH
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [OnSimilarities(3, refine=None)],
    expected_failed_checks=lambda _: {
        "check_fit2d_1feature": "similarities on a line have too few directions for three clusters, which is said",
        **dict.fromkeys(
            ["check_dont_overwrite_parameters", "check_methods_subset_invariance", "check_fit2d_predict1d"],
            "sets n_clusters=1, which is refused: there is nothing to tell apart",
        ),
    },
)
def test_scikit_learn_checks_on_similarities(estimator, check):
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


def test_the_callback_hears_of_every_stitch_and_stage():
    heard = []
    BeQuec(4, random_state=0, callback=lambda *said: heard.append(said)).fit(planted().answers)
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
    with pytest.raises(ModelError, match="not fitted; call fit before save"):
        BeQuec(3).save(tmp_path / "model.npz")


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
