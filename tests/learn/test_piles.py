"""Piles: read from the pairs of sorts, sampled as placements, and what that does for error bars."""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln

from bequec import Answers, BeQuec, QueryPlan
from bequec.learn.matching import match_clusters
from bequec.learn.people.piles import Placements, read_placements
from bequec.learn.people.placements import (
    Roles,
    dirichlet_moments,
    polya_step,
    sample_memberships,
)
from bequec.look import accuracy
from bequec.simulate import simulate_sorts


def one_group(n):
    return QueryPlan(np.zeros(n, dtype=int), [(0, 0)])


def placed(answers):
    return read_placements(answers.table)


def test_piles_are_read_back_from_the_pairs_of_a_sort():
    sorts = simulate_sorts([0, 0, 1, 1, 2, 2, 0, 1], screen=8, rounds=3, slip=0.3, splitter=0.5, random_state=0)
    placements = placed(Answers.from_sorts(sorts, one_group(8)))
    sorts = sorts.astype({"item": int})
    together = sorts.merge(sorts, on=["sheet", "worker"])
    expected = {(i, j): 0 for i, j in itertools.product(range(8), repeat=2)}
    for i, j, same in zip(together.item_x, together.item_y, together.pile_x == together.pile_y, strict=True):
        expected[i, j] += int(same)
    found = np.zeros((8, 8))
    for i, j in itertools.product(range(len(placements.item)), repeat=2):
        found[placements.item[i], placements.item[j]] += placements.pile[i] == placements.pile[j]
    assert sorts.worker.nunique() == 3  # nobody met a pair twice
    assert_array_equal(found, [[expected[i, j] for j in range(8)] for i in range(8)])
    assert len(placements.item) == len(sorts)
    assert_array_equal(np.bincount(placements.screen), [8, 8, 8])


def test_answers_to_single_pairs_are_no_placements():
    plan, said = one_group(6), pd.DataFrame({"left": [0, 1], "right": [4, 5], "label": ["same", "different"]})
    sorts = pd.DataFrame({"sheet": 1, "item": [0, 1, 2], "pile": ["a", "a", "b"]})
    placements = placed(Answers.from_tables(plan, answers=said, sorts=sorts))
    assert placements.item.tolist() == [0, 1, 2]
    assert placements.pile[0] == placements.pile[1]
    assert placements.pile[0] != placements.pile[2]
    assert len(placed(Answers.from_table(said, plan)).item) == 0


def test_dirichlet_moments_are_those_of_its_draws(rng):
    m, C = dirichlet_moments(np.array([[0.3, 2.0, 1.0]]))
    draws = rng.dirichlet([0.3, 2.0, 1.0], 200_000)
    assert_allclose(m[0], draws.mean(axis=0), atol=0.005)
    assert_allclose(C[0], np.cov(draws.T), atol=0.002)


def test_polya_steps_end_where_the_counts_are_most_likely(rng):
    true = np.array([0.1, 0.4, 0.8])
    counts = np.stack([rng.multinomial(6, x) for x in rng.dirichlet(true, 4000)]).astype(float)
    found = np.full(3, 1.0)
    for _ in range(200):
        found = polya_step(counts, found)
    assert_allclose(found, true, rtol=0.1)

    def likelihood(nu):
        own = gammaln(counts + nu).sum() - len(counts) * gammaln(nu).sum()
        return own + len(counts) * gammaln(nu.sum()) - gammaln(counts.sum(axis=1) + nu.sum()).sum()

    for change in np.vstack([np.eye(3), -np.eye(3)]):
        assert likelihood(found * 1.02**change) < likelihood(found)


