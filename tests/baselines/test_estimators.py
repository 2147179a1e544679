"""What all rivals share: the interface, scikit-learn's rules, determinism, clear errors."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.scikit_learn_checks import NOT_A_GRAPH, ONE_CLUSTER, graphs_instead_of_inner_products
from threadpoolctl import threadpool_limits

import bequec.baselines
from bequec import AnswersError, BequecError, DataError, ModelError, PlanError, QueryPlan, ask_graph, plan_queries
from bequec.baselines import (
    AS_PUBLISHED,
    BASELINES,
    SPACL,
    BayesianNMF,
    ConvexOpt,
    CorrelationClusters,
    GeoNMF,
    GraphKMeans,
    ItemKMeans,
    MinimumVolume,
    SpectralClusters,
    load_pixels,
)
from bequec.simulate import simulate_clusters


@parametrize_with_checks(
    [
        GeoNMF(3),
        SPACL(3),
        MinimumVolume(3),
        BayesianNMF(3),
        SpectralClusters(3),
        GraphKMeans(3),
        ConvexOpt(3),
        CorrelationClusters(3),
    ],
    expected_failed_checks=lambda _: NOT_A_GRAPH,
)
def test_scikit_learn_checks(estimator, check):
    with graphs_instead_of_inner_products():
        check(estimator)


@parametrize_with_checks(
    [ItemKMeans(3)], expected_failed_checks=lambda _: {**ONE_CLUSTER, "check_fit2d_1sample": "likewise"}
)
def test_scikit_learn_checks_on_items(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def answers():
    return simulate_clusters(plan_queries(150, 3, n_groups=3, random_state=0), 3, random_state=1).answers


@pytest.mark.parametrize(
    "maker", [*BASELINES.values(), AS_PUBLISHED["mvsi"], AS_PUBLISHED["bnmf"], AS_PUBLISHED["sc-norm"]]
)
def test_same_seed_same_bytes_whatever_the_threads_and_fit_starts_afresh(maker, answers):
    first = maker(3, 7).fit(answers).memberships_
    with threadpool_limits(limits=2):
        model = clone(maker(3, 7)).fit(first @ first.T / (first @ first.T).max()).fit(answers)
    assert model.memberships_.tobytes() == first.tobytes()
    assert (model.labels_ == first.argmax(axis=1)).all()


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_dense_sparse_and_networkx_graphs_agree(name):
    whole = QueryPlan(np.zeros(90, dtype=int), [(0, 0)])
    graph = simulate_clusters(whole, 3, random_state=1).answers.yes.toarray()
    forms = (ask_graph(graph, whole), graph, sp.csr_array(graph), nx.from_numpy_array(graph))
    first, *others = (BASELINES[name](3, 0).fit(form).memberships_ for form in forms)
    for other in others:
        assert_allclose(other, first, atol=1e-12)


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_results_are_in_the_callers_node_order(name, answers, rng):
    plan = answers.plan
    graph = np.zeros((150, 150))
    graph[np.ix_(plan.order, plan.order)] = answers.yes.toarray()
    shuffle = rng.permutation(150)
    moved = ask_graph(graph[np.ix_(shuffle, shuffle)], QueryPlan(plan.group_of[shuffle], plan.asked))
    first, second = (BASELINES[name](3, 0).fit(a).labels_ for a in (answers, moved))
    assert np.mean(second == first[shuffle]) > 0.98


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (GeoNMF(3, tolerance=1.5), r"tolerance=1.5 must be a number between 0 and 1, both excluded"),
        (GeoNMF(3, quantile="most"), r"quantile='most' must be a number between 0 and 1"),  # type: ignore[arg-type]
        (SPACL(3, n_neighbors=1), r"n_neighbors=1 must be a whole number of at least 2"),
        (SPACL(3, pruned_share=0), r"pruned_share=0 must be a number between 0 and 1"),
        (
            MinimumVolume(3, coordinates="all"),
            r"coordinates='all' is unknown; choose one of: 'eigenvectors', 'landmarks'",
        ),
        (MinimumVolume(3, max_iter=0), r"max_iter=0 must be a whole number of at least 1"),
        (BayesianNMF(3, tol=-1), r"tol=-1 must be a number of at least 0"),
        (BayesianNMF(3, n_restarts=-1), r"n_restarts=-1 must be a whole number of at least 0"),
        (BayesianNMF(3, diagonal=-1), r"diagonal=-1 must be a number of at least 0"),
        (GraphKMeans(3, n_init=2.5), r"n_init=2.5 must be a whole number"),  # type: ignore[arg-type]
        (GraphKMeans(3, n_init=5, as_published=True), r"n_init=5 has no effect with as_published=True"),
        (ConvexOpt(3, tol=0), r"tol=0 must be a positive number"),
        (CorrelationClusters(3, n_init=True), r"n_init=True must be a whole number"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(estimator, message, answers):
    with pytest.raises(ModelError, match=message):
        estimator.fit(answers)


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_bad_input_is_refused_before_any_work(name, answers, rng):
    with pytest.raises(PlanError, match="n_clusters=1 is too small"):
        BASELINES[name](1, 0).fit(answers)
    with pytest.raises(PlanError, match="n_clusters=151 is more than the 150 nodes"):
        BASELINES[name](151, 0).fit(answers)
    with pytest.raises(AnswersError, match=r"square array .*got shape \(10, 3\)"):
        BASELINES[name](3, 0).fit(rng.random((10, 3)))
    with pytest.raises(AnswersError, match="none of the 45 answered pairs is a yes; there is nothing to cluster"):
        BASELINES[name](3, 0).fit(np.zeros((10, 10)))


@pytest.mark.parametrize("name", sorted(set(BASELINES) - {"convex", "convex-zero-filled", "correlation"}))
def test_plans_without_windows_are_refused(name):
    answers, _, _ = simulate_clusters(plan_queries(80, 3, n_groups=8, pattern="spread", random_state=0), 3)
    with pytest.raises(BequecError, match=r"no window of whole groups holds them.*BeQuec, which needs no windows"):
        BASELINES[name](3, 0).fit(answers)


def test_pruned_clusters_are_tried_again_and_empty_otherwise():
    """Two clear clusters leave a third without anything to explain."""
    graph = np.kron(np.eye(2), np.ones((30, 30)))
    model = BayesianNMF(4, n_restarts=0, random_state=0).fit(graph)
    assert (model.memberships_.sum(axis=0) > 1e-6).sum() < 4
    assert_allclose(model.memberships_.sum(axis=1), 1.0)


def test_images_that_cannot_be_read_are_named(tmp_path):
    (tmp_path / "dog.jpg").write_text("no image", encoding="utf-8")
    with pytest.raises(DataError, match=r"cannot read .*dog.jpg as an image"):
        load_pixels([tmp_path / "dog.jpg"])
    with pytest.raises(DataError, match="there are no images to read"):
        load_pixels([])


def test_images_become_points_of_one_size(tmp_path):
    from PIL import Image

    Image.new("RGB", (60, 40), (255, 0, 0)).save(tmp_path / "red.png")
    Image.new("L", (10, 90), 51).save(tmp_path / "grey.png")
    pixels = load_pixels([tmp_path / "red.png", tmp_path / "grey.png"], side=4)
    assert_allclose(pixels, [[1.0, 0.0, 0.0] * 16, [0.2] * 48])


def test_names_are_loaded_on_first_use_and_documented():
    for name in bequec.baselines.__all__:
        assert getattr(bequec.baselines, name).__doc__
    with pytest.raises(AttributeError, match=r"module 'bequec.baselines' has no attribute 'GeoMNF'"):
        _ = bequec.baselines.GeoMNF


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_progress_is_told_to_its_end(name, answers):
    heard = []
    BASELINES[name](3, 0).fit(answers, progress=lambda *said: heard.append(said))
    assert heard
    assert all(what == heard[0][0] and 0 <= done <= total for what, done, total in heard)
