"""Sorts as answers to pairs, against a plain loop over all pairs."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bequec import Answers, AnswersError, QueryPlan
from bequec.ask import sorts as module
from bequec.simulate import simulate_sorts

NAMES = ["ann", "bob", "cy", "dee", "eve", "fay"]


def block_plan(n=30, **options):
    return QueryPlan(np.arange(n) % 4, [(0, 0), (0, 1), (2, 3)], names=[f"p{i}" for i in range(n)], **options)


PLANS = {
    "blocks": block_plan(),
    "blocks, pairs that cannot be asked, single pairs": block_plan(unaskable=[(0, 4), (1, 4)], listed=[(1, 2), (1, 5)]),
    "single pairs": QueryPlan(
        np.arange(30) % 4, [], [f"p{i}" for i in range(30)], listed=[(i, (7 * i + 1) % 30) for i in range(29)]
    ),
}


def pairs_by_hand(table, plan):
    """(person, pair) -> (label, sheet), row after row; a later sheet overwrites an earlier one."""
    asked = set()
    for left, right in plan.pairs():
        asked |= {frozenset(pair) for pair in zip(left.tolist(), right.tolist(), strict=True)}
    node = {str(plan.name(i)): i for i in range(plan.n_nodes)}
    rows = table.fillna({"worker": ""}) if "worker" in table else table.assign(worker="")
    said = {}
    for (sheet, worker), screen in rows.groupby(["sheet", "worker"], sort=False):
        placed = screen[screen.pile.fillna("").astype(str) != ""]
        for (i, a), (j, b) in itertools.combinations(zip(placed["item"], placed.pile, strict=True), 2):
            pair = frozenset((node[str(i)], node[str(j)]))
            if pair in asked:
                said[worker or ("sheet", sheet), pair] = (float(a == b), str(sheet))
    return said


def texts(table, column):
    return ["" if pd.isna(text) else text for text in table.texts(column)]


def assert_as_by_hand(answers, table, plan):
    said = pairs_by_hand(table, plan)
    rows = answers.table.rows
    persons = [name or ("sheet", int(on)) for name, on in zip(texts(answers.table, "worker"), rows.sheet, strict=True)]
    pairs = [frozenset(pair) for pair in zip(rows.left.tolist(), rows.right.tolist(), strict=True)]
    found = dict(zip(zip(persons, pairs, strict=True), zip(rows.label, rows.sheet, strict=True), strict=True))
    assert len(found) == len(rows)  # one answer per person and pair
    assert found == said
    assert rows.sorted.all()
    assert rows.sorted.dtype == bool
    total = np.zeros((plan.n_nodes, plan.n_nodes))
    yes = np.zeros_like(total)
    for (_, pair), (label, _) in said.items():
        i, j = plan.position_of[list(pair)]
        total[[i, j], [j, i]] += 1
        yes[[i, j], [j, i]] += label
    np.testing.assert_array_equal(answers.yes.toarray(), yes)
    i, j = np.triu_indices(plan.n_nodes, k=1)
    asked = plan.asks(i, j)
    np.testing.assert_array_equal(
        answers.totals_of(i[asked], j[asked]), total[plan.position_of[i[asked]], plan.position_of[j[asked]]]
    )


@pytest.mark.parametrize("pairs_at_once", [1, 50, 10**6])
@pytest.mark.parametrize("with_worker", [True, False])
@pytest.mark.parametrize("plan", PLANS.values(), ids=list(PLANS))
def test_pairs_of_sorts_are_those_of_a_loop_over_all_pairs(plan, with_worker, pairs_at_once, monkeypatch):
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", pairs_at_once)
    truth = np.arange(30) % 3
    table = simulate_sorts(truth, plan, screen=8, rounds=6, people=3, unsure_rate=0.1, random_state=5)
    if not with_worker:
        table = table.drop(columns="worker")
    answers = Answers.from_sorts(table, plan)
    assert answers.n_answered_pairs > 0
    assert_as_by_hand(answers, table, plan)


rows_of_sorts = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["w1", "w2", ""]),
        st.integers(0, 29).map("p{}".format),
        st.sampled_from(["a", "b", ""]),
    ),
    min_size=1,
    max_size=60,
    unique_by=lambda row: row[:3],
)


@given(rows=rows_of_sorts, plan=st.sampled_from(list(PLANS.values())))
def test_any_sorts_give_the_pairs_of_the_loop(rows, plan):
    # Screens in the order in which they are first met, as the loop takes them.
    table = pd.DataFrame(rows, columns=["sheet", "worker", "item", "pile"])
    assert_as_by_hand(Answers.from_sorts(table, plan), table, plan)


def piles(*rows, columns=("sheet", "item", "pile"), **further):
    return pd.DataFrame(rows, columns=list(columns)).assign(**further)


def labels(answers):
    """(left, right) -> label of every row of the table, by names."""
    said = answers.table.to_frame(answers.plan)
    return {tuple(sorted(pair)): label for *pair, label in said[["left", "right", "label"]].itertuples(index=False)}


@pytest.fixture
def everybody():
    return QueryPlan([0] * 6, [(0, 0)], names=NAMES)


def test_a_pile_means_something_only_on_its_own_sheet_and_to_its_own_worker(everybody):
    table = piles(
        (1, "ann", "a"), (1, "bob", "a"), (2, "cy", "a"), (2, "dee", "b"), columns=("sheet", "item", "pile"), worker="w"
    )
    assert labels(Answers.from_sorts(table, everybody)) == {("ann", "bob"): "same", ("cy", "dee"): "different"}
    by_two = piles((1, "ann", "a", "w1"), (1, "bob", "a", "w2"), columns=("sheet", "item", "pile", "worker"))
    assert Answers.from_sorts(by_two, everybody).n_answers == 0


def test_an_item_that_somebody_is_not_sure_of_is_unanswered(everybody):
    table = piles((1, "ann", "a"), (1, "bob", None), (1, "cy", " "), (1, "dee", "a"))
    answers = Answers.from_sorts(table, everybody)
    assert labels(answers) == {("ann", "dee"): "same"}
    assert answers.n_answered_pairs == 1


def test_a_pair_that_one_person_meets_twice_counts_once_as_on_the_last_sheet(everybody):
    first, second = piles((1, "ann", "a"), (1, "bob", "a")), piles((2, "ann", "a"), (2, "bob", "b"))
    table = pd.concat([first, second], ignore_index=True)
    once = Answers.from_sorts(table.assign(worker="w"), everybody)
    assert labels(once) == {("ann", "bob"): "different"}
    assert once.n_answers == 1
    assert once.table is not None
    assert once.table.rows.sheet.tolist() == ["2"]
    assert Answers.from_sorts(table, everybody).n_answers == 2  # without a worker the sheet is the person
    assert Answers.from_sorts(table.assign(worker=["w", "w", "v", "v"]), everybody).n_answers == 2
    times = ["2024-05-02T10:00:00Z", "2024-05-02T10:00:09Z", "2024-05-01T10:00:00Z", "2024-05-01T10:00:09Z"]
    timed = Answers.from_sorts(table.assign(worker="w", answered_at=times), everybody)
    assert labels(timed) == {("ann", "bob"): "same"}
    unsure_later = table.assign(worker="w", pile=["a", "a", "a", ""])
    assert labels(Answers.from_sorts(unsure_later, everybody)) == {("ann", "bob"): "same"}


def test_pairs_that_the_plan_does_not_ask_stay_in_the_sort_but_do_not_count(two_villages):
    table = piles(*((1, name, "a") for name in NAMES))
    answers = Answers.from_sorts(table, two_villages)
    assert answers.n_answers == answers.n_answered_pairs == two_villages.n_pairs == 12
    assert Answers.from_sorts(table.iloc[3:], two_villages).n_answers == 0


def test_sheet_01_is_sheet_1_and_7_point_0_is_7(everybody):
    table = piles(("01", "ann", "7"), ("1", "bob", "7.0"))
    assert labels(Answers.from_sorts(table, everybody)) == {("ann", "bob"): "same"}


def test_sorts_and_answers_to_pairs_add_up_and_stay_apart(everybody):
    sorts = piles((3, "ann", "a"), (3, "bob", "a"), (3, "cy", "b"), worker="w1")
    said = pd.DataFrame({"left": ["bob", "ann"], "right": "ann", "label": "same", "worker": ["w2", "w3"]})
    said["right"] = ["ann", "eve"]
    answers = Answers.from_tables(everybody, answers=said.assign(mood="gay"), sorts=sorts)
    assert answers.n_answers == 5
    assert answers.totals_of(np.array([0]), np.array([1])) == 2
    table = answers.table
    assert table is not None
    assert table.is_from_sort.tolist() == table.rows.sorted.tolist() == [False, False, True, True, True]
    assert texts(table, "worker") == ["w2", "w3", "w1", "w1", "w1"]
    assert texts(table, "sheet") == ["", "", "3", "3", "3"]
    assert texts(table, "mood") == ["gay", "gay", "", "", ""]
    only = Answers.from_tables(everybody, answers=said)
    assert only.table is not None
    assert not only.table.is_from_sort.any()
    assert (only.yes != Answers.from_table(said, everybody).yes).nnz == 0


def test_what_a_worker_said_of_the_pair_itself_counts_and_not_their_piles(everybody):
    sorts = piles((1, "ann", "a"), (1, "bob", "a"), (1, "cy", "a"), worker="w1")
    said = pd.DataFrame({"left": ["bob", "ann"], "right": ["ann", "cy"], "label": ["different", "unsure"]})
    answers = Answers.from_tables(everybody, answers=said.assign(worker="w1"), sorts=sorts, unsure="half")
    assert labels(answers) == {("ann", "bob"): "different", ("ann", "cy"): "same", ("bob", "cy"): "same"}
    assert answers.n_answers == 3
    for others in (said.assign(worker="w2"), said, said.assign(sheet=1)):
        assert Answers.from_tables(everybody, answers=others, sorts=sorts).n_answers == 4


def test_a_files_own_column_sorted_is_not_taken_for_ours(everybody):
    said = pd.DataFrame({"left": ["ann"], "right": ["bob"], "label": ["same"], "sorted": ["True"]})
    answers = Answers.from_table(said, everybody)
    assert answers.table is not None
    assert answers.table.is_from_sort.tolist() == [False]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_of_sorts_are_read(everybody, tmp_path, suffix):
    table = simulate_sorts(np.arange(6) % 2, NAMES, unsure_rate=0.2, rounds=3, random_state=0)
    path = tmp_path / f"sorts.{suffix}"
    write = {"csv": table.to_csv, "parquet": table.to_parquet}[suffix]
    write(path, index=False)
    again, direct = Answers.from_sorts(path, everybody), Answers.from_sorts(table, everybody)
    assert (again.yes != direct.yes).nnz == 0
    assert again.n_answers == direct.n_answers > 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (piles((1, "ann", "a"), (1, "zoe", "a")), r"row 2: unknown node 'zoe' \(1 unknown in all\).*outside=\"drop\""),
        (piles((1, "ann", "a"), (1, "bob", "a"), (1, "ann", "b")), r"row 3: sheet 1, item ann is on this sheet a sec"),
        (piles((1, "ann", "a"), (1, "ann", "b"), worker="w1"), "row 2: sheet 1, worker w1, item ann is on this sheet"),
        (piles(("", "ann", "a")), r"row 1: sheet is empty \(1 such rows\); say on which sheet"),
        (piles((1, None, "a")), r"row 1: item is empty \(1 such rows\); name the item"),
        (piles((1, "ann", "a")).drop(columns="sheet"), r"no column 'sheet' \(its columns are item, pile\); sorts need"),
        (piles((1, "ann", "a")).iloc[:0], "the table has no rows; give one row per item and sheet"),
        ([1, 2], "expected a pandas DataFrame or the path of a table, got list"),
    ],
)
def test_sorts_that_cannot_be_read_are_refused(everybody, table, message):
    with pytest.raises(AnswersError, match=message):
        Answers.from_sorts(table, everybody)


def test_sorts_handed_in_as_pairs_are_refused_with_a_word(everybody):
    with pytest.raises(AnswersError, match=r"it needs left, right and label .*; sorts are read by Answers.from_sorts"):
        Answers.from_table(piles((1, "ann", "a")), everybody)


def test_nothing_to_count_and_unknown_choices_are_refused(everybody):
    with pytest.raises(AnswersError, match="there is nothing to count: give answers=, sorts= or both"):
        Answers.from_tables(everybody)
    with pytest.raises(AnswersError, match="outside='keep' is unknown; choose one of error, drop"):
        Answers.from_sorts(piles((1, "ann", "a")), everybody, outside="keep")  # type: ignore[arg-type]


def test_items_that_the_plan_does_not_know_are_dropped_on_request(everybody):
    table = piles((1, "ann", "a"), (1, "zoe", "a"), (1, "bob", "a"))
    with pytest.warns(UserWarning, match="dropped 1 of 3 rows of items that the plan does not know"):
        answers = Answers.from_sorts(table, everybody, outside="drop")
    assert labels(answers) == {("ann", "bob"): "same"}


def test_memory_follows_the_pairs_that_count_and_not_those_on_a_large_sheet(monkeypatch):
    """A sheet of 3000 items has 4.5 million pairs, of which this plan asks 30."""
    plan = QueryPlan([0] * 3000, [], listed=[(i, i + 1) for i in range(30)])
    largest = 0

    def asks(left, right, asks=plan.asks):
        nonlocal largest
        largest = max(largest, len(left))
        return asks(left, right)

    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 10_000)
    object.__setattr__(plan, "asks", asks)
    answers = Answers.from_sorts(piles(*((1, i, i % 5) for i in range(3000))), plan)
    assert answers.n_answered_pairs == 30
    assert largest <= 10_000