def test_roles_are_drawn_with_their_conditional_probabilities():
    """One placement drawn many times: P(k) ∝ (α_k + n_k) ((1 − e) v_ck / V_k + e / (piles + 1))."""
    # Item 0 on screen 0 with items 1, 2 (pile 0) and 3 (pile 1); on screen 1 alone with item 1.
    placements = Placements(*(np.array(x) for x in ([0, 1, 2, 3, 0, 1], [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 2, 2])))
    roles = Roles.draw(placements, np.eye(2)[[0, 0, 0, 1]], np.random.default_rng(0))
    assert roles.role.tolist() == [0, 0, 0, 1, 0, 0]
    prior, slips = np.full((4, 2), 0.7), 0.2
    weights = (0.7 + np.array([1, 0])) * (0.8 * np.array([2 / 2, 0 / 1]) + 0.2 / 3)
    rng, drawn = np.random.default_rng(1), []
    for _ in range(4000):
        expected_slips = roles.draw_again(np.array([0]), prior, slips, rng)
        drawn.append(roles.role[0])
    assert abs(np.mean(drawn) - weights[1] / weights.sum()) < 4 * np.sqrt(weights[1] / weights.sum() / 4000)
    by_chance = (weights / weights.sum()) @ (0.2 / 3 / (0.8 * np.array([1.0, 0.0]) + 0.2 / 3))
    assert expected_slips == pytest.approx(by_chance, rel=1e-4)
    counts = np.zeros((4, 2))
    np.add.at(counts, (placements.item, roles.role), 1)
    assert_array_equal(roles.by_item, counts)


def test_sampled_posteriors_are_those_of_summing_over_all_roles():
    """Where piles show the roles for certain, the posterior is Dirichlet(ν + placements in each role)."""
    rng = np.random.default_rng(3)
    truth = np.vstack([np.eye(3)[np.repeat(np.arange(3), 40)], rng.dirichlet([1, 1, 1], 30)])
    sorts = simulate_sorts(truth, screen=75, rounds=6, slip=0, random_state=3)
    found = sample_memberships(placed(Answers.from_sorts(sorts, one_group(150))), truth, None, rng)
    item = sorts["item"].astype(int).to_numpy()
    role = np.zeros(len(sorts), dtype=int)
    pure = item < 120
    pile = sorts.groupby(["sheet", "worker", "pile"]).ngroup().to_numpy()
    of_pile = pd.Series(item[pure] // 40).groupby(pile[pure]).agg(lambda roles: roles.iloc[0])
    role = of_pile.reindex(pile).to_numpy().astype(int)
    counts = np.zeros((150, 3))
    np.add.at(counts, (item, role), 1)
    m, C = dirichlet_moments(found.concentration + counts)
    assert_allclose(found.memberships, m, atol=0.03)
    assert_allclose(np.diagonal(found.covariances, axis1=1, axis2=2), np.diagonal(C, axis1=1, axis2=2), atol=0.01)
    assert found.slips < 0.01
    assert_allclose(found.interactions, np.eye(3), atol=0.02)


def sorted_items(truth, *, seed, **options):
    answers = Answers.from_sorts(simulate_sorts(truth, random_state=seed, **options), one_group(len(truth)))
    return BeQuec(5, random_state=0).fit(answers), answers


def flagged(model):
    return model.workers_.worker[model.workers_.flagged].tolist()


def covered(model, truth):
    M = match_clusters(model.memberships_, truth)
    order = [int(np.abs(model.memberships_ - column[:, None]).sum(axis=0).argmin()) for column in M.T]
    return (np.abs(M - truth) <= 1.645 * model.memberships_std_[:, order]).mean()


def test_hard_clusters_stay_hard_however_many_pairs_a_slip_spoils():
    labels = np.random.default_rng(0).integers(0, 5, 600)
    model, answers = sorted_items(labels, seed=0, screen=30, rounds=4, slip=0.1, lumper=1 / 3)
    right = accuracy(model.labels_, labels)
    assert right > 0.97
    assert abs(model.memberships_.max(axis=1).mean() - right) < 0.025
    assert covered(model, np.eye(5)[labels]) > 0.95
    pairs = answers.table.rows.drop(columns=["sorted", "sheet", "worker"])
    pairs = Answers.from_table(pairs.astype({"label": float}), answers.plan)
    taken_for_pairs = BeQuec(5, random_state=0).fit(pairs)
    assert abs(taken_for_pairs.memberships_.max(axis=1).mean() - right) > 0.04  # as if items were mixed


@pytest.mark.parametrize(("screen", "rounds"), [(24, 4), (60, 6)])
def test_error_bars_of_mixed_items_cover(screen, rounds):
    truth = np.random.default_rng(1).dirichlet(np.full(5, 0.3), 600)
    model, _ = sorted_items(truth, seed=1, screen=screen, rounds=rounds, slip=0.0)
    assert 0.85 < covered(model, truth) < 0.97
    model, _ = sorted_items(truth, seed=2, screen=screen, rounds=rounds, slip=0.05, lumper=0.2, splitter=0.2)
    assert 0.85 < covered(model, truth) < 0.97


def test_piles_and_single_pairs_together_know_more_than_each():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 5, 600)
    sorts = simulate_sorts(labels, screen=30, rounds=2, slip=0.1, random_state=4)
    left, right = np.triu_indices(600, 1)
    chosen = rng.choice(len(left), 4500, replace=False)
    left, right = left[chosen], right[chosen]
    yes = rng.random(4500) < np.where(labels[left] == labels[right], 0.85, 0.07)
    said = pd.DataFrame({"left": left, "right": right, "label": yes.astype(int)})
    plan = one_group(600)
    both = BeQuec(5, random_state=0).fit(Answers.from_tables(plan, answers=said, sorts=sorts))
    piles = BeQuec(5, random_state=0).fit(Answers.from_sorts(sorts, plan))
    wrong = 1 - accuracy(both.labels_, labels)
    assert wrong < 0.6 * (1 - accuracy(piles.labels_, labels))
    assert abs(both.memberships_.max(axis=1).mean() - 1 + wrong) < 0.08
    assert covered(both, np.eye(5)[labels]) > 0.95


