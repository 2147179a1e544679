import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from bequec import Answers, AnswersError, BeQuec, PlanError, QueryPlan, ask_graph, plan_queries
from bequec.ask.sheets import unanswered_questions
from bequec.plan.pairs import pair_numbers, pairs_numbered, question_numbers
from bequec.simulate import draw_answers, simulate_people

NAMES = [f"p{i}" for i in range(40)]
LABELS = np.arange(40) % 2
RELATIVES = [("p0", "p1"), ("p5", "p3"), ("p1", "p0"), ("p39", "p0"), ("p2", "p21")]


@pytest.fixture
def plan():
    """Two groups of 20 (p0 … p19, p20 … p39), everything asked but four pairs of relatives."""
    return plan_queries(
        n_clusters=2, groups=[i // 20 for i in range(40)], names=NAMES, unaskable=RELATIVES, also=[(1, 1)]
    )


def test_unaskable_pairs_are_not_listed_not_counted_and_survive_saving(plan, tmp_path):
    assert plan.unaskable.tolist() == [[0, 1], [0, 39], [2, 21], [3, 5]]
    assert plan.n_pairs == 40 * 39 // 2 - 4
    listed = {
        frozenset(pair) for left, right in plan.pairs() for pair in zip(left.tolist(), right.tolist(), strict=True)
    }
    assert len(listed) == plan.n_pairs
    assert not listed & {frozenset(pair) for pair in plan.unaskable.tolist()}
    plan.save(tmp_path / "plan.json")
    assert QueryPlan.load(tmp_path / "plan.json") == plan


def test_other_questions_keep_their_numbers(plan):
    without = QueryPlan(plan.group_of, plan.asked, plan.names)
    left, right = pairs_numbered(plan, question_numbers(plan))
    assert (pair_numbers(without, left, right) == question_numbers(plan)).all()
    assert len(question_numbers(plan)) == plan.n_pairs
    assert set(np.setdiff1d(np.arange(without.n_pairs), question_numbers(plan))) == set(
        pair_numbers(plan, *plan.unaskable.T)
    )


def totals(answers):
    blocks = {(l, m): answers.block_totals(l, m) for l, m in answers.plan.blocks.tolist()}
    return {block: total for block, total in blocks.items()}


def test_every_way_to_answers_leaves_them_unanswered(plan):
    """Graph, function, counts with and without totals, tables, edge lists and simulations agree."""
    same = (LABELS[:, None] == LABELS).astype(float)
    asked = same.copy()
    asked[tuple(plan.unaskable.T)] = asked[tuple(plan.unaskable.T[::-1])] = 0
    np.fill_diagonal(asked, 0)
    total = np.ones((40, 40)) - np.eye(40)
    total[tuple(plan.unaskable.T)] = total[tuple(plan.unaskable.T[::-1])] = 0
    people = simulate_people(LABELS, plan, error_rate=0, random_state=0)
    assert len(people) == plan.n_pairs
    edges = pd.DataFrame([(f"p{i}", f"p{j}") for i, j in np.argwhere(np.triu(asked))], columns=["source", "target"])
    memberships = np.eye(2)[LABELS]
    for answers in (
        ask_graph(same, plan),
        ask_graph(lambda i, j: same[i, j], plan),
        Answers.from_counts(plan, asked),
        Answers.from_counts(plan, sp.csr_array(asked), sp.csr_array(total)),
        Answers.from_table(people, plan),
        Answers.from_table(edges, plan, unlisted="no"),
        draw_answers(plan, memberships, np.eye(2), 0),
    ):
        assert answers.n_answered_pairs == answers.n_answers == plan.n_pairs
        assert answers.share_answered == 1
        assert answers.block_totals(0, 0)[0, 1] == answers.block_totals(0, 1)[0, 19] == 0
        assert (
            sum(np.triu(t, k=1).sum() if l == m else t.sum() for (l, m), t in totals(answers).items()) == plan.n_pairs
        )
        assert answers.answers_per_node[0] == 37
        assert len(unanswered_questions(plan, answers)) == 0
        assert answers.averaged().n_answers == plan.n_pairs
        assert (BeQuec(2, random_state=0).fit(answers).labels_ == LABELS).all() or (
            BeQuec(2, random_state=0).fit(answers).labels_ == 1 - LABELS
        ).all()


def test_an_answer_to_an_unaskable_pair_is_an_error_that_says_so(plan):
    answer = pd.DataFrame([("p3", "p5", "same")], columns=["left", "right", "label"])
    with pytest.raises(
        AnswersError, match=r"row 1: the pair \(p3, p5\) is listed in the plan as one that cannot be asked"
    ):
        Answers.from_table(answer, plan)
    both = pd.concat([answer, answer.assign(left="p4")], ignore_index=True)
    with pytest.warns(UserWarning, match="dropped 1 of 2 rows"):
        answers = Answers.from_table(both, plan, outside="drop")
    assert answers.n_answers == 1
    yes = np.zeros((40, 40))
    yes[3, 5] = yes[5, 3] = 1
    for total in (None, yes):
        with pytest.raises(
            AnswersError, match=r"entry for the pair \(p3, p5\), which the plan lists as one that cannot"
        ):
            Answers.from_counts(plan, yes, total)


def test_a_block_that_mostly_cannot_be_asked_is_not_relied_on():
    inside = [(i, j) for i in range(10) for j in range(i)]
    with pytest.raises(PlanError, match="cannot be tied to the rest"):
        plan_queries(
            n_clusters=2,
            groups=[i // 10 for i in range(20)],
            unaskable=[*inside, *((10 + i, 10 + j) for i, j in inside)],
        )
    # With one of the two diagonal blocks left, the plan can work, and the cheapest way goes through it.
    plan = plan_queries(n_clusters=2, groups=[i // 10 for i in range(20)], unaskable=inside, pattern="cheapest")
    assert plan.blocks.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("unaskable", "message"),
    [
        ([("p0", "nobody")], "unaskable names 'nobody', which is no item of the plan"),
        ([("p0", "p0")], "pairs node 0 with itself"),
        (["p0"], "it must list pairs of names"),
        ([("p0", "p1", "p2")], "it must list pairs of names"),
    ],
)
def test_wrong_unaskable_pairs_are_refused(unaskable, message):
    with pytest.raises(PlanError, match=message):
        plan_queries(n_clusters=2, names=NAMES, unaskable=unaskable)


def test_numbered_nodes_are_named_by_number_or_text():
    by_number, by_text = (plan_queries(60, 2, unaskable=pairs, random_state=0) for pairs in ([(0, 7)], [("0", "7")]))
    assert by_number == by_text
    with pytest.raises(PlanError, match="node indices are 0 … 1"):
        QueryPlan([0, 1], [(0, 1)], unaskable=[(0, 2)])
    with pytest.raises(PlanError, match=r"must list pairs of node indices, got .* for pairs of names use plan_queries"):
        QueryPlan([0, 1], [(0, 1)], unaskable=[("a", "b")])
