"""Plans that list single pairs, beyond or instead of whole blocks."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bequec import BeQuec, PlanError, QueryPlan, check_identifiable, is_identifiable
from bequec.evaluate import accuracy
from bequec.plan import extend_plan, plan_cost
from bequec.plan.among import plan_among
from bequec.plan.extension import is_extension, with_later_blocks
from bequec.plan.mask.item_graph import cut_off_items, pairs_per_node
from bequec.plan.pairs import pair_numbers, pairs_numbered, question_numbers
from bequec.simulate import simulate_clusters


def pairs_of_block(group_of, l, m):
    left, right = (np.flatnonzero(group_of == group).tolist() for group in (l, m))
    return list(itertools.combinations(left, 2)) if l == m else list(itertools.product(left, right))


@st.composite
def histories(draw):
    """Groups, first blocks, unaskable pairs, and what came later: blocks and batches of pairs, in turn."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    group_of = np.array(draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist())))
    n_nodes = len(group_of)
    all_blocks = list(itertools.combinations_with_replacement(range(len(sizes)), 2))
    first = draw(st.lists(st.sampled_from(all_blocks), unique=True, max_size=2))
    all_pairs = list(itertools.combinations(range(n_nodes), 2))
    unaskable = draw(st.lists(st.sampled_from(all_pairs), unique=True, max_size=3)) if all_pairs else []
    asked_blocks, listed, events = set(first), set(), []
    for _ in range(draw(st.integers(0, 4))):
        blocks = [block for block in all_blocks if block not in asked_blocks]
        free = [
            (i, j)
            for i, j in all_pairs
            if (i, j) not in listed
            and (i, j) not in unaskable
            and tuple(sorted((group_of[i], group_of[j]))) not in asked_blocks
        ]
        if draw(st.booleans()) and blocks:
            events.append(("block", draw(st.sampled_from(blocks))))
            asked_blocks.add(events[-1][1])
        elif free:
            batch = draw(st.lists(st.sampled_from(free), unique=True, min_size=1, max_size=4))
            events.append(("pairs", batch))
            listed.update(batch)
    if not first and not listed and not events:
        first = all_blocks[:1]
    return group_of, first, unaskable, events


def built(history):
    group_of, first, unaskable, events = history
    if not first:  # a plan must ask something: begin with all events at once
        listed: list[tuple[int, int]] = []
        later, before = [], []
        for kind, what in events:
            if kind == "block":
                later.append(what)
                before.append(len(listed))
            else:
                listed += what
        return QueryPlan(group_of, later, unaskable=unaskable, later_blocks=later, listed=listed, listed_before=before)
    plan = QueryPlan(group_of, first, unaskable=unaskable)
    for kind, what in events:
        plan = with_later_blocks(plan, [what]) if kind == "block" else plan.with_listed(what)
    return plan


def expected_numbers(history):
    """The pair of every number, one after the other; None where a place in a block is not used."""
    group_of, first, unaskable, events = history
    slots: list[tuple[int, int] | None] = []
    listed: set[tuple[int, int]] = set()
    for kind, what in [*(("block", block) for block in sorted(first)), *events]:
        if kind == "pairs":
            slots += what
            listed.update(what)
            continue
        for i, j in pairs_of_block(group_of, *what):
            pair = (min(i, j), max(i, j))
            slots.append(None if pair in unaskable or pair in listed else pair)
    return slots


@given(histories())
def test_numbers_follow_the_order_in_which_blocks_and_pairs_came(history):
    plan, slots = built(history), expected_numbers(history)
    used = [number for number, pair in enumerate(slots) if pair is not None]
    pairs = [slots[number] for number in used]
    assert plan.n_numbers == len(slots)
    assert plan.n_pairs == len(used)
    assert question_numbers(plan).tolist() == used
    left, right = pairs_numbered(plan, np.array(used, dtype=np.int64))
    assert [(min(pair), max(pair)) for pair in zip(left.tolist(), right.tolist(), strict=True)] == pairs
    assert pair_numbers(plan, left, right).tolist() == pair_numbers(plan, right, left).tolist() == used


