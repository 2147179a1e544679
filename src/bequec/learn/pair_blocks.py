"""The answered pairs, block by block, for sums over all of them with a weight of their own.

A block whose pairs are mostly answered is a dense array; one in which few are is a list of pairs. Kernels work on
either through the same few operations: values at the pairs, and sums of rows weighted by such values.
"""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.ask.pair_counts import stored_values
from bequec.core.arrays import FloatArray, IntArray
from bequec.plan.groups import pairs_in_blocks
from bequec.plan.query_plan import QueryPlan

Single = npt.NDArray[np.float32]
Product = Callable[[FloatArray], FloatArray]

MOST_VALUES = 100_000_000  # pairs visited one by one, 400 MB in single precision: above, the posterior is refused
SPARSE_BELOW = 0.05  # share of the asked pairs: below it, visiting only the nonzero ones is faster
LISTED_BELOW = 0.1  # answered share of a block: below it, a list of pairs is faster than a dense array
FLUSHED_BELOW = 1e-15  # numbers whose products would be subnormal


class DenseBlock(NamedTuple):
    """A block l ≤ m as dense arrays: share of yes a = A / W and weight W of each pair's answers.

    W is their number, 0 where the pair is unanswered, unless ``PairBlocks`` says that they count otherwise; None stands
    for one everywhere.
    """

    rows: slice
    columns: slice
    is_loop: bool
    mean: Single
    total: Single | None

    def inner(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """leftᵢ · rightⱼ at the pairs (i, j)."""
        return np.asarray(left[self.rows] @ right[self.columns].T)

    def to_rows(self, values: Any, right: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Σ_j value_ij rightⱼ for each row i; the values may be a sparse array."""
        return np.asarray(values @ right[self.columns])

    def to_columns(self, values: Any, left: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Σ_i value_ij leftᵢ for each column j."""
        return np.asarray(values.T @ left[self.rows])

    @property
    def weight(self) -> Single:
        """W of each pair."""
        return np.ones_like(self.mean) if self.total is None else self.total

    def turned(self) -> "DenseBlock":
        """The same block with rows and columns exchanged."""
        total = None if self.total is None else self.total.T
        return DenseBlock(self.columns, self.rows, self.is_loop, self.mean.T, total)


class ListedBlock(NamedTuple):
    """A block as a list of its answered pairs, row by row: where each row's begin, their columns, a = A / W and W.

    Unanswered pairs are not in the list, which is the same as a weight of 0.
    """

    rows: slice
    columns: slice
    is_loop: bool
    begins: IntArray
    at: IntArray
    mean: Single
    total: Single

    @property
    def row_of(self) -> IntArray:
        """The row of each pair."""
        return np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))

    def inner(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """leftᵢ · rightⱼ at the pairs (i, j)."""
        return np.asarray(np.einsum("pk,pk->p", left[self.rows][self.row_of], right[self.columns][self.at]))

    def to_rows(self, values: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Σ_j value_ij rightⱼ for each row i."""
        return np.asarray(self._matrix(values) @ right[self.columns])

    def to_columns(self, values: npt.NDArray[Any], left: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Σ_i value_ij leftᵢ for each column j."""
        return np.asarray(self._matrix(values).T @ left[self.rows])

    @property
    def weight(self) -> Single:
        """W of each pair."""
        return self.total

    def turned(self) -> "ListedBlock":
        """The same block with rows and columns exchanged."""
        mean, total = (self._matrix(values).tocsc() for values in (self.mean, self.total))
        # Conversion keeps stored zeros, so that both have the same pairs.
        return ListedBlock(
            self.columns, self.rows, self.is_loop, mean.indptr.astype(np.int64), mean.indices, mean.data, total.data
        )

    def _matrix(self, values: npt.NDArray[Any]) -> sp.csr_array:
        shape = (self.rows.stop - self.rows.start, self.columns.stop - self.columns.start)
        return sp.csr_array((values, self.at, self.begins), shape=shape)


PairBlock = DenseBlock | ListedBlock


@dataclass(frozen=True, eq=False)
class PairBlocks:
    """All answered blocks of some answers; single precision, as answers are noisier than its rounding.

    ``counted_once`` and ``with_dispersion`` share these arrays: the weight of an answer is worked out block by block.
    """

    plan: QueryPlan
    blocks: tuple[PairBlock, ...]
    has_repeated_answers: bool
    is_counted_once: bool = False
    dispersion: float = 1.0

    @classmethod
    def of(cls, answers: Answers) -> "PairBlocks":
        """Read all blocks."""
        is_listed = listed_blocks(answers)
        blocks = tuple(
            (_read_listed if is_listed[l, m] else _read_dense)(answers, l, m)
            for l, m in answers.plan.covered_blocks.tolist()
        )
        beyond_once = np.empty(0) if answers.correction is None else answers.correction.data + answers.baseline
        return cls(answers.plan, blocks, bool(((beyond_once != 0) & (beyond_once != 1)).any()))

    def counted_once(self) -> "PairBlocks":
        """The same blocks with every answered pair counted once, by its mean answer."""
        return dataclasses.replace(self, is_counted_once=True)

    def with_dispersion(self, dispersion: float) -> "PairBlocks":
        """The same blocks with every answer counted 1 / ``dispersion``."""
        return dataclasses.replace(self, dispersion=dispersion)

    def __iter__(self) -> Iterator[PairBlock]:
        count_once = self.is_counted_once and self.has_repeated_answers
        for block in self.blocks:
            once = block.total is not None and count_once
            counted = block._replace(total=(block.weight > 0).astype(np.float32)) if once else block
            yield (
                counted
                if self.dispersion == 1.0
                else counted._replace(total=counted.weight / np.float32(self.dispersion))
            )


def listed_blocks(answers: Answers) -> npt.NDArray[np.bool_]:
    """(L, L): the blocks of which so few pairs are answered that they are kept as lists."""
    # A block asked whole whose unanswered pairs are the exception (baseline 1) is stored as dense as it is.
    few = answers.answered_density_per_block < LISTED_BELOW
    return answers.plan.covered & few & (np.logical_not(answers.plan.asked) | (answers.baseline == 0))


def fits_in_memory(answers: Answers) -> bool:
    """Whether every pair that ``PairBlocks`` holds can be visited one by one."""
    return n_values(answers) <= MOST_VALUES


def n_values(answers: Answers) -> int:
    """How many pairs ``PairBlocks`` holds, each once: all of the dense blocks, the answered ones of the lists."""
    is_listed = listed_blocks(answers)
    if not is_listed.any() and not len(answers.plan.single_pairs):
        return answers.plan.n_pairs
    pairs = np.where(is_listed, answers.answered_pairs, pairs_in_blocks(answers.plan.sizes) * answers.plan.covered)
    return int(np.triu(pairs).sum())


def yes_product(answers: Answers, blocks: PairBlocks | None) -> Product:
    """Q ↦ A Q for answers that count each pair once, by dense blocks where there is so much yes that it is faster."""
    if blocks is None or answers.yes.nnz < SPARSE_BELOW * 2 * n_values(answers):
        return lambda Q: np.asarray(answers.yes @ Q)
    if not all(isinstance(block, DenseBlock) for block in blocks):
        return lambda Q: np.asarray(answers.yes @ Q)

    def product(Q: FloatArray) -> FloatArray:
        image, single = np.zeros(Q.shape), as_single(Q)
        for block in blocks:
            image[block.rows] += block.to_rows(block.mean, single)
            if not block.is_loop:
                image[block.columns] += block.to_columns(block.mean, single)
        return image

    return product


def as_single(values: FloatArray) -> Single:
    """In single precision. Flush tiny numbers to zero: products of subnormal numbers are many times slower."""
    return np.where(np.abs(values) < FLUSHED_BELOW, 0.0, values).astype(np.float32)


def _read_dense(answers: Answers, l: int, m: int) -> DenseBlock:
    mean = answers.block(l, m).toarray().astype(np.float32)
    total: Single | None = None
    if answers.correction is not None or not answers.plan.asked[l, m]:
        total = answers.block_totals(l, m).astype(np.float32)
        mean /= np.where(total > 0, total, np.float32(1.0))
    elif l == m and not answers.diagonal:
        total = np.ones_like(mean)
        np.fill_diagonal(total, 0.0)
    return DenseBlock(answers.plan.span(l), answers.plan.span(m), l == m, mean, total)


def _read_listed(answers: Answers, l: int, m: int) -> ListedBlock:
    """From the corrections, which hold every answered pair of such a block, and from nothing else."""
    rows, columns = answers.plan.span(l), answers.plan.span(m)
    everywhere = answers.yes if answers.correction is None else answers.correction  # no correction: no answer at all
    total = everywhere[rows][:, columns].tocsr()
    total.eliminate_zeros()
    total.sort_indices()
    begins, at = total.indptr.astype(np.int64), total.indices.astype(np.int64)
    row_of = np.repeat(np.arange(total.shape[0]), np.diff(begins))
    mean = stored_values(answers.block(l, m), row_of, at) / total.data
    return ListedBlock(rows, columns, l == m, begins, at, mean.astype(np.float32), total.data.astype(np.float32))
