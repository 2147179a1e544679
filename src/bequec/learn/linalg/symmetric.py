"""Symmetric K×K matrices, one per node, kept as their upper triangles."""

from functools import lru_cache

import numpy as np

from bequec.core.arrays import FloatArray, IntArray


@lru_cache
def upper(size: int) -> tuple[IntArray, IntArray]:
    """Rows and columns of the upper triangle."""
    rows, columns = np.triu_indices(size)
    return rows, columns


def triangles(matrices: FloatArray) -> FloatArray:
    """(N, K, K) symmetric matrices as (N, K(K+1)/2) upper triangles."""
    rows, columns = upper(matrices.shape[-1])
    return matrices[:, rows, columns]


def outer_triangles(vectors: FloatArray) -> FloatArray:
    """The upper triangles of v vᵀ for each row v."""
    rows, columns = upper(vectors.shape[1])
    return vectors[:, rows] * vectors[:, columns]


def full(packed: FloatArray, size: int) -> FloatArray:
    """Upper triangles as whole symmetric matrices again."""
    return np.take(packed, _places(size), axis=1)


@lru_cache
def _places(size: int) -> IntArray:
    """Where each entry of a whole matrix stands in its upper triangle."""
    rows, columns = upper(size)
    places = np.empty((size, size), dtype=np.int64)
    places[rows, columns] = places[columns, rows] = np.arange(len(rows))
    return places


def inner_weights(size: int) -> FloatArray:
    """Weights with which Σ weights · triangle(A) · triangle(B) is the inner product tr(A B)."""
    rows, columns = upper(size)
    return np.where(rows == columns, 1.0, 2.0)
