"""Least squares on the simplex, solved exactly for every row by an active-set method."""

import numpy as np

from bequec.ask.answers import FloatArray
from bequec.plan.query_plan import BoolArray, IntArray

ROWS_AT_ONCE = 50_000


def simplex_least_squares(points: FloatArray, corners: FloatArray) -> FloatArray:
    """For each row u of ``points``: the m ≥ 0 with sum 1 that minimises ‖u − m corners‖².

    Stationary on its support and with no better entry outside it, each row is a global minimum to rounding.
    """
    gram = corners @ corners.T
    linear = points @ corners.T
    parts = [
        _solve(gram, linear[begin : begin + ROWS_AT_ONCE]) for begin in range(0, max(1, len(points)), ROWS_AT_ONCE)
    ]
    return np.concatenate(parts)


def _solve(gram: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise ½ mᵀQm − cᵀm on the simplex for every row c: all rows step together, each on its own support."""
    n_rows, n_corners = linear.shape
    weights = np.full((n_rows, n_corners), 1.0 / n_corners)
    support = np.ones((n_rows, n_corners), dtype=bool)
    tolerance = 1e-12 * max(1.0, float(np.abs(gram).max()), float(np.abs(linear).max(initial=0.0)))
    active = np.arange(n_rows)
    # Each step lowers the objective or the number of positive weights, so the loop ends by itself; the bound
    # only stops a cycle between rounding errors, where all visited points are equally good.
    for _ in range(20 * n_corners + 20):
        if not len(active):
            break
        target = _stationary(gram, linear[active], support[active])
        feasible: BoolArray = np.all(target >= 0, axis=1)
        weights[active], support[active] = _step(weights[active], target, support[active], feasible)
        gradient = weights[active] @ gram - linear[active]
        level = np.where(support[active], gradient, 0).sum(axis=1) / support[active].sum(axis=1)
        gain = np.where(support[active], 0.0, level[:, None] - gradient)
        entering = gain.argmax(axis=1)
        improves = feasible & (gain.max(axis=1) > tolerance)
        support[active[improves], entering[improves]] = True
        active = active[improves | ~feasible]
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _stationary(gram: FloatArray, linear: FloatArray, support: BoolArray) -> FloatArray:
    """The minimiser with sum 1 over each row's support, without bounds; rows of equal support share a solve."""
    n_corners = gram.shape[0]
    keys: IntArray = np.packbits(support, axis=1).astype(np.int64) @ (256 ** np.arange((n_corners + 7) // 8))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    supports = support[first]
    # KKT system [Q_SS 1; 1ᵀ 0], with the identity in the rows and columns outside the support.
    kkt = np.zeros((len(supports), n_corners + 1, n_corners + 1))
    both = supports[:, :, None] & supports[:, None, :]
    kkt[:, :n_corners, :n_corners] = np.where(both, gram, np.eye(n_corners))
    kkt[:, :n_corners, n_corners] = kkt[:, n_corners, :n_corners] = supports
    inverse = np.linalg.inv(kkt)
    right_side = np.where(support, linear, 0.0)
    solution = np.einsum("nij,nj->ni", inverse[group, :n_corners, :n_corners], right_side)
    solution += inverse[group, :n_corners, n_corners]
    return np.where(support, solution, 0.0)


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
