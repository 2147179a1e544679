"""CD-MVSI: the simplex of least volume that holds all nodes, by alternating linear programs."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from bequec.baselines.eigenvectors import leading_eigenvectors
from bequec.baselines.estimator import IteratedWindowedBaseline, check_count, rows_on_simplex
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import ModelError
from bequec.learn.estimator import Seed

COORDINATES = ("eigenvectors", "landmarks", "hubs")


class MinimumVolume(IteratedWindowedBaseline):
    """Community detection by minimum-volume simplex identification, CD-MVSI (Huang & Fu, ICML 2019).

    Its theory needs no pure nodes, only memberships that are spread over the faces of the simplex: prefer it when
    pure nodes are in doubt and the window is large, or answers are averages of many. The simplex must hold *every*
    node, so each noisy one pushes a face outward. A node without any yes gets uniform memberships.

    Parameters
    ----------
    n_clusters : int
    coordinates : {"eigenvectors", "landmarks", "hubs"}
        Where the simplex is looked for: in the top eigenvectors; or, as published, in the numbers of neighbors that
        a node shares with K − 1 others, random ones or those with most yes, which is hardly more than the noise of
        these few nodes' answers.
    max_iter : int
        Most rounds over all rows.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    n_iter_ : int
        Rounds in the window that took most.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.repeat([0, 1, 2], [12, 9, 7])
    >>> model = MinimumVolume(3, random_state=0).fit(truth[:, None] == truth)
    >>> model.labels_.tolist() == truth.tolist()
    True
    """

    def __init__(
        self, n_clusters: int, *, coordinates: str = "eigenvectors", max_iter: int = 10, random_state: Seed = None
    ) -> None:
        self.n_clusters = n_clusters
        self.coordinates = coordinates
        self.max_iter = max_iter
        self.random_state = random_state

    def _check(self) -> None:
        if self.coordinates not in COORDINATES:
            known = ", ".join(repr(name) for name in COORDINATES)
            raise ModelError(f"coordinates={self.coordinates!r} is unknown; choose one of: {known}")
        check_count("max_iter", self.max_iter)

    def _kernel(self, window: sp.csr_array, rng: np.random.Generator) -> FloatArray:
        K = int(self.n_clusters)
        if self.coordinates == "eigenvectors":
            _, points = leading_eigenvectors(window, K, by="magnitude")
        elif self.coordinates == "landmarks":
            points = shared_neighbors(window, rng.choice(window.shape[0], K - 1, replace=False))
        else:
            n_yes = np.asarray(window.sum(axis=1)).ravel()
            points = shared_neighbors(window, np.argsort(-n_yes, kind="stable")[: K - 1])
        weights, n_iter = smallest_simplex(points, K, self.max_iter)
        self.n_iter_ = max(self.n_iter_, n_iter)
        return rows_on_simplex(weights)


def shared_neighbors(window: sp.csr_array, landmarks: IntArray) -> FloatArray:
    """How many neighbors each node shares with each landmark, and a one: the landmarks' columns of A², and 1."""
    return np.column_stack([(window @ window[:, landmarks]).toarray(), np.ones(window.shape[0])])


def smallest_simplex(points: FloatArray, n_clusters: int, max_iter: int) -> tuple[FloatArray, int]:
    """Weights V Θᵀ ≥ 0 of the simplex of least volume: maximize |det Θ| with VΘᵀ ≥ 0 and 1ᵀVΘᵀ = 1ᵀ.

    |det Θ| is linear in one row of Θ, with the cofactors as coefficients, so each row is a linear program given the
    others. The columns are scaled at the end so that the rows sum to one as nearly as they can. Also says how many
    rounds were made.
    """
    # Orthonormal coordinates of the same range: the volumes only change by a factor, and the programs are well scaled.
    V, _ = np.linalg.qr(points)
    V = V * np.sqrt(len(V))
    total = V.sum(axis=0)
    theta = np.eye(n_clusters)
    before = 0.0
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        for row in range(n_clusters):
            theta[row] = _farthest(V, total, _cofactors(theta, row), theta[row])
        volume = abs(float(np.linalg.det(theta)))
        if volume <= before * (1 + 1e-9):
            break
        before = volume
    scale, *_ = np.linalg.lstsq(V @ theta.T, np.ones(len(V)), rcond=None)
    return np.asarray(V @ theta.T * np.abs(scale)), n_iter


def _cofactors(theta: FloatArray, row: int) -> FloatArray:
    """The gradient of det Θ in one row, also where Θ is singular."""
    others = np.delete(theta, row, axis=0)
    signs = (-1.0) ** (row + np.arange(len(theta)))
    minors = [np.linalg.det(np.delete(others, column, axis=1)) for column in range(len(theta))]
    return np.asarray(signs * np.asarray(minors))


def _farthest(V: FloatArray, total: FloatArray, direction: FloatArray, present: FloatArray) -> FloatArray:
    """The row x of largest |direction · x| with V x ≥ 0 and total · x = 1; the present one if there is none better."""
    best, value = present, -np.inf
    scale = np.abs(direction).max()
    if scale == 0:
        return present
    for sign in (1.0, -1.0):
        solved = linprog(
            -sign * direction / scale, A_ub=-V, b_ub=np.zeros(len(V)), A_eq=total[None], b_eq=[1.0], bounds=(None, None)
        )
        if solved.status == 0 and -solved.fun > value:
            best, value = solved.x, -solved.fun
    return np.asarray(best)
