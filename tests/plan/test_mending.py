import itertools

import numpy as np
import pytest

from bequec import QueryPlan, is_identifiable
from bequec.plan import mending_blocks
from bequec.plan.groups import pairs_in_blocks
from bequec.plan.mask import mending


@pytest.mark.parametrize(
    ("sizes", "n_clusters"),
    [
        ([10, 7, 7], 4),
        ([12, 9, 5, 4], 4),
        ([8, 8, 8, 8], 3),
        ([4, 3, 3], 4),
        ([9, 2, 1], 3),
        ([5, 4, 3, 2], 4),
        ([3, 3, 3, 3], 4),
    ],
)
def test_mending_takes_the_fewest_pairs_on_all_masks(sizes, n_clusters, monkeypatch):
    """Brute force: the cheapest of all masks that contain this one and are enough."""
    original = mending.cut_off_groups
    known: dict[bytes, list[int]] = {}  # what the search asks of a mask is computed once for all masks

    def cut_off_groups(asked, *arguments, **options):
        key = asked.tobytes()
        if key not in known:
            known[key] = original(asked, *arguments, **options)
        return known[key]

    monkeypatch.setattr(mending, "cut_off_groups", cut_off_groups)
    blocks = list(itertools.combinations_with_replacement(range(len(sizes)), 2))
    group_of = np.repeat(np.arange(len(sizes)), sizes)
    n_pairs = np.array([pairs_in_blocks(np.array(sizes))[block] for block in blocks])
    masks = (np.arange(1, 2 ** len(blocks))[:, None] >> np.arange(len(blocks)) & 1).astype(bool)
    plans = [QueryPlan(group_of, [block for block, is_in in zip(blocks, mask, strict=True) if is_in]) for mask in masks]
    is_enough = np.array([is_identifiable(plan, n_clusters) for plan in plans])
    assert is_enough.any()
    for mask, plan in zip(masks, plans, strict=True):
        contains = is_enough & (masks | ~mask).all(axis=1)
        fewest = (masks[contains] & ~mask) @ n_pairs
        mends = mending_blocks(plan, n_clusters)
        assert sum(n_pairs[blocks.index(block)] for block in mends) == fewest.min()


def test_listed_pairs_make_their_block_cheaper_to_mend_with():
    plan = QueryPlan(np.repeat([0, 1, 2], 10), [(0, 0), (0, 1)])
    assert mending_blocks(plan, 3) == [(0, 2)]  # as many pairs as (1, 2), and first
    half = list(itertools.product(range(10, 20), range(20, 24)))
    assert mending_blocks(plan.with_listed(half), 3) == [(1, 2)]
