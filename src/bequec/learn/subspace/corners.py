"""Where the corners of the simplex are: by the farthest rows, or by the directions in which most rows lie."""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from bequec.core.arrays import FloatArray, IntArray
from bequec.learn.stitch.anchors import successive_projection
from bequec.learn.subspace.settings import SUBSPACE


def find_corners(points: FloatArray, n_clusters: int, rng: np.random.Generator) -> list[FloatArray]:
    """Candidates, of which the answers decide: farthest rows suit many answers per node, directions suit few.

    With few answers the farthest rows are those with the largest errors.
    """
    farthest = denoised_corners(points, n_clusters, rng)
    by_direction = direction_corners(points, n_clusters, *rng.spawn(1))  # of its own: what follows stays as it was
    return [farthest] if by_direction is None else [farthest, by_direction]


def denoised_corners(points: FloatArray, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """Successive projection on the centroids of many small k-means clusters: their noise is averaged out."""
    centroids = draw_centroids(points, n_clusters, rng)
    return centroids[successive_projection(centroids, n_clusters)]


def draw_centroids(points: FloatArray, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """The centroids of about six k-means clusters for each cluster; few distinct points stand for themselves."""
    n_centroids = SUBSPACE.centroids_per_cluster * n_clusters
    scale = max(float(np.abs(points).max(initial=0.0)), 1e-300)
    _, distinct = np.unique(np.round(points / scale, 6), axis=0, return_index=True)
    if len(distinct) <= n_centroids:
        return points[np.sort(distinct)]
    return np.asarray(_k_means(points, n_centroids, rng, n_init=1).cluster_centers_)


def direction_corners(points: FloatArray, n_clusters: int, rng: np.random.Generator) -> FloatArray | None:
    """The mean rows of K k-means clusters of the rows' directions; None where these span fewer than K dimensions.

    The rows are so many that the clusters are found on some of them.
    """
    lengths = np.linalg.norm(points, axis=1)
    rows = np.flatnonzero(lengths > 1e-9 * lengths.max(initial=0.0))
    if len(rows) < n_clusters:
        return None
    directions = points[rows] / lengths[rows, None]
    most = SUBSPACE.most_rows_for_directions
    seen = directions if len(rows) <= most else directions[rng.choice(len(rows), most, replace=False)]
    label = _k_means(seen, n_clusters, rng, n_init=SUBSPACE.direction_starts).predict(directions)
    if len(np.unique(label)) < n_clusters:
        return None
    corners = np.stack([points[rows[label == k]].mean(axis=0) for k in range(n_clusters)])
    return corners if np.linalg.cond(corners) < SUBSPACE.worst_condition else None


def nearest_nodes(points: FloatArray, corners: FloatArray) -> IntArray:
    """For each corner the node whose point is nearest to it."""
    distances = (points**2).sum(axis=1)[:, None] - 2 * points @ corners.T
    return np.asarray(distances.argmin(axis=0), dtype=np.int64)


def _k_means(points: FloatArray, n_clusters: int, rng: np.random.Generator, n_init: int) -> KMeans:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # nearly equal points: fewer distinct centroids do as well
        return KMeans(n_clusters, n_init=n_init, random_state=int(rng.integers(2**31))).fit(points)
