"""Answers handed in file by file: the work grows with the rows, and nothing depends on how they came."""

import sys
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest

from bequec import QueryPlan
from bequec.ask import records
from bequec.ask.handed_in import read_handed_in
from bequec.ask.records import AnswerRecords
from bequec.ask.tables import parse_table
from bequec.study.folder import Study


def sheet_rows(n_rows, *, sheet):
    pairs = [f"{sheet}-{row}" for row in range(n_rows)]
    rows = {"left": pairs, "right": "x", "label": "same", "n_answers": pd.NA, "sheet": str(sheet)}
    return pd.DataFrame(rows).astype("string")


def steps_of(work):
    """How many lines of records.py run: a measure of the work that no machine changes."""
    n_steps = 0

    def count(frame, event, _argument):
        nonlocal n_steps
        if frame.f_code.co_filename != records.__file__:
            return None
        n_steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return n_steps


@pytest.mark.parametrize("handed_in", ["one file", "many files"])
def test_handing_in_twice_as_many_sheets_is_twice_the_work(handed_in):
    def hand_in(n_sheets):
        known = AnswerRecords(None, replace=False)
        sheets = [sheet_rows(30, sheet=sheet) for sheet in range(n_sheets)]
        for rows in [pd.concat(sheets, ignore_index=True)] if handed_in == "one file" else sheets:
            known.add(rows)
        assert len(known.table()) == 30 * n_sheets

    assert steps_of(lambda: hand_in(20)) < 2.2 * steps_of(lambda: hand_in(10))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("replace", [False, True])
def test_one_by_one_or_with_a_stop_between_gives_the_same_table(seed, replace):
    """Rows with and without sheet, worker and number; what was stored and read again is what was kept in memory."""
    rng = np.random.default_rng(seed)

    def some_rows():
        n = 12
        rows = pd.DataFrame({"left": rng.choice(["a", "b", "c"], n), "right": "x", "n_answers": pd.NA})
        rows["sheet"] = rng.choice(["1", "2", pd.NA], n)
        rows["worker"] = rng.choice(["ann", "bob", pd.NA], n)
        rows["label"] = rng.choice(["same", "different", "unsure"], n)
        if not replace:  # who answered must not contradict himself
            rows.loc[rows["sheet"].notna() | rows["worker"].notna(), "label"] = "same"
        return rows.astype("string")

    files = [some_rows() for _ in range(4)]
    together, stored = AnswerRecords(None, replace=replace), None
    for rows in files:
        again = AnswerRecords(stored, replace=replace)
        assert again.add(rows) == together.add(rows)
        stored = again.table()
    pd.testing.assert_frame_equal(together.table(), stored)


def test_a_sheet_without_a_worker_is_the_sheet_and_not_an_unnamed_row_of_its_pair():
    rows = pd.DataFrame({"left": ["a"], "right": ["b"], "label": ["same"], "n_answers": [pd.NA]}, dtype="string")
    known = AnswerRecords(None, replace=True)
    assert known.add(rows.assign(worker=pd.NA).astype("string")) == (1, 0)
    assert known.add(rows.assign(sheet="1").astype("string")) == (1, 0)
    assert known.add(rows.assign(sheet="1", worker="ann").astype("string")) == (0, 0)


def test_sheets_that_look_alike_are_checked_together(tmp_path, monkeypatch):
    plan = QueryPlan([0] * 6, [(0, 0)])
    for number in range(5):
        path = tmp_path / f"{number}.csv"
        pd.DataFrame({"left": [number], "right": [number + 1], "label": ["same"]}).to_csv(path, index=False)
    counted = MagicMock(wraps=parse_table)
    monkeypatch.setattr("bequec.ask.handed_in.parse_table", counted)
    shown = []
    files = sorted(tmp_path.glob("*.csv"))
    handed = read_handed_in(files, plan, unlisted="unanswered", outside="error", callback=lambda *at: shown.append(at))
    assert [len(one.rows) for one in handed] == [1] * 5
    assert counted.call_count == 1
    assert shown == [("reading answers", done, 5) for done in range(1, 6)]


def test_a_bad_row_is_found_in_its_file_and_tasks_may_be_names_or_numbers(tmp_path):
    plan = QueryPlan([0] * 6, [(0, 0)])
    study = Study.create(tmp_path / "s", plan, pd.DataFrame({"name": range(6)}), 2)
    task = pd.DataFrame({"task": ["0|1", "2|3"], "worker": "ann", "label": "same"})
    task.to_csv(tmp_path / "names.csv", index=False)
    task.assign(task=[0, 14]).to_csv(tmp_path / "numbers.csv", index=False)
    task.assign(label=["same", "maybe"]).to_csv(tmp_path / "wrong.csv", index=False)
    with pytest.raises(ValueError, match=r"wrong.csv: row 2: label 'maybe' is unknown"):
        study.add_answers([tmp_path / "names.csv", tmp_path / "wrong.csv"])
    assert not study.has_answers()
    added = study.add_answers([tmp_path / "names.csv", tmp_path / "numbers.csv"])
    assert [(one.n_added, one.n_known) for one in added] == [(2, 0), (1, 1)]
