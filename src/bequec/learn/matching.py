"""Which learned cluster is which true one: clusters have no names, so columns are matched."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import ModelError


def match_clusters(learned: FloatArray, truth: FloatArray) -> FloatArray:
    """The columns of ``learned`` in the order that fits ``truth`` best in least squares (Hungarian method).

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.eye(3)
    >>> match_clusters(truth[:, [2, 0, 1]], truth)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    learned, truth = check_same_shape(learned, truth)
    return learned[:, best_assignment(learned.T @ truth)]


def best_assignment(similarity: FloatArray) -> IntArray:
    """For each column (true cluster) the row (learned cluster) of the one-to-one matching of largest sum."""
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return np.asarray(rows[np.argsort(columns)], dtype=np.int64)


def check_same_shape(learned: FloatArray, truth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both as float arrays, refused unless they have the same nodes and clusters."""
    learned, truth = np.asarray(learned, dtype=float), np.asarray(truth, dtype=float)
    if learned.shape != truth.shape or learned.ndim != 2:
        raise ModelError(
            f"learned memberships have shape {learned.shape}, true ones {truth.shape}; "
            "both must be (n_nodes, n_clusters) with the same nodes in the same order"
        )
    return learned, truth
