"""The committed page of tables says what its trials say, and what its summary claims is in them."""

import shutil
from pathlib import Path

import pytest

from bequec.paper.catalogue import TABLES
from bequec.paper.output import IN_SHORT, layout
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
    """Failures are shown, but not kept, as they are tried again: where there is no trial, the page may say why."""
    section = page.split(f"## Table {name}: ")[1].split("\n## ")[0]
    shown = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    heads, rows = layout([record for record in records[name] if record.trials or record.problem])
    assert shown[0] == heads
    for found, expected in zip(shown[2:], rows, strict=True):
        assert [cell if cell else page_cell for cell, page_cell in zip(expected, found, strict=True)] == found


def test_the_summary_is_on_the_page(page):
    assert IN_SHORT in page


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


def test_several_rivals_do_far_better_than_printed(records):
    better = {
        record.column
        for name in PLANTED
        for record in records[name]
        if record.metric == "MSE" and None not in (record.ours, record.paper) and record.ours < 0.6 * record.paper
    }
    assert {"GeoNMF", "CD-BNMF"} <= better
