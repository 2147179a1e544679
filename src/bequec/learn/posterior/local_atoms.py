"""Posterior memberships by atoms of each node's own, drawn where its posterior is.

Atoms of the prior are too coarse for a node about which much is known: in a graph of 10,000 nodes a hundred thousand of
them would be needed. Here each node's atoms come from a proposal that its last mean and covariance suggest, and are
weighted by posterior / proposal (importance sampling).

In ℓ_k = log(x_k / x_r), r the node's largest cluster, the posterior density is ∝ ∏ x_k^ν_k exp(bᵀx − ½ xᵀHx). Each ℓ_k
is drawn by itself, either as the log of a gamma of shape ν_k, for a node that may have no part in cluster k, or as a
normal, for one that has some. Both only shift and stretch quasi-random numbers that all nodes share.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri
from scipy.stats import qmc

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.learn.pair_blocks import Single
from bequec.learn.posterior.node_posteriors import Moments, NodePosteriors
from bequec.learn.posterior.settings import POSTERIOR
from bequec.learn.posterior.shared_atoms import log_gamma_quantiles

LogLikelihood = Callable[[Single, slice], Single]  # of atoms (n, K, S) of some of the nodes → (n, S)


class LocalAtoms(NamedTuple):
    """For each set, cluster and atom: the log of a standard gamma, a standard normal, and a uniform that picks one.

    Nodes take turns in using several sets. With one alone all nodes would have the same error, and the prior and B,
    which average over them, would inherit it.
    """

    log_gammas: Single
    normals: Single
    choices: Single
    concentration: FloatArray

    @classmethod
    def draw(cls, concentration: FloatArray, rng: np.random.Generator, n_atoms: int) -> "LocalAtoms":
        """Scrambled Sobol points, through the inverse distributions."""
        K = len(concentration)
        sets = [qmc.Sobol(2 * K, scramble=True, rng=rng).random(n_atoms) for _ in range(POSTERIOR.n_sets_of_atoms)]
        uniform = np.clip(sets, 1e-9, 1 - 1e-9)
        log_gammas = log_gamma_quantiles(uniform[..., :K], concentration)
        arrays = (log_gammas, ndtri(uniform[..., :K]), uniform[..., K:])
        first, second, third = (np.ascontiguousarray(array.swapaxes(1, 2), dtype=np.float32) for array in arrays)
        return cls(first, second, third, concentration)

    @property
    def n_atoms(self) -> int:
        """How many each node has."""
        return int(self.normals.shape[2])

    def moments(self, nodes: NodePosteriors, log_likelihood: LogLikelihood | None = None) -> Moments:
        """Moments of each node's posterior; its likelihood is the quadratic form of b and H unless another is given."""
        N, K = nodes.b.shape
        log_likelihood = log_likelihood or functools.partial(quadratic_log_likelihood, nodes)
        proposal = Proposal.around(nodes, self.concentration)
        mean, logs, squares = np.empty((N, K)), np.empty((N, K)), np.empty((N, K, K))
        n_effective = np.empty(N)
        step = max(1, POSTERIOR.cells_at_once // (K * self.n_atoms))
        for turn, begin in enumerate(range(0, N, step)):
            rows = slice(begin, begin + step)
            x, log_x, log_density = proposal.sample(self, turn % POSTERIOR.n_sets_of_atoms, rows)
            log_prior = (nodes.concentration[rows, :, None].astype(np.float32) * log_x).sum(axis=1)
            weights = _weights(log_likelihood(x, rows) + log_prior - log_density)
            weighted = x * weights
            mean[rows] = weighted.sum(axis=2)
            logs[rows] = (log_x * weights).sum(axis=2)
            squares[rows] = weighted @ x.transpose(0, 2, 1)
            n_effective[rows] = 1 / (weights**2).sum(axis=(1, 2))
        return Moments(mean, squares - mean[:, :, None] * mean[:, None, :], logs, n_effective)


class Proposal(NamedTuple):
    """Where each node's atoms are drawn: in cluster k from a gamma (a share of none) or a normal, of known density.

    ``log_gamma`` and ``log_normal`` are what the logarithms of their densities have besides ν ℓ − rate e^ℓ and the
    square; ``largest`` is the cluster that the ratios refer to.
    """

    largest: IntArray
    sure: BoolArray
    none: Single
    shape: Single
    rate: Single
    location: Single
    spread: Single
    factor: Single
    log_gamma: Single
    log_normal: Single

    @classmethod
    def around(cls, nodes: NodePosteriors, shape: FloatArray) -> "Proposal":
        """Both parts have the mean that the membership has now; the less certain it is, the likelier is none.

        Where a node surely has some, there is no gamma, and the normals are correlated as its memberships are: the
        covariance of log ratios is J C Jᵀ, J the derivatives 1 / x_k and −1 / x_r.
        """
        widening, least_variance = POSTERIOR.widening, POSTERIOR.smallest_proposed_variance
        largest = nodes.mean.argmax(axis=1)
        rows, each = np.arange(len(largest)), np.arange(len(shape))
        mean = np.maximum(nodes.mean, POSTERIOR.smallest_proposed_mean)
        ratio = mean / mean[rows, largest, None]
        covariance = nodes.covariance / (mean[:, :, None] * mean[:, None, :])  # relative
        # Few effective atoms make a covariance too small; the variance with all else known, 1 / H_kk, is a floor.
        covariance[:, each, each] = np.maximum(
            covariance[:, each, each],
            1 / (np.maximum(nodes.H[:, each, each], POSTERIOR.least_curvature_of_node) * mean**2),
        )
        error = covariance[:, each, each]
        sure = error < POSTERIOR.surely_present_below
        of_largest = covariance[rows, largest]
        spread = widening * (np.log1p(np.minimum(error, 1.0)) + of_largest[rows, largest, None] + least_variance)
        covariance += of_largest[rows, largest, None, None] - of_largest[:, :, None] - of_largest[:, None, :]
        covariance[~(sure[:, :, None] & sure[:, None, :])] = 0.0
        covariance[rows, largest] = covariance[rows, :, largest] = 0.0
        covariance *= widening
        covariance[:, each, each] = np.where(sure, covariance[:, each, each] + widening * least_variance, spread)
        # E[x²] / E[x]: how large a membership is if there is any.
        location = np.log(ratio * (1 + np.minimum(error, 9.0))) - spread / 2
        none = np.where(sure, 0.0, np.clip(error, POSTERIOR.least_share_of_none, POSTERIOR.most_share_of_none))
        factor = np.linalg.cholesky(covariance)
        log_gamma = np.log(np.maximum(none, 1e-300)) + shape * np.log(shape / ratio) - gammaln(shape)
        log_normal = np.log1p(-none) - np.log(np.sqrt(2 * np.pi) * factor[:, each, each])
        vectors = {
            "none": none,
            "shape": np.broadcast_to(shape, none.shape),
            "rate": shape / ratio,
            "location": location,
            "spread": np.sqrt(spread),
            "log_gamma": log_gamma,
            "log_normal": log_normal,
        }
        single = {name: vector.astype(np.float32)[:, :, None] for name, vector in vectors.items()}
        return cls(largest=largest, sure=sure[:, :, None], factor=factor.astype(np.float32), **single)

    def sample(self, atoms: LocalAtoms, turn: int, rows: slice) -> tuple[Single, Single, Single]:
        """Every atom's memberships and their logarithms (n, K, S), and the log density of the proposal there (n, S)."""
        largest, sure, none, shape, rate, location, spread, factor, log_gamma, log_normal = (a[rows] for a in self)
        log_gammas, normals, choices = atoms.log_gammas[turn], atoms.normals[turn], atoms.choices[turn]
        normal = factor @ normals
        normal += location
        ell = np.where(choices < none, log_gammas - np.log(rate), normal)
        at = np.arange(len(ell)), largest
        ell[at] = 0.0
        np.minimum(ell, POSTERIOR.largest_log_ratio, out=ell)
        x = np.exp(ell)
        of_gamma = shape * ell
        of_gamma -= rate * x
        of_gamma += log_gamma
        of_normal = np.where(sure, normals, (ell - location) / spread)
        of_normal *= of_normal
        of_normal *= np.float32(-0.5)
        of_normal += log_normal
        density = np.exp(of_gamma, out=of_gamma)
        density += np.exp(of_normal, out=of_normal)
        density[at] = 1.0
        log_density = np.log(np.maximum(density, np.finfo(np.float32).tiny, out=density), out=density).sum(axis=1)
        total = x.sum(axis=1, keepdims=True)
        x /= total
        ell -= np.log(total)
        return x, ell, log_density


def quadratic_log_likelihood(nodes: NodePosteriors, x: Single, rows: slice) -> Single:
    """bᵀx − ½ xᵀHx for atoms x (n, K, S) of the nodes ``rows`` → (n, S)."""
    potential = -0.5 * (nodes.H[rows].astype(np.float32) @ x)
    potential += nodes.b[rows, :, None].astype(np.float32)
    potential *= x
    return np.asarray(potential.sum(axis=1))


def _weights(log_weights: Single) -> Single:
    """Weights with sum one for each node (n, S) → (n, 1, S)."""
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(weights[:, None, :])
