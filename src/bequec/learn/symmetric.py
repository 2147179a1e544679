"""Symmetric K×K matrices, one a node, kept as their upper triangles."""

import numpy as np

from bequec.ask.answers import FloatArray


def triangles(matrices: FloatArray) -> FloatArray:
    """(N, K, K) symmetric matrices as (N, K(K+1)/2) upper triangles."""
    rows, columns = np.triu_indices(matrices.shape[-1])
    return matrices[:, rows, columns]


def outer_triangles(vectors: FloatArray) -> FloatArray:
    """The upper triangles of v vᵀ for each row v."""
    rows, columns = np.triu_indices(vectors.shape[1])
    return vectors[:, rows] * vectors[:, columns]


def full(packed: FloatArray, size: int) -> FloatArray:
    """Upper triangles as whole symmetric matrices again."""
    rows, columns = np.triu_indices(size)
    matrices = np.empty((len(packed), size, size))
    matrices[:, rows, columns] = packed
    matrices[:, columns, rows] = packed
    return matrices


def inner_weights(size: int) -> FloatArray:
    """Weights with which Σ weights · triangle(A) · triangle(B) is the inner product tr(A B)."""
    rows, columns = np.triu_indices(size)
    return np.where(rows == columns, 1.0, 2.0)
