"""The answered blocks as dense arrays, for sums over every asked pair with a weight of its own."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.plan.groups import pairs_in_blocks
from bequec.plan.query_plan import QueryPlan

Single = npt.NDArray[np.float32]
Product = Callable[[FloatArray], FloatArray]

MOST_DENSE_PAIRS = 100_000_000  # asked pairs, 400 MB in single precision: above, nothing is made dense
SPARSE_BELOW = 0.05  # share of the asked pairs: below it, visiting only the nonzero ones is faster
FLUSHED_BELOW = 1e-15  # numbers whose products would be subnormal


def fits_densely(answers: Answers) -> bool:
    """Whether every pair of the blocks with asked pairs can be visited one by one."""
    return n_dense_pairs(answers.plan) <= MOST_DENSE_PAIRS


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
    """In single precision. Flush tiny numbers to zero: products of subnormal numbers are many times slower."""
    return np.where(np.abs(values) < FLUSHED_BELOW, 0.0, values).astype(np.float32)


class DenseBlock(NamedTuple):
    """One asked block l ≤ m: share of yes a = A / W and weight W of each pair's answers.

    W is their number, unless ``DenseBlocks`` says that they count otherwise; None stands for one everywhere.
    """

    rows: slice
    columns: slice
    mean: Single
    total: Single | None
    is_loop: bool


@dataclass(frozen=True, eq=False)
class DenseBlocks:
    """All asked blocks of some answers; single precision, as answers are noisier than its rounding.

    ``counted_once`` and ``with_dispersion`` share these arrays: the weight of an answer is worked out block by block.
    """

    plan: QueryPlan
    blocks: tuple[DenseBlock, ...]
    has_repeated_answers: bool
    is_counted_once: bool = False
    dispersion: float = 1.0

    @classmethod
    def of(cls, answers: Answers) -> "DenseBlocks":
        """Read all blocks."""
        blocks = tuple(_read(answers, l, m) for l, m in answers.plan.covered_blocks.tolist())
        has_repeated = answers.correction is not None and answers.correction.data.max(initial=0) + answers.baseline > 1
        return cls(answers.plan, blocks, bool(has_repeated))

    def counted_once(self) -> "DenseBlocks":
        """The same blocks with every answered pair counted once, by its mean answer."""
        return dataclasses.replace(self, is_counted_once=True)

    def with_dispersion(self, dispersion: float) -> "DenseBlocks":
        """The same blocks with every answer counted 1 / ``dispersion``."""
        return dataclasses.replace(self, dispersion=dispersion)

    def __iter__(self) -> Iterator[DenseBlock]:
        for block in self.blocks:
            yield block._replace(total=self._weight(block))

    def _weight(self, block: DenseBlock) -> Single | None:
        total = block.total
        if total is not None and self.is_counted_once and self.has_repeated_answers:
            total = (total > 0).astype(np.float32)
        if self.dispersion == 1.0:
            return total
        return (np.ones_like(block.mean) if total is None else total) / np.float32(self.dispersion)


def _read(answers: Answers, l: int, m: int) -> DenseBlock:
    mean = answers.block(l, m).toarray().astype(np.float32)
    total: Single | None = None
    if answers.correction is not None or not answers.plan.asked[l, m]:
        total = answers.block_totals(l, m).astype(np.float32)
        mean /= np.maximum(total, np.float32(1e-6))
    elif l == m and not answers.diagonal:
        total = np.ones_like(mean)
        np.fill_diagonal(total, 0.0)
    return DenseBlock(answers.plan.span(l), answers.plan.span(m), mean, total, l == m)
