"""All methods side by side."""

import platform

import numpy as np
import pytest

from bequec import ModelError, plan_queries
from bequec.baselines import BayesianNMF
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
