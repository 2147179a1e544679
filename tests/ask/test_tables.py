import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bequec import Answers, AnswersError, QueryPlan, TableError
from bequec.plan.pairs import pair_numbers


def table(*rows, columns=("left", "right", "label")):
    return pd.DataFrame(rows, columns=list(columns))


def counts(answers):
    """{(left, right): (yes, total)} by name."""
    return {
        (row.left, row.right): (row.label * row.n_answers, row.n_answers) for row in answers.to_table().itertuples()
    }


@pytest.mark.parametrize(
    ("yes", "no"),
    [("same", "different"), ("yes", "no"), ("1", "0"), (1, 0), (True, False), ("TRUE ", "False"), (1.0, 0.0)],
)
def test_all_spellings_of_yes_and_no(two_villages, yes, no):
    answers = Answers.from_table(table(["ann", "bob", yes], ["eve", "ann", no]), two_villages)
    assert counts(answers) == {("ann", "bob"): (1, 1), ("ann", "eve"): (0, 1)}


def test_several_answers_add_up_whichever_way_round(two_villages):
    answers = Answers.from_table(
        table(["ann", "bob", "yes"], ["bob", "ann", "yes"], ["ann", "bob", "no"]), two_villages
    )
    assert counts(answers) == {("ann", "bob"): (2, 3)}


def test_unsure_is_no_answer_or_half_a_yes(two_villages):
    rows = table(["ann", "bob", "unsure"], ["ann", "cy", "same"])
    assert counts(Answers.from_table(rows, two_villages)) == {("ann", "cy"): (1, 1)}
    assert counts(Answers.from_table(rows, two_villages, unsure="half")) == {
        ("ann", "bob"): (0.5, 1),
        ("ann", "cy"): (1, 1),
    }


def test_edge_lists_make_every_other_asked_pair_a_no(two_villages):
    edges = table(["ann", "bob"], ["bob", "ann"], ["eve", "cy"], columns=["source", "target"])
    answers = Answers.from_table(edges, two_villages, unlisted="no")
    found = counts(answers)
    assert len(found) == two_villages.n_pairs
    assert {pair for pair, (yes, _) in found.items() if yes} == {("ann", "bob"), ("cy", "eve")}
    assert all(total == 1 for _, total in found.values())  # listed from both ends, it is one edge


def test_labelled_lists_with_unlisted_no(two_villages):
    rows = table(["ann", "bob", "yes"], ["ann", "bob", "no"], ["ann", "cy", "unsure"])
    found = counts(Answers.from_table(rows, two_villages, unlisted="no"))
    assert found["ann", "bob"] == (1, 2)
    assert ("ann", "cy") not in found
    assert found["bob", "cy"] == (0, 1)


def test_crowdkit_tasks_by_name_and_by_question_number(two_villages):
    named = table(["ann|bob", "w1", "same"], ["ann|bob", "w2", "different"], columns=["task", "worker", "label"])
    assert counts(Answers.from_table(named, two_villages)) == {("ann", "bob"): (1, 2)}
    number = int(pair_numbers(two_villages, np.array([0]), np.array([4]))[0])
    numbered = table([number, "w1", "same"], columns=["task", "worker", "label"])
    assert counts(Answers.from_table(numbered, two_villages)) == {("ann", "eve"): (1, 1)}


def test_pairs_outside_the_plan_are_dropped_only_on_request_and_with_a_word(two_villages):
    rows = table(["dee", "eve", "yes"], ["ann", "bob", "yes"])
    with pytest.raises(
        AnswersError, match=r"row 1: the plan does not ask the pair \(dee, eve\): it is in block \(B, B\)"
    ):
        Answers.from_table(rows, two_villages)
    with pytest.warns(UserWarning, match="dropped 1 of 2 rows that the plan does not ask"):
        answers = Answers.from_table(rows, two_villages, outside="drop")
    assert counts(answers) == {("ann", "bob"): (1, 1)}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".tsv"])
def test_files_of_every_kind_are_read(tmp_path, two_villages, suffix):
    rows = table(["ann", "bob", "same"], ["cy", "fay", "different"])
    path = tmp_path / f"answers{suffix}"
    if suffix == ".parquet":
        rows.to_parquet(path)
    else:
        rows.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    assert counts(Answers.from_table(path, two_villages)) == {("ann", "bob"): (1, 1), ("cy", "fay"): (0, 1)}


def test_names_that_look_like_other_things_stay_names(tmp_path):
    plan = QueryPlan([0, 0, 0, 0], [(0, 0)], names=["007", "7", "NA", "1e5"])
    path = tmp_path / "answers.csv"
    path.write_text("left,right,label\n007,7,yes\nNA,1e5,no\n", encoding="utf-8")
    assert counts(Answers.from_table(path, plan)) == {("007", "7"): (1, 1), ("NA", "1e5"): (0, 1)}


