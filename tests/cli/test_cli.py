import errno
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from bequec import BeQuec, QueryPlan
from bequec.baselines import BayesianNMF
from bequec.cli import main
from bequec.cli.compare import _told
from bequec.cli.main import run
from bequec.cli.say import progress_bar, say_json, say_table
from bequec.core.files import write_text
from bequec.look import METHODS
from bequec.study.folder import Study


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def bequec(*arguments):
    return run([str(argument) for argument in arguments])


def fill_sheets(folder, label_of, *, only=None):
    """Fill in sheets as a person with a spreadsheet would."""
    for path in sorted(Path(folder).glob("*.csv"))[:only]:
        sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
        sheet["label"] = [label_of(l, r) for l, r in zip(sheet.left, sheet.right, strict=True)]
        sheet.to_csv(path, index=False)


def same_colour(left, right):
    return "same" if left[:3] == right[:3] else "different"


@pytest.fixture
def photos():
    folder = Path("photos")
    folder.mkdir()
    for i in range(60):
        name = ("red", "gre", "blu")[i % 3]
        colour = {"red": (200, 0, 0), "gre": (0, 200, 0), "blu": (0, 0, 200)}[name]
        Image.new("RGB", (20, 20), colour).save(folder / f"{name}-{i}.png")
    (folder / "notes.txt").write_text("not an image", encoding="utf-8")
    return folder


