"""The record of sorts: kept as sorts, nothing counted twice, nothing changed unasked, whole or not there."""

import json
import shutil
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bequec import Answers, AnswersError, QueryPlan, StudyError
from bequec.ask.answer_table import EMPTY
from bequec.ask.sort_files import parse_sorts
from bequec.ask.sort_records import merge_sorts
from bequec.ask.store.answer_store import AnswerRecord
from bequec.ask.store.parquet import HEADER, ParquetRecord
from bequec.ask.tables import parse_table
from bequec.simulate import simulate_people, simulate_sorts
from bequec.study.folder import Study

NAMES = ["ann", "bob", "cy", "dee", "eve", "fay"]
SIX = QueryPlan([0] * 6, [(0, 0)], names=NAMES)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["1", "02", "2", "late"]),
        st.sampled_from(["w1", "w2", ""]),
        st.sampled_from(NAMES),
        st.sampled_from(["a", "7", "ä b", ""]),
        st.sampled_from(["1.5", ""]),
        st.sampled_from(["2024-05-01T10:00:00Z", ""]),
        st.sampled_from(["tired", "gay", ""]),
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda row: (row[0].lstrip("0"), row[1], row[2]),
)
COLUMNS = ["sheet", "worker", "item", "pile", "seconds", "answered_at", "mood"]


def parsed(rows, plan=SIX):
    return parse_sorts(pd.DataFrame(rows, columns=COLUMNS[: len(rows[0])]), plan)[0]


def as_rows(sorts, plan=SIX):
    """The placements as a set of texts, however they are stored."""
    rows = sorts.to_frame(plan).astype(object)
    return set(rows[[c for c in COLUMNS if c in rows]].fillna("").astype(str).itertuples(index=False, name=None))


@pytest.fixture
def study(tmp_path):
    return Study.create(tmp_path / "s", SIX, pd.DataFrame({"name": NAMES}), 2)


def hand_in(study, rows, name="sorts.csv", **options):
    path = study.folder.parent / name
    columns = COLUMNS[: len(rows[0])]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return study.add_answers([path], **options)[0]


# --- merging -------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(ROWS, st.data())
def test_handing_in_again_changes_nothing_whatever_the_files_and_their_order(rows, data):
    rows = [(sheet, worker or "w3", *rest) for sheet, worker, *rest in rows]
    rows = list({(row[0].lstrip("0"), *row[1:3]): row for row in rows}.values())
    whole = parsed(rows)
    cut = data.draw(st.integers(1, len(rows)))
    again = data.draw(st.permutations(rows))
    record = merge_sorts(None, parsed(rows[:cut]), SIX).table
    for part in (rows, again, again[:cut]):
        record = merge_sorts(record, parsed(part), SIX).table
    assert len(record) == len(rows)
    assert as_rows(record) == as_rows(whole)
    merged = merge_sorts(record, whole, SIX)
    assert merged.table is record
    assert not merged.is_added.any()
    assert not merged.is_changed.any()


def test_not_sure_may_become_a_pile_and_a_pile_changes_only_on_request(study):
    first = [("1", "w1", "ann", "a"), ("1", "w1", "bob", "a"), ("1", "w1", "cy", "")]
    assert hand_in(study, first).n_added == 3
    filled = [*first[:2], ("1", "w1", "cy", "b"), ("1", "w1", "dee", "b")]
    assert hand_in(study, filled)[1:] == (1, 0, 2, 0, 1)  # added, empty, known, dropped, changed
    assert study.answers().n_answers == 6
    moved = [("1", "w1", "ann", "b")]
    with pytest.raises(
        AnswersError,
        match=r"sorts.csv: sheet 1, worker w1, item ann was on pile 'a' before and on pile 'b' now; "
        "one person has one sort per sheet, to correct it say replace=True",
    ):
        hand_in(study, moved)
    with pytest.raises(AnswersError, match="was on pile 'b' before and 'not sure' now"):
        hand_in(study, [*filled[:2], *first[2:]])
    before = study.answers()
    assert hand_in(study, moved, replace=True).n_changed == 1
    after = study.answers()
    assert after.n_answers == before.n_answers == 6
    assert after.yes.sum() / 2 == 3  # ann, cy and dee
    others = [("1", "w2", "ann", "a"), ("1", "w2", "bob", "b")]
    assert hand_in(study, others).n_added == 2
    assert study.answers().n_answers == 7


