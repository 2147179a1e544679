"""A sparse matrix plus one of low rank, which is never made dense."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from bequec.core.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class SparsePlusLowRank:
    """S + L Rᵀ, S sparse (n, m), L (n, r), R (m, r); works wherever a sparse matrix is only multiplied."""

    sparse: sp.csr_array
    left: FloatArray
    right: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.left), len(self.right)

    @property
    def nnz(self) -> int:
        """How many numbers are stored."""
        return int(self.sparse.nnz) + self.left.size + self.right.size

    @property
    def T(self) -> "SparsePlusLowRank":  # noqa: N802 - numpy's name
        """The transpose."""
        return SparsePlusLowRank(self.sparse.T.tocsr(), self.right, self.left)

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        """The product with a block of vectors."""
        return np.asarray(self.sparse @ vectors + self.left @ (self.right.T @ vectors))

    def __add__(self, other: sp.csr_array) -> "SparsePlusLowRank":
        """The sum with a sparse matrix."""
        return SparsePlusLowRank((self.sparse + other).tocsr(), self.left, self.right)

    def sum(self, axis: int) -> FloatArray:
        """Sums along the rows (axis 1) or columns (axis 0)."""
        matrix = self if axis == 1 else self.T
        return matrix @ np.ones(matrix.shape[1])

    def tocsr(self) -> "SparsePlusLowRank":
        """Itself: its sparse part is in rows."""
        return self

    def toarray(self) -> FloatArray:
        """As a plain array, for small ones."""
        return np.asarray(self.sparse.toarray() + self.left @ self.right.T)


Matrix = sp.csr_array | SparsePlusLowRank
