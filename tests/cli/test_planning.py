"""Planning on the command line: costs, budgets, previews, extensions and theory."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bequec import BeQuec, QueryPlan
from bequec.cli.main import run
from bequec.study.folder import Study

DOCS = Path(__file__).parents[2] / "docs" / "planning.md"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def bequec(*arguments):
    return run([str(argument) for argument in arguments])


def test_the_worked_example_of_the_thirty_villages_runs(capsys):
    """Every command of docs/planning.md, in order; the one that is said to be refused is."""
    blocks = re.findall(r"```(python|console)\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    said = ""
    for language, text in blocks:
        if language == "python":
            exec(compile(text, "planning.md", "exec"), names)
            continue
        for line in text.splitlines():
            command, _, remark = line.partition("#")
            words = shlex.split(command)
            assert words[0] == "bequec"
            assert run(words[1:]) == (1 if remark.strip() == "refused" else 0), line
            printed = capsys.readouterr()
            said += printed.out + printed.err
            if "--preview" in line:
                assert not Path("study").exists()
    assert re.search(r"no cheaper plan can work: the smallest budget that would do is \d+(\.\d+)?h", said)
    assert "15d are 120 hours: 8 a day" in said
    assert "earlier questions keep their numbers" in said
    plan, costs = names["plan"], names["price"]
    forbidden = np.isnan(costs.loc[list(plan.group_names), list(plan.group_names)].to_numpy(dtype=float))
    assert forbidden.sum() == 40
    assert not (plan.asked & forbidden).any()
    extended = QueryPlan.load("survey/plan.json")
    assert extended == names["larger"]
    assert not (extended.asked & forbidden).any()
    assert {p.name for p in Path("survey/pictures").iterdir()} == {"plan_mask.svg", "stitching_tree.svg"}
    drawn = Path("survey/pictures/plan_mask.svg").read_text(encoding="utf-8")
    assert f"{len(extended.blocks)} blocks asked" in drawn  # of the extended plan, not of the first


def test_a_budget_in_money_has_a_cost_sheet(capsys):
    pay = ["--budget", "$81.60", "--pay-per-answer", 81.60 / 76_950]
    assert bequec("plan", 900, "-k", 5, *pay, "--study", "dogs", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["n_pairs"], said["n_groups"]) == (76_950, 15)
    assert said["costs"]["plan"]["money"] == pytest.approx(81.60)
    assert round(said["costs"]["all pairs"]["money"], 1) == 429.0
    assert bequec("plan", 900, "-k", 5, *pay, "--study", "dogs", "--overwrite") == 0
    out = capsys.readouterr().out
    assert "the fewest for a budget of 76,950 pairs" in out
    assert "cost of plan: 76,950 pairs, 81.60 in money" in out
    assert "429.00 in money" in out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--budget", "plenty"], 2, "budget 'plenty' cannot be read"),
        (["--budget", "40h"], 2, "a budget in hours needs"),
        (["--budget", "50"], 1, "the smallest budget that would do is"),
        (["--hourly-pay", "9"], 2, "--hourly-pay say what a budget buys; say --budget, too"),
        (["--balance", "2"], 2, "only with --preview"),
        (["--cost", "costs.csv"], 1, "cost belongs to pattern 'cheapest'"),
        (["--cost", "costs.csv", "--pattern", "cheapest"], 1, "say which node is in which ("),
        (["--unaskable", "pairs.csv"], 1, "unaskable names 'zoe', which is no item of the plan"),
        (["--preview", "--error-rate", "often"], 2, "--error-rate 'often' cannot be read"),
        (["--preview", "--answers-per-pair", "1.5"], 2, "a whole number of answers per pair, got 1.5"),
        (["--extend", "s"], 2, "-k: for new plans; an extended one keeps what it has"),
        (["--extend", "s", "--seed", "0"], 2, "-k, --seed: for new plans; an extended one keeps what it has"),
    ],
)
def test_mistakes_in_planning_are_told_in_one_line(arguments, code, message, capsys):
    Path("costs.csv").write_text("a,b,cost\nA,B,1\n", encoding="utf-8")
    Path("pairs.csv").write_text("left,right\n1,zoe\n", encoding="utf-8")
    assert bequec("plan", 300, "-k", 3, *arguments) == code
    err = " ".join(re.sub(r"[│╭╮╰╯─]", " ", capsys.readouterr().err).split())
    assert message in err
    assert not Path("study").exists()


def write_villages():
    villages = np.repeat(["Abera", "Bole", "Chala", "Dire"], 12)
    names = [f"p{i}" for i in range(48)]
    pd.DataFrame({"name": names, "village": villages}).to_csv("people.csv", index=False)
    return ["plan", "people.csv", "-k", 2, "--group-column", "village", "--study", "s"]


def test_forbidden_villages_are_named_with_what_to_paste(capsys):
    command = write_villages()
    rows = ["Abera,Abera,1", "Abera,Bole,2", "Chala,Dire,1", "Abera,Dire,inf", "Dire,Dire,"]
    Path("costs.csv").write_text("\n".join(["one,other,price", *rows]), encoding="utf-8")
    assert bequec(*command, "--pattern", "cheapest", "--cost", "costs.csv") == 1
    told = capsys.readouterr().err
    [(first, second)] = re.findall(r"also\W+(\w+)\W+(\w+)", told)
    assert "groups Chala, Dire cannot be reached" in told
    assert bequec(*command, "--pattern", "cheapest", "--cost", "costs.csv", "--also", f"{first},{second}") == 0
    assert "× " in capsys.readouterr().out


def test_a_price_table_without_one_village_names_it(capsys):
    command = write_villages()
    villages = ["Abera", "Bole", "Chala", "Dire"]
    square = pd.DataFrame(1.0, index=villages, columns=villages)
    for side, short in (("columns", square.drop(columns="Chala")), ("rows", square.drop(index="Chala"))):
        short.to_csv("costs.csv", index_label="village")
        assert bequec(*command, "--pattern", "cheapest", "--cost", "costs.csv") == 1
        told = capsys.readouterr().err
        assert f"the cost table's {side} name 3 groups, the plan has 4; missing: Chala; name every group" in told


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_an_empty_cell_in_the_group_column_is_named(table_format, capsys):
    command = write_villages()
    people = pd.read_csv("people.csv")
    people.loc[6, "village"] = None
    path = f"people.{table_format}"
    people.to_csv(path, index=False) if table_format == "csv" else people.to_parquet(path)
    command[1] = path
    assert bequec(*command) == 1
    assert f"{path}, row 7: the village of 'p6' is empty (1 such rows)" in capsys.readouterr().err


def answers_to(plan, numbers, path):
    from bequec.plan.pairs import pairs_numbered

    left, right = pairs_numbered(plan, numbers)
    label = np.where(left % 2 == right % 2, "same", "different")
    table = {"question": numbers, "left": [plan.name(i) for i in left], "right": [plan.name(i) for i in right]}
    pd.DataFrame({**table, "label": label}).to_csv(path, index=False)


def test_extending_keeps_answers_and_question_numbers(capsys):
    """Half of the sheets are out while the study is extended: they still come back as they were."""
    command = write_villages()
    Path("pairs.csv").write_text("left,right\np0,p1\np0,p2\n", encoding="utf-8")
    assert bequec(*command, "--unaskable", "pairs.csv") == 0
    assert bequec("ask", "s", "--sheets", 100) == 0
    plan = QueryPlan.load("s/plan.json")
    sheets = pd.concat(pd.read_csv(p, dtype=str, keep_default_na=False) for p in Path("s/sheets").glob("*.csv"))
    assert len(sheets) == plan.n_pairs
    assert not ((sheets.left == "p0") & sheets.right.isin(["p1", "p2"])).any()
    numbers = sheets.question.to_numpy(dtype=np.int64)
    answers_to(plan, numbers[:300], "early.csv")
    assert bequec("ask", "s", "--answers", "early.csv") == 0
    capsys.readouterr()
    assert bequec("plan", 48, "--extend", "s", "--budget", 300) == 2
    assert "keeps the study's items; leave 48 out" in capsys.readouterr().err.replace("\n", " ")
    assert bequec("plan", "--extend", "s", "--budget", 300, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert 0 < said["n_new_pairs"] <= 300
    extended = QueryPlan.load("s/plan.json")
    first_round = {p.name: p.read_bytes() for p in Path("s/sheets").iterdir()}
    capsys.readouterr()
    assert bequec("status", "s") == 0
    assert "next: bequec ask s --sheets 120" in capsys.readouterr().out
    assert bequec("ask", "s", "--sheets", 1000) == 0  # what is new, and nothing else, though most are not back yet
    assert {name: Path("s/sheets", name).read_bytes() for name in first_round} == first_round
    answers_to(plan, numbers[300:], "late.csv")  # sheets of the first round
    assert bequec("ask", "s", "--answers", "late.csv") == 0
    new = [p for p in Path("s/sheets").glob("*.csv") if p.name not in first_round]
    again = pd.concat(pd.read_csv(p, dtype=str) for p in new)
    assert again.sheet.astype(int).min() == len(first_round) + 1
    assert len(again) == extended.n_pairs - plan.n_pairs
    assert again.question.astype(int).min() >= plan.n_numbers
    answers_to(extended, again.question.to_numpy(dtype=np.int64), "new.csv")
    assert bequec("ask", "s", "--answers", "new.csv") == 0
    capsys.readouterr()
    assert bequec("status", "s", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    assert status["n_answered_pairs"] == status["n_pairs"] == extended.n_pairs
    assert bequec("learn", "s") == 0
    labels = BeQuec.load("s/model.npz").labels_
    assert len(set(labels[::2])) == len(set(labels[1::2])) == 1
    Path("wrong.csv").write_text("left,right,label\np0,p1,same\n", encoding="utf-8")
    assert bequec("ask", "s", "--answers", "wrong.csv") == 1
    assert "is listed in the plan as one that cannot be asked" in capsys.readouterr().err
    assert bequec("theory", "s", "--runs", 20) == 0
    said_theory = capsys.readouterr().out
    assert "Theorem 2 for s" in said_theory
    assert bequec("theory", "s", "--runs", 20, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["theorem_2"]["n_groups"] == 4
    assert len(told["theorem_2"]["conditions"]) == 5


def test_a_study_with_listed_pairs_is_dealt_answered_and_extended(capsys):
    """Thirteen pairs between the villages, listed after the plan was made; then the block that holds them."""
    assert bequec("plan", 48, "-k", 2, "--groups", 4, "--study", "s") == 0
    opened = Study.open("s")
    first = opened.plan
    assert not first.asked[0, 3]
    between = [(int(i), int(j)) for i in first.groups[0] for j in first.groups[3]][::11]
    opened.extend(first.with_listed(between))
    assert bequec("ask", "s", "--sheets", 1000) == 0
    sheets = pd.concat(pd.read_csv(path) for path in Path("s/sheets").glob("*.csv"))
    listed = sheets[sheets["question"] >= first.n_numbers].sort_values("question")
    assert [tuple(sorted(pair)) for pair in listed[["left", "right"]].to_numpy().tolist()] == [
        tuple(sorted(pair)) for pair in between
    ]
    answers_to(opened.plan, sheets["question"].to_numpy(), "all.csv")
    assert bequec("ask", "s", "--answers", "all.csv") == 0
    capsys.readouterr()
    assert bequec("status", "s", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    assert status["n_answered_pairs"] == status["n_pairs"] == first.n_pairs + len(between)
    assert {"block": "0, 3", "answered": len(between), "asked": len(between)} in status["blocks"]
    assert bequec("plan", "--extend", "s", "--also", "0,3", "--json") == 0
    assert json.loads(capsys.readouterr().out)["n_new_pairs"] == 144 - len(between)
    assert bequec("learn", "s") == 0
    with pytest.raises(ValueError, match="this plan does not extend that of s"):
        Study.open("s").extend(first.with_listed(between[::-1]))


def test_a_graph_study_and_a_foreign_plan_are_not_extended(capsys):
    assert bequec("plan", 60, "-k", 2, "--groups", 4, "--study", "net") == 0
    edges = [(i, j) for i in range(60) for j in range(i) if (i - j) % 2 == 0]
    pd.DataFrame(edges, columns=["source", "target"]).to_csv("edges.csv", index=False)
    assert bequec("ask", "net", "--graph", "edges.csv") == 0
    before = Path("net/plan.json").read_bytes()
    assert bequec("plan", "--extend", "net", "--budget", 500) == 1
    assert "net holds a graph, whose edges outside the plan were dropped" in capsys.readouterr().err
    assert Path("net/plan.json").read_bytes() == before
    assert bequec("plan", 60, "-k", 2, "--groups", 4, "--study", "other", "--seed", 5) == 0
    with pytest.raises(ValueError, match="this plan does not extend that of net"):
        Study.open("net").extend(QueryPlan.load("other/plan.json"))


def test_the_preview_is_a_table_a_curve_and_a_picture(capsys):
    command = ["plan", 90, "-k", 2, "--budget", 1500, "--preview", "--error-rate", "0.2,0.1", "--refine", "none"]
    assert bequec(*command, "--pictures", "png") == 0
    out = capsys.readouterr().out
    assert "what the budget buys" in out
    assert "patterns for the same budget" in out
    assert re.search(r"2 × budget █+ \d+", out)
    assert Path("study/pictures/budget_accuracy.png").stat().st_size > 5000
    assert not Path("study/study.json").exists()
    assert bequec(*command, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in said["budget"]] == ["0.5 × budget", "1 × budget", "2 × budget"]
    assert all(one["accuracy"] is None or 0 < one["accuracy"] <= 1 for one in said["budget"] + said["pattern"])


def test_theory_says_and_confirms_the_sample_size(capsys):
    assert bequec("theory", "--nu", "0.5,0.5,0.5", "--epsilon", 0.1, "--runs", 50) == 0
    out = capsys.readouterr().out
    assert "0.045" in out
    assert "1,011" in out
    assert "confirmed: at least 95 %" in out
    assert bequec("theory", "--nu", "3,3,3", "--json", "--runs", 50) == 0
    said = json.loads(capsys.readouterr().out)["proposition_1"]
    assert said["G"] == pytest.approx(7.0e-5, abs=1e-7)
    assert said["share_separable"] >= 0.95
    for wrong, code in ((["--nu", "a,b"], 2), ([], 2), (["--nu", "1,1", "--picture", "x.png"], 2), (["nowhere"], 1)):
        assert bequec("theory", *wrong) == code