def test_files_of_one_hand_in_follow_each_other(study, tmp_path):
    for name, pile in (("one.csv", ""), ("two.csv", "a"), ("three.csv", "b")):
        rows = [("1", "w1", "ann", "a"), ("1", "w1", "bob", pile)]
        pd.DataFrame(rows, columns=COLUMNS[:4]).to_csv(tmp_path / name, index=False)
    with pytest.raises(AnswersError, match=r"three.csv: sheet 1, worker w1, item bob was on pile 'a' before"):
        study.add_answers([tmp_path / name for name in ("one.csv", "two.csv", "three.csv")])
    assert not study.has_answers()
    one, two = study.add_answers([tmp_path / "one.csv", tmp_path / "two.csv"])
    assert (one[1:], two[1:]) == ((2, 0, 0, 0, 0), (0, 0, 1, 0, 1))


def test_a_sheet_is_the_same_whether_its_worker_is_told_or_not(study):
    rows = [("1", "", "ann", "a"), ("1", "", "bob", "a")]
    hand_in(study, rows)
    told = [("01", "w1", *row[2:]) for row in rows]
    assert hand_in(study, [*told, ("01", "w1", "cy", "b")]).n_added == 1
    assert study.answers().n_answers == 3  # cy is on the same sheet
    assert hand_in(study, [("2", "w1", "ann", "a"), ("2", "w1", "dee", "a")]).n_added == 2
    assert hand_in(study, [("2", "", "ann", "a"), ("2", "", "dee", "a")]).n_known == 2
    with pytest.raises(AnswersError, match="if it is another person's sort say in a column worker whose each"):
        hand_in(study, [("1", "", "ann", "b")])


def test_sheets_still_to_be_filled_in_are_left_out(study):
    rows = [("1", "w1", "ann", ""), ("1", "w1", "bob", ""), ("2", "w1", "ann", "a"), ("2", "w1", "bob", "")]
    assert hand_in(study, rows)[1:] == (2, 2, 0, 0, 0)
    sorts = study.sorts()
    assert sorts is not None
    assert sorts.n_screens() == 1
    assert hand_in(study, [("1", "w1", "ann", "")], "empty.csv")[1:] == (0, 1, 0, 0, 0)


# --- on disk --------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(ROWS, st.sampled_from([None, "first", "twice"]))
def test_what_is_written_is_read(rows, mixed):
    names: list[object] = ["007", "7", "NA", "1e5", "ä b", "x|y"]
    plan = QueryPlan([0] * 6, [(0, 0)], names=names)
    rows = [(*row[:2], names[NAMES.index(row[2])], *row[3:]) for row in rows]
    sorts = parsed(rows, plan)
    said = pd.DataFrame({"left": ["7"], "right": ["NA"], "label": ["same"]})
    answers = parse_table(said, plan, unlisted="unanswered", outside="error")[0] if mixed else EMPTY
    with TemporaryDirectory() as folder:
        store = ParquetRecord(Path(folder) / "answers.parquet")
        for _ in range(2 if mixed == "twice" else 1):
            store.write(AnswerRecord(answers, "unanswered", sorts), plan)
        assert store.path.exists() == (mixed is not None)
        record = store.read(plan)
    assert record.unlisted == "unanswered"
    assert record.sorts is not None
    pd.testing.assert_frame_equal(record.sorts.rows, sorts.rows, check_categorical=False)
    assert as_rows(record.sorts, plan) == as_rows(sorts, plan)
    assert len(record.table) == len(answers)


@pytest.fixture
def both(study):
    """A study with answers to pairs and with sorts."""
    labels = np.arange(6) % 2
    simulate_people(labels, SIX, random_state=0).to_csv(study.folder.parent / "pairs.csv", index=False)
    simulate_sorts(labels, SIX, screen=4, rounds=3, unsure_rate=0.1, random_state=0).to_csv(
        study.folder.parent / "piles.csv", index=False
    )
    study.add_answers([study.folder.parent / "pairs.csv", study.folder.parent / "piles.csv"])
    return study


