"""The leading eigenvectors of a large symmetric matrix, whatever their multiplicity.

An iteration from a single vector (Lanczos, ARPACK) cannot see repeated eigenvalues, which are common in sparse 0/1
graphs, and what it returns for them depends on rounding. One from a random block sees as many copies as the block has
columns.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.core.errors import ModelError

SMALL = 500  # rows: up to here LAPACK takes less time than an iteration
SPARE_COLUMNS = 2  # of the iterated block beyond the wanted vectors
MAX_BLOCKS = 10  # of the Krylov basis before it is cut back to its best directions
KEPT_BLOCKS = 3
MAX_PRODUCTS = 1000
TOLERANCE = 1e-11  # of the largest eigenvalue: the residual ‖A v − λ v‖ that counts as converged
ROUGH_TOLERANCE = 1e-3  # of its own eigenvalue: the same for values that are only looked at

Order = Literal["value", "magnitude"]


def is_small(n_rows: int, n_vectors: int) -> bool:
    """Whether LAPACK takes less time than the iteration, or the iteration's basis would be no smaller."""
    return n_rows <= max(SMALL, 2 * MAX_BLOCKS * n_vectors)


def random_block(n_rows: int, n_vectors: int) -> FloatArray:
    """A block to start from: always the same one, so that results do not depend on a seed."""
    return np.random.default_rng(0).standard_normal((n_rows, n_vectors + SPARE_COLUMNS))


def krylov_eigenvectors(
    multiply: Callable[[FloatArray], FloatArray],
    block: FloatArray,
    n_vectors: int,
    by: Order = "value",
    n_rough: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """The leading eigenvalues of a symmetric matrix and their vectors, by block Krylov iteration with thick restarts.

    ``multiply`` maps a block X to A X; ``block`` is where to start, a little wider than ``n_vectors``. The last
    ``n_rough`` values need only three digits: values that lie close together would take most of the time.
    """
    width = block.shape[1]
    basis, _ = np.linalg.qr(block)
    projected = np.empty((0, 0))  # basisᵀ A basis, before the newest block
    for step in range(1, MAX_PRODUCTS + 1):
        following = multiply(basis[:, -width:])
        coefficients = basis.T @ following
        following, coupling = np.linalg.qr(following - basis @ coefficients)
        # A second pass makes them orthogonal to machine precision, also where nothing but rounding was left.
        remainder = basis.T @ following
        following, correction = np.linalg.qr(following - basis @ remainder)
        coefficients, coupling = coefficients + remainder @ coupling, correction @ coupling
        projected = _bordered(projected, coefficients)
        is_full = len(projected) + width > MAX_BLOCKS * width
        if step % 3 == 0 or is_full:
            values, rotation = np.linalg.eigh(projected)
            first = np.argsort(-values if by == "value" else -np.abs(values), kind="stable")
            values, rotation = values[first], rotation[:, first]
            residuals = np.linalg.norm(coupling @ rotation[-width:, :n_vectors], axis=0)
            if (residuals <= _allowed(values[:n_vectors], np.abs(values).max(), n_rough)).all():
                return values[:n_vectors], basis @ rotation[:, :n_vectors]
        if is_full:
            kept = KEPT_BLOCKS * width
            basis, projected = basis @ rotation[:, :kept], np.diag(values[:kept])
        basis = np.hstack([basis, following])
    raise ModelError(
        f"the {n_vectors} leading directions of a window of {len(block)} nodes did not converge: they lie too close "
        "together, which happens when it shows no clusters; use fewer clusters, or collect more answers"
    )


def _allowed(values: FloatArray, largest: float, n_rough: int) -> FloatArray:
    """The residual of each value at which it counts as converged."""
    allowed = np.full(len(values), TOLERANCE * largest)
    rough = slice(len(values) - n_rough, None)
    allowed[rough] = np.maximum(allowed[rough], ROUGH_TOLERANCE * np.abs(values[rough]))
    return allowed


def _bordered(projected: FloatArray, columns: FloatArray) -> FloatArray:
    """The symmetric matrix with the further columns, and rows, of a basis that has grown."""
    grown = np.empty((len(columns), len(columns)))
    known = len(projected)
    grown[:known, :known] = projected
    grown[:, known:] = columns
    grown[known:] = columns.T
    return grown
