"""The leading singular vectors of a block, sparse or dense, to machine precision."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, svds

from bequec.ask.answers import FloatArray

SMALL = 100  # below this LAPACK's full SVD is as fast as ARPACK


def top_svd(matrix: sp.csr_array, rank: int, start: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """U (n, rank), σ (rank,) and V (m, rank) with matrix ≈ U diag(σ) Vᵀ, largest σ first.

    ``start`` is ARPACK's first vector, of at least min(n, m) entries. ARPACK works on the Gram matrix, which
    squares the condition number; the last step, an SVD of ``matrix @ V``, takes that back.
    """
    shorter = min(matrix.shape)
    if not matrix.nnz:
        return _zeros(matrix.shape, rank)
    if shorter <= max(SMALL, 3 * rank):
        return _dense_svd(matrix, rank)
    try:
        _, _, right = svds(matrix, k=rank, v0=start[:shorter], solver="arpack", return_singular_vectors=True)
    except ArpackError:
        return _dense_svd(matrix, rank)
    left, values, rotation = np.linalg.svd(matrix @ right.T, full_matrices=False)
    return left, values, right.T @ rotation.T


def improved_svd(
    matrix: sp.csr_array, right: FloatArray, n_rounds: int = 2
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The leading SVD from an approximate V, by block power iterations: for a matrix that has changed a little."""
    for _ in range(n_rounds):
        left, _ = np.linalg.qr(matrix @ right)
        right, _ = np.linalg.qr(matrix.T @ left)
    left, values, rotation = np.linalg.svd(matrix @ right, full_matrices=False)
    return left, values, right @ rotation.T


def _dense_svd(matrix: sp.csr_array, rank: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    left, values, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
    return left[:, :rank], values[:rank], right[:rank].T


def _zeros(shape: tuple[int, int], rank: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    return np.zeros((shape[0], rank)), np.zeros(rank), np.zeros((shape[1], rank))