def test_the_whole_journey_with_sheets(photos, capsys):
    assert bequec("plan", "photos", "-k", 3, "--groups", 3, "--study", "colours") == 0
    plan = QueryPlan.load("colours/plan.json")
    assert set(plan.names or ()) == {p.name for p in photos.glob("*.png")}
    assert bequec("ask", "colours", "--sheets", 50) == 0
    sheets = pd.concat(pd.read_csv(p, dtype=str, keep_default_na=False) for p in Path("colours/sheets").glob("*.csv"))
    assert list(sheets.columns) == ["sheet", "question", "left", "right", "label"]
    assert len(sheets) == plan.n_pairs
    assert sheets.question.is_unique
    assert (sheets.groupby("sheet").size() <= 50).all()

    fill_sheets("colours/sheets", same_colour, only=7)
    assert bequec("ask", "colours", "--answers", "colours/sheets") == 0
    assert "350 of" in capsys.readouterr().out
    assert bequec("status", "colours", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["n_answered_pairs"] == 350
    assert sum(block["answered"] for block in said["blocks"]) == 350
    assert sum(block["asked"] for block in said["blocks"]) == plan.n_pairs

    shutil.rmtree("colours/sheets")
    assert bequec("ask", "colours", "--sheets", 1000, "--again") == 0  # a second round holds only what is still open
    fill_sheets("colours/sheets", same_colour)
    assert bequec("ask", "colours", "--answers", "colours/sheets") == 0
    assert "(100.0 % of the pairs)" in capsys.readouterr().out
    assert bequec("learn", "colours") == 0
    assert bequec("look", "colours") == 0
    out = capsys.readouterr().out
    assert "Trustworthy" in out
    memberships = pd.read_csv("colours/memberships.csv")
    assert set(memberships.groupby("cluster").name.agg(lambda names: len({n[:3] for n in names}))) == {1}
    assert Path("colours/report.html").read_text(encoding="utf-8").count("data:image/jpeg") == 3 * 8
    assert {p.name for p in Path("colours/pictures").iterdir()} >= {"mask.svg", "simplex.svg", "heat_map.svg"}


def test_a_graph_from_a_list_of_edges(capsys):
    rng = np.random.default_rng(0)
    community = rng.integers(0, 2, 80)
    edges = [
        (i, j) for i in range(80) for j in range(i) if rng.random() < (0.6 if community[i] == community[j] else 0.05)
    ]
    pd.DataFrame(edges, columns=["source", "target"]).to_csv("edges.csv", index=False)
    pd.DataFrame({"name": range(80), "label": community}).to_csv("truth.csv", index=False)
    assert bequec("plan", 80, "-k", 2, "--groups", 3, "--study", "net") == 0
    assert bequec("ask", "net", "--graph", "edges.csv", "--outside", "error") == 1
    assert "the plan does not ask the pair" in capsys.readouterr().err
    assert not Path("net/answers.parquet").exists()
    assert bequec("ask", "net", "--graph", "edges.csv") == 0
    said = capsys.readouterr()
    assert "not in the plan, dropped" in said.out
    assert bequec("learn", "net", "--json") == 0
    assert sum(json.loads(capsys.readouterr().out)["cluster_sizes"]) == 80
    assert bequec("look", "net", "--truth", "truth.csv", "--json", "--pictures", "png") == 0
    assert json.loads(capsys.readouterr().out)["ACC"] > 0.95
    assert Path("net/pictures/mask.png").exists()


def test_items_and_groups_from_a_table(capsys):
    villages = np.repeat(["Abera", "Bole", "Chala"], 20)
    pd.DataFrame({"person": [f"p{i}" for i in range(60)], "village": villages}).to_csv("people.csv", index=False)
    assert (
        bequec("plan", "people.csv", "-k", 3, "--group-column", "village", "--also", "Abera,Chala", "--study", "s") == 0
    )
    assert "Abera ██" in capsys.readouterr().out
    plan = QueryPlan.load("s/plan.json")
    assert plan.group_names == ("Abera", "Bole", "Chala")
    assert plan.asked.all()
    assert "village" in pd.read_csv("s/items.csv").columns
    assert bequec("plan", "people.csv", "-k", 3, "--group-column", "town", "--study", "t") == 1
    assert "has no column 'town'; its columns are name, person, village" in capsys.readouterr().err


def test_other_columns_are_kept_in_the_studys_table():
    bequec("plan", 40, "-k", 2, "--groups", 2, "--study", "s")
    pd.DataFrame({"left": [0], "right": [1], "label": ["same"], "worker": ["w7"], "seconds": [3.5]}).to_csv(
        "a.csv", index=False
    )
    pd.DataFrame({"left": [2], "right": [3], "label": ["unsure"], "mood": ["tired"]}).to_parquet("b.parquet")
    assert bequec("ask", "s", "--answers", "a.csv", "--answers", "b.parquet") == 0
    table = pd.read_parquet("s/answers.parquet")
    assert table.worker[0] == "w7"
    assert table.seconds[0] == 3.5
    assert table.mood[1] == "tired"
    assert Study.open("s").answers().n_answers == 1
    assert Study.open("s").answers(unsure="half").n_answers == 2


def test_sheets_come_back_in_any_order_and_number_but_count_once(photos, capsys):
    bequec("plan", "photos", "-k", 3, "--groups", 3, "--study", "s")
    bequec("ask", "s", "--sheets", 50)
    fill_sheets("s/sheets", same_colour, only=3)
    assert bequec("ask", "s", "--answers", "s/sheets/sheet-0003.csv") == 0
    assert bequec("ask", "s", "--answers", "s/sheets/sheet-0001.csv", "--answers", "s/sheets/sheet-0003.csv") == 0
    assert Study.open("s").answers().n_answers == 100
    capsys.readouterr()
    assert bequec("ask", "s", "--answers", "s/sheets/sheet-0001.csv") == 0
    assert "nothing new, 50 known before" in capsys.readouterr().out
    half = pd.read_csv("s/sheets/sheet-0002.csv", dtype=str)
    half.head(10).to_csv("monday.csv", index=False)
    half.head(30).to_csv("tuesday.csv", index=False)  # the same sheet, filled in further
    assert bequec("ask", "s", "--answers", "monday.csv") == 0
    assert bequec("ask", "s", "--answers", "tuesday.csv") == 0
    assert Study.open("s").answers().n_answers == 130
    half.loc[0, "label"] = "same" if half.label[0] == "different" else "different"
    half.to_csv("wednesday.csv", index=False)
    before = Path("s/answers.parquet").read_bytes()
    assert bequec("ask", "s", "--answers", "wednesday.csv") == 1
    assert re.search("was answered '(same|different)' before and .*--replace", capsys.readouterr().err)
    assert Path("s/answers.parquet").read_bytes() == before
    assert bequec("ask", "s", "--answers", "wednesday.csv", "--replace") == 0
    assert "1 changed" in capsys.readouterr().out
    assert Study.open("s").answers().n_answers == 150


def test_a_folder_is_read_whatever_the_case_of_its_endings_and_what_is_not_read_is_named(capsys):
    bequec("plan", 40, "-k", 2, "--groups", 1, "--study", "s")
    Path("filled").mkdir()
    for number, name in enumerate(("a.CSV", "b.csv", "c.Tsv")):
        row = pd.DataFrame({"left": [number], "right": [number + 1], "label": ["same"]})
        row.to_csv(f"filled/{name}", index=False, sep="\t" if name == "c.Tsv" else ",")
    Path("filled/monday.xlsx").write_bytes(b"PK")
    Path("filled/.DS_Store").write_bytes(b"")
    capsys.readouterr()
    assert bequec("ask", "s", "--answers", "filled") == 0
    assert Study.open("s").answers().n_answers == 3
    assert capsys.readouterr().err == "bequec: not read: monday.xlsx; save it as CSV UTF-8\n"


@pytest.mark.parametrize("first", range(5))
@pytest.mark.parametrize("second", range(5))
def test_every_mix_of_file_formats_stays_readable(first, second):
    bequec("plan", 40, "-k", 2, "--groups", 1, "--study", "s")
    bequec("ask", "s", "--sheets", 1000)
    sheet = pd.read_csv("s/sheets/sheet-0001.csv", dtype=str, keep_default_na=False)
    pairs = pd.DataFrame({"left": [0, 1], "right": [2, 3]})
    formats = [
        sheet.assign(label="same").head(3),
        pairs.assign(label="yes"),
        pairs.assign(label=1.0, n_answers=3),
        pd.DataFrame({"task": ["0|2", "1|3"], "worker": ["w1", "w2"], "label": ["same", "unsure"]}),
        pairs.rename(columns={"left": "source", "right": "target"}).assign(label=0.25),
    ]
    for number, table in enumerate((formats[first], formats[second])):
        table.to_csv(f"{number}.csv", index=False)
        assert bequec("ask", "s", "--answers", f"{number}.csv", "--replace") == 0
    assert bequec("status", "s") == 0


def test_a_growing_plain_table_counts_each_row_once(capsys):
    bequec("plan", 40, "-k", 2, "--groups", 1, "--study", "s")
    rows = pd.DataFrame([(i, i + 1, "same") for i in range(30)], columns=["left", "right", "label"])
    rows.head(20).to_csv("a.csv", index=False)
    rows.to_csv("b.csv", index=False, sep=";")  # as a spreadsheet would save it
    assert bequec("ask", "s", "--answers", "a.csv") == 0
    assert bequec("ask", "s", "--answers", "b.csv") == 0
    assert "10 new rows, 20 known before" in capsys.readouterr().out
    assert Study.open("s").answers().n_answers == 30
    rows.assign(label="different").head(5).to_csv("c.csv", index=False)
    assert bequec("ask", "s", "--answers", "c.csv", "--replace") == 0
    answers = Study.open("s").answers()
    assert (answers.n_answers, answers.yes.sum() / 2) == (30, 25)


def test_sums_of_answers_and_sheets_with_workers_are_not_counted_twice(capsys):
    bequec("plan", 40, "-k", 2, "--groups", 1, "--study", "s")
    sums = pd.DataFrame({"left": [0], "right": [1], "label": [0.5], "n_answers": [2]})
    sums.to_csv("a.csv", index=False)
    sums.assign(label=0.75, n_answers=4).to_csv("b.csv", index=False)
    assert bequec("ask", "s", "--answers", "a.csv") == 0
    assert bequec("ask", "s", "--answers", "b.csv") == 1
    assert bequec("ask", "s", "--answers", "b.csv", "--replace") == 0
    assert Study.open("s").answers().n_answers == 4
    bequec("ask", "s", "--sheets", 10)
    sheet = pd.read_csv("s/sheets/sheet-0001.csv", dtype=str, keep_default_na=False).assign(label="same")
    for change in ({}, {"worker": "ann"}, {"sheet": "01"}):
        sheet.assign(**change).to_csv("sheet.csv", index=False)
        assert bequec("ask", "s", "--answers", "sheet.csv") == 0
        assert Study.open("s").answers().n_answers == 14
    sheet.assign(worker="bob").to_csv("sheet.csv", index=False)  # the first sheet named nobody: it is taken for bob's
    assert bequec("ask", "s", "--answers", "sheet.csv") == 0
    assert Study.open("s").answers().n_answers == 14


def test_an_unsure_answer_may_change_and_new_sheets_go_on_counting():
    bequec("plan", 40, "-k", 2, "--groups", 1, "--study", "s")
    bequec("ask", "s", "--sheets", 400)
    fill_sheets("s/sheets", lambda left, right: "unsure" if left == "0" else "same", only=1)
    assert bequec("ask", "s", "--answers", "s/sheets") == 0
    fill_sheets("s/sheets", lambda left, right: "SAME ", only=1)
    assert bequec("ask", "s", "--answers", "s/sheets") == 0
    assert Study.open("s").answers().n_answers == 400
    shutil.rmtree("s/sheets")
    assert bequec("ask", "s", "--sheets", 400, "--again") == 0
    assert [path.name for path in Path("s/sheets").iterdir()] == ["sheet-0003.csv"]


def test_questions_that_are_out_are_dealt_again_only_on_request(capsys):
    bequec("plan", 40, "-k", 2, "--groups", 1, "--study", "s")
    bequec("status", "s")
    assert "next: bequec ask s --sheets 120" in capsys.readouterr().out
    assert bequec("ask", "s", "--sheets", 300) == 0
    assert "780 questions on sheets 1 – 3" in capsys.readouterr().out
    assert bequec("learn", "s") == 1
    assert "collect some with `bequec ask s --answers s/sheets`" in capsys.readouterr().err
    bequec("status", "s")
    assert "next: bequec ask s --answers s/sheets" in capsys.readouterr().out
    fill_sheets("s/sheets", lambda left, right: "same" if (int(left) + int(right)) % 2 == 0 else "different", only=1)
    filled = Path("s/sheets/sheet-0001.csv").read_bytes()
    assert bequec("ask", "s", "--answers", "s/sheets") == 0
    capsys.readouterr()
    assert bequec("ask", "s", "--sheets", 300) == 1
    told = capsys.readouterr().err
    assert "all 480 questions of s without an answer went out on sheets already" in told
    assert "with --again" in told
    assert bequec("ask", "s", "--sheets", 300, "--again", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["n_questions"], said["first_sheet"], said["last_sheet"], said["n_again"]) == (480, 4, 5, 480)
    assert [path.name for path in sorted(Path("s/sheets").iterdir())] == [f"sheet-000{n}.csv" for n in range(1, 6)]
    assert Path("s/sheets/sheet-0001.csv").read_bytes() == filled
    assert bequec("ask", "s", "--answers", "s/sheets", "--again") == 2
    assert bequec("learn", "s", "--refine", "none", "--tol", "0.1") == 1  # only the posterior uses it
    assert bequec("learn", "s", "--refine", "none") == 0  # what learning keeps does not undo what dealing kept
    assert Study.open("s").dealt_until == 780
    assert bequec("plan", 40, "-k", 2, "--study", "t") == 0
    assert bequec("ask", "t", "--sheets", 300) == 0
    assert bequec("plan", 40, "-k", 2, "--study", "t", "--overwrite") == 1
    assert "t/sheets holds sheets of an earlier plan" in capsys.readouterr().err


def test_photos_stay_with_their_names_when_items_csv_is_sorted_anew(photos):
    bequec("plan", "photos", "-k", 3, "--groups", 3, "--study", "s")
    study = Study.open("s")
    assert study.images is not None
    before = [path.name for path in study.images]
    assert before == list(study.plan.names or ())
    items = pd.read_csv("s/items.csv").sample(frac=1, random_state=0)
    items.to_csv("s/items.csv", index=False)
    shuffled = Study.open("s").images
    assert shuffled is not None
    assert [path.name for path in shuffled] == before
    for changed, message in (
        (items.iloc[1:], "items.csv lacks 1 of the plan's items, first"),
        (pd.concat([items, items.iloc[:1].assign(name="ghost")]), "items that the plan lacks, first 'ghost'"),
        (pd.concat([items, items.iloc[:1]]), "twice; keep one row per item"),
        (items.drop(columns="name"), "has no column name"),
    ):
        changed.to_csv("s/items.csv", index=False)
        with pytest.raises(ValueError, match=message):
            _ = Study.open("s").images


def test_a_study_that_cannot_be_written_to_is_found_out_before_learning(monkeypatch, capsys):
    bequec("plan", 40, "-k", 2, "--groups", 1, "--study", "s")
    bequec("ask", "s", "--sheets", 1000)
    fill_sheets("s/sheets", lambda left, right: "same" if int(left) % 2 == int(right) % 2 else "different")
    bequec("ask", "s", "--answers", "s/sheets")

    def refuse(*_args, **_kwargs):
        raise PermissionError(errno.EACCES, "Permission denied", "s/.something-temporary")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    monkeypatch.setattr(BeQuec, "fit", lambda *_: pytest.fail("it began to learn"))
    capsys.readouterr()
    for command in (["learn", "s"], ["ask", "s", "--answers", "s/sheets"]):
        assert bequec(*command) == 1
        assert "s cannot be written to (Permission denied); check its rights" in capsys.readouterr().err


@pytest.mark.parametrize("step", ["tempfile.mkstemp", "pathlib.Path.replace"])
def test_an_error_while_writing_names_the_file_that_was_wanted(step, tmp_path, monkeypatch):
    def refuse(temporary=None, *_args, **_kwargs):
        raise PermissionError(errno.EACCES, "Permission denied", str(temporary or tmp_path / ".x"))

    monkeypatch.setattr(step, refuse)
    with pytest.raises(PermissionError) as caught:
        write_text(tmp_path / "report.html", "text")
    assert caught.value.filename == str(tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_a_choice_that_another_command_kept_meanwhile_is_kept():
    bequec("plan", 40, "-k", 2, "--groups", 1, "--study", "s")
    learning = Study.open("s")
    bequec("ask", "s", "--sheets", 300)
    learning.remember(unsure="half")
    assert Study.open("s").settings["unsure"] == "half"
    assert Study.open("s").dealt_until == 780


def test_answers_handed_in_at_the_same_moment_are_all_kept():
    bequec("plan", 40, "-k", 2, "--groups", 1, "--study", "s")
    for number in range(4):
        pd.DataFrame({"left": [number], "right": [20 + number], "label": ["same"]}).to_csv(f"{number}.csv", index=False)
    program = "import sys; from bequec.cli.main import run; sys.exit(run(['ask', 's', '--answers', sys.argv[1]]))"
    people = [subprocess.Popen([sys.executable, "-c", program, f"{number}.csv"]) for number in range(4)]
    assert [person.wait() for person in people] == [0] * 4
    assert Study.open("s").answers().n_answers == 4


def test_look_says_when_answers_are_newer_than_the_model(capsys):
    bequec("plan", 60, "-k", 2, "--groups", 2, "--study", "s")
    pairs = [(i, j, "same" if i % 2 == j % 2 else "different") for i in range(60) for j in range(i)]
    table = pd.DataFrame(pairs, columns=["left", "right", "label"])
    table.iloc[:-1].to_csv("a.csv", index=False)
    table.to_csv("b.csv", index=False)
    bequec("ask", "s", "--answers", "a.csv", "--outside", "drop")
    bequec("learn", "s")
    bequec("look", "s")
    assert "after the model was learned" not in capsys.readouterr().err
    time.sleep(0.01)
    bequec("ask", "s", "--answers", "b.csv", "--outside", "drop")
    bequec("look", "s")
    assert "after the model was learned" in capsys.readouterr().err


def test_sheets_of_another_study_are_refused(photos, capsys):
    bequec("plan", "photos", "-k", 3, "--groups", 3, "--study", "s")
    bequec("plan", "photos", "-k", 3, "--groups", 3, "--seed", 5, "--study", "other")
    bequec("ask", "other", "--sheets", 500)
    fill_sheets("other/sheets", same_colour)
    capsys.readouterr()
    assert bequec("ask", "s", "--answers", "other/sheets", "--outside", "drop") == 1
    assert "is the sheet from another one?" in capsys.readouterr().err


def test_studies_are_not_overwritten_and_never_with_answers(capsys):
    assert bequec("plan", 40, "-k", 2, "--groups", 2) == 0
    assert bequec("plan", 40, "-k", 2, "--groups", 2) == 1
    assert "study is already a study; choose another folder (--study), or say --overwrite" in capsys.readouterr().err
    assert bequec("plan", 44, "-k", 2, "--groups", 2, "--overwrite") == 0
    assert QueryPlan.load("study/plan.json").n_nodes == 44
    pd.DataFrame({"left": [0], "right": [1], "label": ["same"]}).to_csv("a.csv", index=False)
    assert bequec("ask", "study", "--answers", "a.csv", "--outside", "drop") in (0, 1)
    full = pd.DataFrame([(i, j, "same") for i in range(44) for j in range(i)], columns=["left", "right", "label"])
    full.to_csv("all.csv", index=False)
    assert bequec("ask", "study", "--answers", "all.csv", "--outside", "drop") == 0
    assert bequec("plan", 44, "-k", 2, "--overwrite") == 1
    assert "already holds answers to another plan" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["plan", "nowhere", "-k", "3"], 1, "'nowhere' is neither a folder of images, nor a table of items"),
        (["plan", "100", "-k", "1"], 2, "Invalid value for .*--clusters"),
        (["plan", "10", "-k", "9"], 1, "10 nodes are too few for 9 clusters"),
        (["plan", "99999999999", "-k", "2"], 1, "more than fits in memory"),
        (["plan", "100", "-k", "3", "--seed", "-1"], 2, "Invalid value for '--seed'"),
        (["learn", "fresh", "--jobs", "0"], 2, "nobody works; give 1, or -1 for all cores"),
        (["learn", "fresh", "--refine", "foo"], 2, "'foo' is not one of 'none', 'subspace', 'posterior'"),
        (["learn", "fresh", "--time-limit", "-1"], 2, "Invalid value for .*--time-limit"),
        (["learn", "fresh", "-k", "1"], 2, "Invalid value for .*--clusters"),
        (["learn", "fresh", "--unsure", "foo"], 2, "'foo' is not one of 'unanswered', 'half'"),
        (["look", "fresh", "--pictures", "gif"], 2, "'gif' is not one of 'svg', 'png', 'pdf'"),
        (["plan", "100", "-k", "3", "--pictures", "gif"], 2, "'gif' is not one of 'svg', 'png', 'pdf'"),
        (["ask", "fresh", "--answers", "a.csv", "--outside", "foo"], 2, "'foo' is not one of 'error', 'drop'"),
        (["compare", "fresh", "--truth", "t.csv", "--methods", "foo"], 2, "method foo is unknown; choose from bequec"),
        (["compare", "fresh", "--truth", "t.csv", "--methods", "kmeans-items"], 2, "clusters the items themselves"),
        (["compare", "fresh", "--truth", "t.csv", "--csv", "fresh"], 1, "fresh is a folder; name a file"),
        (["compare", "fresh", "--truth", "t.csv", "--picture", "x.gif"], 1, "cannot draw x.gif: pictures end in .svg"),
        (["plan", "ragged.csv", "-k", "2"], 1, "some rows have more fields than the header"),
        (["plan", "100", "-k", "3", "--pattern", "zigzag"], 2, "'zigzag' is not one of 'diagonal', 'random'"),
        (["plan", "100", "-k", "3", "--also", "1"], 2, "--also '1' is not a block"),
        (["plan", "100"], 2, "Missing option"),
        (["plan", "empty-folder", "-k", "3"], 1, "holds no image"),
        (["plan", "empty.csv", "-k", "3"], 1, "is empty"),
        (["plan", "header.csv", "-k", "3"], 1, "lists no item"),
        (["plan", "twice.csv", "-k", "2"], 1, "the name 'a' is given to several nodes"),
        (["learn", "nowhere"], 1, "nowhere does not exist; start one with `bequec plan"),
        (["learn", "empty-folder"], 1, "is not a study"),
        (["learn", "fresh"], 1, "has no answers yet; collect some with `bequec ask fresh --sheets 120`"),
        (["look", "fresh"], 1, "has no model yet; learn one with `bequec learn fresh`"),
        (["ask", "fresh"], 2, "give one of --sheets, --answers or --graph"),
        (["ask", "fresh", "--answers", "gone.csv"], 1, "cannot read gone.csv: No such file or directory"),
        (["ask", "fresh", "--answers", "empty.csv"], 1, "empty.csv is empty"),
        (["ask", "fresh", "--answers", "latin.csv"], 1, "is not UTF-8"),
        (["ask", "fresh", "--answers", "no-rows.csv"], 1, "no-rows.csv: no row with a label: columns are left, right"),
        (["ask", "fresh", "--answers", "wrong.csv"], 1, "wrong.csv: the table has the columns left, rihgt"),
        (["status", "planless"], 1, "planless lacks plan.json; restore it from a copy, or plan anew"),
        (["ask", "fresh", "--answers", "empty-folder"], 1, "holds no table"),
        (["ask", "fresh", "--sheets", "0"], 2, "Invalid value for .*--sheets"),
        (["frobnicate"], 2, "No such command"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_one_line(arguments, code, message, capsys):
    Path("empty-folder").mkdir()
    Path("empty.csv").write_bytes(b"")
    Path("header.csv").write_text("name,age\n", encoding="utf-8")
    Path("no-rows.csv").write_text("left,right,label\n", encoding="utf-8")
    Path("wrong.csv").write_text("left,rihgt,label\n0,1,\n", encoding="utf-8")
    bequec("plan", 40, "-k", 2, "--groups", 2, "--study", "planless")
    Path("planless/plan.json").unlink()
    Path("latin.csv").write_bytes("left,right,label\nJosé,b,yes\n".encode("latin-1"))
    Path("ragged.csv").write_text("name,village\np0,v0,\np1,v0,\n", encoding="utf-8")
    Path("twice.csv").write_text("name\n" + "a\nb\n" * 20, encoding="utf-8")
    bequec("plan", 40, "-k", 2, "--groups", 2, "--study", "fresh")
    capsys.readouterr()
    assert bequec(*arguments) == code
    error = capsys.readouterr().err
    assert re.search(message, " ".join(error.replace("│", " ").split()))
    if code == 1:
        assert error.count("\n") == 1


def test_a_bug_becomes_a_log_file(monkeypatch, capsys):
    monkeypatch.setattr("bequec.study.folder.Study.open", lambda folder: 1 / 0)
    assert bequec("status", "study") == 3
    error = capsys.readouterr().err
    log = Path(error.rsplit(" ", 1)[1].strip())
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")
    log.unlink()


def test_interrupting_leaves_whole_files_and_130():
    """Stopped in the middle of learning, the study is as it was."""
    bequec("plan", 4000, "-k", 5, "--groups", 4, "--study", "s")
    program = (
        "import signal, sys, bequec.learn.bequec as b\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # background jobs of a shell ignore it
        "def slow(*a): print('fitting', flush=True); import time; time.sleep(60)\n"
        "b.START['posterior'] = slow\n"
        "from bequec.cli.main import run; sys.exit(run(['learn', 's']))\n"
    )
    pairs = [(i, i + 1, "same") for i in range(0, 4000, 2)]
    pd.DataFrame(pairs, columns=["left", "right", "label"]).to_csv("a.csv", index=False)
    bequec("ask", "s", "--answers", "a.csv", "--outside", "drop")
    before = {p.name: p.read_bytes() for p in Path("s").iterdir() if p.is_file()}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        while "fitting" not in process.stdout.readline():
            assert process.poll() is None
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        try:
            _, error = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "interrupted" in error
    assert {p.name: p.read_bytes() for p in Path("s").iterdir() if p.is_file()} == before


def test_the_demo_sorts_the_digits_and_can_be_run_again(capsys):
    for _ in range(2):
        assert bequec("demo", "--study", "digits") == 0
        out = capsys.readouterr().out
        assert "901 images" in out
        assert float(out.split(" % of the images are with their digit")[0].rsplit(" ", 1)[1]) > 98
        assert str(Path("digits/report.html").resolve()) in out
    assert BeQuec.load("digits/model.npz").memberships_.shape == (901, 5)
    assert Path("digits/report.html").read_text(encoding="utf-8").count("data:image/jpeg") >= 5 * 8
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("precious", encoding="utf-8")
    assert bequec("demo", "--study", "mine") == 1
    assert Path("mine/thesis.txt").read_text(encoding="utf-8") == "precious"


def test_help_does_not_import_numpy():
    heavy = ("numpy", "pandas", "scipy", "matplotlib")
    program = (
        "import sys; from bequec.cli.main import run; code = run(['--help'])\n"
        f"print([m for m in {heavy} if m in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    for command in ("plan", "ask", "status", "learn", "look", "demo"):
        assert command in done.stdout


@pytest.mark.parametrize("command", ["plan", "ask", "status", "learn", "look", "demo"])
def test_every_command_has_help_with_an_example(command, capsys):
    assert bequec(command, "--help") == 0
    assert f"Example: bequec {command}" in " ".join(capsys.readouterr().out.split())


def test_a_warning_is_said_once_a_command(monkeypatch, capsys):
    def warn_twice(*_arguments):
        for _ in range(2):
            warnings.warn("the fit was still moving", UserWarning, stacklevel=1)
        warnings.warn("another one", UserWarning, stacklevel=1)

    monkeypatch.setattr(main, "app", warn_twice)
    for _ in range(2):
        assert bequec("reproduce", "3") == 0
        err = capsys.readouterr().err
        assert err.count("the fit was still moving") == 1
        assert err.count("another one") == 1


def test_long_work_says_how_far_it_is_where_there_is_no_terminal(monkeypatch, capsys):
    clock = iter([0.0, 30.0, 61.0, 90.0, 125.0])
    monkeypatch.setattr("bequec.cli.say.time.monotonic", lambda: next(clock))
    with progress_bar() as show:
        for done in range(4):
            show("table 3", done, 9)
    assert capsys.readouterr().err.splitlines() == [
        "bequec: table 3: 1 of 9, about 5 min left",
        "bequec: table 3: 3 of 9, about 4 min left",
    ]


@pytest.mark.parametrize("width", [30, 50, 200])
def test_numbers_are_never_cut_off_however_narrow_the_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    numbers = [f"0.{at}234567" for at in range(6)]
    say_table(["size", "metric", *(f"rival{at}" for at in range(6))], [["2000", "MSE", *numbers]], n_keys=2)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    parts = [line for line in lines if line[:2] == ["2000", "MSE"]]
    assert [number for part in parts for number in part[2:]] == numbers
    assert (len(parts) == 1) == (width == 200)


def test_version(capsys):
    from bequec import __version__

    assert bequec("--version") == 0
    assert capsys.readouterr().out == f"bequec {__version__}\n"


def test_compare_says_which_method_fits_a_study_best(photos, capsys, monkeypatch):
    assert bequec("plan", "photos", "-k", 3, "--groups", 3, "--study", "colours") == 0
    assert bequec("ask", "colours", "--sheets", 5000) == 0
    fill_sheets("colours/sheets", same_colour)
    assert bequec("ask", "colours", "--answers", "colours/sheets") == 0
    names = sorted(p.name for p in photos.glob("*.png"))
    pd.DataFrame({"name": names, "label": [name[:3] for name in names]}).to_csv("truth.csv", index=False)
    capsys.readouterr()
    command = ["compare", "colours", "--truth", "truth.csv", "--methods", "bequec,spacl,correlation"]
    assert bequec(*command, "--csv", "table.csv") == 0
    assert "1.0000" in capsys.readouterr().out
    assert pd.read_csv("table.csv")["ACC"].tolist() == [1.0, 1.0, 1.0]
    assert Path("colours/pictures/compare.svg").exists()
    assert bequec(*command, "--json") == 0
    assert [row["method"] for row in json.loads(capsys.readouterr().out)] == ["bequec", "spacl", "correlation"]
    assert bequec(*command, "--seeds", 2) == 0
    assert capsys.readouterr().out.count("1.0000 ± .0000") == 6  # ACC and NMI of three methods
    assert bequec(*command, "--seeds", 2, "--json") == 0
    assert [row["ACC_sem"] for row in json.loads(capsys.readouterr().out)] == [0.0, 0.0, 0.0]
    assert bequec(*command, "--seeds", 0) == 2
    monkeypatch.setitem(METHODS, "bnmf", lambda K, seed: BayesianNMF(K, max_iter=2, random_state=seed))
    assert bequec("compare", "colours", "--truth", "truth.csv", "--methods", "bnmf,spacl") == 0
    assert "bnmf: BayesianNMF was still moving after max_iter=2 iterations" in " ".join(capsys.readouterr().err.split())
    memberships = pd.get_dummies(pd.Series([name[:3] for name in names])).astype(float)
    memberships.assign(name=names).to_csv("memberships.csv", index=False)
    assert bequec("compare", "colours", "--truth", "memberships.csv", "--methods", "spacl", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["MSE"] < 0.01
    memberships.assign(name=names).replace(1.0, 2.0).to_csv("wrong.csv", index=False)
    assert bequec("compare", "colours", "--truth", "wrong.csv") == 1
    assert "sum to 2; they must be ≥ 0 and sum to 1" in capsys.readouterr().err
    memberships.assign(name=names, red=-1.0, blu=2.0).to_csv("wrong.csv", index=False)
    assert bequec("compare", "colours", "--truth", "wrong.csv") == 1
    assert "are as low as -1; they must be ≥ 0 and sum to 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mean", "error", "told"),
    [
        (0.9312, 0.0131, "0.93 ± .01"),
        (0.9312, 0.0024, "0.931 ± .002"),
        (0.93, 0.31, "0.93 ± .31"),
        (1.2, 1.04, "1.20 ± 1.04"),
        (1.0, 0.0, "1.0000 ± .0000"),
        (0.9312, None, "0.9312"),
        (0.9312, math.nan, "0.9312"),
        (math.nan, math.nan, "–"),
    ],
)
def test_a_mean_has_as_many_digits_as_its_error_allows(mean, error, told):
    assert _told("ACC", mean, error) == told


def test_compare_takes_a_truth_with_gaps_and_images_for_themselves(photos, capsys):
    assert bequec("plan", "photos", "-k", 3, "--groups", 3, "--study", "colours") == 0
    names = sorted(p.name for p in photos.glob("*.png"))
    labels = ["NaN", "", *(name[:3] for name in names[2:])]
    pd.DataFrame({"name": names, "label": labels}).to_csv("truth.csv", index=False)
    assert bequec("ask", "colours", "--sheets", 5000) == 0
    fill_sheets("colours/sheets", same_colour)
    assert bequec("ask", "colours", "--answers", "colours/sheets") == 0
    capsys.readouterr()
    assert bequec("compare", "colours", "--truth", "truth.csv", "--methods", "spacl,kmeans-items", "--json") == 0
    out, err = capsys.readouterr()
    assert f"truth.csv labels {len(names) - 2} of {len(names)} items" in err
    assert [(row["method"], row["ACC"]) for row in json.loads(out)] == [("spacl", 1.0), ("kmeans-items", 1.0)]
    # Where nothing works the reasons are still told.
    assert bequec("compare", "colours", "--truth", "truth.csv", "-k", 500, "--methods", "spacl", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)
    assert "n_clusters=500 is more than the 60 nodes" in row["problem"]
    memberships = pd.get_dummies(pd.Series([name[:3] for name in names])).astype(float).astype(object)
    memberships.iloc[0] = ""
    memberships.assign(name=names).to_csv("memberships.csv", index=False)
    assert bequec("compare", "colours", "--truth", "memberships.csv", "--methods", "spacl", "--json") == 0
    out, err = capsys.readouterr()
    assert f"memberships.csv labels {len(names) - 1} of {len(names)} items" in err
    assert json.loads(out)[0]["MSE"] < 0.01


@pytest.mark.skipif(not os.environ.get("BEQUEC_DATA"), reason="BEQUEC_DATA is not set: the dogs' photos are not here")
def test_the_demo_shows_dogs_where_they_are(capsys):
    assert bequec("demo", "--data", "dogs", "--study", "dogs") == 0
    out = capsys.readouterr().out
    assert re.search("99.[89] % of the images are with their breed", out)  # one of 900 is undecided
    assert Path("dogs/report.html").read_text(encoding="utf-8").count("data:image/jpeg") >= 5 * 8
    assert bequec("demo", "--data", "cats") == 2


def test_programs_get_null_where_a_number_is_not_finite(capsys):
    say_json({"told": [{"gap": math.inf, "n": 3}, (math.nan, 0.5)]})
    told = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert told == {"told": [{"gap": None, "n": 3}, [None, 0.5]]}
