import numpy as np
import pandas as pd
import pytest

from bequec import Answers, BequecError, QueryPlan
from bequec.simulate import simulate_sorts


def sorted_by(truth, **options):
    """The table with the clusters that the items truly are of."""
    table = simulate_sorts(truth, random_state=0, **options)
    return table.assign(truth=np.asarray(truth)[table["item"]])


def joined_pairs(table):
    """How often two items of one cluster, and of two clusters, share a pile: (share of same, share of different)."""
    both = table.merge(table, on="sheet").query("item_x < item_y")
    together = both.pile_x == both.pile_y
    same = both.truth_x == both.truth_y
    return together[same].mean(), together[~same].mean()


def test_every_item_is_on_one_screen_per_round_and_every_screen_is_one_persons():
    table = simulate_sorts(np.arange(100) % 3, screen=24, rounds=5, people=7, random_state=0)
    assert len(table) == 500
    assert table.groupby("item").size().eq(5).all()
    assert not table.duplicated(["sheet", "item"]).any()
    assert table.groupby("sheet").size().tolist() == [24, 24, 24, 24, 4] * 5
    assert table.groupby("sheet").worker.nunique().eq(1).all()
    assert table.worker.nunique() == 7
    by_round = table.assign(round=(table.sheet - 1) // 5).groupby("round")
    assert by_round["item"].nunique().eq(100).all()
    assert by_round["item"].agg(tuple).nunique() == 5  # each in its own order


def test_without_errors_piles_are_clusters():
    table = sorted_by(np.arange(90) % 4, slip=0)
    assert joined_pairs(table) == (1, 0)
    for _, screen in table.groupby("sheet"):
        assert screen.pile.unique().tolist() == [str(number + 1) for number in range(screen.pile.nunique())]


@pytest.mark.parametrize("slip", [0.05, 0.3])
def test_items_slip_as_often_as_asked_and_never_into_the_pile_that_was_meant(slip):
    """Two clusters, so that the pile that was meant is the one with most of its cluster."""
    table = sorted_by(np.arange(3000) % 2, slip=slip, screen=60, rounds=10)
    table["n_on_pile"] = table.groupby(["sheet", "pile"])["item"].transform("size")
    counts = table.groupby(["sheet", "truth", "pile"]).size().rename("n").reset_index()
    meant = counts.loc[counts.groupby(["sheet", "truth"])["n"].idxmax(), ["sheet", "truth", "pile"]]
    merged = table.merge(meant.rename(columns={"pile": "meant"}), on=["sheet", "truth"])
    slipped = merged[merged.pile != merged.meant]
    assert len(slipped) / len(table) == pytest.approx(slip, abs=0.01)
    assert (slipped.n_on_pile == 1).mean() == pytest.approx(0.5, abs=0.05)  # one other pile, or one of its own


@pytest.mark.parametrize("lumper", [0, 1 / 3, 1])
def test_two_clusters_share_a_pile_on_as_many_screens_as_asked(lumper):
    table = sorted_by(np.arange(3000) % 5, slip=0, lumper=lumper, screen=30)
    clusters = table.groupby(["sheet", "pile"]).truth.nunique()
    lumped = clusters.groupby("sheet").max()
    assert set(lumped) <= {1, 2}
    assert (clusters.groupby("sheet").sum() <= 5).all()
    assert (lumped == 2).mean() == pytest.approx(lumper, abs=0.05)
    assert joined_pairs(table)[0] == 1


@pytest.mark.parametrize("splitter", [0, 0.4, 1])
def test_a_cluster_has_two_piles_on_as_many_screens_as_asked(splitter):
    table = sorted_by(np.arange(3000) % 5, slip=0, splitter=splitter, screen=30)
    piles = table.groupby(["sheet", "truth"]).pile.nunique()
    assert set(piles) <= {1, 2}
    assert set((piles == 2).groupby("sheet").sum()) <= {0, 1}
    assert (piles == 2).groupby("sheet").any().mean() == pytest.approx(splitter, abs=0.06)
    assert joined_pairs(table)[1] == 0


def test_which_clusters_are_lumped_and_split_is_left_to_chance():
    lumped = sorted_by(np.arange(3000) % 3, slip=0, lumper=1, screen=30, rounds=10)
    pairs = lumped.groupby(["sheet", "pile"]).truth.agg(lambda of_pile: tuple(sorted(set(of_pile))))
    shares = pairs[pairs.str.len() == 2].value_counts(normalize=True)
    assert len(shares) == 3
    assert shares.between(0.28, 0.39).all()
    split = sorted_by(np.arange(3000) % 3, slip=0, splitter=1, screen=30, rounds=10)
    piles = split.groupby(["sheet", "truth"]).pile.nunique()
    assert (piles == 2).groupby("truth").mean().between(0.28, 0.39).all()


def test_items_are_left_without_a_pile_as_often_as_asked():
    table = simulate_sorts(np.arange(2000) % 3, unsure_rate=0.07, random_state=0)
    assert (table.pile == "").mean() == pytest.approx(0.07, abs=0.01)


def test_a_mixed_item_is_placed_by_a_cluster_drawn_from_its_memberships():
    memberships = np.repeat([[1, 0], [0, 1], [0.3, 0.7]], 40, axis=0)
    table = simulate_sorts(memberships, slip=0, screen=120, rounds=400, random_state=0)
    by_item = table.pivot_table(index="sheet", columns="item", values="pile", aggfunc="first")
    with_first = (by_item.iloc[:, 80:].to_numpy() == by_item[[0]].to_numpy()).mean(axis=0)
    assert with_first.mean() == pytest.approx(0.3, abs=0.01)
    assert with_first.std() == pytest.approx(np.sqrt(0.21 / 400), rel=0.3)  # anew on each screen
    assert (by_item.iloc[:, :40].nunique(axis=1) == 1).all()


def test_items_are_called_as_in_the_plan_or_the_list():
    names = [f"photo-{i}" for i in range(30)]
    plan = QueryPlan(np.arange(30) % 3, [(0, 0), (0, 1)], names=names)
    table = simulate_sorts(np.arange(30) % 2, plan, random_state=3)
    pd.testing.assert_frame_equal(table, simulate_sorts(np.arange(30) % 2, names, random_state=3))
    assert set(table["item"]) == set(names)
    assert Answers.from_sorts(table, plan).n_answered_pairs > 0
    assert simulate_sorts(["x", "y"], random_state=0)["item"].dtype == np.int64


def test_screens_too_small_for_an_error_have_none():
    alone = simulate_sorts([0, 1, 2], screen=1, slip=1, lumper=1, splitter=1, random_state=0)
    assert alone.pile.tolist() == ["1"] * 12
    pairs = sorted_by([0, 1], screen=2, slip=0, lumper=1, rounds=3)
    assert pairs.groupby("sheet").pile.nunique().tolist() == [1] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slip": 1.5}, r"slip=1\.5 must be a probability in \[0, 1\]"),
        ({"lumper": -0.1}, r"lumper=-0\.1 must be a probability"),
        ({"screen": 0}, "screen=0 must be at least 1"),
        ({"people": 0}, "people=0 must be at least 1"),
        ({"items": ["a"]}, "the truth is about 4 items, but 1 are named"),
        ({"truth": [[0.5, 0.6]]}, r"the memberships of item 0 are \[0\.5, 0\.6\]; they must be positive and add up to"),
        ({"truth": 3}, r"truth must be \(n,\) labels or \(n, K\) memberships, got an array of shape \(\)"),
    ],
)
def test_what_cannot_be_simulated_is_refused(options, message):
    with pytest.raises(BequecError, match=message):
        simulate_sorts(**{"truth": [0, 1, 0, 1], **options})
