"""Answers by people who differ: workers are judged and weighed, piles are read as placements."""

import numpy as np
import pandas as pd
import pytest

from bequec import Answers, AnswersError, BeQuec, ModelError, QueryPlan
from bequec.look import accuracy
from bequec.simulate import simulate_sorts

N_ITEMS, N_WORKERS = 400, 12


def answered(n_answers, n_spammers, seed):
    """Random pairs of items in four clusters; the first workers toss a coin."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(N_ITEMS) % 4)
    i, j = np.triu_indices(N_ITEMS, k=1)
    at = rng.choice(len(i), n_answers, replace=False)
    i, j, worker = i[at], j[at], rng.integers(0, N_WORKERS, n_answers)
    yes = rng.random(n_answers) < np.where(labels[i] == labels[j], 0.88, 0.06)
    by_chance = worker < n_spammers
    yes[by_chance] = rng.random(by_chance.sum()) < 0.5
    names = np.array([f"w{number:02d}" for number in range(N_WORKERS)])
    said = pd.DataFrame({"left": i, "right": j, "label": np.where(yes, "same", "different"), "worker": names[worker]})
    return Answers.from_table(said, QueryPlan(np.zeros(N_ITEMS, dtype=int), [(0, 0)])), labels


def test_workers_who_answer_by_chance_are_found_and_count_little(tmp_path):
    answers, labels = answered(7000, 3, seed=0)
    weighed = BeQuec(4, random_state=0).fit(answers)
    ignored = BeQuec(4, random_state=0, workers="ignore").fit(answers)
    assert ignored.workers_ is None
    assert weighed.workers_ is not None
    assert weighed.workers_.columns.tolist() == ["worker", "n_answers", "reliability", "standard_error", "flagged"]
    assert weighed.workers_.worker[weighed.workers_.flagged].tolist() == ["w00", "w01", "w02"]
    assert weighed.workers_.n_answers.sum() == 7000
    wrong, more_wrong = (1 - accuracy(model.labels_, labels) for model in (weighed, ignored))
    assert wrong < more_wrong
    without = BeQuec(4, random_state=0).fit(answers.without_workers(["w00", "w01", "w02"]))
    assert wrong <= 1 - accuracy(without.labels_, labels) + 0.01
    weighed.save(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(BeQuec.load(tmp_path / "model.npz").workers_, weighed.workers_)


def test_equal_workers_are_not_flagged_and_lose_nothing():
    answers, labels = answered(5000, 0, seed=1)
    weighed = BeQuec(4, random_state=0).fit(answers)
    assert weighed.workers_ is not None
    assert not weighed.workers_.flagged.any()
    ignored = BeQuec(4, random_state=0, workers="ignore").fit(answers)
    assert accuracy(weighed.labels_, labels) >= accuracy(ignored.labels_, labels) - 0.005


def test_weights_are_not_similarities():
    """A pair with a weighed yes and a weighed no has a share of yes between, and is still yes and no."""
    from bequec.ask.counting import has_similarities, weighted

    answers, _ = answered(3000, 3, seed=2)
    assert not has_similarities(answers)
    assert not has_similarities(weighted(answers, np.random.default_rng(0).uniform(0.2, 1.0, 3000)))
    table = pd.DataFrame({"left": [0, 1], "right": [2, 3], "label": ["0.3", "same"]})
    assert has_similarities(Answers.from_table(table, QueryPlan([0] * 4, [(0, 0)])))


def test_somebody_unknown_cannot_be_left_out():
    answers, _ = answered(3000, 0, seed=3)
    with pytest.raises(AnswersError, match="nobody called 'w1' answered anything; the nearest names are"):
        answers.without_workers(["w1"])
    with pytest.raises(ModelError, match="workers='trust' is unknown"):
        BeQuec(4, workers="trust").fit(answers)


def test_piles_sort_items_and_say_how_sure():
    rng = np.random.default_rng(4)
    labels = rng.permutation(np.arange(500) % 4)
    sorts = simulate_sorts(labels, screen=25, rounds=4, slip=0.1, random_state=4)
    model = BeQuec(4, random_state=0).fit(Answers.from_sorts(sorts, QueryPlan(np.zeros(500, dtype=int), [(0, 0)])))
    right = accuracy(model.labels_, labels)
    assert right > 0.97
    assert abs(model.memberships_.max(axis=1).mean() - right) < 0.03
