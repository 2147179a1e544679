"""What a study has to look at."""

import numpy as np
import pandas as pd
import pytest

from bequec import BeQuec, ask_graph, plan_queries
from bequec.look import judge, write_report
from bequec.look.plots import result
from bequec.study import results
from bequec.study.folder import Study
from bequec.study.results import write_results

LABELS = np.arange(60) % 3


@pytest.fixture
def study(tmp_path):
    plan = plan_queries(60, 3, n_groups=3, random_state=0)
    return Study.create(tmp_path / "s", plan, pd.DataFrame({"name": range(60)}), 3)


@pytest.fixture
def answers(study):
    return ask_graph(lambda i, j: LABELS[i] == LABELS[j], study.plan)


@pytest.fixture
def model(answers):
    return BeQuec(3, random_state=0).fit(answers)


def test_the_verdict_and_every_picture_are_made_once(study, model, answers, monkeypatch):
    made = []

    def counted(function):
        def count(*arguments):
            made.append(function.__name__)
            return function(*arguments)

        return count

    monkeypatch.setattr(results, "judge", counted(judge))
    for name in ("plot_mask", "plot_simplex", "plot_heat_map", "plot_interactions", "plot_singular_values"):
        monkeypatch.setattr(result, name, counted(getattr(result, name)))
    verdict = write_results(study, model, answers)
    assert verdict.level == "strong"
    assert len(made) == len(set(made)) == 6
    assert {path.name for path in study.path("pictures").iterdir()} == {
        f"{name}.svg" for name in ("mask", "simplex", "heat_map", "interactions", "singular_values")
    }


def test_a_studys_report_is_that_of_write_report(study, model, answers, tmp_path):
    verdict = write_results(study, model, answers, {"ACC": 1.0})
    told = write_report(tmp_path / "r.html", model, answers, title="s: 60 items in 3 clusters", scores={"ACC": 1.0})
    assert told == verdict
    assert (tmp_path / "r.html").read_bytes() == study.path("report.html").read_bytes()


def test_memberships_are_written_with_their_errors_and_how_often_an_item_was_answered(study, model, answers):
    write_results(study, model, answers)
    table = pd.read_csv(study.path("memberships.csv"))
    assert table["name"].tolist() == list(range(60))
    assert (table["cluster"] - 1 == model.labels_).all()
    assert table[["cluster 1", "cluster 2", "cluster 3"]].to_numpy() == pytest.approx(model.memberships_, abs=1e-6)
    assert table[["error 1", "error 2", "error 3"]].to_numpy() == pytest.approx(model.memberships_std_, abs=1e-6)
    assert (table["answers"] == answers.answers_per_node).all()
