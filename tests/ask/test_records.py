"""Answers handed in file by file: nothing depends on how they came, and no row is looked at by itself."""

import sys
from collections import Counter
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest

from bequec import Answers, AnswersError, QueryPlan
from bequec.ask import keys, records
from bequec.ask.handed_in import read_handed_in
from bequec.ask.keys import first_rows
from bequec.ask.records import merge
from bequec.ask.tables import parse_table
from bequec.ask.typed_rows import concatenated
from bequec.study.folder import Study

FOUR = QueryPlan([0] * 4, [(0, 0)], names=["a", "b", "c", "d"])


def answer_table(rows, plan=FOUR):
    return parse_table(pd.DataFrame(rows), plan, unlisted="unanswered", outside="error")[0]


def said(label, *, pair="ab", **given):
    return {"left": pair[0], "right": pair[1], "label": label, **given}


def handed_in_one_by_one(files, *, replace=False):
    """The record after these files, each a list of rows, and (added, changed) of each."""
    record, counts = None, []
    for rows in files:
        merged = merge(record, answer_table(rows), FOUR, replace=replace)
        record = merged.table
        counts.append((int(merged.is_added.sum()), int(merged.is_changed.sum())))
    return record, counts


def labels(table):
    return [None if np.isnan(label) else label for label in table.label]


def random_rows(rng, n, *, contradictions):
    rows = pd.DataFrame({"left": rng.choice(["a", "b", "c"], n), "right": "d"})
    rows["sheet"] = rng.choice(["1", "2", "01", None], n)
    rows["worker"] = rng.choice(["ann", "bob", None], n)
    rows["n_answers"] = rng.choice([np.nan, 1.0], n, p=[0.8, 0.2])
    rows["label"] = rng.choice(["same", "different", "unsure"], n)
    if not contradictions:  # only rows that do not say whose they are may differ
        given = rows[["sheet", "worker", "n_answers"]].notna().any(axis=1)
        rows.loc[given, "label"] = "same"
    return rows


def held_by(table, n_recorded, files, *, replace):
    """What ``first_rows`` gives, row after row as the rules are told."""
    sheets = [None if pd.isna(sheet) else sheet.lstrip("0") for sheet in table.texts("sheet")]
    workers = [None if pd.isna(worker) else worker for worker in table.texts("worker")]
    pairs = [tuple(sorted(pair)) for pair in zip(table.left.tolist(), table.right.tolist(), strict=True)]
    words = [str(label) for label in table.label]
    holders: list[int] = []
    held: list[int] = []
    unnamed: dict[Any, int] = {}
    seen: Counter[Any] = Counter()
    last_file = -1
    in_file = Counter((file, pairs[row], words[row]) for row, file in enumerate(files) if anonymous(table, row))
    for row, (pair, worker, sheet, file) in enumerate(zip(pairs, workers, sheets, files, strict=True)):
        if file != last_file:
            seen, last_file = Counter(), file
        known = None
        if worker:
            same = [h for h in holders if pairs[h] == pair and workers[h] == worker]
            known = next((h for h in same if sheets[h] == sheet), next(iter(same), None))
        if known is None and sheet:
            of_sheet = [h for h in holders if pairs[h] == pair and sheets[h] == sheet]
            known = next((h for h in of_sheet if not worker or not workers[h]), None)
        if not worker and not sheet and table.says_n_answers[row]:
            known = next((h for h in holders if pairs[h] == pair and sum_of_a_pair(table, h)), None)
        elif not worker and not sheet:
            about = pair if replace else (pair, words[row])
            seen[about] += 1
            key = (about, seen[about])
            known = unnamed.get(key)
            if known is None and not replace and words[row] != "nan":
                spare = [k for k in unnamed if k[0] == (pair, "nan") and k[1] > in_file[file, pair, "nan"]]
                if spare and row >= n_recorded:
                    known = unnamed.pop(max(spare))
            unnamed[key] = row if known is None else known
        if row < n_recorded or known is None:
            known = row
            holders.append(row)
        held.append(known)
    return held


def anonymous(table, row):
    return pd.isna(table.texts("sheet")[row]) and pd.isna(table.texts("worker")[row]) and not table.says_n_answers[row]


