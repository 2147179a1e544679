"""Workers: lines against the model's probabilities, weights, flags, and what they do for a fit."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bequec import Answers, BeQuec, ModelError, QueryPlan, ask_graph
from bequec.ask.counting import weighted
from bequec.learn.people.workers import (
    clearly_worse,
    efficiency,
    fit_lines,
    left_out_probabilities,
    weights_of,
)
from bequec.look import accuracy


def drawn_lines(slopes, n_each, rng, *, base=0.3):
    """Answers of workers with P(yes) = base (1 − β) + β p: p, answers, and the worker of each."""
    worker = np.repeat(np.arange(len(slopes)), n_each)
    p = rng.choice([0.08, 0.15, 0.6, 0.85], len(worker))
    q = base * (1 - slopes[worker]) + slopes[worker] * p
    return p, (rng.random(len(p)) < q).astype(float), worker


def test_planted_lines_are_recovered_and_their_standard_errors_cover(rng):
    slopes = np.tile([0.0, 0.4, 0.7, 1.0], 50)
    p, answer, worker = drawn_lines(slopes, 500, rng)
    lines = fit_lines(p, answer, np.ones(len(p)), worker, len(slopes))
    for slope in np.unique(slopes):
        assert abs(lines.slope[slopes == slope].mean() - slope) < 0.03
    assert_allclose(lines.intercept, 0.3 * (1 - slopes), atol=0.12)
    z = (lines.slope - slopes) / lines.standard_error
    assert 0.8 < np.std(z) < 1.2
    assert (np.abs(z) < 1.645).mean() > 0.85


def test_with_certain_probabilities_the_line_is_least_squares(rng):
    """With one worker and many answers shrinkage vanishes: θ solves the weighted normal equations."""
    p, answer, worker = drawn_lines(np.array([0.6]), 200_000, rng)
    lines = fit_lines(p, answer, np.ones(len(p)), worker, 1)
    q = lines.intercept[0] + lines.slope[0] * p
    X = np.stack([np.ones_like(p), p], axis=1)
    expected = np.linalg.solve(X.T @ (X / (q * (1 - q))[:, None]), X.T @ (answer / (q * (1 - q))))
    assert_allclose([lines.intercept[0], lines.slope[0]], expected, atol=2e-3)


def test_an_answer_that_counts_twice_is_two_answers(rng):
    p, answer, worker = drawn_lines(np.array([0.2, 1.0, 0.9]), 40, rng)
    once = fit_lines(np.tile(p, 2), np.tile(answer, 2), np.ones(2 * len(p)), np.tile(worker, 2), 3)
    twice = fit_lines(p, answer, np.full(len(p), 2.0), worker, 3)
    for one, other in zip(once, twice, strict=True):
        assert_allclose(one, other)


def test_workers_who_are_alike_are_shrunk_to_each_other(rng):
    p, answer, worker = drawn_lines(np.ones(300), 30, rng)
    lines = fit_lines(p, answer, np.ones(len(p)), worker, 300)
    assert lines.slope.std() < 0.1  # each by itself: 0.25
    assert efficiency(weights_of(lines), lines.weight) > 0.98
    assert not clearly_worse(lines).any()


def test_spammers_have_a_slope_near_zero_hardly_count_and_are_flagged(rng):
    slopes = np.append(np.zeros(3), np.ones(12))
    p, answer, worker = drawn_lines(slopes, 300, rng)
    lines = fit_lines(p, answer, np.ones(len(p)), worker, 15)
    assert_array_equal(clearly_worse(lines), slopes == 0)
    weights = weights_of(lines)
    assert (weights[:3] < 0.1).all()
    assert_allclose((lines.weight @ weights**2) / (lines.weight @ weights), 1.0, atol=0.01)


def test_somebody_with_few_answers_is_not_flagged(rng):
    slopes = np.append(0.0, np.ones(20))
    p, answer, worker = drawn_lines(slopes, 300, rng)
    few = (worker > 0) | (np.cumsum(worker == 0) <= 4)
    assert not clearly_worse(fit_lines(p[few], answer[few], np.ones(few.sum()), worker[few], 21)).any()


def test_a_left_out_answer_no_longer_pulls_its_probability(rng):
    """For one pair whose answer moved p by its leverage, p^cav is where p was before, to first order."""
    M, B = rng.dirichlet([1, 1, 1], 6), np.array([[0.8, 0.1, 0.2], [0.1, 0.9, 0.1], [0.2, 0.1, 0.7]])
    C = np.stack([np.cov(rng.dirichlet([20, 20, 20], 50).T) for _ in range(6)])
    i, j = np.array([0, 1]), np.array([3, 4])
    p = np.einsum("nk,kl,nl->n", M[i], B, M[j])
    a, W = np.array([1.0, 0.0]), np.array([1.0, 2.0])
    z = M @ B
    moved = [z[v] @ C[u] @ z[v] + z[u] @ C[v] @ z[u] for u, v in zip(i, j, strict=True)]
    expected = a - (a - p) * (1 + W / (p * (1 - p)) * moved)
    found = left_out_probabilities(M, C, B, i, j, a, W)
    assert_allclose(found, expected)
    assert found[0] < p[0]
    assert found[1] > p[1]
    assert_allclose(left_out_probabilities(M, None, B, i, j, a, W), p)


def crowd(rng, *, n_items=240, n_pairs=7000, n_workers=20, n_spammers=0):
    """Labels, and what a crowd said of scattered pairs of items in three clusters; spammers toss a coin."""
    labels = rng.permutation(np.arange(n_items) % 3)
    left, right = np.triu_indices(n_items, 1)
    chosen = rng.choice(len(left), n_pairs, replace=False)
    left, right = left[chosen], right[chosen]
    worker = rng.integers(0, n_workers, n_pairs)
    yes = np.where(labels[left] == labels[right], rng.random(n_pairs) < 0.8, rng.random(n_pairs) < 0.12)
    yes = np.where(worker < n_spammers, rng.random(n_pairs) < 0.7, yes)
    names = np.array([f"w{number:02d}" for number in range(n_workers)])
    table = pd.DataFrame({"left": left, "right": right, "label": yes.astype(int), "worker": names[worker]})
    return labels, table


def answers_of(table, n_items=240):
    return Answers.from_table(table, QueryPlan(np.zeros(n_items, dtype=int), [(0, 0)]))


def learned(answers, **options):
    return BeQuec(3, random_state=0, **options).fit(answers)


def test_weighing_finds_spammers_and_undoes_most_of_their_harm():
    labels, table = crowd(np.random.default_rng(1), n_pairs=3500, n_spammers=7)
    answers = answers_of(table)
    ignoring, weighing = (learned(answers, workers=how) for how in ("ignore", "weigh"))
    assert ignoring.workers_ is None
    wrong = [1 - accuracy(model.labels_, labels) for model in (ignoring, weighing)]
    assert wrong[0] > 0.02
    assert wrong[1] < wrong[0] / 2
    workers = weighing.workers_
    assert workers.worker.is_monotonic_increasing
    assert_array_equal(workers.flagged, workers.worker.isin([f"w{number:02d}" for number in range(7)]))
    assert_array_equal(workers.n_answers, table.groupby("worker").size())
    assert (workers.reliability[~workers.flagged] > 0.6).all()


def test_among_equals_nothing_is_weighed_and_nothing_lost():
    labels, table = crowd(np.random.default_rng(2))
    answers = answers_of(table)
    ignoring, weighing = (learned(answers, workers=how) for how in ("ignore", "weigh"))
    assert_array_equal(weighing.memberships_, ignoring.memberships_)
    assert not weighing.workers_.flagged.any()
    assert accuracy(weighing.labels_, labels) > 0.98


@pytest.mark.parametrize("refine", [None, "subspace"])
def test_every_refinement_weighs(refine):
    _, table = crowd(np.random.default_rng(3), n_pairs=14_000, n_spammers=4)
    model = learned(answers_of(table), refine=refine)
    assert model.workers_.worker[model.workers_.flagged].tolist() == ["w00", "w01", "w02", "w03"]


def test_nobody_is_judged_where_there_is_nobody_to_compare():
    _, table = crowd(np.random.default_rng(4))
    for unnamed in (table.drop(columns="worker"), table.assign(worker="w1"), table.assign(worker=None)):
        assert learned(answers_of(unnamed), refine="subspace").workers_ is None
    graph = np.kron(np.eye(3), np.ones((20, 20)))
    assert learned(graph, refine="subspace").workers_ is None
    edges = table[table.label == 1].drop(columns="label")
    plan = QueryPlan(np.zeros(240, dtype=int), [(0, 0)])
    listed = Answers.from_table(edges, plan, unlisted="no")  # who reports edges says nothing of the others
    assert learned(listed, refine="subspace").workers_ is None
    averaged = answers_of(pd.concat([table, table.assign(worker="w00")])).averaged()
    assert learned(averaged, refine="subspace").workers_ is None


def test_answers_without_a_name_count_as_they_are():
    _, table = crowd(np.random.default_rng(5), n_pairs=14_000, n_spammers=4)
    table.loc[table.index[:3000], "worker"] = None
    model = learned(answers_of(table), refine="subspace")
    assert model.workers_.n_answers.sum() == len(table) - 3000
    assert model.workers_.flagged.sum() == 4


def test_an_unknown_way_with_workers_is_refused_before_any_work():
    with pytest.raises(ModelError, match="workers='trust' is unknown; choose one of: 'weigh', 'ignore'"):
        BeQuec(2, workers="trust").fit(np.ones((4, 4)))


def test_workers_come_back_with_the_model(tmp_path):
    _, table = crowd(np.random.default_rng(6), n_spammers=2)
    table["worker"] = table.worker.replace({"w03": "Zoë, the third"})
    model = learned(answers_of(table), refine="subspace")
    model.save(tmp_path / "model.npz")
    again = BeQuec.load(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(again.workers_, model.workers_, check_dtype=False)
    model.set_params(workers="ignore").fit(answers_of(table)).save(tmp_path / "model.npz")
    assert BeQuec.load(tmp_path / "model.npz").workers_ is None


def test_weighed_answers_are_not_taken_for_similarities():
    """Their error bars are those of yes and no answers: similarities would shrink them."""
    _, table = crowd(np.random.default_rng(7))
    answers = answers_of(table)
    plain = learned(answers, workers="ignore")
    alike = BeQuec(3, workers="ignore", random_state=0).fit(weighted(answers, np.full(len(table), 0.999)))
    assert_allclose(alike.memberships_std_.mean(), plain.memberships_std_.mean(), rtol=0.02)
    graph = answers.yes.toarray() * 0.5
    assert ask_graph(graph, answers.plan).has_similarities
