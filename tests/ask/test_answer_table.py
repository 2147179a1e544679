import numpy as np
import pandas as pd
import pytest

from bequec import Answers, QueryPlan, ask_graph
from bequec.ask.answer_table import AnswerTable
from bequec.ask.tables import parse_table
from bequec.ask.typed_rows import concatenated


def parsed(plan, **columns):
    rows = pd.DataFrame({"left": "ann", "right": "bob", "label": "same", **columns})
    return parse_table(rows, plan, unlisted="unanswered", outside="error")[0]


def test_every_column_is_read_into_its_type(two_villages):
    table = parsed(
        two_villages,
        label=["same", "unsure", "0.25"],
        n_answers=["2", None, "1"],
        worker=["ann ", 7.0, ""],
        sheet=["01", "1", "x"],
        question=["0", "", "12"],
        seconds=["3.5", "", "2"],
        answered_at=["2024-05-01T10:00:00+02:00", "", "2024-05-01 11:30:00+02:00"],
        mood=["tired", "tired", " "],
    )
    rows = table.rows
    assert (table.left.tolist(), table.right.tolist()) == ([0] * 3, [1] * 3)
    np.testing.assert_array_equal(table.label, [1, np.nan, 0.25])
    np.testing.assert_array_equal(rows.n_answers, [2, np.nan, 1])
    assert table.n_answers.tolist() == [2, 1, 1]
    assert rows.worker.astype(object).fillna("?").tolist() == ["ann", "7", "?"]
    assert rows.sheet.tolist() == ["01", "1", "x"]
    assert (rows.question.dtype, rows.question.fillna(-1).tolist()) == (pd.Int64Dtype(), [0, -1, 12])
    np.testing.assert_array_equal(rows.seconds, [3.5, np.nan, 2])
    assert (rows.answered_at[2] - rows.answered_at[0]).total_seconds() == 90 * 60
    assert pd.isna(rows.answered_at[1])
    assert rows.mood.astype(object).fillna("?").tolist() == ["tired", "tired", "?"]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("seconds", ["3.5", "about 4"]),
        ("question", ["1", "q2"]),
        ("question", ["1", "2.5"]),
        ("answered_at", ["2024-05-01 10:00:00", "yesterday"]),
        ("answered_at", ["2024-05-01 10:00:00", "2024-02-31 10:00:00"]),
        ("answered_at", ["1714557600", "20240501"]),
    ],
)
def test_a_column_with_a_value_that_is_not_of_its_type_stays_as_it_was_written(two_villages, column, values):
    assert parsed(two_villages, **{column: values}).rows[column].tolist() == values


def test_a_column_in_which_nobody_wrote_is_missing_in_every_row(two_villages):
    rows = parsed(two_villages, **{name: ["", " "] for name in ("answered_at", "seconds", "question", "worker")}).rows
    assert rows.iloc[:, 4:].isna().all(axis=None)


def test_tables_are_joined_with_all_their_columns_and_nothing_is_lost_where_types_differ(two_villages):
    first = parsed(two_villages, seconds=["1.5"], worker=["ann"], question=["0"])
    second = parsed(two_villages, seconds=["about 4"], mood=["tired"], worker=["bob"])
    both = concatenated([first, second]).rows
    assert both.seconds.tolist() == ["1.5", "about 4"]
    assert both.worker.tolist() == ["ann", "bob"]
    assert both.question.fillna(-1).tolist() == [0, -1]
    assert both.mood.astype(object).fillna("?").tolist() == ["?", "tired"]


def test_answers_keep_the_table_that_they_are_the_sums_of(two_villages):
    said = pd.DataFrame({"left": "ann", "right": ["bob", "bob", "cy"], "label": ["yes", "no", "unsure"]})
    answers = Answers.from_table(said.assign(worker=["w1", "w2", "w1"]), two_villages)
    assert answers.table is not None
    assert answers.table.rows.worker.tolist() == ["w1", "w2", "w1"]
    assert answers.averaged().table is answers.table
    full = pd.DataFrame([("ann", "bob", "yes")] * 20, columns=["left", "right", "label"])
    assert Answers.from_table(full, two_villages).table is not None
    edges = Answers.from_table(said[["left", "right"]], two_villages, unlisted="no")
    assert edges.table is not None
    assert len(edges.table) == 2
    assert ask_graph(np.zeros((6, 6)), two_villages).table is None
    assert Answers.from_counts(two_villages, np.zeros((6, 6))).table is None


def test_a_table_is_written_in_words(two_villages):
    table = AnswerTable.of(np.array([0, 0, 1]), np.array([1, 2, 5]), np.array([0.0, np.nan, 1 / 3]))
    assert table.to_frame(two_villages).astype(object).values.tolist() == [
        ["ann", "bob", "different"],
        ["ann", "cy", "unsure"],
        ["bob", "fay", repr(1 / 3)],
    ]


def test_the_largest_sheet_is_found_among_other_names(two_villages):
    assert parsed(two_villages, sheet=["9", "010", "late"]).largest_sheet() == 10
    assert parsed(two_villages, sheet=["late"]).largest_sheet() == 0
    assert parsed(two_villages, mood=["tired"]).largest_sheet() == 0


def test_numbers_and_their_texts_are_the_same_name_unless_that_means_two_nodes():
    def pairs(names, left, right):
        plan = QueryPlan([0] * len(names), [(0, 0)], names=names)
        rows = pd.DataFrame({"left": [left], "right": [right], "label": "same"})
        answers = Answers.from_table(rows, plan)
        assert answers.table is not None
        return [answers.table.left[0], answers.table.right[0]]

    assert pairs([10, 20, "x"], "10", " 20") == [0, 1]
    assert pairs(["10", "20", "x"], 20, 10) == [1, 0]
    assert pairs([1, "1"], "1", 1) == [1, 0]