def sum_of_a_pair(table, row):
    return pd.isna(table.texts("sheet")[row]) and pd.isna(table.texts("worker")[row]) and table.says_n_answers[row]


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("n_recorded", [0, 12])
def test_the_keys_say_of_every_row_what_the_rules_say_row_after_row(replace, n_recorded):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        table = answer_table(random_rows(rng, 36, contradictions=True))
        files = np.repeat([0, 1, 2], 12)
        expected = held_by(table, n_recorded, files, replace=replace)
        assert first_rows(table, n_recorded, files, replace=replace).tolist() == expected


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_all_at_once_or_with_a_stop_between_gives_the_same_record(seed, replace):
    rng = np.random.default_rng(seed)
    files = [random_rows(rng, 12, contradictions=replace) for _ in range(4)]
    stepwise, counts = handed_in_one_by_one(files, replace=replace)
    tables = [answer_table(rows) for rows in files]
    file_of_row = np.repeat(np.arange(4), 12)
    together = merge(None, concatenated(tables), FOUR, file_of_row=file_of_row, replace=replace)
    pd.testing.assert_frame_equal(together.table.to_frame(FOUR), stepwise.to_frame(FOUR))
    added, changed = (np.bincount(file_of_row[rows], minlength=4).tolist() for rows in together[1:])
    assert list(zip(added, changed, strict=True)) == counts


@pytest.mark.parametrize("seed", range(20))
def test_a_file_that_is_handed_in_again_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    record, _ = handed_in_one_by_one([random_rows(rng, 20, contradictions=False)])
    rows = random_rows(rng, 20, contradictions=False)
    once, _ = handed_in_one_by_one([record.to_frame(FOUR), rows])
    twice, counts = handed_in_one_by_one([record.to_frame(FOUR), rows, rows])
    assert counts[-1] == (0, 0)
    pd.testing.assert_frame_equal(once.rows, twice.rows)


def test_one_person_has_one_answer_per_pair_on_however_many_sheets():
    ann = {"worker": "ann"}
    record, counts = handed_in_one_by_one([[said("same", sheet="1", **ann)], [said("same", sheet="2", **ann)]])
    assert (len(record), counts) == (1, [(1, 0), (0, 0)])
    told = r"sheet 2, worker ann, pair \(a, b\) was answered 'same' before and 'different' now; one person has one ans"
    with pytest.raises(AnswersError, match=told):
        merge(record, answer_table([said("different", sheet="2", **ann)]), FOUR)
    changed = merge(record, answer_table([said("different", sheet="2", **ann)]), FOUR, replace=True)
    assert labels(changed.table) == [0.0]


def test_answers_of_one_person_that_an_earlier_version_took_twice_stay_and_are_known():
    """Version 0.1 knew an answer by pair, sheet and worker."""
    before = answer_table([said("same", sheet="1", worker="ann"), said("different", sheet="2", worker="ann")])
    again = merge(before, before, FOUR)
    assert labels(again.table) == [1.0, 0.0]
    assert not again.is_added.any()
    third = merge(before, answer_table([said("same", sheet="3", worker="ann")]), FOUR)
    assert not third.is_added.any()


def test_a_sheet_is_the_same_sheet_whether_its_worker_is_told_or_not():
    sheet, named = said("same", sheet="1"), said("same", sheet="01", worker="ann")
    for first, second in ((sheet, named), (named, sheet)):
        _, counts = handed_in_one_by_one([[first], [second]])
        assert counts == [(1, 0), (0, 0)]
    bob = said("same", sheet="1", worker="bob")
    assert handed_in_one_by_one([[sheet], [named], [bob]])[1] == [(1, 0), (0, 0), (0, 0)]
    assert handed_in_one_by_one([[named], [bob]])[1] == [(1, 0), (1, 0)]
    assert handed_in_one_by_one([[said("same")], [sheet]])[1] == [(1, 0), (1, 0)]


def test_a_row_that_stands_for_one_answer_says_the_same_as_one_that_does_not_say_for_how_many():
    silent, stated = said("same", worker="ann"), said("same", worker="ann", n_answers=1)
    assert handed_in_one_by_one([[silent], [stated]])[1] == [(1, 0), (0, 0)]


def test_unsure_rows_of_nobody_become_answers_only_from_file_to_file():
    """Two rows in one file are two answers; the same file filled in further is the same rows."""
    both = [said("unsure"), said("same")]
    assert labels(handed_in_one_by_one([both])[0]) == [None, 1.0]
    record, counts = handed_in_one_by_one([[said("unsure"), said("unsure")], [said("unsure"), said("same")]])
    assert (labels(record), counts) == ([None, 1.0], [(2, 0), (0, 1)])
    record, counts = handed_in_one_by_one([[said("unsure")], both])
    assert (labels(record), counts) == ([None, 1.0], [(1, 0), (1, 0)])


def test_what_agrees_to_twelve_decimals_is_the_same_similarity():
    """Version 0.1 wrote no more."""
    assert handed_in_one_by_one([[said("0.333333333333")], [said(str(1 / 3))]])[1] == [(1, 0), (0, 0)]


