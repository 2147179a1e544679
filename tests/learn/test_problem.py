"""What is learned from: it can be sent to another process, and its dense blocks are read once."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bequec import Answers, BeQuec, plan_queries
from bequec.learn import pair_blocks
from bequec.learn.pair_blocks import PairBlocks
from bequec.learn.problem import Problem


@pytest.fixture
def repeated(rng):
    """Answers to part of the pairs, some of them repeated."""
    plan = plan_queries(90, 3, n_groups=3, random_state=1)
    asked = plan.asked[np.ix_(plan.group_of, plan.group_of)]
    total = np.triu(asked * rng.integers(0, 4, (90, 90)), k=1)
    label = rng.integers(3, size=90)
    yes = rng.binomial(total, np.where(label[:, None] == label, 0.9, 0.1))
    return Answers.from_counts(plan, (yes + yes.T).astype(float), (total + total.T).astype(float))


def test_a_problem_can_be_sent_to_another_process_without_its_dense_blocks(repeated):
    problem = Problem(repeated, repeated.plan.asked, 3).with_dispersion(0.5)
    expected = [block.total for block in problem.blocks]
    received = pickle.loads(pickle.dumps(problem))
    assert "blocks" not in vars(received)
    for block, total in zip(received.blocks, expected, strict=True):
        assert_array_equal(block.total, total)


def test_weights_are_worked_out_from_one_copy_of_the_blocks(repeated):
    blocks = PairBlocks.of(repeated)
    once, halved = blocks.counted_once(), blocks.with_dispersion(2.0)
    for block, counted, half, averaged in zip(blocks, once, halved, PairBlocks.of(repeated.averaged()), strict=True):
        assert counted.mean is block.mean
        assert half.mean is block.mean
        assert_array_equal(counted.mean, averaged.mean)
        assert_array_equal(counted.total, averaged.total)
        assert_array_equal(2 * np.asarray(half.total), block.total)


@pytest.mark.parametrize(("refine", "n_reads"), [(None, 0), ("subspace", 1), ("posterior", 1)])
def test_dense_blocks_are_read_once_in_a_fit(repeated, refine, n_reads, monkeypatch):
    read = []

    def counting(answers, l, m, read_block=pair_blocks._read_dense):
        read.append((l, m))
        return read_block(answers, l, m)

    monkeypatch.setattr(pair_blocks, "_read_dense", counting)
    BeQuec(3, refine=refine, random_state=0).fit(repeated)
    assert len(read) == n_reads * len(repeated.plan.blocks)