@given(histories())
def test_what_is_asked_is_the_same_however_it_is_looked_up(history):
    plan = built(history)
    asked = {pair for pair in expected_numbers(history) if pair is not None}
    listed = [pair for left, right in plan.pairs() for pair in zip(left.tolist(), right.tolist(), strict=True)]
    assert {(min(pair), max(pair)) for pair in listed} == asked
    assert len(listed) == len(asked)
    everyone = np.stack(np.triu_indices(plan.n_nodes, k=1), axis=1)
    assert {tuple(pair) for pair in everyone[plan.asks(*everyone.T)].tolist()} == asked
    degree = np.bincount(np.array(sorted(asked), dtype=np.int64).ravel(), minlength=plan.n_nodes)
    assert (pairs_per_node(plan) == degree).all()
    for (l, m), n_pairs in zip(plan.covered_blocks.tolist(), plan.pairs_per_block, strict=True):
        left, right = plan.block_pairs(l, m)
        assert len(left) == n_pairs == plan.asked_pairs[l, m] == plan.asked_pairs[m, l]
        assert (plan.group_of[left] == l).all()
        assert (plan.group_of[right] == m).all()
        assert plan.covered[l, m]
    assert plan.covered.sum() == 2 * len(plan.covered_blocks) - plan.covered.diagonal().sum()


@given(histories())
def test_saved_plans_with_listed_pairs_come_back_equal(tmp_path_factory, history):
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    plan = built(history)
    plan.save(path)
    again = QueryPlan.load(path)
    assert again == plan
    assert hash(again) == hash(plan)
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == (2 if len(plan.listed) else 1)


@given(histories())
def test_extensions_keep_every_question(history):
    plan = built(history)
    group_of, _, unaskable, _ = history
    every_block = itertools.combinations_with_replacement(range(plan.n_groups), 2)
    free = [block for block in every_block if not plan.asked[block]]
    if not free:
        return
    larger = with_later_blocks(plan, free[:1])
    for extended in (larger, plan):
        assert is_extension(extended, plan)
        numbers = question_numbers(plan)
        assert (pair_numbers(extended, *pairs_numbered(plan, numbers)) == numbers).all()
    assert not is_extension(plan, larger)
    if len(plan.listed) and plan.asked.any():
        without = QueryPlan(group_of, plan.asked, unaskable=unaskable, later_blocks=plan.later_blocks)
        assert not is_extension(without, plan)


def test_a_listed_pair_keeps_its_number_when_its_block_is_asked():
    plan = QueryPlan([0, 0, 1, 1], [(0, 0)]).with_listed([(3, 0)])
    extended = with_later_blocks(plan, [(0, 1)]).with_listed([(2, 3)])
    assert extended.n_pairs == 6
    assert extended.n_numbers == 1 + 1 + 4 + 1
    assert pair_numbers(extended, np.array([0, 0, 1, 2]), np.array([3, 2, 2, 3])).tolist() == [1, 2, 4, 6]
    assert question_numbers(extended).tolist() == [0, 1, 2, 4, 5, 6]  # 3 would be (0, 3), which is number 1
    assert "1 of 3 blocks asked and 1 pairs listed: 2 pairs" in repr(plan)


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([(0, 1)], r"the listed pair \(ann, bob\) is asked already, as its block is"),
        ([(3, 3)], "listed pairs node 3 with itself"),
        ([(3, 4), (4, 3)], r"listed has the pair \(3, 4\) twice"),
        ([(3, 6)], "listed names node 6; node indices are 0 … 5"),
        ([(3, 5)], r"the listed pair \(dee, fay\) is one that cannot be asked"),
        ([3, 4], "listed must list pairs of node indices, got int64 of shape"),
        ([("dee", "eve")], "listed must list pairs of node indices, got <U3"),
    ],
)
def test_pairs_that_cannot_be_listed_are_refused(two_villages, listed, message):
    plan = QueryPlan(two_villages.group_of, two_villages.asked, two_villages.names, unaskable=[(5, 3)])
    with pytest.raises(PlanError, match=message):
        plan.with_listed(listed)


def test_the_order_of_blocks_and_pairs_must_be_possible():
    for before in ([2], [0, 0], [-1]):
        with pytest.raises(PlanError, match=r"listed_before=.* must say for each of the 1 later blocks"):
            QueryPlan([0, 0, 1], [(0, 0), (1, 1)], later_blocks=[(1, 1)], listed=[(0, 2)], listed_before=before)
    with pytest.raises(PlanError, match="no block is asked; ask at least one, or list pairs"):
        QueryPlan([0, 0, 1], [])