@given(st.data())
def test_tables_go_out_and_come_back(data):
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    group_of = np.repeat(np.arange(len(sizes)), sizes)
    names = [f"item {i}" for i in range(len(group_of))] if data.draw(st.booleans()) else None
    plan = QueryPlan(group_of, np.ones((len(sizes), len(sizes)), dtype=bool), names)
    if plan.n_pairs == 0:
        return
    totals, yes = np.zeros((2, plan.n_nodes, plan.n_nodes))
    for i in range(plan.n_nodes):
        for j in range(i):
            totals[i, j] = totals[j, i] = data.draw(st.integers(0, 3))
            yes[i, j] = yes[j, i] = data.draw(st.integers(0, int(totals[i, j])))
    answers = Answers.from_counts(plan, yes, totals)
    if answers.n_answers == 0:
        return
    again = Answers.from_table(answers.to_table(), plan)
    np.testing.assert_allclose(again.yes.toarray(), answers.yes.toarray(), atol=1e-12)
    for l, m in plan.blocks:
        np.testing.assert_allclose(again.block_totals(l, m), answers.block_totals(l, m))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            table(["ann", "zoe", "yes"]),
            r"row 1: unknown node 'zoe' \(1 unknown in all\); the plan's 6 nodes are ann, bob",
        ),
        (table(["ann", "ann", "yes"]), "row 1: ann is paired with itself .*remove it"),
        (table(["ann", "bob", "maybe"]), "row 1: label 'maybe' is unknown .1 such rows.; use same/different/unsure"),
        (table(["ann", "bob", 1.5]), "row 1: label '1.5' is unknown"),
        (table(["ann", "bob", -1]), "row 1: label '-1' is unknown"),
        (table(["ann", "bob", np.inf]), "row 1: label 'inf' is unknown"),
        (table(["ann", "bob", "yes"], ["ann", "cy", np.nan]), "row 2: label is empty .*answer it, write 'unsure'"),
        (table(["ann", "bob", "yes"], ["ann", "cy", ""]), "row 2: label is empty"),
        (table(["ann", None, "yes"]), "row 1: right is empty"),
        (table(["ann", "bob"], columns=["left", "right"]), "no column 'label' .*unlisted=\"no\""),
        (
            table(["ann", "bob", "yes"], columns=["a", "b", "label"]),
            "has the columns a, b, label; it needs left, right",
        ),
        (table(["ann", "yes"], columns=["task", "label"]), "row 1: task 'ann' names no pair"),
        (
            table(["ann|bob", "yes"], ["ann-cy", "no"], columns=["task", "label"]),
            "row 2: task 'ann-cy' names no pair; use 'left|right'",
        ),
        (table(["ann|", "yes"], columns=["task", "label"]), "row 1: task is empty .*name both items"),
        (table(["ann|zoe", "yes"], columns=["task", "label"]), "row 1: unknown node 'zoe'"),
        (table([1, "yes"], [999, "yes"], columns=["task", "label"]), "row 2: task '999' is no question of the plan"),
        (
            table(["ann", "bob", 1, 0], columns=["left", "right", "label", "n_answers"]),
            "n_answers is .*0.*positive number",
        ),
        (table(), "the table has no rows"),
    ],
)
def test_bad_rows_are_named(two_villages, rows, message):
    with pytest.raises(AnswersError, match=message):
        Answers.from_table(rows, two_villages)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "is empty; it needs a header line"),
        ("latin.csv", "left,right,label\nJosé,bob,yes\n".encode("latin-1"), "is not UTF-8 text"),
        ("utf16.csv", "left,right,label\nann,bob,yes\n".encode("utf-16"), "is not UTF-8 text"),
        ("ragged.csv", b'left,right,label\nann,bob,yes,no,"maybe\n', "is not a table"),
        ("twice.csv", b"left,right,label,label\nann,bob,yes,no\n", "has several columns 'label'; keep one"),
        ("not.parquet", b"left,right,label\n", "is not a Parquet file|cannot read"),
    ],
)
def test_broken_files_are_refused(tmp_path, two_villages, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=message):
        Answers.from_table(tmp_path / name, two_villages)


def test_missing_files_and_unknown_choices_are_named(tmp_path, two_villages):
    with pytest.raises(TableError, match=r"cannot read .*gone.csv: No such file or directory; check the path"):
        Answers.from_table(tmp_path / "gone.csv", two_villages)
    for option in ("unlisted", "unsure", "outside"):
        with pytest.raises(AnswersError, match=f"{option}='perhaps' is unknown; choose one of"):
            Answers.from_table(table(["ann", "bob", "yes"]), two_villages, **{option: "perhaps"})  # type: ignore[arg-type]
