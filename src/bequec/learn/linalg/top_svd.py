"""The leading singular vectors of a block, sparse or dense, whatever their multiplicity."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from bequec.core.arrays import FloatArray
from bequec.learn.linalg.krylov import is_small, krylov_eigenvectors, random_block
from bequec.learn.linalg.sparse_plus import Matrix, SparsePlusLowRank

DENSE_ABOVE = 0.1  # of the entries: the Gram matrix is then faster from a plain array


class SVD(NamedTuple):
    """U (n, rank), σ (rank,) and V (m, rank) with M ≈ U diag(σ) Vᵀ, largest σ first."""

    left: FloatArray
    values: FloatArray
    right: FloatArray


def top_svd(matrix: Matrix, rank: int, start: FloatArray | None = None, n_rough: int = 0) -> SVD:
    """The ``rank`` leading singular values and vectors of a block, every repeated one among them.

    They are the leading eigenvectors of the Gram matrix of the shorter side: from LAPACK for small blocks, else by a
    block Krylov iteration. The Gram matrix squares the condition number; the last step, an SVD of M V, takes that back.
    ``start`` holds vectors of the shorter side to start from, as columns; what it lacks is drawn. The last ``n_rough``
    of the values need only three digits.
    """
    if matrix.shape[0] < matrix.shape[1]:
        left, values, right = top_svd(matrix.T.tocsr(), rank, start, n_rough)
        return SVD(right, values, left)
    n_columns = matrix.shape[1]
    if is_small(n_columns, rank):
        _, right = scipy.linalg.eigh(_gram(matrix), subset_by_index=(max(0, n_columns - rank), n_columns - 1))
    else:
        transposed = matrix.T.tocsr()
        block = _start_block(start, n_columns, rank)
        _, right = krylov_eigenvectors(lambda vectors: transposed @ (matrix @ vectors), block, rank, n_rough=n_rough)
    return _svd_within(matrix, right)


def improved_svd(matrix: Matrix, right: FloatArray, n_rounds: int = 2) -> SVD:
    """The leading SVD from an approximate V, by block power iterations: for a matrix that has changed a little."""
    for _ in range(n_rounds):
        left, _ = np.linalg.qr(matrix @ right)
        right, _ = np.linalg.qr(matrix.T @ left)
    return _svd_within(matrix, right)


def _gram(matrix: Matrix) -> FloatArray:
    """MᵀM as a plain array, for few columns."""
    if isinstance(matrix, SparsePlusLowRank):
        return matrix.T @ matrix.toarray()
    if matrix.nnz > DENSE_ABOVE * matrix.shape[0] * matrix.shape[1]:
        dense = matrix.toarray()
        return np.asarray(dense.T @ dense)
    return np.asarray((matrix.T @ matrix).toarray())


def _start_block(start: FloatArray | None, n_rows: int, rank: int) -> FloatArray:
    """``start``, completed by random entries: only they see every direction."""
    block = random_block(n_rows, rank)
    if start is not None:
        given = start.reshape(len(start), -1)[:n_rows, : block.shape[1]]
        block[: given.shape[0], : given.shape[1]] = given
    return block


def _svd_within(matrix: Matrix, right: FloatArray) -> SVD:
    """The SVD of the matrix restricted to the span of ``right``, largest value first."""
    left, values, rotation = np.linalg.svd(matrix @ right, full_matrices=False)
    return SVD(left, values, right @ rotation.T)
