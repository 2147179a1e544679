"""Successive projection (Algorithm 3): the nodes nearest to the corners of the simplex."""

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import ModelError
from bequec.learn.stitch.settings import STITCH


def successive_projection(points: FloatArray, n_clusters: int) -> IntArray:
    """The rows of ``points`` that are farthest out, each after projecting the earlier ones away.

    q_k = argmax ‖U(n, :)‖², then U ← U (I − u uᵀ / ‖u‖²) with u = U(q_k, :).
    """
    remaining = points.copy()
    largest = np.linalg.norm(points, axis=1).max(initial=0.0)
    anchors: list[int] = []
    for _ in range(n_clusters):
        norms = np.linalg.norm(remaining, axis=1)
        anchor = int(norms.argmax())
        if norms[anchor] <= 1e-12 * largest or largest == 0:
            raise ModelError(
                f"the answers show only {len(anchors)} directions, too few for {n_clusters} clusters; "
                "use fewer clusters, or collect more answers"
            )
        anchors.append(anchor)
        direction = remaining[anchor] / norms[anchor]
        remaining -= np.outer(remaining @ direction, direction)
    return np.asarray(anchors, dtype=np.int64)


def scale_groups_to_corners(
    points: FloatArray, corners: FloatArray, group_starts: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Scale each group's rows so that on average they lie on the hyperplane through the corners.

    Memberships sum to one, so U h = 1 for the h with ``corners @ h`` = 1. Two things push rows inside of it: each
    stitch attenuates (least squares on noisy regressors), and the corners, being the farthest points, are far out
    by their own noise. One factor per group, 1 / mean(U_l h), takes the common part of that back; on noiseless
    answers it is exactly one. A group that lies nowhere near the plane is left as it is; the second result says for
    each row whether its group is near.
    """
    h = np.linalg.solve(corners, np.ones(len(corners)))
    sizes = np.diff(np.append(group_starts, len(points)))
    means = np.add.reduceat(points @ h, group_starts) / sizes
    is_near = means > STITCH.least_level
    factors = np.where(is_near, 1.0 / np.where(is_near, means, 1.0), 1.0)
    return np.asarray(points * np.repeat(factors, sizes)[:, None]), np.repeat(is_near, sizes)
