"""Spectral clustering: k-means on eigenvectors of the graph's Laplacian."""

import numpy as np
import scipy.sparse as sp

from bequec.baselines.eigenvectors import leading_eigenvectors
from bequec.baselines.estimator import WindowedBaseline
from bequec.baselines.k_means import best_k_means, hard_memberships, last_k_means
from bequec.core.arrays import FloatArray
from bequec.learn.estimator import Seed


class SpectralClusters(WindowedBaseline):
    """Spectral clustering of each window (normalized: Shi & Malik, IEEE TPAMI 2000).

    Prefer the normalized form when nodes belong to one cluster each and the answers are few or degrees unequal. The
    unnormalized form, D − A, is drawn to single nodes of low degree: it is here because the BeQuec paper reports it.
    A node without any yes gets uniform memberships.

    Parameters
    ----------
    n_clusters : int
    normalized : bool
        Solve (D − A) u = λ D u instead of (D − A) u = λ u.
    as_published : bool
        As in the BeQuec paper's experiments: k-means keeps its last start instead of the best, and the unnormalized
        form takes the *largest* eigenvalues of D − A, which belong to no clusters.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.repeat([0, 1, 2], [12, 9, 7])
    >>> SpectralClusters(3, random_state=0).fit(truth[:, None] == truth).labels_.tolist() == truth.tolist()
    True
    """

    def __init__(
        self, n_clusters: int, *, normalized: bool = True, as_published: bool = False, random_state: Seed = None
    ) -> None:
        self.n_clusters = n_clusters
        self.normalized = normalized
        self.as_published = as_published
        self.random_state = random_state

    def _kernel(self, window: sp.csr_array, rng: np.random.Generator) -> FloatArray:
        K = int(self.n_clusters)
        coordinates = laplacian_coordinates(
            window, K, normalized=self.normalized, largest=self.as_published and not self.normalized
        )
        k_means = last_k_means if self.as_published else best_k_means
        return hard_memberships(k_means(coordinates, K, rng), K)


def laplacian_coordinates(
    graph: sp.csr_array, n_clusters: int, *, normalized: bool, largest: bool = False
) -> FloatArray:
    """Eigenvectors of the K smallest (or ``largest``) eigenvalues of D − A, or of D⁻¹(D − A) if ``normalized``.

    The smallest eigenvalues of a matrix that lies in [0, c] are the largest of c I minus it, which the iteration finds
    without factorising anything: D^{-1/2} A D^{-1/2} when normalized, A + max(d) I − D when not.
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    if normalized:
        scale = sp.diags_array(1.0 / np.sqrt(degrees))
        _, vectors = leading_eigenvectors((scale @ graph @ scale).tocsr(), n_clusters)
        return np.asarray(vectors / np.sqrt(degrees)[:, None])
    laplacian = (sp.diags_array(degrees) - graph).tocsr()
    turned = laplacian if largest else (degrees.max() * sp.eye_array(len(degrees)) - laplacian).tocsr()
    _, vectors = leading_eigenvectors(turned, n_clusters)
    return vectors
