"""The leading eigenvectors of a window, without ever making a large one dense."""

import numpy as np
import scipy.sparse as sp

from bequec.core.arrays import FloatArray
from bequec.learn.linalg.krylov import Order, is_small, krylov_eigenvectors, random_block


def leading_eigenvectors(matrix: sp.csr_array, n_vectors: int, by: Order = "value") -> tuple[FloatArray, FloatArray]:
    """The largest eigenvalues of a symmetric matrix, by value or by magnitude, and their vectors, largest first."""
    n = matrix.shape[0]
    if not is_small(n, n_vectors):
        return krylov_eigenvectors(lambda vectors: matrix @ vectors, random_block(n, n_vectors), n_vectors, by)
    values, vectors = np.linalg.eigh(matrix.toarray())
    first = np.argsort(-values if by == "value" else -np.abs(values), kind="stable")[:n_vectors]
    return values[first], vectors[:, first]
