"""Convex-Opt: the answers as low rank plus sparse, then spectral clustering of the low rank."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.baselines.estimator import check_count, unfinished
from bequec.baselines.k_means import best_k_means, hard_memberships
from bequec.baselines.spectral import laplacian_coordinates
from bequec.core.arrays import BoolArray, FloatArray
from bequec.core.errors import ModelError
from bequec.core.progress import Progress
from bequec.learn.estimator import GraphEstimator, Seed
from bequec.learn.state import State

LINKED = 0.1  # the largest link of a node that the optimum did not leave out
MOST_NODES = 6000  # a dozen dense N × N matrices, 3.5 GB, and days of eigendecompositions
OVER_RELAXED = 1.6  # takes a third of the steps off


class ConvexOpt(GraphEstimator):
    """Graph clustering by low rank plus sparse from partly observed graphs (Vinayak, Oymak & Hassibi, NeurIPS 2014).

    minimize ‖L‖_* + λ ‖S‖₁ with L + S = A on the answered pairs and 0 ≤ L ≤ 1; then spectral clustering of L. Prefer
    it when nodes belong to one cluster each, unanswered pairs are scattered and there are at most some thousand
    nodes: it is the only rival here that is N × N dense, with an eigendecomposition a step. The diagonal is answered
    with yes, unless it was given: in this model everybody belongs with itself.

    To belong to a cluster costs about one in ‖L‖_*, so the optimum leaves out every node whose answers about its
    cluster hold fewer than 1/(2λ) more yes than no: its row of L is zero. Such nodes then join the cluster with the
    largest share of yes among their answers, or are uniform if they have none.

    Parameters
    ----------
    n_clusters : int
    penalty : float or None
        λ, the price of contradicting one answer; by default 1.3 / √(mean number of answered pairs of a node).
    zero_filled : bool
        Count pairs without an answer as "no", as the BeQuec paper's experiments did.
    max_iter : int
        Most steps of the alternating directions method.
    tol : float
        Stop when primal and dual residuals are below this, relatively.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    low_rank_ : (n_nodes, n_nodes) array
        The optimal L, in the caller's order.
    objective_ : float
        The program's value at ``low_rank_``.
    penalty_ : float
        The λ that was used.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.repeat([0, 1, 2], [12, 9, 7])
    >>> ConvexOpt(3, random_state=0).fit(truth[:, None] == truth).labels_.tolist() == truth.tolist()
    True
    """

    def __init__(
        self,
        n_clusters: int,
        *,
        penalty: float | None = None,
        zero_filled: bool = False,
        max_iter: int = 500,
        tol: float = 1e-3,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.zero_filled = zero_filled
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self) -> None:
        check_count("max_iter", self.max_iter)
        for name, value in (("penalty", self.penalty), ("tol", self.tol)):
            if name == "penalty" and value is None:
                continue
            if not isinstance(value, int | float | np.number) or not value > 0:
                raise ModelError(f"{name}={value!r} must be a positive number")

    def _learn(self, answers: Answers, rng: np.random.Generator, progress: Progress | None) -> State:
        if answers.plan.n_nodes > MOST_NODES:
            raise ModelError(
                f"Convex-Opt works on dense {answers.plan.n_nodes} × {answers.plan.n_nodes} matrices, too large above "
                f"{MOST_NODES} nodes; use BeQuec, or correlation clustering"
            )
        values, known = observed(answers, zero_filled=self.zero_filled)
        penalty = usual_penalty(answers) if self.penalty is None else float(self.penalty)
        weights: FloatArray = np.where(known, penalty, 0.0)
        optimum = low_rank_plus_sparse(values, weights, self.max_iter, self.tol, progress)
        node_at = answers.plan.position_of
        self.low_rank_: FloatArray = optimum.low_rank[np.ix_(node_at, node_at)]
        self.objective_ = objective(optimum.low_rank, values, weights)
        self.penalty_ = penalty
        self.n_iter_ = optimum.n_iter
        linked = links(optimum.low_rank).max(axis=1) > LINKED
        K = int(self.n_clusters)
        if linked.sum() < K:
            raise ModelError(
                f"with penalty={penalty:.3g} the optimum links only {linked.sum()} nodes: contradicting the answers "
                "is cheaper than any cluster; use a larger penalty"
            )
        graph = sp.csr_array(optimum.low_rank[np.ix_(linked, linked)])
        labels = best_k_means(laplacian_coordinates(graph, K, normalized=True), K, rng)
        memberships = np.empty((len(values), K))
        memberships[linked] = hard_memberships(labels, K)
        memberships[~linked] = most_yes(values[~linked][:, linked], known[~linked][:, linked], memberships[linked])
        return State(memberships=memberships, unfinished=unfinished(self, optimum.n_iter))


class Optimum(NamedTuple):
    """The low rank part, and after how many steps."""

    low_rank: FloatArray
    n_iter: int


def observed(answers: Answers, *, zero_filled: bool) -> tuple[FloatArray, BoolArray]:
    """The mean answers as a dense matrix in group order, and which pairs count as answered."""
    plan = answers.plan
    values = answers.mean_yes.toarray()
    if zero_filled:
        known = np.ones(values.shape, dtype=bool)
    else:
        known = np.zeros(values.shape, dtype=bool)
        for l, m in plan.covered_blocks.tolist():
            has_answer = answers.block_totals(l, m) > 0
            known[plan.span(l), plan.span(m)] = has_answer
            known[plan.span(m), plan.span(l)] = has_answer.T
    if not answers.diagonal:
        np.fill_diagonal(values, 1.0)
        np.fill_diagonal(known, True)
    return values, known


def usual_penalty(answers: Answers) -> float:
    """1.3 over the root of the mean number of answered pairs of a node: 0.1 on the dogs, as the BeQuec paper has it.

    The noise of a row of n answers has a spectral norm of about √n; λ must be below its inverse for the noise to go
    into S, and as large as that allows for the clusters to stay in L.
    """
    return float(1.3 / np.sqrt(2.0 * answers.n_answered_pairs / answers.plan.n_nodes))


def links(low_rank: FloatArray) -> FloatArray:
    """L without its diagonal."""
    return low_rank - np.diag(low_rank.diagonal())


def most_yes(values: FloatArray, known: BoolArray, memberships: FloatArray) -> FloatArray:
    """For nodes that L left out: the cluster with the largest share of yes among their answers about its members."""
    n_answers = known @ memberships
    share = (np.where(known, values, 0.0) @ memberships) / np.maximum(n_answers, 1.0)
    chosen = hard_memberships(share.argmax(axis=1), memberships.shape[1])
    return np.asarray(np.where(n_answers.any(axis=1, keepdims=True), chosen, 1.0 / memberships.shape[1]))


def objective(low_rank: FloatArray, values: FloatArray, weights: FloatArray) -> float:
    """‖L‖_* + Σ w |A − L|."""
    return float(np.abs(np.linalg.eigvalsh(low_rank)).sum() + (weights * np.abs(values - low_rank)).sum())


def low_rank_plus_sparse(
    values: FloatArray, weights: FloatArray, max_iter: int, tol: float, progress: Progress | None = None
) -> Optimum:
    """The symmetric L in [0, 1] of least ‖L‖_* + Σ w |A − L|, by the alternating directions method of multipliers.

    X = eigenvalues of Z − U shrunk by 1/ρ; Z = A + (X + U − A shrunk by w/ρ), clipped to [0, 1]; U += X − Z, with X
    over-relaxed (Boyd et al. 2011, §3.4.3). A pair without an answer has w = 0: its Z is only clipped.
    """
    rho = 1.0 / np.sqrt(len(values))
    Z, U = values * (weights > 0), np.zeros_like(values)
    n_iter = 0
    while n_iter < max_iter:
        if progress is not None:
            progress("separating clusters from errors", n_iter, max_iter)
        n_iter += 1
        X = _shrink_eigenvalues(Z - U, 1.0 / rho)
        ahead = OVER_RELAXED * X + (1 - OVER_RELAXED) * Z
        before = Z
        Z = np.clip(values + _shrink(ahead + U - values, weights / rho), 0.0, 1.0)
        U += ahead - Z
        moved, apart = np.linalg.norm(Z - before), np.linalg.norm(X - Z)
        if apart <= tol * np.linalg.norm(Z) and moved <= tol * np.linalg.norm(U):
            break
    return Optimum((Z + Z.T) / 2, n_iter)


def _shrink(matrix: FloatArray, by: FloatArray) -> FloatArray:
    return np.asarray(np.sign(matrix) * np.maximum(np.abs(matrix) - by, 0.0))


def _shrink_eigenvalues(matrix: FloatArray, by: float) -> FloatArray:
    """The proximal step of the nuclear norm; singular values of a symmetric matrix are |eigenvalues|."""
    values, vectors = np.linalg.eigh(matrix)
    kept = np.abs(values) > by
    shrunk = np.sign(values[kept]) * (np.abs(values[kept]) - by)
    return np.asarray((vectors[:, kept] * shrunk) @ vectors[:, kept].T)