def test_sorts_are_kept_as_sorts_with_all_their_columns(study):
    rows = [("1", "w1", "ann", "a", "1.5", "2024-05-01T10:00:00Z", "gay"), ("1", "w1", "bob", "", "", "", "")]
    hand_in(study, rows)
    assert not study.path("answers.parquet").exists()
    kept = pd.read_parquet(study.path("sorts.parquet")).astype(object)
    assert sorted(kept.columns) == sorted(COLUMNS)
    assert kept["item"].tolist() == ["ann", "bob"]
    assert kept["pile"].isna().tolist() == [False, True]
    types = {field.name: str(field.type) for field in pq.read_schema(study.path("sorts.parquet"))}
    assert [types[name].split("<")[0] for name in ("sheet", "item", "pile", "worker")] == ["dictionary"] * 4
    assert types["seconds"] == "double"
    assert types["answered_at"].startswith("timestamp")


def test_a_study_counts_answers_and_sorts_together(both):
    pairs, piles = (pd.read_csv(both.folder.parent / f"{name}.csv") for name in ("pairs", "piles"))
    expected = Answers.from_tables(SIX, answers=pairs.astype(str), sorts=piles)
    answers = both.answers()
    assert (answers.yes != expected.yes).nnz == 0
    assert answers.n_answers == expected.n_answers > 15
    assert answers.table is not None
    assert answers.table.is_from_sort.sum() == answers.n_answers - 15
    piles_only = Answers.from_sorts(both.path("sorts.parquet"), SIX)
    assert (piles_only.yes != Answers.from_sorts(piles, SIX).yes).nnz == 0


def test_a_study_with_sorts_only_is_a_study_with_answers(study, tmp_path):
    assert not study.has_answers()
    assert study.sorts() is None
    hand_in(study, [("41", "w1", name, "a") for name in NAMES[:5]])
    assert study.has_answers()
    assert study.answers().n_answered_pairs == 10
    assert study.answers(unsure="half").n_answers == 10
    dealt = study.deal(3, np.random.default_rng(0))
    assert (dealt.n_questions, dealt.first_sheet) == (5, 42)  # sheets go on counting from the sorts'
    study.path("model.npz").touch()
    assert not study.model_is_older_than_answers()
    with pytest.raises(StudyError, match="already holds answers to another plan"):
        Study.create(study.folder, SIX, pd.DataFrame({"name": NAMES}), 2, overwrite=True)
    pd.DataFrame({"left": ["ann"], "right": ["bob"]}).to_csv(tmp_path / "edges.csv", index=False)
    with pytest.raises(StudyError, match="a graph and answers to questions cannot be mixed"):
        study.add_answers([tmp_path / "edges.csv"], unlisted="no")


def test_a_graph_and_sorts_do_not_mix(study, tmp_path):
    pd.DataFrame({"sheet": [1], "item": ["ann"], "pile": ["a"]}).to_csv(tmp_path / "sorts.csv", index=False)
    with pytest.raises(AnswersError, match=r"sorts.csv: this is a table of sorts, not a list of edges"):
        study.add_answers([tmp_path / "sorts.csv"], unlisted="no")
    pd.DataFrame({"left": ["ann"], "right": ["bob"]}).to_csv(tmp_path / "edges.csv", index=False)
    study.add_answers([tmp_path / "edges.csv"], unlisted="no", outside="drop")
    with pytest.raises(StudyError, match="holds a graph; a graph and answers to questions cannot be mixed"):
        study.add_answers([tmp_path / "sorts.csv"])


def test_pairs_that_an_extension_asks_are_answered_by_earlier_sorts(tmp_path):
    plan = QueryPlan([0, 0, 0, 1, 1, 1], [(0, 0)], names=NAMES)
    study = Study.create(tmp_path / "s", plan, pd.DataFrame({"name": NAMES}), 2)
    hand_in(study, [("1", "w1", name, "a") for name in NAMES])
    assert study.answers().n_answers == 3
    study.extend(plan.with_listed([(0, 3), (4, 5)]))
    assert study.answers().n_answers == 5


def test_the_record_of_one_study_can_be_handed_in_to_another(both, tmp_path):
    other = Study.create(tmp_path / "other", SIX, pd.DataFrame({"name": NAMES}), 2)
    added = other.add_answers([both.path("sorts.parquet"), both.path("answers.parquet")])
    assert [one.n_known for one in added] == [0, 0]
    for name in ("sorts.parquet", "answers.parquet"):
        pd.testing.assert_frame_equal(*(pd.read_parquet(study.path(name)) for study in (both, other)))
    assert [one.n_added for one in other.add_answers([both.path("sorts.parquet")])] == [0]


def with_header(path, header):
    stored = pq.read_table(path)
    pq.write_table(stored.replace_schema_metadata({**stored.schema.metadata, HEADER: json.dumps(header)}), path)


