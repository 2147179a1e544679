import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from bequec import PlanError, QueryPlan
from bequec.plan.pairs import pair_numbers, pairs_numbered


@st.composite
def plans(draw):
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=6))
    group_of = draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    all_blocks = [(l, m) for l in range(len(sizes)) for m in range(l, len(sizes))]
    blocks = draw(st.lists(st.sampled_from(all_blocks), min_size=1, unique=True))
    named = draw(st.booleans())
    names = [f"é{i}" for i in range(len(group_of))] if named else None
    return QueryPlan(group_of, blocks, names)


@given(plans())
def test_pairs_are_exactly_the_asked_ones_each_once(plan):
    listed = {
        frozenset(pair) for left, right in plan.pairs() for pair in zip(left.tolist(), right.tolist(), strict=True)
    }
    expected = {
        frozenset((i, j))
        for i in range(plan.n_nodes)
        for j in range(i)
        if plan.asked[plan.group_of[i], plan.group_of[j]]
    }
    assert listed == expected
    assert plan.n_pairs == len(expected)


@given(plans())
def test_pair_numbers_count_the_listed_pairs_and_are_undone(plan):
    left = np.concatenate([pair[0] for pair in plan.pairs()])
    right = np.concatenate([pair[1] for pair in plan.pairs()])
    assert pair_numbers(plan, left, right).tolist() == list(range(plan.n_pairs))
    assert pair_numbers(plan, right, left).tolist() == list(range(plan.n_pairs))
    again = pairs_numbered(plan, np.arange(plan.n_pairs))
    assert again[0].tolist() == left.tolist()
    assert again[1].tolist() == right.tolist()


def test_pair_numbers_survive_large_groups():
    plan = QueryPlan(np.zeros(300_000, dtype=int), [(0, 0)])
    numbers = np.array([0, 299_998, 299_999, plan.n_pairs // 2, plan.n_pairs - 1])
    assert pair_numbers(plan, *pairs_numbered(plan, numbers)).tolist() == numbers.tolist()


@given(plans())
def test_saved_plans_come_back_equal(tmp_path_factory, plan):
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    plan.save(path)
    assert QueryPlan.load(path) == plan


def test_tuple_names_survive_saving(tmp_path):
    plan = QueryPlan([0, 0, 1], [(0, 1)], names=[(0, 0), (0, 1), (1, 0)])
    plan.save(tmp_path / "plan.json")
    assert QueryPlan.load(tmp_path / "plan.json").names == ((0, 0), (0, 1), (1, 0))


def test_array_sparse_array_and_list_of_blocks_mean_the_same():
    group_of = [0, 0, 1, 1, 2]
    asked = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    from_blocks = QueryPlan(group_of, [(0, 0), (1, 0), (1, 2)])
    assert QueryPlan(group_of, asked) == from_blocks
    assert QueryPlan(group_of, sp.csr_array(asked)) == from_blocks
    assert QueryPlan(group_of, asked.tolist()) == from_blocks
    assert QueryPlan(group_of, from_blocks.blocks) == from_blocks
    two = QueryPlan([0] * 9 + [1] * 9, [(0, 0), (0, 1)])
    assert QueryPlan(two.group_of, two.blocks) == two


def test_share_asked_is_the_papers():
    """The paper's 19.02 % of 900 photos, and 27.96 % of 2000 nodes in ten groups."""
    for n_nodes, n_groups, n_pairs, share in ((900, 15, 76_950, 0.1902), (2000, 10, 559_000, 0.2796)):
        blocks = [(l, l) for l in range(n_groups)] + [(l, l + 1) for l in range(n_groups - 1)]
        plan = QueryPlan(np.arange(n_nodes) * n_groups // n_nodes, blocks)
        assert plan.n_pairs == n_pairs
        assert plan.share_asked == pytest.approx(share, abs=5e-5)


def test_a_plan_cannot_be_changed():
    plan = QueryPlan([0, 1], [(0, 1)])
    with pytest.raises(AttributeError):
        plan.group_of = np.array([0, 0])  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        plan.asked[0, 0] = True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [(0, 0)]), "one group per node"),
        (([0.5, 1], [(0, 0)]), r"whole numbers .* got np.float64\(0.5\)"),
        (([0, -1], [(0, 0)]), "negative group -1"),
        (([0, 2], [(0, 0)]), "groups 1 have no node"),
        (([0, 1], [(0, 2)]), r"block \(0, 2\) is not a pair of groups 0 … 1"),
        (([0, 1], []), "no block is asked"),
        (([0, 1], None), "got NoneType"),
        (([0, 1], [(0, 1)], [[1], [2]]), "must be texts or numbers"),
        (([0, 1], np.array([[False, True], [False, False]])), r"asked\[0, 1\] differs from asked\[1, 0\]"),
        (([0, 1], np.ones((3, 3), dtype=bool)), r"shape \(3, 3\) but group_of names 2 groups"),
        (([0, 1], [(0, 1)], ["a", "a"]), "the name 'a' is given to several nodes; names must be unique"),
        (([0, 1], [(0, 1)], ["a"]), "1 names for 2 nodes"),
    ],
)
def test_malformed_plans_are_refused_with_the_value(arguments, message):
    with pytest.raises(PlanError, match=message):
        QueryPlan(*arguments)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "is not a JSON file"),
        (b"", "is not a JSON file"),
        (b"[]", "is not a bequec plan file"),
        (
            b'{"format": "bequec plan", "version": 99}',
            "has version 99 of the bequec plan format, this bequec reads up to 2",
        ),
        (b'{"format": "bequec plan", "version": 1}', "lacks 'group_of'"),
    ],
)
def test_broken_plan_files_are_refused(tmp_path, content, message):
    (tmp_path / "plan.json").write_bytes(content)
    with pytest.raises(PlanError, match=message):
        QueryPlan.load(tmp_path / "plan.json")


def test_a_missing_plan_file_is_named(tmp_path):
    with pytest.raises(PlanError, match=r"cannot read .*nowhere.json: No such file"):
        QueryPlan.load(tmp_path / "nowhere.json")


def test_a_failed_write_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "plan.json"
    good = QueryPlan([0, 1], [(0, 1)])
    good.save(path)
    with pytest.raises(PlanError, match="the names cannot be saved"):
        QueryPlan([0, 1], [(0, 1)], names=[object(), object()]).save(path)
    assert QueryPlan.load(path) == good
    assert [p.name for p in tmp_path.iterdir()] == ["plan.json"]