def test_a_plan_among_some_nodes_asks_what_it_asked_among_them(rng):
    group_of = np.arange(40) % 4
    plan = QueryPlan(group_of, [(0, 0), (0, 1)], unaskable=[(0, 4), (1, 4)])
    plan = plan.with_listed([(2, 3), (6, 10), (3, 7)])
    plan = with_later_blocks(plan, [(2, 3)]).with_listed([(9, 7), (5, 9)])
    nodes = np.sort(rng.permutation(40)[:25])
    part = plan_among(plan, nodes)
    i, j = np.triu_indices(25, k=1)
    assert (part.asks(i, j) == plan.asks(nodes[i], nodes[j])).all()


# --- is it enough? ---------------------------------------------------------------------------------------


def random_pairs(n_nodes, n_pairs, rng):
    i, j = np.triu_indices(n_nodes, k=1)
    chosen = rng.choice(len(i), n_pairs, replace=False)
    return np.stack([i[chosen], j[chosen]], axis=1)


def test_scattered_pairs_that_link_everybody_often_enough_are_not_refused(rng):
    plan = QueryPlan(np.arange(120) % 4, [], listed=random_pairs(120, 1500, rng))
    assert is_identifiable(plan, 3)
    check_identifiable(plan, 3)
    few = QueryPlan(plan.group_of, [], listed=plan.listed[(plan.listed != 7).all(axis=1)])
    assert cut_off_items(few, 3).tolist() == [7]
    with pytest.raises(PlanError, match="items 7 cannot be tied to the rest: each item needs at least 3 asked pairs"):
        check_identifiable(few, 3)
    alone = (plan.listed < 60).all(axis=1) | (plan.listed >= 60).all(axis=1)
    apart = QueryPlan(plan.group_of, [], listed=plan.listed[alone])
    assert len(cut_off_items(apart, 3)) == 60


def test_blocks_and_pairs_together_can_be_enough(rng):
    """Group 2 is in no block; ten pairs for each of its nodes tie it to the others."""
    blocks = QueryPlan(np.repeat([0, 1, 2], 20), [(0, 0), (0, 1)])
    assert not is_identifiable(blocks, 3)
    more = [(int(other), node) for node in range(40, 60) for other in rng.choice(40, 10, replace=False)]
    assert is_identifiable(blocks.with_listed(more), 3)
    assert not is_identifiable(blocks.with_listed(more[:-8]), 3)  # the last node is left with two


def test_a_block_counts_for_stitching_once_half_of_its_pairs_are_listed(rng):
    from bequec.plan.mask.sharing import usable_blocks

    block = np.array(list(itertools.product(range(20), range(20, 40))))
    plan = QueryPlan(np.repeat([0, 1], 20), [(0, 0)])
    assert not usable_blocks(plan.with_listed(block[:199]), 3)[0, 1]
    assert usable_blocks(plan.with_listed(block[:200]), 3)[0, 1]


def test_components_of_blocks_with_unaskable_pairs_are_those_of_their_pairs():
    """Two nodes on each side; of the four pairs, those that would link the two halves cannot be asked."""
    plan = QueryPlan([0, 0, 1, 1, 2], [(0, 1)], unaskable=[(0, 3), (1, 2)]).with_listed([(0, 4)])
    assert cut_off_items(plan, 1).tolist() == [1, 3]


@pytest.mark.parametrize("n_groups", [1, 4, 40])
def test_scattered_answers_are_learned_from(n_groups, rng):
    plan = QueryPlan(np.arange(200) % n_groups, [], listed=random_pairs(200, 5000, rng))
    planted = simulate_clusters(plan, 3, random_state=1)
    assert planted.answers.n_answered_pairs == 5000
    model = BeQuec(3, refine="subspace", random_state=0).fit(planted.answers)
    assert accuracy(model.labels_, planted.memberships.argmax(axis=1)) > 0.98


# --- extension and costs ---------------------------------------------------------------------------------


def test_an_extension_pays_only_for_pairs_that_are_not_listed():
    plan = QueryPlan(np.repeat([0, 1, 2], 10), [(0, 0), (0, 1), (0, 2)])
    listed = plan.with_listed(list(itertools.product(range(10, 20), range(20, 25))))
    assert plan_cost(listed) == plan_cost(plan) + 50
    extended = extend_plan(listed, 3, budget=50)
    assert extended.blocks[-1].tolist() == [1, 2]
    assert extended.n_pairs == listed.n_pairs + 50
    assert is_extension(extended, listed)
    with pytest.raises(PlanError, match=r"enough for 49 new pairs, but the blocks of also= need 50"):
        extend_plan(listed, 3, budget=49, also=[(1, 2)])
