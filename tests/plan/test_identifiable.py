import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bequec import PlanError, QueryPlan, check_identifiable, is_identifiable
from bequec.plan import mending_blocks, with_blocks
from bequec.plan.mask.completion_order import best_completion


def has_full_rank_tangent(plan, n_clusters, rng):
    """Whether the asked entries of a generic M B Mᵀ determine the range of M locally: an independent reference.

    The Jacobian of M S Mᵀ (S symmetric) on the asked pairs must have rank N K + K(K+1)/2 − K².
    """
    n, K = plan.n_nodes, n_clusters
    M = rng.standard_normal((n, K))
    root = rng.standard_normal((K, K))
    S = root + root.T
    MS = M @ S
    rows = []
    for left, right in plan.pairs():
        for i, j in zip(left, right, strict=True):
            gradient_m = np.zeros((n, K))
            gradient_m[i] += MS[j]
            gradient_m[j] += MS[i]
            outer = np.outer(M[i], M[j])
            gradient_s = (outer + outer.T)[np.triu_indices(K)]
            rows.append(np.concatenate([gradient_m.ravel(), gradient_s]))
    return np.linalg.matrix_rank(np.array(rows), tol=1e-8) == n * K + K * (K + 1) // 2 - K * K


@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_rule_agrees_with_the_rank_of_the_equations(n_groups, rng):
    """On all masks of up to three large groups; finite ambiguities, which a rank does not see, are left out."""
    all_blocks = list(itertools.combinations_with_replacement(range(n_groups), 2))
    for size in range(1, len(all_blocks) + 1):
        for blocks in itertools.combinations(all_blocks, size):
            plan = QueryPlan(np.repeat(np.arange(n_groups), 8), blocks)
            assert is_identifiable(plan, 2) == has_full_rank_tangent(plan, 2, rng), blocks


@pytest.mark.parametrize(
    ("n_groups", "blocks", "cut_off", "mends"),
    [
        (4, [(0, 0), (0, 1), (2, 3)], "2, 3", 1),
        (4, [(0, 1), (1, 2), (2, 3)], "1, 3", 1),
        (3, [(0, 1)], "1, 2", 2),
        (4, [(0, 0)], "1, 2, 3", 3),
    ],
)
def test_cut_off_groups_and_the_mending_blocks_are_named(n_groups, blocks, cut_off, mends):
    plan = QueryPlan(np.repeat(np.arange(n_groups), 10), blocks)
    with pytest.raises(PlanError, match=f"groups {cut_off} cannot be tied to the rest.*also ask block") as error:
        check_identifiable(plan, 4)
    mending = mending_blocks(plan, 4)
    assert len(mending) == mends
    assert str(error.value).endswith(f": also={mending}")
    check_identifiable(with_blocks(plan, mending), 4)


def test_villages_are_named_in_the_error():
    plan = QueryPlan(np.repeat([0, 1], 10), [(0, 1)], group_names=["Abera", "Bole"])
    with pytest.raises(PlanError, match=r"groups Bole cannot.*also ask block \(Abera, Abera\)"):
        check_identifiable(plan, 4)


@given(st.data(), st.integers(2, 4), st.lists(st.integers(2, 12), min_size=2, max_size=6))
def test_mending_always_mends_and_never_where_nothing_is_broken(data, n_clusters, sizes):
    n_groups = len(sizes)
    all_blocks = list(itertools.combinations_with_replacement(range(n_groups), 2))
    blocks = data.draw(st.lists(st.sampled_from(all_blocks), min_size=1, unique=True))
    plan = QueryPlan(np.repeat(np.arange(n_groups), sizes), blocks)
    mending = mending_blocks(plan, n_clusters)
    if is_identifiable(plan, n_clusters):
        assert not mending
    elif mending:
        assert is_identifiable(with_blocks(plan, mending), n_clusters)
    else:
        everything = QueryPlan(plan.group_of, np.ones((n_groups, n_groups), dtype=bool))
        assert not is_identifiable(everything, n_clusters)


def test_a_small_diagonal_block_cannot_complete_its_own_diagonal():
    """K = 3: (n−3)(n−2)/2 ≥ n holds from n = 6 on."""
    for n, enough in ((4, False), (5, False), (6, True)):
        plan = QueryPlan(np.repeat([0, 1], n), [(0, 0), (0, 1)])
        assert is_identifiable(plan, 3) == enough == ((n - 3) * (n - 2) // 2 >= n)
        assert is_identifiable(plan, 3, diagonal=True)


def test_groups_smaller_than_k_are_reached_through_several_columns():
    """Groups of three, K = 5: every group is asked about two groups at least, so five columns are known."""
    n_groups = 6
    everything = QueryPlan(np.repeat(np.arange(n_groups), 3), [(l, m) for l in range(n_groups) for m in range(l)])
    assert is_identifiable(everything, 5)
    ring = QueryPlan(np.repeat(np.arange(n_groups), 3), [(l, (l + 1) % n_groups) for l in range(n_groups)])
    assert not is_identifiable(ring, 5)


@settings(deadline=None)
@given(st.lists(st.integers(3, 9), min_size=2, max_size=5), st.data())
def test_completion_reaches_exactly_what_sharing_connects_when_all_groups_are_large(sizes, data):
    all_blocks = list(itertools.combinations_with_replacement(range(len(sizes)), 2))
    blocks = data.draw(st.lists(st.sampled_from(all_blocks), min_size=1, unique=True))
    plan = QueryPlan(np.repeat(np.arange(len(sizes)), sizes), blocks)
    completion = best_completion(plan.asked, plan.asked, plan.sizes, 3, diagonal=True)
    assert is_identifiable(plan, 3, diagonal=True) == (
        completion is not None and len(completion.known_rows) == plan.n_groups
    )


@pytest.mark.parametrize(
    ("n_clusters", "message"),
    [
        (1, "n_clusters=1 is too small"),
        (0, "n_clusters=0 is too small"),
        (25, "n_clusters=25 is more than the 20 nodes"),
        (2.5, r"must be a whole number of at least 2, got 2.5"),
        (True, "must be a whole number"),
        (15, "groups are too small for 15 clusters .they have 10 to 10 nodes."),
    ],
)
def test_impossible_numbers_of_clusters_are_refused(n_clusters, message):
    with pytest.raises(PlanError, match=message):
        check_identifiable(QueryPlan(np.repeat([0, 1], 10), [(0, 0), (0, 1)]), n_clusters)


def test_mending_counts_the_pairs_inside_a_group_as_they_are():
    """45 pairs inside the group of ten, 49 between the groups of seven: either would do."""
    plan = QueryPlan([0] * 10 + [1] * 7 + [2] * 7, [(0, 1), (0, 2)])
    assert mending_blocks(plan, 4) == [(0, 0)]
