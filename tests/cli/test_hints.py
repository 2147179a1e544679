"""Advice in messages of the library, as people on the command line need it."""

import warnings
from typing import get_args

import pandas as pd
import pytest
import typer

from bequec import PlanError
from bequec.cli import choices, main
from bequec.cli.hints import OPTIONS, rewritten
from bequec.cli.main import run
from bequec.learn.bequec import REFINEMENTS
from bequec.look.plots.style import FORMATS
from bequec.plan.pattern_choice import PATTERNS

ALL = frozenset(OPTIONS.values())


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ('drop them with outside="drop"', "drop them with --outside drop"),
        ("counts only with unsure='half'", "counts only with --unsure half"),
        ("raise time_limit", "raise --time-limit"),
        ("still moving after max_iter=100 iterations; raise max_iter, or tol", None),
        ("choose refine=None for it", "choose --refine none for it"),
        ("say what to add: budget= or also=", "say what to add: --budget or --also"),
        ("block (A, B) (also=[('A', 'B'), ('New C', 'D')])", "block (A, B) (--also A,B --also 'New C,D')"),
        ("open it (also=[…])", "open it (--also)"),
        ("n_clusters=500 is more than the 60 nodes", "-k 500 is more than the 60 nodes"),
        ("mixing=-1 must be at least 0", "--mixing -1 must be at least 0"),
        ("to correct it say replace=True", "to correct it say --replace"),
        (
            "choose another folder (folder=), or say overwrite=True",
            "choose another folder (--study), or say --overwrite",
        ),
        ("deal them anew on other sheets with again=True", "deal them anew on other sheets with --again"),
        ('read it as a list of edges with unlisted="no"', "read it as a list of edges with --graph"),
        ("one entry per cluster, e.g. nu=[0.5, 0.5, 0.5]", "one entry per cluster, e.g. --nu 0.5,0.5,0.5"),
        ("a budget in hours needs seconds_per_pair: how long", "a budget in hours needs --seconds-per-pair: how long"),
        ("the pattern asks also what it cost before, at no budget", "="),  # these are words, not parameters
        ("for named groups use plan_queries(groups=…)", "="),
        ("both must be (n_nodes, n_clusters)", "="),
        ("my_also=[1] and total=3 are none of ours", "="),
        ('drop them with outside="drop" (--outside drop)', "="),  # it says so already
    ],
)
def test_parameters_become_options(message, told):
    if told is None:
        told = "still moving after --max-iter 100 iterations; raise --max-iter, or --tol"
    assert rewritten(message, ALL) == (message if told == "=" else told)


def test_only_options_that_the_command_has_are_named():
    message = "raise max_iter, or look for fewer: n_clusters=2"
    assert rewritten(message, {"-k", "--clusters"}) == "raise max_iter, or look for fewer: -k 2"
    assert rewritten(message, ()) == message


def test_what_only_planning_takes_is_told_with_its_command():
    message = "also ask block (A, B) (also=[('A', 'B')])"
    assert rewritten(message, {"--refine"}, {"--also"}) == "also ask block (A, B) (`bequec plan … --also A,B`)"


def test_every_option_in_the_table_is_one_of_a_command():
    commands = typer.main.get_command(main.app).commands.values()  # type: ignore[attr-defined]
    assert {option for command in commands for one in command.params for option in one.opts} >= ALL


def test_options_choose_from_what_the_library_knows():
    assert get_args(choices.Pattern) == PATTERNS
    assert set(get_args(choices.Refine)) == {str(name).lower() for name in REFINEMENTS}
    assert get_args(choices.Picture) == FORMATS


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", [["learn", "s"], ["status", "s"]])
def test_the_door_speaks_of_the_running_commands_options(command, monkeypatch, capsys):
    def fail(_folder):
        warnings.warn("stopped by time_limit", UserWarning, stacklevel=1)
        raise PlanError("raise time_limit")

    monkeypatch.setattr("bequec.study.folder.Study.open", fail)
    assert run(command) == 1
    told = "--time-limit" if command[0] == "learn" else "time_limit"
    assert capsys.readouterr().err.splitlines() == [f"bequec: stopped by {told}", f"bequec: raise {told}"]


def test_wrong_usage_is_told_in_options_too(capsys):
    assert run(["plan", "40", "-k", "2", "--budget", "3h"]) == 2
    error = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "a budget in hours needs" in error
    assert "--seconds-per-pair" in error


def test_a_fit_that_runs_out_of_time_names_the_option(capsys):
    run(["plan", "60", "-k", "2", "--groups", "2", "--study", "s"])
    pairs = [(i, j, "same" if i % 2 == j % 2 else "different") for i in range(60) for j in range(i)]
    pd.DataFrame(pairs, columns=["left", "right", "label"]).to_csv("a.csv", index=False)
    run(["ask", "s", "--answers", "a.csv", "--outside", "drop"])
    capsys.readouterr()
    assert run(["learn", "s", "--time-limit", "0.001"]) == 0
    assert "--time-limit" in capsys.readouterr().err