def test_who_sorts_at_random_is_flagged():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 5, 600)
    sorts = simulate_sorts(labels, screen=30, rounds=5, random_state=5)
    careless = sorts.worker == sorts.worker.unique()[0]
    sorts["pile"] = np.where(careless, rng.integers(0, 6, len(sorts)).astype(str), sorts["pile"].astype(str))
    model = BeQuec(5, random_state=0).fit(Answers.from_sorts(sorts, one_group(600)))
    assert flagged(model) == [str(sorts.worker.unique()[0])]
    assert accuracy(model.labels_, labels) > 0.97


def test_piles_are_read_the_same_way_each_time_and_whatever_the_threads():
    labels = np.random.default_rng(6).integers(0, 3, 150)
    answers = Answers.from_sorts(simulate_sorts(labels, rounds=4, random_state=6), one_group(150))
    one, two = (BeQuec(3, random_state=1, n_jobs=n_jobs).fit(answers) for n_jobs in (None, 2))
    for name in ("memberships_", "memberships_std_", "interactions_", "concentration_", "log_predictive_per_node_"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name
    assert_allclose(one.memberships_.sum(axis=1), 1)
    assert one.memberships_std_.min() >= 0
    assert not hasattr(BeQuec(3, refine="subspace", random_state=1).fit(answers), "memberships_std_")


def test_items_nobody_sorted_keep_the_prior():
    labels = np.random.default_rng(7).integers(0, 3, 150)
    sorts = simulate_sorts(labels, rounds=5, random_state=7)
    sorts = sorts[sorts["item"].astype(int) != 0]
    model = BeQuec(3, random_state=0).fit(Answers.from_sorts(sorts, one_group(150)))
    prior = model.concentration_ / model.concentration_.sum()
    assert_allclose(model.memberships_[0], prior, atol=0.01)
    assert model.memberships_std_[0].min() > 0.3
