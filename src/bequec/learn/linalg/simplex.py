"""Least squares on the simplex, solved exactly for every row by an active-set method."""

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray, IntArray

ROWS_AT_ONCE = 50_000
ROUNDING = 1e-10  # of the corners: what the SVDs leave of rows that have no part in them


def simplex_least_squares(points: FloatArray, corners: FloatArray) -> FloatArray:
    """For each row u of ``points``: the m ≥ 0 with sum 1 that minimizes ‖u − m corners‖².

    Stationary on its support and with no better entry outside it, each row is a global minimum to rounding.
    """
    scale = np.abs(corners).max()
    points, corners = points / scale, corners / scale
    parts = [
        _solve(points[begin : begin + ROWS_AT_ONCE], corners) for begin in range(0, max(1, len(points)), ROWS_AT_ONCE)
    ]
    return np.concatenate(parts)


def cone_memberships(points: FloatArray, corners: FloatArray) -> FloatArray:
    """For each row u the m ≥ 0 that minimizes ‖u − m corners‖², then divided by its sum.

    A row that is zero but for rounding says nothing and gets equal parts.

    Only the direction of u counts. A row that is short enough stays inside of the simplex with a further corner at
    the origin, where least squares on the cone and on that simplex are the same: ‖m‖₁ ≤ √K ‖u‖ / σ_min(corners).
    """
    n_corners = len(corners)
    longest = np.linalg.svd(corners, compute_uv=False)[-1] / (2 * np.sqrt(n_corners))
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    short = points * (longest / np.where(norms > 0, norms, 1.0))
    weights = simplex_least_squares(short, np.vstack([corners, np.zeros(corners.shape[1])]))[:, :n_corners]
    sums = weights.sum(axis=1, keepdims=True)
    has_any = (norms > ROUNDING * np.abs(corners).max()) & (sums > 0)
    return np.where(has_any, weights / np.where(has_any, sums, 1.0), 1.0 / n_corners)


def _solve(points: FloatArray, corners: FloatArray) -> FloatArray:
    """All rows step together, each on its own support."""
    n_rows, n_corners = len(points), len(corners)
    weights = np.full((n_rows, n_corners), 1.0 / n_corners)
    support = np.ones((n_rows, n_corners), dtype=bool)
    tolerance = 1e-12 * max(1.0, float(np.abs(points).max(initial=0.0)))
    active = np.arange(n_rows)
    # Each step lowers the objective or the number of positive weights, so the loop ends by itself; the bound
    # only stops a cycle between rounding errors, where all visited points are equally good.
    for _ in range(20 * n_corners + 20):
        if not len(active):
            break
        target = _stationary(points[active], corners, weights[active], support[active])
        feasible: BoolArray = np.all(target >= 0, axis=1)
        weights[active], support[active] = _step(weights[active], target, support[active], feasible)
        gradient = (weights[active] @ corners - points[active]) @ corners.T
        level = np.where(support[active], gradient, 0).sum(axis=1) / support[active].sum(axis=1)
        gain = np.where(support[active], 0.0, level[:, None] - gradient)
        entering = gain.argmax(axis=1)
        improves = feasible & (gain.max(axis=1) > tolerance)
        support[active[improves], entering[improves]] = True
        active = active[improves | ~feasible]
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _stationary(points: FloatArray, corners: FloatArray, weights: FloatArray, support: BoolArray) -> FloatArray:
    """The minimizer with sum 1 over each row's support, without bounds; rows of equal support share an inverse.

    Two Newton steps from the current weights: the second takes back what the Gram matrix, whose condition is the
    square of the corners', lost in the first.
    """
    n_corners = len(corners)
    keys: IntArray = np.packbits(support, axis=1).astype(np.int64) @ (256 ** np.arange((n_corners + 7) // 8))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    supports = support[first]
    # KKT system [Q_SS 1; 1ᵀ 0], with the identity in the rows and columns outside the support.
    kkt = np.zeros((len(supports), n_corners + 1, n_corners + 1))
    both = supports[:, :, None] & supports[:, None, :]
    kkt[:, :n_corners, :n_corners] = np.where(both, corners @ corners.T, np.eye(n_corners))
    kkt[:, :n_corners, n_corners] = kkt[:, n_corners, :n_corners] = supports
    inverse = np.linalg.inv(kkt)[group, :n_corners]
    for _ in range(2):
        descent = np.where(support, (points - weights @ corners) @ corners.T, 0.0)
        missing = 1.0 - weights.sum(axis=1)
        step = np.einsum("nij,nj->ni", inverse[:, :, :n_corners], descent)
        step += inverse[:, :, n_corners] * missing[:, None]
        weights = np.where(support, weights + step, 0.0)
    return weights


def _step(
    weights: FloatArray, target: FloatArray, support: BoolArray, feasible: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """Move to the target, or towards it until the first weight reaches zero and leaves the support."""
    falling = support & (target < 0)
    ratio = np.where(falling, weights / np.where(falling, weights - target, 1.0), np.inf)
    fraction = np.where(feasible, 1.0, ratio.min(axis=1))
    moved = np.where(feasible[:, None], target, weights + fraction[:, None] * (target - weights))
    leaves = falling & (ratio <= fraction[:, None])
    return np.where(leaves, 0.0, moved), support & ~leaves
