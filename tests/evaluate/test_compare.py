"""All methods side by side."""

import platform
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

from bequec import ModelError, plan_queries
from bequec.baselines import SPACL, BayesianNMF
from bequec.evaluate.measured import Measured
from bequec.look import METHODS, compare
from bequec.look.plots.comparison import plot_comparison
from bequec.simulate import simulate_clusters


@pytest.fixture(scope="module")
def planted():
    plan = plan_queries(240, 3, n_groups=4, random_state=0)
    return simulate_clusters(plan, 3, random_state=0)


def test_every_method_sorts_an_easy_graph(planted):
    table = compare(planted.answers, planted.memberships, random_state=0)
    assert table["method"].tolist() == list(METHODS)
    assert (table["problem"] == "").all()
    scores = table.set_index("method")["ACC"]
    assert scores.drop("sc-unnorm").min() > 0.95, scores
    assert (table["seconds"] > 0).all()
    assert (table["peak_mb"] >= 0).all()
    figure = plot_comparison(table)
    drawn = {text.get_text() for text in figure.axes[0].texts}
    assert drawn == set(METHODS)


def test_a_method_that_fails_says_why_and_the_others_go_on():
    plan = plan_queries(200, 3, n_groups=5, pattern="spread", random_state=0)  # no group is asked about itself
    planted = simulate_clusters(plan, 3, random_state=0)
    labels = planted.memberships.argmax(axis=1).astype(object)
    labels[:20] = None  # unknown
    table = compare(planted.answers, labels, methods=["spacl", "bequec-paper"], random_state=0)
    assert "no answered block of their own" in table["problem"][0]
    assert np.isnan(table["ACC"][0])
    assert table["ACC"][1] > 0.95
    assert "MSE" not in table  # labels have no memberships to compare


def test_a_bug_in_one_method_spares_the_others_too(planted, monkeypatch):
    def broken(_n_clusters, _seed):
        raise IndexError("list index out of range")

    monkeypatch.setitem(METHODS, "spacl", broken)
    table = compare(planted.answers, planted.memberships, methods=["spacl", "bequec-paper"], random_state=0)
    assert table["problem"].tolist() == ["list index out of range", ""]


def test_a_method_that_is_not_settled_says_so_in_its_row(planted, monkeypatch):
    monkeypatch.setitem(METHODS, "bnmf", lambda K, seed: BayesianNMF(K, max_iter=3, random_state=seed))
    table = compare(planted.answers, planted.memberships, methods=["bnmf", "spacl"], random_state=0)
    assert table["problem"].tolist() == ["", ""]
    assert table["warning"].tolist() == [
        "BayesianNMF was still moving after max_iter=3 iterations; raise max_iter",
        "",
    ]


def test_what_cannot_be_compared_is_refused(planted):
    with pytest.raises(ModelError, match=r"method louvain is unknown; choose from bequec"):
        compare(planted.answers, planted.memberships, methods=["louvain"])
    with pytest.raises(ModelError, match=r"truth has shape \(3,\), but there are 240 nodes"):
        compare(planted.answers, [0, 1, 2])
    with pytest.raises(ModelError, match="n_runs=0 must be at least 1"):
        compare(planted.answers, planted.memberships, n_runs=0)
    with pytest.raises(ModelError, match="the truth of 0 nodes is known"):
        compare(planted.answers, np.full(240, np.nan))


def test_what_fit_takes_can_be_compared_and_a_plot_survives_failures():
    truth = np.repeat([0, 1, 2], 20)
    graph = (truth[:, None] == truth).astype(float)
    table = compare(graph, truth, methods="spacl, kmeans-items", features=lambda: graph, random_state=0)
    assert table[["method", "ACC"]].to_dict("list") == {"method": ["spacl", "kmeans-items"], "ACC": [1.0, 1.0]}
    with pytest.warns(UserWarning, match="the truth has 3 clusters, 2 are looked for"):
        two = compare(graph, np.eye(3)[truth], methods=["spacl"], n_clusters=2, random_state=0)
    assert "MSE" not in two
    with pytest.raises(ModelError, match="rows that are no memberships"):
        compare(graph, 7 * np.eye(3)[truth])
    with pytest.raises(ModelError, match="kmeans-items clusters the items themselves"):
        compare(graph, truth, methods="kmeans-items")
    failed = compare(graph, truth, methods=["spacl"], n_clusters=100)
    assert "ACC" not in failed
    assert plot_comparison(failed).axes[0].get_title() == "failed: spacl"


def test_peak_memory_is_what_the_work_added():
    with Measured() as work:
        ballast = np.ones(30_000_000)
        assert ballast.sum() == 30_000_000
    assert 200 < work.peak_mb < 300
    assert work.seconds > 0


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries cannot be told to give memory back")
def test_peak_memory_does_not_depend_on_what_ran_before():
    """Arrays of 100 kB come from the heap, which keeps what is freed below an array that stays."""
    peaks, staying = [], []
    for _ in range(3):
        with Measured() as work:
            ballast = [np.ones(12_500) for _ in range(2000)]
        staying.append(np.ones(12_500))
        peaks.append(work.peak_mb)
        del ballast
    assert min(peaks) > 150


