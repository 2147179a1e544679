"""CD-BNMF: nonnegative factors with a prior that switches off what is not needed."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bequec.baselines.estimator import IteratedWindowedBaseline, check_count, rows_on_simplex
from bequec.core.arrays import FloatArray
from bequec.core.errors import ModelError
from bequec.learn.estimator import Seed

SHAPE, RATE = 5.0, 2.0  # of the gamma prior on the precisions, as published
DENSE_ABOVE = 0.03
MOST_DENSE = 10_000  # nodes: 400 MB in single precision
CELLS_AT_ONCE = 2**16  # what stays in a core's cache
TINY = float(np.sqrt(np.finfo(float).eps))

Step = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


class BayesianNMF(IteratedWindowedBaseline):
    """Community detection by Bayesian nonnegative matrix factorization, CD-BNMF (Psorakis et al., Phys. Rev. E 2011).

    Prefer it when the number of clusters is only known from above: it prunes those that the answers do not need. It
    is a local search from a random start and, with many overlapping nodes, behind the spectral rivals. A node without
    any yes gets uniform memberships.

    Where a start prunes below ``n_clusters`` in a window, up to ``n_restarts`` others are tried and the first that
    keeps all is taken; if none does, the one that keeps most, and the pruned clusters are empty in that window.

    Parameters
    ----------
    n_clusters : int
    max_iter : int
        Most updates of both factors.
    tol : float
        Stop when an update changes the factors by less than this, relatively (root mean square); 0: never.
    n_restarts : int
        How many further starts are tried where clusters are pruned.
    diagonal : float
        What every node's link to itself counts beside a yes between two. All links are divided by the largest, so that
        with more than one a yes counts less against the prior; in the BeQuec paper's planted graphs it is two.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    n_iter_ : int
        Updates in the window that took most.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.repeat([0, 1, 2], [12, 9, 7])
    >>> BayesianNMF(3, random_state=0).fit(truth[:, None] == truth).labels_.tolist() == truth.tolist()
    True
    """

    def __init__(
        self,
        n_clusters: int,
        *,
        max_iter: int = 1000,
        tol: float = 1e-4,
        n_restarts: int = 5,
        diagonal: float = 0.0,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.n_restarts = n_restarts
        self.diagonal = diagonal
        self.random_state = random_state

    def _check(self) -> None:
        check_count("max_iter", self.max_iter)
        check_count("n_restarts", self.n_restarts, least=0)
        for name, value in (("tol", self.tol), ("diagonal", self.diagonal)):
            if not isinstance(value, int | float | np.number) or not value >= 0:
                raise ModelError(f"{name}={value!r} must be a number of at least 0")

    def _kernel(self, window: sp.csr_array, rng: np.random.Generator) -> FloatArray:
        K = int(self.n_clusters)
        if self.diagonal:
            window = sp.csr_array(window + sp.diags_array(np.full(window.shape[0], float(self.diagonal))))
        window = window / window.data.max()
        best = factorize(window, K, rng, self.max_iter, self.tol)
        for _ in range(self.n_restarts):
            if best.n_kept == K:
                break
            best = max(best, factorize(window, K, rng, self.max_iter, self.tol), key=lambda found: found.n_kept)
        self.n_iter_ = max(self.n_iter_, best.n_iter)
        return rows_on_simplex(best.left)


class Factors(NamedTuple):
    """The left factor W, how many of its columns were kept, and after how many updates."""

    left: FloatArray
    n_kept: int
    n_iter: int


def factorize(graph: sp.csr_array, n_clusters: int, rng: np.random.Generator, max_iter: int, tol: float) -> Factors:
    """W and H of A ≈ W Hᵀ under Poisson noise, with half-normal priors whose precisions β_k are learned.

    W ← W ∘ (A ⊘ W Hᵀ) H ⊘ (1 1ᵀH + W β), H likewise with Aᵀ, and after each
    β_k = (N + a − 1) / (b + ½ Σ w_ik² + ½ Σ h_ik²); a zero of A adds nothing to A ⊘ W Hᵀ.
    """
    n = graph.shape[0]
    is_dense = graph.nnz > DENSE_ABOVE * n * n and n <= MOST_DENSE
    step = _dense_step(graph.astype(np.float32).toarray()) if is_dense else _sparse_step(graph)
    W, H = rng.random((n, n_clusters)), rng.random((n, n_clusters))
    beta = np.ones(n_clusters)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        before = W
        H = step(H, W, beta)
        beta = (n + SHAPE - 1) / (RATE + (W**2).sum(axis=0) / 2 + (H**2).sum(axis=0) / 2)
        W = step(W, H, beta)
        if np.linalg.norm(W - before) <= tol * np.linalg.norm(before):
            break
    strength = np.sqrt((W**2).sum(axis=0) * (H**2).sum(axis=0))
    return Factors(W, int((strength > 1e-6 * strength.max()).sum()), n_iter)


def _sparse_step(A: sp.csr_array) -> Step:
    """One multiplicative step of the factor on the side of A's rows; A is symmetric, so both sides are alike."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))

    def step(factor: FloatArray, other: FloatArray, beta: FloatArray) -> FloatArray:
        fitted = np.einsum("ek,ek->e", factor[row], other[A.indices])
        ratio = sp.csr_array((A.data / np.maximum(fitted, TINY**2), A.indices, A.indptr), shape=A.shape)
        return _update(factor, ratio @ other, other, beta)

    return step


def _dense_step(A: npt.NDArray[np.float32]) -> Step:
    """The same where so many entries are not zero that plain arrays are faster, in single precision, row by row."""
    n_rows = max(1, CELLS_AT_ONCE // len(A))
    ratio = np.empty((n_rows, len(A)), dtype=np.float32)

    def step(factor: FloatArray, other: FloatArray, beta: FloatArray) -> FloatArray:
        mine, columns = factor.astype(np.float32), other.astype(np.float32)
        fitted = np.ascontiguousarray(columns.T)
        pull = np.empty(mine.shape)
        for begin in range(0, len(A), n_rows):
            rows = slice(begin, begin + n_rows)
            part = ratio[: len(mine[rows])]
            np.matmul(mine[rows], fitted, out=part)
            np.maximum(part, np.float32(TINY**2), out=part)
            np.divide(A[rows], part, out=part)
            pull[rows] = part @ columns
        return _update(factor, pull, other, beta)

    return step


def _update(factor: FloatArray, pull: FloatArray, other: FloatArray, beta: FloatArray) -> FloatArray:
    """The factor after a step; what has been switched off becomes a plain zero, as subnormal numbers are slow."""
    updated = factor * pull / (other.sum(axis=0) + factor * beta + TINY)
    updated[updated < np.finfo(np.float32).tiny] = 0.0
    return np.asarray(updated)
