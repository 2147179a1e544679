"""Answers counted from a table: weighed by row, without some people, and told apart from similarities."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from bequec import Answers, AnswersError, ask_graph
from bequec.ask.counting import weighted

NAMES = ["ann", "bob", "cy", "dee", "eve", "fay"]


def said_by(*rows):
    return pd.DataFrame(rows, columns=["left", "right", "label", "worker"])


@pytest.fixture
def answers(two_villages):
    table = said_by(
        ("ann", "bob", "same", "w1"),
        ("bob", "ann", "different", "w2"),
        ("ann", "dee", "unsure", "w2"),
        ("cy", "fay", "same", "w10"),
        ("cy", "bob", "same", None),
    )
    return Answers.from_table(table, two_villages)


@pytest.mark.parametrize("unsure", ["unanswered", "half"])
@pytest.mark.parametrize("unlisted", ["unanswered", "no"])
def test_a_row_that_counts_twice_is_a_row_that_stands_there_twice(two_villages, unsure, unlisted):
    rows = said_by(("ann", "bob", "same", "w1"), ("ann", "dee", "unsure", "w2"), ("cy", "bob", "0.3", "w1"))
    options = {"unsure": unsure, "unlisted": unlisted}
    twice = weighted(Answers.from_table(rows, two_villages, **options), np.array([2.0, 1.0, 3.0]))
    repeated = Answers.from_table(rows.iloc[[0, 0, 1, 2, 2, 2]], two_villages, **options)
    assert_allclose(twice.yes.toarray(), repeated.yes.toarray())
    assert twice.n_answers == repeated.n_answers
    assert_array_equal(twice.answered_pairs, repeated.answered_pairs)


def test_without_a_worker_is_as_if_they_had_never_answered(answers, two_villages):
    left = answers.without_workers(["w1", "w10"])
    others = said_by(("bob", "ann", "different", "w2"), ("ann", "dee", "unsure", "w2"), ("cy", "bob", "same", None))
    expected = Answers.from_table(others, two_villages)
    assert_array_equal(left.yes.toarray(), expected.yes.toarray())
    assert left.n_answers == expected.n_answers == 2
    assert len(left.table) == 3


def test_of_a_graph_what_only_they_listed_is_a_no_again(two_villages):
    edges = pd.DataFrame({"left": ["ann", "ann"], "right": ["bob", "dee"], "worker": ["w1", "w2"]})
    graph = Answers.from_table(edges, two_villages, unlisted="no")
    left = graph.without_workers(["w2"])
    assert left.n_answered_pairs == graph.n_answered_pairs == two_villages.n_pairs
    assert left.yes.sum() == 2  # one edge, from both ends


def test_an_unknown_worker_is_an_error_with_the_nearest_names(answers):
    with pytest.raises(AnswersError, match="nobody called 'w12' answered anything; the nearest names are w2, w1, w10"):
        answers.without_workers(["w12"])
    with pytest.raises(AnswersError, match="nobody called 'zoe' answered anything; those who did are w1, w2, w10"):
        answers.without_workers(["zoe"])
    with pytest.raises(AnswersError, match="nobody called 'w1' answered"):  # they are gone already
        answers.without_workers(["w1"]).without_workers(["w1"])


def test_nobody_can_be_left_out_where_nobody_is_named(two_villages):
    unnamed = said_by(("ann", "bob", "same", "w1")).drop(columns="worker")
    with pytest.raises(AnswersError, match=r"no answer says who gave it.*add a column worker"):
        Answers.from_table(unnamed, two_villages).without_workers(["w1"])
    with pytest.raises(AnswersError, match="sums that do not say who answered"):
        ask_graph(np.zeros((6, 6)), two_villages).without_workers(["w1"])
    with pytest.raises(AnswersError, match="without w1 no answer is left"):
        Answers.from_table(said_by(("ann", "bob", "same", "w1")), two_villages).without_workers(["w1"])


def test_similarities_are_labels_between_yes_and_no(two_villages):
    def has(label, n_answers=1, **options):
        rows = pd.DataFrame({"left": ["ann"], "right": ["bob"], "label": [label], "n_answers": [n_answers]})
        return Answers.from_table(rows, two_villages, **options).has_similarities

    assert has("0.3")
    assert has("unsure", unsure="half")
    assert has("0.25", n_answers=3)
    assert not has("same")
    assert not has("unsure")
    assert not has("0.5", n_answers=2)  # one yes and one no
    assert not has("same", n_answers=0.7)


def test_weights_are_no_similarities(answers, two_villages):
    weighed = weighted(answers, np.array([0.3, 0.8, 1.0, 0.25, 1.0]))
    assert (weighed.yes.data % 1 != 0).any()
    assert not weighed.has_similarities
    some = pd.DataFrame({"left": ["ann"], "right": ["bob"], "label": ["0.3"]})
    assert weighted(Answers.from_table(some, two_villages), np.array([2.0])).has_similarities


def test_graphs_and_counts_tell_similarities_too(two_villages):
    graph = np.zeros((6, 6))
    graph[0, 1] = graph[1, 0] = 1.0
    assert not ask_graph(graph, two_villages).has_similarities
    assert ask_graph(0.4 * graph, two_villages).has_similarities
    total = sp.csr_array(graph)
    assert not Answers.from_counts(two_villages, 2 * total, 3 * total).has_similarities
    assert Answers.from_counts(two_villages, 1.5 * total, 3 * total).has_similarities
    assert not Answers.from_counts(two_villages, 0.4 * total, 0.4 * total).has_similarities  # a weight
