"""On the command line: who answers as if by chance, and how to leave somebody out."""

import json

import numpy as np
import pandas as pd
import pytest

from bequec.cli.main import run
from bequec.plan.pairs import pairs_numbered, question_numbers
from bequec.study.folder import Study


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def bequec(*arguments):
    return run([str(argument) for argument in arguments])


def workers_of(study):
    return Study.open(study).model().workers_


@pytest.fixture
def crowd():
    """A study of 90 items whose pairs eight people answered; w7 tosses a coin."""
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    assert bequec("plan", 90, "-k", 3, "--groups", 3, "--study", "crowd") == 0
    plan = Study.open("crowd").plan
    left, right = pairs_numbered(plan, question_numbers(plan))
    worker = rng.integers(1, 9, len(left))
    yes = rng.random(len(left)) < np.where(labels[left] == labels[right], 0.85, 0.1)
    yes = np.where(worker == 7, rng.random(len(left)) < 0.5, yes)
    names = [f"w{number}" for number in worker]
    said = pd.DataFrame({"left": left, "right": right, "label": np.where(yes, "same", "different"), "worker": names})
    said.to_csv("said.csv", index=False)
    assert bequec("ask", "crowd", "--answers", "said.csv") == 0
    return said


def test_learn_says_who_answers_as_if_by_chance(crowd, capsys):
    assert bequec("learn", "crowd", "--refine", "subspace") == 0
    said = capsys.readouterr().out
    n_answers = int((crowd.worker == "w7").sum())
    assert f"1 of 8 people answers as if by chance: w7 ({n_answers} answers, reliability" in said
    assert "leave one out with --without-worker w7" in said
    assert bequec("learn", "crowd", "--refine", "subspace", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [worker["worker"] for worker in told["workers"] if worker["flagged"]] == ["w7"]
    assert set(told["workers"][0]) == {"worker", "n_answers", "reliability", "standard_error", "flagged"}
    assert told["without_workers"] == []
    assert workers_of("crowd").flagged.sum() == 1


def test_somebody_left_out_stays_out_until_the_study_is_learned_with_them(crowd, capsys):
    assert bequec("learn", "crowd", "--refine", "subspace", "--without-worker", "w7", "--without-worker", "w2") == 0
    said = capsys.readouterr().out
    assert "without what w2, w7 answered" in said
    assert "as if by chance" not in said
    study = Study.open("crowd")
    kept = ~crowd.worker.isin(["w2", "w7"])
    assert study.answers().n_answers == kept.sum()
    assert workers_of("crowd").worker.tolist() == ["w1", "w3", "w4", "w5", "w6", "w8"]
    assert bequec("look", "crowd") == 0
    assert bequec("learn", "crowd", "--refine", "subspace") == 0
    assert Study.open("crowd").answers().n_answers == len(crowd)


def test_an_unknown_worker_is_named_with_the_nearest(crowd, capsys):
    before = Study.open("crowd").answers().n_answers
    assert bequec("learn", "crowd", "--without-worker", "w77") == 1
    assert "nobody called 'w77' answered anything; the nearest names are w7" in capsys.readouterr().err
    assert Study.open("crowd").answers().n_answers == before


def test_workers_can_be_taken_for_equal(crowd, capsys):
    assert bequec("learn", "crowd", "--refine", "subspace", "--workers", "ignore", "--json") == 0
    assert json.loads(capsys.readouterr().out)["workers"] is None
    assert bequec("learn", "crowd", "--workers", "trust") == 2
