"""Posterior memberships by quasi-random atoms of the Dirichlet prior.

For each node the posterior is ∝ Dirichlet(x; ν) exp(β (bᵀx − ½ xᵀHx)): a weighted sum over atoms drawn once for all
nodes, so that every moment is a matrix product.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaincinv, gammaln
from scipy.stats import qmc

from bequec.ask.answers import FloatArray
from bequec.learn.cavity import Belief
from bequec.learn.dense_blocks import Single
from bequec.learn.moments import Moments
from bequec.learn.symmetric import full, inner_weights, outer_triangles, triangles

CELLS_AT_ONCE = 2**15  # what stays in a core's cache
LARGEST_SUPPORT = 6  # with more clusters than eight, each node's atoms lie on its likeliest face of the simplex
WHOLE_SIMPLEX = 8
REDRAW = 0.1


class SharedAtoms(NamedTuple):
    """Points on a simplex (S, k) with their logarithms, drawn for one concentration and shared by all nodes.

    With many clusters the simplex is a face of ``LARGEST_SUPPORT`` clusters, drawn for the mean concentration.
    """

    points: FloatArray
    logs: FloatArray
    concentration: FloatArray

    @classmethod
    def draw(cls, concentration: FloatArray, rng: np.random.Generator, n_atoms: int) -> "SharedAtoms":
        """Scrambled Sobol points taken to the simplex through the inverse gamma distribution."""
        concentration = _on_face(concentration)
        uniform = np.clip(qmc.Sobol(len(concentration), scramble=True, rng=rng).random(n_atoms), 1e-12, 1 - 1e-12)
        logs = log_gamma_quantiles(uniform, concentration)
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        return cls(np.exp(logs), logs, concentration)

    def suit(self, concentration: FloatArray) -> bool:
        """Whether ν is so near to the atoms' own that they can be reweighted instead of drawn anew."""
        return bool(np.abs(np.log(_on_face(concentration) / self.concentration)).max() <= REDRAW)

    def moments(self, b: FloatArray, H: FloatArray, belief: Belief) -> Moments:
        """Moments of each node's posterior, on the whole simplex or, with many clusters, on its likeliest face."""
        K = b.shape[1]
        if K > WHOLE_SIMPLEX:
            return _moments_on_faces(self, b, H, belief.concentration, belief.memberships)
        mean, covariance, *rest = _moments(self, b, triangles(H), np.tile(belief.concentration, (len(b), 1)))
        return Moments(mean, full(covariance, K), *rest)


def _on_face(concentration: FloatArray) -> FloatArray:
    if len(concentration) <= WHOLE_SIMPLEX:
        return concentration
    return np.full(LARGEST_SUPPORT, float(np.exp(np.log(concentration).mean())))


def log_gamma_quantiles(uniform: FloatArray, shape: FloatArray) -> FloatArray:
    """The logarithm of the gamma distribution's quantiles."""
    gamma = gammaincinv(shape, uniform)
    # For small shapes the quantile underflows, its logarithm does not: γ(ν, x) ≈ x^ν / Γ(ν + 1).
    small = (np.log(uniform) + gammaln(shape + 1)) / shape
    return np.asarray(np.where(gamma > 1e-200, np.log(np.maximum(gamma, 1e-200)), small))


def _moments(
    atoms: SharedAtoms, b: FloatArray, H: FloatArray, concentration: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mean, covariance (upper triangles), E[log x] and (Σ weight)² / Σ weight² of each row; H as upper triangles.

    Where ν differs from the atoms' own, they are reweighted by ∏ x_k^(ν_k − ν'_k).
    """
    k = b.shape[1]
    pairs = outer_triangles(atoms.points)
    logs = np.maximum(atoms.logs, -700.0)
    exponents = _single(np.hstack([atoms.points, -0.5 * pairs * inner_weights(k), logs]).T)
    values = _single(np.hstack([np.ones((len(logs), 1)), atoms.points, pairs, logs]))
    potentials = _single(np.hstack([b, H, concentration - atoms.concentration]))
    sums, n_effective = np.empty((len(b), values.shape[1])), np.empty(len(b))
    step = max(8, CELLS_AT_ONCE // len(logs))
    for begin in range(0, len(b), step):
        weights = potentials[begin : begin + step] @ exponents
        weights -= weights.max(axis=1, keepdims=True)
        sums[begin : begin + step] = np.exp(weights, out=weights) @ values
        n_effective[begin : begin + step] = np.einsum("ns,ns->n", weights, weights)
    n_effective = sums[:, 0] ** 2 / n_effective
    sums /= sums[:, :1]
    mean = sums[:, 1 : k + 1]
    return mean, sums[:, k + 1 : -k] - outer_triangles(mean), sums[:, -k:], n_effective


def _moments_on_faces(
    atoms: SharedAtoms, b: FloatArray, H: FloatArray, concentration: FloatArray, current: FloatArray
) -> Moments:
    """Atoms on each node's likeliest clusters; outside of them a membership is small and its posterior a gamma.

    Near zero the density of x_k is x_k^(ν_k − 1) exp(−λ_k x_k − ½ h_k x_k²), λ_k how much slower the likelihood rises
    along cluster k than along the node's own: a gamma of that ν_k and a rate of about λ_k, at least √h_k.
    """
    n_nodes, K = b.shape
    slope = b - np.einsum("nab,nb->na", H, current)
    level = (slope * current).sum(axis=1, keepdims=True)
    promise = np.where(current > 0.02, 1e6 * current, slope)  # who is in already, then who would gain most
    face = np.sort(np.argsort(-promise, axis=1, kind="stable")[:, :LARGEST_SUPPORT], axis=1)
    rows = np.arange(n_nodes)[:, None]
    mean_on, covariance_on, logs_on, n_effective = _moments(
        atoms, b[rows, face], triangles(H[rows[:, :, None], face[:, :, None], face[:, None, :]]), concentration[face]
    )
    slower = np.maximum(level - slope, 0.0)
    curvature = np.diagonal(H, axis1=1, axis2=2)
    # The larger root of rate² = rate λ + h (1 + ν): λ far from the face, √h where cluster k nearly belongs to it.
    rate = (slower + np.sqrt(slower**2 + 4 * curvature * (1 + concentration))) / 2 + concentration.sum()
    mean, logs = concentration / rate, digamma(concentration) - np.log(rate)
    outside = mean.sum(axis=1) - mean[rows, face].sum(axis=1)
    mean[rows, face] = mean_on * (1 - np.minimum(outside, 0.5))[:, None]
    mean /= mean.sum(axis=1, keepdims=True)
    logs[rows, face] = logs_on
    covariance = np.zeros((n_nodes, K, K))
    diagonal = np.arange(K)
    covariance[:, diagonal, diagonal] = concentration / rate**2
    covariance[rows[:, :, None], face[:, :, None], face[:, None, :]] = full(covariance_on, LARGEST_SUPPORT)
    return Moments(mean, covariance, logs, n_effective)


def _single(array: FloatArray) -> Single:
    return np.ascontiguousarray(array, dtype=np.float32)
