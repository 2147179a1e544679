"""Answers to plans that list single pairs."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from bequec import Answers, AnswersError, QueryPlan, ask_graph
from bequec.ask.sheets import unanswered_questions
from bequec.learn.interactions import normal_equations
from bequec.learn.pair_blocks import PairBlocks
from bequec.plan.extension import with_later_blocks
from bequec.plan.pairs import pair_numbers, question_numbers
from bequec.simulate import draw_answers

NAMES = [f"p{i}" for i in range(30)]


def listed_only():
    i, j = np.triu_indices(30, k=1)
    chosen = np.random.default_rng(5).choice(len(i), 150, replace=False)
    return QueryPlan(np.arange(30) % 4, [], NAMES, listed=np.stack([i[chosen], j[chosen]], axis=1))


def beside_blocks():
    plan = QueryPlan(np.arange(30) % 4, [(0, 0), (0, 1)], NAMES, unaskable=[(0, 4), (2, 3)])
    plan = plan.with_listed([(2, 7), (6, 3), (1, 5), (29, 9)])
    return with_later_blocks(plan, [(2, 3)]).with_listed([(2, 6), (13, 1)])


@pytest.fixture(params=[listed_only, beside_blocks])
def plan(request):
    return request.param()


def asked_matrix(plan):
    asked = np.zeros((30, 30))
    for left, right in plan.pairs():
        asked[left, right] = asked[right, left] = 1
    return asked


def dense_totals(answers):
    """How many answers each pair got, in the caller's order, read block by block."""
    plan = answers.plan
    total = np.zeros((30, 30))
    for l, m in plan.covered_blocks.tolist():
        total[np.ix_(plan.groups[l], plan.groups[m])] = answers.block_totals(l, m)
        total[np.ix_(plan.groups[m], plan.groups[l])] = answers.block_totals(l, m).T
    return total


def test_every_way_to_answers_agrees_about_listed_pairs(plan, rng):
    asked = asked_matrix(plan)
    graph = np.triu(rng.random((30, 30)) < 0.5, k=1).astype(float)
    graph += graph.T
    yes = graph * asked
    i, j = np.nonzero(np.triu(asked))
    table = pd.DataFrame({"left": [NAMES[n] for n in i], "right": [NAMES[n] for n in j], "label": graph[i, j]})
    edges = table[table["label"] == 1][["left", "right"]]
    for answers in (
        ask_graph(graph, plan),
        ask_graph(lambda left, right: graph[left, right], plan),
        Answers.from_counts(plan, yes),
        Answers.from_counts(plan, sp.csr_array(yes), sp.csr_array(asked)),
        Answers.from_table(table, plan),
        Answers.from_table(edges, plan, unlisted="no"),
        Answers.from_table(table, plan, unlisted="no"),
        Answers.from_table(ask_graph(graph, plan).to_table(), plan),
    ):
        assert (answers.yes.toarray() == yes[np.ix_(plan.order, plan.order)]).all()
        assert (dense_totals(answers) == asked).all()
        assert answers.n_answers == answers.n_answered_pairs == plan.n_pairs
        assert answers.share_answered == 1
        assert (answers.share_answered_per_block == plan.covered).all()
        assert (answers.answers_per_node == asked.sum(axis=1)).all()
        assert (answers.total_at_yes == 1).all()
        assert (answers.totals_of(i, j) == 1).all()
        assert len(unanswered_questions(plan, answers)) == 0
        assert answers.averaged().n_answers == plan.n_pairs
        assert len(answers.to_table()) == plan.n_pairs


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_counts_of_listed_pairs_are_the_same_however_they_are_stored(plan, share, rng):
    asked = np.triu(asked_matrix(plan))
    total = np.where((asked > 0) & (rng.random((30, 30)) < share), rng.integers(1, 4, (30, 30)), 0).astype(float)
    yes = np.floor(total * rng.random((30, 30)))
    total, yes = total + total.T, yes + yes.T
    answers = Answers.from_counts(plan, yes, total)
    assert (dense_totals(answers) == total).all()
    assert answers.n_answers == total.sum() / 2
    assert answers.n_answered_pairs == (total > 0).sum() / 2
    assert (answers.answers_per_node == total.sum(axis=1)).all()
    ordered = total[np.ix_(plan.order, plan.order)]
    assert (answers.total_at_yes == ordered[answers.yes.toarray() > 0]).all()
    assert (dense_totals(answers.averaged()) == (total > 0)).all()
    i, j = np.nonzero(asked)
    assert (answers.totals_of(i, j) == total[i, j]).all()
    waiting = pair_numbers(plan, i[total[i, j] == 0], j[total[i, j] == 0])
    assert unanswered_questions(plan, answers).tolist() == sorted(waiting.tolist())
    density = answers.answered_density_per_block
    for l, m in plan.covered_blocks.tolist():
        inside = total[np.ix_(plan.groups[l], plan.groups[m])] > 0
        n_all = len(plan.groups[l]) * (len(plan.groups[l]) - 1) if l == m else inside.size
        assert density[l, m] == inside.sum() / n_all


def test_both_ways_of_storing_them_give_the_same_sums(rng):
    """Baseline one and a correction, or the numbers of answers themselves."""
    plan = beside_blocks()
    once = draw_answers(plan, rng.dirichlet([0.5] * 3, 30), np.eye(3) * 0.8 + 0.1, 0)
    total = sp.csr_array(dense_totals(once)[np.ix_(plan.order, plan.order)])
    counted = Answers(plan, once.yes, baseline=0, correction=total)
    assert once.baseline == 1
    M = rng.dirichlet([1.0] * 3, 30)
    for by_baseline, by_counts in zip(normal_equations(once, M), normal_equations(counted, M), strict=True):
        np.testing.assert_allclose(by_baseline, by_counts, atol=1e-12)
    for one, other in zip(PairBlocks.of(once), PairBlocks.of(counted), strict=True):
        full = np.ones_like(one.mean) if one.total is None else one.total
        assert other.total is not None
        assert (full == other.total).all()
        assert (one.mean * full == other.mean * other.total).all()


def test_a_pair_that_nobody_asked_is_unknown_in_a_block_with_listed_pairs():
    plan = listed_only()
    yes = np.zeros((30, 30))
    i, j = np.argwhere(np.triu(1 - asked_matrix(plan), k=1))[0]
    yes[i, j] = yes[j, i] = 1
    with pytest.raises(AnswersError, match="yes has 2 entries outside the asked pairs"):
        Answers.from_counts(plan, yes)
    row = pd.DataFrame({"left": [NAMES[i]], "right": [NAMES[j]], "label": ["same"]})
    with pytest.raises(AnswersError, match=rf"the plan does not ask the pair \(p{i}, p{j}\)"):
        Answers.from_table(row, plan)
    assert len(unanswered_questions(plan, None)) == 150
    for block in PairBlocks.of(Answers(plan, sp.csr_array((30, 30)), baseline=0)):
        assert block.total is not None
        assert not block.total.any()


def test_answers_survive_an_extension_by_the_blocks_of_listed_pairs():
    plan = beside_blocks()
    table = ask_graph(np.ones((30, 30)), plan).to_table()
    l, m = plan.group_of[[1, 5]]
    extended = with_later_blocks(plan, [(int(min(l, m)), int(max(l, m)))])
    answers = Answers.from_table(table, extended)
    assert answers.n_answered_pairs == plan.n_pairs
    assert len(unanswered_questions(extended, answers)) == extended.n_pairs - plan.n_pairs
    assert not set(unanswered_questions(extended, answers)) & set(question_numbers(plan))
