"""The committed page of tables says what its trials say, and what its summary claims is in them."""

import shutil
from pathlib import Path

import pytest

from bequec.paper.catalogue import TABLES
from bequec.paper.output import IN_SHORT, layout
from bequec.paper.reproduce import with_a_trial
from bequec.paper.runs import FILE, Trials, collect
from bequec.paper.synthetic import MembershipTable
from bequec.paper.table import LOWER_IS_BETTER, Options

DOCS = Path(__file__).parents[2] / "docs"
PLANTED = [name for name, table in TABLES.items() if isinstance(table, MembershipTable)]


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """The records of every table, from the trials that are committed."""
    folder = tmp_path_factory.mktemp("trials")
    shutil.copy(DOCS / "paper-trials.jsonl", folder / FILE)
    trials = Trials(folder)
    return {name: collect(table, Options(), trials) for name, table in TABLES.items()}


@pytest.fixture(scope="module")
def page():
    return (DOCS / "paper.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TABLES)
def test_the_page_shows_what_was_measured(name, records, page):
    section = page.split(f"## Table {name}: ")[1].split("\n## ")[0]
    shown = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    heads, rows = layout(with_a_trial(records[name]))
    assert shown[0] == heads
    assert shown[2:] == rows


def test_the_summary_is_on_the_page_once_every_cell_was_measured(records, page):
    is_complete = all(record.trials or record.problem for found in records.values() for record in found)
    assert (IN_SHORT in page) == is_complete


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("metric", sorted(LOWER_IS_BETTER - {"Dist"}))
def test_refinements_are_below_every_printed_figure(name, metric, records):
    here = [record for record in records[name] if record.metric == metric]
    for row in {record.row for record in here}:
        printed = min(record.paper for record in here if record.row == row and record.paper is not None)
        refined = [
            r for r in here if r.row == row and r.column in ("BeQuec, subspace", "BeQuec, posterior") and r.trials
        ]
        assert refined
        assert max(record.ours for record in refined) < printed


def test_algorithm_one_does_not_reach_its_printed_figures_but_the_ideal_case_does(records):
    assert all(r.is_worse for r in records["3"] if (r.column, r.metric) == ("BeQuec", "MSE"))
    assert all(r.ours < 1e-12 for r in records["2"] if r.column == "Ideal case")
    assert [(r.ours, r.standard_error) for r in records["7"] if r.trials] == [
        (r.paper, 0.0) for r in records["7"] if r.trials
    ]
    dogs = {(r.row, r.metric): r for r in records["5"]}
    assert not dogs["BeQuec", "ACC"].is_worse


def test_rivals_come_near_their_printed_figures_or_do_better(records):
    for name in PLANTED:
        errors = {(r.row, r.column): r for r in records[name] if r.metric == "MSE"}
        for (_, column), record in errors.items():
            if record.trials and (column == "CD-MVSI" or (column == "CD-BNMF" and name != "3")):
                assert record.ours == pytest.approx(record.paper, abs=0.2), record
    balanced = [r for r in records["3"] if (r.column, r.metric) == ("GeoNMF", "MSE") and r.row != "10000"]
    assert all(record.ours < 0.4 * record.paper for record in balanced)