def test_a_change_keeps_who_and_where_and_the_latest_answer_counts():
    first = [said("unsure", worker="ann", mood="tired"), said("same", pair="cd", worker="ann")]
    then = [said("different", pair="ba", worker="ann"), said("same", worker="ann")]
    record, counts = handed_in_one_by_one([first, then], replace=True)
    assert counts == [(2, 0), (0, 2)]
    assert record.to_frame(FOUR).astype(object).values.tolist() == [
        ["a", "b", "same", "ann", "tired"],
        ["c", "d", "same", "ann", np.nan],
    ]


def steps_of(work):
    """How many lines of the two modules run: a measure of the work that no machine changes."""
    n_steps = 0

    def count(frame, event, _argument):
        nonlocal n_steps
        if frame.f_code.co_filename not in (records.__file__, keys.__file__):
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


@pytest.mark.parametrize("given", [{"sheet": "1"}, {"worker": "ann"}, {}])
def test_no_step_is_taken_row_by_row_or_file_by_file(given):
    def tables(n_rows):
        plan = QueryPlan([0] * n_rows, [(0, 0)])
        rows = pd.DataFrame({"left": range(n_rows - 1), "right": range(1, n_rows), "label": "same", **given})
        table = answer_table(rows.assign(label=["unsure", *["same"] * (n_rows - 2)]), plan)
        return plan, table, answer_table(rows, plan)

    def work(n_rows):
        plan, record, new = tables(n_rows)
        return lambda: merge(record, new, plan, file_of_row=np.arange(len(new)))

    few, many = steps_of(work(10)), steps_of(work(1000))
    assert many == few


def test_sheets_that_look_alike_are_checked_together(tmp_path, monkeypatch):
    plan = QueryPlan([0] * 6, [(0, 0)])
    for number in range(5):
        path = tmp_path / f"{number}.csv"
        pd.DataFrame({"left": [number], "right": [number + 1], "label": ["same"]}).to_csv(path, index=False)
    counted = MagicMock(wraps=parse_table)
    monkeypatch.setattr("bequec.ask.handed_in.parse_table", counted)
    shown = []
    files = sorted(tmp_path.glob("*.csv"))
    handed = read_handed_in(files, plan, unlisted="unanswered", outside="error", progress=lambda *at: shown.append(at))
    assert handed.file_of_row.tolist() == list(range(5))
    assert counted.call_count == 1
    assert shown == [("reading answers", done, 5) for done in range(1, 6)]


def test_a_bad_row_is_found_in_its_file_and_tasks_may_be_names_or_numbers(tmp_path):
    plan = QueryPlan([0] * 6, [(0, 0)])
    study = Study.create(tmp_path / "s", plan, pd.DataFrame({"name": range(6)}), 2)
    task = pd.DataFrame({"task": ["0|1", "2|3"], "worker": "ann", "label": "same"})
    task.to_csv(tmp_path / "names.csv", index=False)
    task.assign(task=[0, 14]).to_csv(tmp_path / "numbers.csv", index=False)
    task.assign(label=["same", "maybe"]).to_csv(tmp_path / "wrong.csv", index=False)
    task.assign(label="different").to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(ValueError, match=r"wrong.csv: row 2: label 'maybe' is unknown"):
        study.add_answers([tmp_path / "names.csv", tmp_path / "wrong.csv"])
    with pytest.raises(ValueError, match=r"other.csv: worker ann, pair \(0, 1\) was answered 'same' before"):
        study.add_answers([tmp_path / "names.csv", tmp_path / "other.csv"])
    assert not study.has_answers()
    added = study.add_answers([tmp_path / "names.csv", tmp_path / "numbers.csv"])
    assert [(one.n_added, one.n_known) for one in added] == [(2, 0), (1, 1)]


def test_each_file_says_what_came_of_its_own_rows(tmp_path):
    plan = QueryPlan([0, 0, 0, 1], [(0, 0)])
    study = Study.create(tmp_path / "s", plan, pd.DataFrame({"name": range(4)}), 2)
    rows = pd.DataFrame({"left": [0, 0, 1], "right": [1, 2, 3], "label": ["same", "", "same"], "worker": "ann"})
    rows.to_csv(tmp_path / "one.csv", index=False)
    rows.assign(label=["different", "same", ""]).to_csv(tmp_path / "two.csv", index=False)
    with pytest.warns(UserWarning, match="dropped 1 of 4 rows"):
        one, two = study.add_answers([tmp_path / "one.csv", tmp_path / "two.csv"], outside="drop", replace=True)
    assert one[1:] == (1, 1, 0, 1, 0)  # added, without a label, known, dropped, changed
    assert two[1:] == (1, 1, 0, 0, 1)
    assert Answers.from_table(study.path("answers.parquet"), plan).n_answers == 2
