"""The record on disk: what is written is what is read, whole or not at all."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from bequec import AnswersError, QueryPlan, StudyError
from bequec.ask.store.answer_store import AnswerRecord
from bequec.ask.store.parquet import HEADER, ParquetRecord
from bequec.ask.tables import parse_table
from bequec.study.folder import Study


@pytest.fixture
def store(tmp_path):
    return ParquetRecord(tmp_path / "answers.parquet")


def some_answers(plan, n=200, seed=0):
    rng = np.random.default_rng(seed)
    left, right = plan.block_pairs(*plan.blocks[0])
    at = rng.integers(len(left), size=n)
    rows = pd.DataFrame(
        {
            "left": [plan.name(node) for node in left[at]],
            "right": [plan.name(node) for node in right[at]],
            "label": rng.choice(["same", "different", "unsure", str(1 / 3)], n),
            "n_answers": rng.choice(np.array(["3", None], dtype=object), n),
            "worker": rng.choice(["ann", "bob", ""], n),
            "sheet": rng.integers(9, size=n),
            "question": rng.integers(99, size=n),
            "seconds": rng.random(n).round(2),
            "answered_at": "2024-05-01T10:00:00Z",
            "mood": rng.choice(["tired", "gay"], n),
        }
    )
    return parse_table(rows, plan, unlisted="unanswered", outside="error")[0]


@pytest.mark.parametrize("names", [None, ["007", "7", "NA", "1e5", "ä b", "x|y"], [5, 3, 1, 0, 2, 4]])
def test_what_is_written_is_read_to_the_last_digit(store, names):
    plan = QueryPlan([0] * 6, [(0, 0)], names=names)
    table = some_answers(plan)
    store.write(AnswerRecord(table, "no"), plan)
    again, unlisted, sorts = store.read(plan)
    assert (unlisted, sorts) == ("no", None)
    pd.testing.assert_frame_equal(again.rows, table.rows, check_categorical=False)


def test_texts_are_written_once_and_numbers_as_numbers(store, two_villages):
    store.write(AnswerRecord(some_answers(two_villages), "unanswered"), two_villages)
    types = {field.name: str(field.type) for field in pq.read_schema(store.path)}
    for column in ("left", "right", "label", "worker", "sheet", "mood"):
        assert types[column].startswith("dictionary")
    assert [types[column] for column in ("n_answers", "question", "seconds")] == ["double", "int64", "double"]
    assert types["answered_at"].startswith("timestamp")


def with_header(path, header):
    stored = pq.read_table(path)
    pq.write_table(stored.replace_schema_metadata({**stored.schema.metadata, HEADER: json.dumps(header)}), path)


def test_a_file_of_a_later_version_or_of_somebody_else_is_refused(store, two_villages):
    store.write(AnswerRecord(some_answers(two_villages), "unanswered"), two_villages)
    with_header(store.path, {"format": "bequec answers", "version": 99})
    with pytest.raises(StudyError, match="version 99 of the bequec answers format, this bequec reads up to 2; update"):
        store.read(two_villages)
    with_header(store.path, {"format": "other", "version": 1, "unlisted": "no"})
    with pytest.raises(StudyError, match="is not a bequec answers file"):
        store.read(two_villages)
    pd.DataFrame({"left": ["ann"]}).to_parquet(store.path)
    with pytest.raises(StudyError, match=r"was not written by bequec .*restore it from a copy"):
        store.read(two_villages)
    store.path.write_bytes(b"left,right,label\n")
    with pytest.raises(StudyError, match=r"was not written by bequec .*restore it from a copy"):
        store.read(two_villages)


def test_a_record_of_another_plan_is_refused(store, two_villages):
    store.write(AnswerRecord(some_answers(two_villages), "unanswered"), two_villages)
    with pytest.raises(AnswersError, match=r"answers.parquet: row \d+: unknown node"):
        store.read(QueryPlan([0] * 6, [(0, 0)]))
    narrower = QueryPlan([0, 1, 1, 1, 1, 1], [(1, 1)], names=two_villages.names)
    with pytest.raises(AnswersError, match=r"answers.parquet: row \d+: the plan does not ask the pair"):
        store.read(narrower)


def test_writing_is_all_or_nothing(store, two_villages, monkeypatch):
    store.write(AnswerRecord(some_answers(two_villages), "unanswered"), two_villages)
    before = store.path.read_bytes()

    def fail(_table, path, **_options):
        path.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(OSError, match="no space"):
        store.write(AnswerRecord(some_answers(two_villages, seed=1), "unanswered"), two_villages)
    assert store.path.read_bytes() == before
    assert [path.name for path in store.path.parent.iterdir()] == ["answers.parquet"]


def test_the_record_of_one_study_can_be_handed_in_to_another(tmp_path, two_villages):
    """With everything that was said: unsure stays unsure."""
    items = pd.DataFrame({"name": two_villages.names})
    studies = [Study.create(tmp_path / name, two_villages, items, 2) for name in "ab"]
    rows = pd.DataFrame({"left": "ann", "right": ["bob", "cy"], "label": ["unsure", "0.5"], "worker": "w1"})
    rows.to_csv(tmp_path / "a.csv", index=False)
    studies[0].add_answers([tmp_path / "a.csv"])
    [added] = studies[1].add_answers([studies[0].path("answers.parquet")])
    assert (added.n_added, added.n_empty) == (2, 0)
    first, second = (pd.read_parquet(study.path("answers.parquet")) for study in studies)
    pd.testing.assert_frame_equal(first, second)
    assert first.label.tolist() == ["unsure", "0.5"]
    assert studies[1].answers(unsure="half").n_answers == 2
