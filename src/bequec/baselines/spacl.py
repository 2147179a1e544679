"""SPACL: eigenvectors, cleaned of lonely rows; pure nodes by successive projection; back-substitution."""

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from bequec.baselines.eigenvectors import leading_eigenvectors
from bequec.baselines.estimator import WindowedBaseline, check_count, check_share, rows_on_simplex
from bequec.core.arrays import BoolArray, FloatArray
from bequec.learn.estimator import Seed
from bequec.learn.stitch.anchors import successive_projection


class SPACL(WindowedBaseline):
    """Sequential projection after cleaning (Mao, Sarkar & Chakrabarti, JASA 2020).

    Prefer it when whole windows of the graph are known and each cluster has several nearly pure nodes: it is fast,
    needs no tuning, and holds up under unequal clusters. A node without any yes gets uniform memberships.

    Parameters
    ----------
    n_clusters : int
    n_neighbors : int
        How many rows, itself included, a far-out row is compared with.
    quantile : float
        Rows with a norm above this quantile are far out: only they can be noise taken for a corner.
    pruned_share : float
        The share of the far-out rows that is pruned, those farthest from their neighbors.
    random_state : int, Generator, RandomState or None
        Draws nothing here: taken because all rivals are made alike.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.repeat([0, 1, 2], [12, 9, 7])
    >>> SPACL(3, random_state=0).fit(truth[:, None] == truth).labels_.tolist() == truth.tolist()
    True
    """

    def __init__(
        self,
        n_clusters: int,
        *,
        n_neighbors: int = 10,
        quantile: float = 0.75,
        pruned_share: float = 0.05,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.quantile = quantile
        self.pruned_share = pruned_share
        self.random_state = random_state

    def _check(self) -> None:
        check_count("n_neighbors", self.n_neighbors, least=2)
        check_share("quantile", self.quantile)
        check_share("pruned_share", self.pruned_share)

    def _kernel(self, window: sp.csr_array, rng: np.random.Generator) -> FloatArray:
        """Θ = V V_P⁻¹ with V the top eigenvectors by magnitude and P the pure nodes."""
        _, V = leading_eigenvectors(window, int(self.n_clusters), by="magnitude")
        lonely = lonely_rows(V, self.n_neighbors, self.quantile, self.pruned_share)
        if np.linalg.matrix_rank(V[~lonely]) < V.shape[1]:  # sparse windows: some direction is of lonely rows only
            lonely[:] = False
        pure = successive_projection(np.where(lonely[:, None], 0.0, V), int(self.n_clusters))
        return rows_on_simplex(np.asarray(np.linalg.solve(V[pure].T, V.T).T, dtype=np.float64))


def lonely_rows(points: FloatArray, n_neighbors: int, quantile: float, share: float) -> BoolArray:
    """The share of the far-out rows whose mean distance to their nearest neighbors is largest."""
    norms = np.linalg.norm(points, axis=1)
    far_out = np.flatnonzero(norms > np.quantile(norms, quantile))
    lonely = np.zeros(len(points), dtype=bool)
    if len(far_out):
        neighbors = NearestNeighbors(n_neighbors=min(n_neighbors, len(points))).fit(points)
        distances = neighbors.kneighbors(points[far_out])[0].mean(axis=1)
        lonely[far_out[distances > np.quantile(distances, 1 - share)]] = True
    return lonely