class OneCluster(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A clusterer of somebody else's: all nodes in one cluster; it remembers what it was told."""

    def __init__(self, n_clusters=8, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> "OneCluster":
        TOLD.append((self.n_clusters, self.random_state))
        self.labels_ = np.zeros(X.plan.n_nodes, dtype=int)
        return self


TOLD: list[tuple[int, int | None]] = []


@pytest.fixture
def told():
    TOLD.clear()
    return TOLD


def test_ones_own_estimator_stands_beside_methods_by_name(planted, told):
    mine = OneCluster()
    table = compare(planted.answers, planted.memberships, methods=["spacl", mine, SPACL(9)], random_state=0)
    assert table["method"].tolist() == ["spacl", "OneCluster", "SPACL"]
    assert told == [(3, 0)]  # a clone got the number of clusters and the seed …
    assert (mine.n_clusters, mine.random_state) == (8, None)  # … and mine is as it was
    assert table["ACC"][1] == pytest.approx(planted.memberships.mean(axis=0).max())
    assert np.isnan(table["MSE"][1])  # it has labels only
    numbers = ["MSE", "RE", "SRC", "ACC", "NMI"]
    assert table.loc[0, numbers].tolist() == table.loc[2, numbers].tolist()


def test_a_mapping_names_estimators_and_a_maker_keeps_what_it_sets(planted, told):
    methods = {"mine": OneCluster(), "five": lambda _n_clusters, _seed: OneCluster(5), "ours": "bequec-paper"}
    table = compare(planted.answers, planted.memberships, methods=methods, random_state=7)
    assert table["method"].tolist() == ["mine", "five", "ours"]
    assert told == [(3, 7), (5, None)]
    table = compare(planted.answers, planted.memberships, methods=OneCluster(random_state=4))
    assert table["method"].tolist() == ["OneCluster"]
    assert told[2:] == [(3, 4)]  # without a seed for all, an estimator keeps its own
    several = compare(planted.answers, planted.memberships, methods=[OneCluster(), OneCluster()])
    assert several["method"].tolist() == ["OneCluster", "OneCluster-2"]


def test_several_runs_are_told_as_mean_and_standard_error(planted):
    class Erring(OneCluster):
        def fit(self, X, y=None):
            truth = planted.memberships.argmax(axis=1)
            self.labels_ = np.where(np.arange(240) < 24 * self.random_state, 3, truth)
            return self

    calls: list[tuple[int, int]] = []
    table = compare(
        planted.answers,
        planted.memberships.argmax(axis=1),
        methods=[Erring(), "spacl"],
        n_runs=3,
        random_state=0,
        progress=lambda _what, done, total: calls.append((done, total)),
    )
    one = compare(planted.answers, planted.memberships.argmax(axis=1), methods=["spacl"], random_state=0)
    accuracies = [1.0, 0.9, 0.8]  # of seeds 0, 1 and 2
    assert table["ACC"][0] == pytest.approx(np.mean(accuracies))
    assert table["ACC_sem"][0] == pytest.approx(np.std(accuracies, ddof=1) / np.sqrt(3))
    assert (table["ACC"][1], table["ACC_sem"][1]) == (one["ACC"][0], 0.0)
    assert "ACC_sem" not in one
    assert calls == [(done, 6) for done in range(7)]
    drawn: Any = plot_comparison(table).axes[0].collections[1]  # bars of one standard error
    ends = drawn.get_segments()[0][:, 1]
    assert ends == pytest.approx(table["ACC"][0] + np.array([-1, 1]) * table["ACC_sem"][0])


def test_runs_that_fail_are_told_and_the_mean_is_of_the_others(planted):
    class Fragile(OneCluster):
        def fit(self, X, y=None):
            if self.random_state == 1:
                raise ValueError("seed 1 is unlucky")
            return super().fit(X)

    table = compare(planted.answers, planted.memberships, methods=[Fragile()], n_runs=4, random_state=0)
    assert table["problem"].tolist() == ["1 of 4 runs failed: seed 1 is unlucky"]
    assert table["ACC"][0] == pytest.approx(planted.memberships.mean(axis=0).max())
    assert plot_comparison(table).axes[0].get_title() == ""
    failed = compare(planted.answers, planted.memberships, methods=[Fragile()], random_state=1)
    assert failed["problem"].tolist() == ["seed 1 is unlucky"]


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ([OneCluster], r"OneCluster is a class; give an estimator, OneCluster\(…\)"),
        ({"mine": 7}, "7 cannot be compared; give the name of a method, a scikit-learn estimator"),
        ({"mine": "louvain"}, "method louvain is unknown"),
        ([], "method list is unknown"),
    ],
)
def test_what_is_no_method_is_refused(planted, methods, message):
    with pytest.raises(ModelError, match=message):
        compare(planted.answers, planted.memberships, methods=methods)


def test_an_estimator_without_labels_spares_the_others(planted):
    class Silent(OneCluster):
        def fit(self, X, y=None):
            return self

    table = compare(planted.answers, planted.memberships, methods=[Silent(), "spacl"], random_state=0)
    assert table["problem"].tolist() == ["'Silent' object has no attribute 'labels_'", ""]