def test_sorts_of_a_later_version_or_of_somebody_else_are_refused(both):
    path = both.path("sorts.parquet")
    kept = path.read_bytes()
    with_header(path, {"format": "bequec sorts", "version": 2})
    with pytest.raises(StudyError, match="version 2 of the bequec sorts format, this bequec reads up to 1; update"):
        both.answers()
    with_header(path, {"format": "bequec answers", "version": 1, "unlisted": "unanswered"})
    with pytest.raises(StudyError, match=r"sorts.parquet is not a bequec sorts file"):
        both.answers()
    with_header(path, {"unlisted": "unanswered"})
    with pytest.raises(StudyError, match=r"sorts.parquet was not written by bequec .*restore it from a copy"):
        both.answers()
    path.write_bytes(b"sheet,item,pile\n")
    with pytest.raises(StudyError, match=r"sorts.parquet was not written by bequec"):
        both.answers()
    path.write_bytes(kept)
    both.store.write(both.store.read(SIX), SIX)
    with pytest.raises(AnswersError, match=r"sorts.parquet: row 1: unknown node"):
        ParquetRecord(both.path("none.parquet")).read(QueryPlan([0] * 6, [(0, 0)]))


def test_nothing_is_written_unless_all_of_it_can_be(both, monkeypatch, tmp_path):
    files = {name: both.path(name).read_bytes() for name in ("answers.parquet", "sorts.parquet")}
    write, n_written = pq.write_table, 0

    def fail_at_second(table, path, **options):
        nonlocal n_written
        n_written += 1
        write(table, path, **options)
        if n_written == 2:
            raise OSError("no space left on device")

    monkeypatch.setattr(pq, "write_table", fail_at_second)
    with pytest.raises(OSError, match="no space"):
        hand_in(both, [("99", "w1", "ann", "a"), ("99", "w1", "bob", "a")])
    assert n_written == 2
    assert {name: both.path(name).read_bytes() for name in files} == files
    assert [path for path in both.folder.iterdir() if path.name.startswith(".") and path.name != ".lock"] == []


def test_a_bad_row_is_found_in_its_file_and_refuses_everything(study, tmp_path):
    good = pd.DataFrame({"sheet": 1, "item": ["ann", "bob"], "pile": "a"})
    said = pd.DataFrame({"left": ["ann"], "right": ["bob"], "label": ["same"], "worker": "w"})
    tables = {
        "good.csv": good,
        "pairs.csv": said,
        "later.csv": good.assign(sheet=2),
        "unknown.csv": good.assign(sheet=3, item=["ann", "zoe"]),
        "twice.csv": good.assign(sheet=4, item="ann"),
        "nosheet.csv": good.drop(columns="sheet"),
    }
    for name, table in tables.items():
        table.to_csv(tmp_path / name, index=False)
    for bad, message in (
        ("unknown.csv", "row 2: unknown node 'zoe'"),
        ("twice.csv", "row 2: sheet 4, item ann is on this sheet a second time"),
        ("nosheet.csv", "the table has no column 'sheet'"),
    ):
        with pytest.raises(AnswersError, match=rf"{bad}: {message}"):
            study.add_answers([tmp_path / name for name in ("good.csv", "pairs.csv", "later.csv", bad)])
    assert not study.has_answers()
    added = study.add_answers([tmp_path / name for name in ("good.csv", "pairs.csv", "later.csv", "good.csv")])
    assert [(one.n_added, one.n_known) for one in added] == [(2, 0), (1, 0), (2, 0), (0, 2)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        [dropped] = study.add_answers([tmp_path / "unknown.csv"], outside="drop")
    assert dropped[1:] == (1, 0, 0, 1, 0)
    assert "dropped 1 of 2 rows of items" in str(told[0].message)


def test_a_study_of_an_earlier_version_opens_and_takes_sorts(tmp_path):
    folder = shutil.copytree(Path(__file__).parents[1] / "fixtures/0.1/sheets", tmp_path / "s")
    study = Study.open(folder)
    assert study.sorts() is None
    before = study.answers()
    names = [str(study.plan.name(node)) for node in range(4)]
    hand_in(study, [("501", "w1", name, "a") for name in names])
    after = study.answers()
    n_pairs = sum(study.plan.asks(np.array([i]), np.array([j]))[0] for i in range(4) for j in range(i))
    assert after.n_answers == before.n_answers + n_pairs
