"""Files of every earlier version open, mean the same, and change only when something is written."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from bequec import Answers, BeQuec, PlanError, QueryPlan, StudyError
from bequec.cli.main import run
from bequec.study.folder import Study

FIXTURES = Path(__file__).parents[1] / "fixtures"
VERSIONS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
# How far memberships may move as the methods are improved; Algorithm 1 only by how it imputes the diagonal.
MAY_MOVE = {"paper": 2e-3, "subspace": 0.02, "posterior": 0.02}


@pytest.fixture(params=VERSIONS)
def files(request, tmp_path):
    return Path(shutil.copytree(FIXTURES / request.param, tmp_path / "files"))


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def colours(study):
    return [str(study.plan.name(node)).split("-")[0] for node in range(study.plan.n_nodes)]


def test_there_are_files_of_earlier_versions():
    assert "0.1" in VERSIONS


@pytest.mark.parametrize("name", ["sheets", "graph"])
def test_a_study_opens_and_its_model_still_sorts_the_colours(files, name):
    study = Study.open(files / name)
    assert study.n_clusters == 3
    assert study.plan.n_pairs == 1095
    assert list(study.items.columns) == ["name", "weight"]
    pieces = pd.crosstab(np.array(colours(study)), study.model().labels_)
    assert sorted(pieces.to_numpy().ravel()) == [0] * 6 + [20] * 3


def test_answers_keep_what_was_said_and_who_said_it(files):
    study = Study.open(files / "sheets")
    answers = study.answers()
    given = [pd.read_csv(path, dtype=str) for path in sorted((files / "sheets" / "sheets").glob("*.csv"))]
    labels = pd.concat(given).label.dropna()
    assert answers.n_answered_pairs == (labels != "unsure").sum() == 879
    assert answers.yes.sum() / 2 == (labels == "same").sum()
    graph = Study.open(files / "graph").answers()
    assert (graph.n_answered_pairs, graph.yes.sum() / 2) == (1095, 310)


@pytest.mark.parametrize(("name", "refine"), [("paper", None), ("subspace", "subspace"), ("posterior", "posterior")])
def test_the_same_is_learned_from_the_same_answers(files, name, refine):
    before = BeQuec.load(files / f"model-{name}.npz")
    assert before.get_params()["refine"] == refine
    now = BeQuec(3, refine=refine, random_state=0).fit(Study.open(files / "sheets").answers())
    assert (now.labels_ == before.labels_).all()
    assert_allclose(now.memberships_, before.memberships_, atol=MAY_MOVE[name])
    assert_allclose(now.interactions_, before.interactions_, atol=MAY_MOVE[name])


def test_plans_mean_what_they_meant(files):
    named = QueryPlan.load(files / "plan-named.json")
    assert named.group_names == ("north", "mid", "south")
    assert named.blocks.tolist() == [[0, 0], [0, 1], [1, 2]]
    assert (named.unaskable.tolist(), named.later_blocks) == ([[0, 6]], ((1, 2),))
    assert named.n_pairs == 10 + 20 - 1 + 24
    repeated = pd.read_csv(files / "answers-repeated.csv")
    assert Answers.from_table(repeated, named).n_answers == 3 * named.n_pairs
    plain = QueryPlan.load(files / "plan-plain.json")
    assert (plain.names, plain.n_pairs) == (None, 6 + 16 + 16)


def test_reading_changes_no_file(files):
    before = contents(files)
    for name in ("sheets", "graph"):
        study = Study.open(files / name)
        study.answers()
        study.model()
        assert run(["status", str(files / name), "--json"]) == 0
    assert contents(files) == before


def test_an_earlier_study_goes_on(files):
    """The sheet that was still out comes back, and everything is learned and shown anew."""
    study = files / "sheets"
    out = study / "sheets" / "sheet-0004.csv"
    sheet = pd.read_csv(out, dtype=str)
    sheet["label"] = [
        "same" if left.split("-")[0] == right.split("-")[0] else "different"
        for left, right in zip(sheet.left, sheet.right, strict=True)
    ]
    sheet.to_csv(out, index=False)
    assert run(["ask", str(study), "--answers", str(study / "sheets")]) == 0
    assert Study.open(study).answers().n_answered_pairs == 879 + 195
    assert run(["learn", str(study), "--seed", "1"]) == 0
    assert run(["look", str(study)]) == 0
    assert (study / "report.html").exists()


def test_a_file_of_a_later_version_is_refused_with_what_to_do(tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text('{"format": "bequec plan", "version": 99}', encoding="utf-8")
    with pytest.raises(
        PlanError, match=r"version 99 of the bequec plan format, this bequec reads up to .*update bequec"
    ):
        QueryPlan.load(plan)
    (tmp_path / "study.json").write_text('{"format": "bequec study", "version": "one"}', encoding="utf-8")
    with pytest.raises(StudyError, match="version 'one'"):
        Study.open(tmp_path)
