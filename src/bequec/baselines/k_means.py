"""k-means as the rivals use it: scikit-learn's, best of several starts; and the paper's, one start only."""

from typing import Any

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus

from bequec.core.arrays import FloatArray, IntArray

N_INIT = 20


def best_k_means(points: Any, n_clusters: int, rng: np.random.Generator, n_init: int = N_INIT) -> IntArray:
    """The cluster of each row, from the start of least inertia."""
    seed = int(rng.integers(2**31))
    labels = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(points).labels_
    return np.asarray(labels, dtype=np.int64)


def last_k_means(points: Any, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """The cluster of each row from one start of plain k-means++.

    The paper's experiments made 20 starts and kept the last instead of the best: one start has the same distribution.
    """
    seed = int(rng.integers(2**31))
    centers, _ = kmeans_plusplus(points, n_clusters, random_state=seed, n_local_trials=1)
    labels = KMeans(n_clusters, init=centers, n_init=1, random_state=seed).fit(points).labels_
    return np.asarray(labels, dtype=np.int64)


def hard_memberships(labels: IntArray, n_clusters: int) -> FloatArray:
    """One for the cluster of each node, zero for the others."""
    return np.asarray(np.eye(n_clusters)[labels])
