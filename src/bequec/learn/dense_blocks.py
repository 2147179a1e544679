"""The answered blocks as dense arrays, for sums over every asked pair with a weight of its own."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.plan.groups import pairs_in_blocks
from bequec.plan.query_plan import QueryPlan

Single = npt.NDArray[np.float32]
Product = Callable[[FloatArray], FloatArray]

MOST_PAIRS = 100_000_000  # 400 MB in single precision
NEXT_TO_NOTHING = 1e-15
SPARSE_BELOW = 0.05  # of the asked pairs


def fits_densely(answers: Answers) -> bool:
    """Whether every pair of the blocks with asked pairs can be visited one by one."""
    return n_dense_pairs(answers.plan) <= MOST_PAIRS


def n_dense_pairs(plan: QueryPlan) -> int:
    """How many pairs the dense blocks hold: the asked ones, and all others of a block with single pairs."""
    if not len(plan.single_pairs):
        return plan.n_pairs
    return int(np.triu(pairs_in_blocks(plan.sizes) * plan.covered).sum())


def yes_product(answers: Answers, blocks: "DenseBlocks | None") -> Product:
    """Q ↦ A Q for answers that count each pair once, by dense blocks where there is so much yes that it is faster."""
    if blocks is None or answers.yes.nnz < SPARSE_BELOW * 2 * n_dense_pairs(answers.plan):
        return lambda Q: np.asarray(answers.yes @ Q)

    def product(Q: FloatArray) -> FloatArray:
        image, single = np.zeros(Q.shape), as_single(Q)
        for block in blocks:
            image[block.rows] += block.mean @ single[block.columns]
            if not block.is_loop:
                image[block.columns] += block.mean.T @ single[block.rows]
        return image

    return product


def as_single(values: FloatArray) -> Single:
    """In single precision; what is next to nothing is zero, as products of such numbers are many times slower."""
    return np.where(np.abs(values) < NEXT_TO_NOTHING, 0.0, values).astype(np.float32)


class DenseBlock(NamedTuple):
    """One asked block l ≤ m: share of yes a = A / W and number of answers W (zero where a pair has none)."""

    rows: slice
    columns: slice
    mean: Single
    total: Single | None
    is_loop: bool


class DenseBlocks:
    """All asked blocks of some answers; single precision, as answers are noisier than its rounding.

    ``dispersion`` says how many times p (1 − p) the variance of an answer is: every answer counts 1 / dispersion.
    """

    def __init__(self, answers: Answers, dispersion: float = 1.0) -> None:
        self.plan = answers.plan
        self.dispersion = dispersion
        self.blocks = [self._read(answers, l, m) for l, m in answers.plan.covered_blocks.tolist()]

    def __iter__(self) -> Iterator[DenseBlock]:
        return iter(self.blocks)

    def _read(self, answers: Answers, l: int, m: int) -> DenseBlock:
        mean = answers.block(l, m).toarray().astype(np.float32)
        total: Single | None = None
        if answers.correction is not None or not answers.plan.asked[l, m]:
            total = answers.block_totals(l, m).astype(np.float32)
            mean /= np.maximum(total, np.float32(1e-6))
        elif l == m and not answers.diagonal:
            total = np.ones_like(mean)
            np.fill_diagonal(total, 0.0)
        if self.dispersion != 1.0:
            total = (np.ones_like(mean) if total is None else total) / np.float32(self.dispersion)
        return DenseBlock(answers.plan.span(l), answers.plan.span(m), mean, total, l == m)
