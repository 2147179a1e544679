"""GeoNMF: degree-normalized eigenvectors, whose longest rows are the nearly pure nodes."""

import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from bequec.baselines.eigenvectors import leading_eigenvectors
from bequec.baselines.estimator import WindowedBaseline, check_share, rows_on_simplex
from bequec.baselines.k_means import best_k_means
from bequec.core.arrays import FloatArray, IntArray
from bequec.learn.estimator import Seed

STEP, QUANTILE_STEP = 0.025, 0.01
WIDEST = 0.95
ONLY_WIDER_UP_TO = 0.4


class GeoNMF(WindowedBaseline):
    """Geometric nonnegative matrix factorization (Mao, Sarkar & Chakrabarti, ICML 2017).

    Prefer it when whole windows of the graph are known, clusters are of similar size and hardly interact: it takes
    every cluster to link mostly to itself. A node without any yes gets uniform memberships.

    Parameters
    ----------
    n_clusters : int
    tolerance : float
        The paper's ε: nodes with ‖x‖² above (1 − ε) times the largest count as nearly pure.
    quantile : float
        Among the nearly pure nodes of a cluster, which one stands for it: the farthest out at 1, safer below. While
        the chosen nodes are an ill-conditioned basis, ε grows and the quantile falls, as in the authors' program.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.repeat([0, 1, 2], [12, 9, 7])
    >>> GeoNMF(3, random_state=0).fit(truth[:, None] == truth).labels_.tolist() == truth.tolist()
    True
    """

    def __init__(
        self, n_clusters: int, *, tolerance: float = 0.25, quantile: float = 0.95, random_state: Seed = None
    ) -> None:
        self.n_clusters = n_clusters
        self.tolerance = tolerance
        self.quantile = quantile
        self.random_state = random_state

    def _check(self) -> None:
        check_share("tolerance", self.tolerance)
        check_share("quantile", self.quantile)

    def _kernel(self, window: sp.csr_array, rng: np.random.Generator) -> FloatArray:
        """Θ = Y Y_P⁻¹ with Y = V E^{1/2}; the pure nodes P are the longest rows of X = D^{-1/2} Y."""
        K = int(self.n_clusters)
        E, V = leading_eigenvectors(window, K)
        Y = V * np.sqrt(np.maximum(E, 0.0))
        degrees = np.asarray(window.sum(axis=1)).ravel()
        X = Y / np.sqrt(degrees)[:, None]
        is_sparse = degrees.mean() < 250
        well_conditioned, lowest = (2.0, 0.7) if is_sparse else (1.5, 0.8)
        for tolerance, quantile in escalation(self.tolerance, self.quantile, lowest):
            pure = _pure_nodes(X, Y, tolerance, quantile, rng)
            if len(pure) == K and np.linalg.cond(X[pure]) < well_conditioned:
                break
        # Least squares, for even at the end of the escalation the pure nodes may depend on one another.
        found = rows_on_simplex(Y @ np.linalg.pinv(Y[pure]))
        # A window may lack a cluster: it is empty there.
        return np.pad(found, ((0, 0), (0, K - found.shape[1])))


def escalation(tolerance: float, quantile: float, lowest_quantile: float) -> Iterator[tuple[float, float]]:
    """Which (ε, q) are tried: first ε grows alone, beyond 0.4 the quantile falls with it."""
    yield tolerance, quantile
    while tolerance + STEP <= WIDEST:
        if tolerance > ONLY_WIDER_UP_TO:
            quantile -= QUANTILE_STEP
            if quantile <= lowest_quantile:
                return
        tolerance += STEP
        yield tolerance, quantile


def _pure_nodes(X: FloatArray, Y: FloatArray, tolerance: float, quantile: float, rng: np.random.Generator) -> IntArray:
    """One node for each cluster: the longest rows of X, parted by k-means, and of each part the q-quantile of ‖y‖."""
    K = X.shape[1]
    lengths = (X**2).sum(axis=1)
    longest = np.flatnonzero(lengths > (1 - tolerance) * lengths.max())
    if len(longest) < K:
        longest = np.argsort(-lengths, kind="stable")[:K]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows: seen by the caller as too few pure nodes
        part_of = best_k_means(X[longest], K, rng, n_init=5)
    reach = (Y[longest] ** 2).sum(axis=1)
    pure = []
    for part in np.unique(part_of):
        members = np.flatnonzero(part_of == part)
        eligible = members[reach[members] >= np.quantile(reach[members], quantile)]
        pure.append(longest[eligible[reach[eligible].argmin()]])
    return np.asarray(pure, dtype=np.int64)
