"""The leading eigenvectors of a window, without ever making a large one dense."""

from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, eigsh

from bequec.ask.answers import FloatArray
from bequec.errors import ModelError

SMALL = 100  # below this LAPACK's full decomposition is as fast as ARPACK


def leading_eigenvectors(
    matrix: sp.csr_array, n_vectors: int, rng: np.random.Generator, by: Literal["value", "magnitude"] = "value"
) -> tuple[FloatArray, FloatArray]:
    """The largest eigenvalues of a symmetric matrix, by value or by magnitude, and their vectors, largest first."""
    n = matrix.shape[0]
    if n <= max(SMALL, 3 * n_vectors):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = _arpack(matrix, n_vectors, rng.standard_normal(n), "LA" if by == "value" else "LM")
    first = np.argsort(-values if by == "value" else -np.abs(values), kind="stable")[:n_vectors]
    return values[first], vectors[:, first]


def _arpack(matrix: sp.csr_array, n_vectors: int, start: FloatArray, which: str) -> tuple[FloatArray, FloatArray]:
    """ARPACK, with more and more Krylov vectors where eigenvalues lie close together (many components)."""
    n = matrix.shape[0]
    for n_krylov in (2 * n_vectors + 20, 8 * n_vectors + 80, 24 * n_vectors + 240):
        try:
            values, vectors = eigsh(matrix, k=n_vectors, which=which, v0=start, ncv=min(n, n_krylov))
        except ArpackError:
            continue
        return values, vectors
    raise ModelError(
        f"the {n_vectors} leading eigenvectors of a window of {n} nodes did not converge: its eigenvalues lie too "
        "close together, which happens when it shows no clusters; use fewer clusters, or collect more answers"
    )
