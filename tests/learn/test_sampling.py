"""A sample of nodes: how large it is, that its answers are the same ones, and that the other nodes join it truly."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bequec import Answers, BeQuec, QueryPlan, plan_queries
from bequec.learn.posterior import sampling
from bequec.learn.posterior.cavity import Belief
from bequec.learn.posterior.sampling import among, draw_sample, extend, share_needed
from bequec.learn.posterior.settings import POSTERIOR
from bequec.learn.problem import Problem
from bequec.learn.state import State
from bequec.learn.work import Work
from bequec.look import mean_squared_error
from bequec.simulate import expected_answers, simulate_mixed_memberships


@pytest.fixture
def partly_answered(rng):
    """Answers to unequal groups, part of them missing and part repeated, as counts in group order too."""
    plan = plan_queries(130, 3, n_groups=4, random_state=2)
    asked = plan.asked[np.ix_(plan.group_of, plan.group_of)]
    total = np.triu(asked * rng.integers(0, 3, (130, 130)), k=1)
    yes = rng.binomial(total, 0.4)
    answers = Answers.from_counts(plan, (yes + yes.T).astype(float), (total + total.T).astype(float))
    return answers, *((x + x.T)[np.ix_(plan.order, plan.order)] for x in (yes, total))


def sample_needs(monkeypatch, *, pairs, answers):
    """A sample needs so many pairs per cluster, and so many of the rarer answer per node and cluster."""
    settings = dataclasses.replace(POSTERIOR, sampled_pairs_per_cluster=pairs, sampled_answers_per_cluster=answers)
    monkeypatch.setattr(sampling, "POSTERIOR", settings)


def drawn(n_nodes, **parameters):
    plan = plan_queries(n_nodes, 3, n_groups=5, random_state=1)
    return simulate_mixed_memberships(plan, 3, random_state=1, **parameters)


def test_answers_among_some_nodes_are_those_of_all(partly_answered, rng):
    answers, yes, total = partly_answered
    positions = np.sort(rng.choice(130, 60, replace=False))
    part = among(answers, positions)
    group_of = np.repeat(np.arange(4), answers.plan.sizes)[positions]
    for l, m in answers.plan.blocks.tolist():
        here = np.ix_(positions[group_of == l], positions[group_of == m])
        assert_array_equal(part.block(l, m).toarray(), yes[here])
        assert_array_equal(part.block_totals(l, m), total[here])
    assert part.n_answers == np.triu(total[np.ix_(positions, positions)]).sum()


def test_sample_is_as_large_as_answers_ask_for(monkeypatch):
    answers, _, _ = drawn(2000)
    pairs, rarer = answers.n_answered_pairs, 2 * answers.n_answers * answers.share_yes / 2000
    sample_needs(monkeypatch, pairs=pairs / 3 / 4, answers=0)
    assert share_needed(answers, 3) == pytest.approx(0.5)  # half of the nodes have a quarter of the pairs
    sample_needs(monkeypatch, pairs=pairs / 3 / 4, answers=0.7 * rarer / 3)
    assert share_needed(answers, 3) == pytest.approx(0.7)  # half of them would have too few yes
    start = State(np.arange(4000.0).reshape(2000, 2), np.ones(2), np.ones(2), np.arange(6000.0).reshape(2000, 3))
    problem = Problem(answers, answers.plan.asked, 3)
    sample = draw_sample(problem, np.random.default_rng(0), start)
    assert sample.is_part
    assert_array_equal(sample.problem.answers.plan.sizes, np.ceil(0.7 * answers.plan.sizes))
    assert len(np.unique(sample.positions)) == len(sample.positions) == 1400
    assert_array_equal(sample.start.memberships, start.memberships[sample.positions])
    sample_needs(monkeypatch, pairs=pairs / 3 / 4, answers=0.9 * rarer / 3)
    everyone = draw_sample(problem, np.random.default_rng(0), start)
    assert not everyone.is_part
    assert everyone.problem is problem


def test_small_groups_are_kept_whole(monkeypatch):
    sample_needs(monkeypatch, pairs=10, answers=0)
    plan = QueryPlan(np.repeat([0, 1, 2], [50, 450, 500]), [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)])
    answers, _, _ = simulate_mixed_memberships(plan, 3, random_state=1)
    start = State(np.zeros((1000, 3)), np.ones(3), np.ones(3), np.zeros((1000, 3)))
    sample = draw_sample(Problem(answers, plan.asked, 3), np.random.default_rng(0), start)
    assert sample.problem.answers.plan.sizes.tolist() == [50, 60, 60]


def test_other_nodes_join_with_their_true_memberships(rng):
    """In the ideal case their answers with the sample say exactly what they are; the sample stays as it is."""
    answers, truth, interactions = drawn(600)
    plan = answers.plan
    ideal, truth = expected_answers(plan, truth, interactions), truth[plan.order]
    positions = np.sort(rng.choice(600, 300, replace=False))
    known = Belief(truth[positions], rng.random((300, 3, 3)), interactions, np.full(3, 0.2))
    everyone = extend(ideal, positions, known)
    assert_allclose(everyone.memberships, truth, atol=5e-3)  # a ridge of a thousandth
    assert_array_equal(everyone.memberships[positions], known.memberships)
    assert_array_equal(everyone.covariances[positions], known.covariances)
    others = np.delete(np.arange(600), positions)
    assert_allclose(everyone.covariances[others], np.tile(known.covariances.mean(axis=0), (300, 1, 1)))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_posterior_is_as_good_from_a_sample(missing, monkeypatch, rng):
    answers, truth, _ = drawn(900)
    if missing:
        kept = np.triu(rng.random((900, 900)) > missing, k=1)
        total = (kept + kept.T) * answers.plan.asked[np.ix_(answers.plan.group_of, answers.plan.group_of)]
        yes = answers.yes.toarray()[np.ix_(answers.plan.position_of, answers.plan.position_of)] * total
        answers = Answers.from_counts(answers.plan, yes, total.astype(float))
    whole = BeQuec(3, random_state=0).fit(answers)
    sample_needs(monkeypatch, pairs=answers.n_answered_pairs / 3 / 4, answers=0)
    sampled = BeQuec(3, random_state=0).fit(answers)
    assert not np.array_equal(sampled.memberships_, whole.memberships_)
    assert mean_squared_error(sampled.memberships_, truth) < 1.1 * mean_squared_error(whole.memberships_, truth)
    assert mean_squared_error(sampled.memberships_, whole.memberships_) < 5e-3
    again = BeQuec(3, random_state=0).fit(answers)
    assert_array_equal(again.memberships_, sampled.memberships_)


def test_out_of_time_a_sample_is_no_worse_than_the_start(monkeypatch):
    answers, truth, _ = drawn(900)
    sample_needs(monkeypatch, pairs=100, answers=0)
    monkeypatch.setattr(Work, "out_of_time", lambda self: True)
    with pytest.warns(UserWarning, match="ran out of time"):
        model = BeQuec(3, random_state=0, time_limit=60).fit(answers)
    start = BeQuec(3, refine="subspace", random_state=0).fit(answers)
    error, start_error = (mean_squared_error(fitted.memberships_, truth) for fitted in (model, start))
    assert error < 1.001 * start_error
