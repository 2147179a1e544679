"""Sorts on the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bequec.cli.main import run
from bequec.simulate import simulate_people, simulate_sorts
from bequec.study.folder import Study

TRUTH = np.arange(60) % 3


@pytest.fixture(autouse=True)
def in_a_study(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert bequec("plan", 60, "-k", 3, "--groups", 3, "--study", "s") == 0
    capsys.readouterr()


def bequec(*arguments):
    return run([str(argument) for argument in arguments])


def sorted_sheets(path="sorts.csv", **options):
    table = simulate_sorts(TRUTH, random_state=0, **{"people": 3, "screen": 20, "rounds": 2, **options})
    table.to_csv(path, index=False)
    return table


def said_by(capsys, *arguments):
    assert bequec(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_sorts_and_sheets_of_pairs_are_read_in_any_mix(capsys):
    folder = Path("back")
    folder.mkdir()
    table = sorted_sheets(folder / "b.csv", unsure_rate=0.05)
    table.iloc[:40].rename(columns=str.upper).to_csv(folder / "a.csv", index=False, sep=";")
    plan = Study.open("s").plan
    simulate_people(TRUTH, plan, random_state=0).head(30).to_csv(folder / "c.csv", index=False)
    table.iloc[40:].assign(sheet=lambda rows: rows.sheet + 100).to_parquet(folder / "d.parquet")
    assert bequec("ask", "s", "--answers", folder) == 0
    out = capsys.readouterr().out
    assert "back/a.csv: 40 new rows" in out
    assert "back/b.csv: 80 new rows, 40 known before" in out
    assert "back/c.csv: 30 new rows" in out
    assert "back/d.parquet: 80 new rows" in out
    assert "10 sheets sorted" in out
    told = said_by(capsys, "ask", "s", "--answers", folder)
    assert [one["n_known"] for one in told["files"]] == [40, 120, 30, 80]
    assert told["n_sorted_sheets"] == 10
    answers = Study.open("s").answers()
    assert (told["n_answers"], told["n_answered_pairs"]) == (answers.n_answers, answers.n_answered_pairs)


def test_status_says_who_sorted_how_many_sheets(capsys):
    assert said_by(capsys, "status", "s")["sorts"] is None
    table = sorted_sheets(people=2, screen=20, rounds=2, unsure_rate=0.1)
    n_unsure = int((table.pile == "").sum())
    table.loc[table.sheet == 6, "worker"] = ""
    table.to_csv("sorts.csv", index=False)
    assert bequec("ask", "s", "--answers", "sorts.csv") == 0
    capsys.readouterr()
    assert bequec("status", "s") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"sorted: 6 sheets, {120 - n_unsure} items placed and {n_unsure} not sure" in out
    assert "sheets by p1 3, p2 2, without a name 1" in out
    told = said_by(capsys, "status", "s")
    assert [one["worker"] for one in told["sorts"]] == ["p1", "p2", None]
    assert [one["n_sheets"] for one in told["sorts"]] == [3, 2, 1]
    assert sum(one["n_placed"] for one in told["sorts"]) == 120 - n_unsure
    assert sum(one["n_unsure"] for one in told["sorts"]) == n_unsure
    assert told["n_answered_pairs"] == sum(block["answered"] for block in told["blocks"]) > 0


def test_mistakes_in_sorts_name_the_file_the_row_and_what_to_do(capsys):
    table = sorted_sheets()
    bad = table.astype({"item": object})
    bad.loc[7, "item"] = "zoe"
    bad.to_csv("bad.csv", index=False)
    assert bequec("ask", "s", "--answers", "sorts.csv", "--answers", "bad.csv") == 1
    assert "bad.csv: row 8: unknown node 'zoe'" in (err := capsys.readouterr().err)
    assert "drop items that it does not know with --outside drop" in err
    assert not Path("s/sorts.parquet").exists()
    assert bequec("ask", "s", "--answers", "bad.csv", "--outside", "drop") == 0
    said = capsys.readouterr()
    assert "119 new rows, 1 not in the plan, dropped" in said.out
    assert "dropped 1 of 120 rows of items that the plan does not know" in said.err
    assert bequec("ask", "s", "--answers", "sorts.csv") == 0
    assert "1 new rows, 119 known before" in capsys.readouterr().out
    table.iloc[:1].assign(pile="other").to_csv("moved.csv", index=False)
    before = Path("s/sorts.parquet").read_bytes()
    assert bequec("ask", "s", "--answers", "moved.csv") == 1
    assert "one person has one sort per sheet, to correct it say --replace" in capsys.readouterr().err
    assert Path("s/sorts.parquet").read_bytes() == before
    assert bequec("ask", "s", "--answers", "moved.csv", "--replace") == 0
    assert "1 changed" in capsys.readouterr().out
    assert bequec("ask", "s", "--graph", "sorts.csv") == 1


def test_a_study_of_sorts_goes_the_whole_way(capsys):
    sorted_sheets(screen=30, rounds=8, slip=0.05)
    assert bequec("ask", "s", "--answers", "sorts.csv") == 0
    assert not Path("s/answers.parquet").exists()
    assert bequec("learn", "s") == 0
    pd.DataFrame({"name": range(60), "label": TRUTH}).to_csv("truth.csv", index=False)
    capsys.readouterr()
    assert said_by(capsys, "look", "s", "--truth", "truth.csv")["ACC"] > 0.95
    assert bequec("ask", "s", "--sheets", 20) == 0
    assert Path("s/sheets/sheet-0017.csv").exists()  # sheets go on counting from the sorts'
