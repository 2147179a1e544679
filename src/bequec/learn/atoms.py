"""Posterior memberships by quasi-random atoms of the Dirichlet prior.

For each node the posterior is ∝ Dirichlet(x; ν) exp(β (bᵀx − ½ xᵀHx)): a weighted sum over atoms drawn once for all
nodes, so that every moment is a matrix product.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaincinv, gammaln
from scipy.stats import qmc

from bequec.ask.answers import FloatArray
from bequec.learn.dense_blocks import Single
from bequec.learn.symmetric import full, inner_weights, outer_triangles, triangles

CELLS_AT_ONCE = 2**18  # what stays in a core's cache
LARGEST_SUPPORT = 6  # with more clusters than eight, each node's atoms lie on its likeliest face of the simplex
WHOLE_SIMPLEX = 8
REDRAW = 0.1


class Atoms(NamedTuple):
    """Points on a simplex (S, k) with their logarithms, drawn for one concentration."""

    points: FloatArray
    logs: FloatArray
    concentration: FloatArray


class Moments(NamedTuple):
    """Posterior mean (N, K), covariance (N, K, K) and, averaged over the nodes, E[log x] (K,)."""

    mean: FloatArray
    covariance: FloatArray
    mean_log: FloatArray


def draw_atoms(concentration: FloatArray, n_atoms: int, rng: np.random.Generator) -> Atoms:
    """Scrambled Sobol points taken to the simplex through the inverse gamma distribution.

    With many clusters the atoms are drawn for a face of ``LARGEST_SUPPORT`` clusters and the mean concentration.
    """
    if len(concentration) > WHOLE_SIMPLEX:
        concentration = np.full(LARGEST_SUPPORT, float(np.exp(np.log(concentration).mean())))
    uniform = np.clip(qmc.Sobol(len(concentration), scramble=True, rng=rng).random(n_atoms), 1e-12, 1 - 1e-12)
    gamma = gammaincinv(concentration, uniform)
    # For small ν the quantile underflows, its logarithm does not: γ(ν, x) ≈ x^ν / Γ(ν + 1).
    small = (np.log(uniform) + gammaln(concentration + 1)) / concentration
    logs = np.where(gamma > 1e-200, np.log(np.maximum(gamma, 1e-200)), small)
    logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
    return Atoms(np.exp(logs), logs, concentration)


def are_stale(atoms: Atoms, concentration: FloatArray) -> bool:
    """Whether ν moved so far from the atoms' own that they should be drawn anew instead of reweighted."""
    if len(concentration) > WHOLE_SIMPLEX:
        concentration = np.full(LARGEST_SUPPORT, float(np.exp(np.log(concentration).mean())))
    return bool(np.abs(np.log(concentration / atoms.concentration)).max() > REDRAW)


def posterior_moments(
    atoms: Atoms, b: FloatArray, H: FloatArray, concentration: FloatArray, current: FloatArray, sharpness: float = 1.0
) -> Moments:
    """Moments of each node's posterior, on the whole simplex or, with many clusters, on its likeliest face.

    ``current`` are the memberships at which the faces are chosen.
    """
    K = b.shape[1]
    b, H = sharpness * b, sharpness * H
    if K <= WHOLE_SIMPLEX:
        mean, covariance, logs = _moments(atoms, b, triangles(H), np.tile(concentration, (len(b), 1)))
        return Moments(mean, full(covariance, K), logs.mean(axis=0))
    return _moments_on_faces(atoms, b, H, concentration, current)


def _moments(
    atoms: Atoms, b: FloatArray, H: FloatArray, concentration: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, covariance (upper triangles) and E[log x] of each row; H as upper triangles.

    Where ν differs from the atoms' own, they are reweighted by ∏ x_k^(ν_k − ν'_k).
    """
    k = b.shape[1]
    pairs = outer_triangles(atoms.points)
    logs = np.maximum(atoms.logs, -700.0)
    exponents = _single(np.hstack([atoms.points, -0.5 * pairs * inner_weights(k), logs]).T)
    values = _single(np.hstack([np.ones((len(logs), 1)), atoms.points, pairs, logs]))
    potentials = _single(np.hstack([b, H, concentration - atoms.concentration]))
    sums = np.empty((len(b), values.shape[1]))
    step = max(8, CELLS_AT_ONCE // len(logs))
    for begin in range(0, len(b), step):
        weights = potentials[begin : begin + step] @ exponents
        weights -= weights.max(axis=1, keepdims=True)
        sums[begin : begin + step] = np.exp(weights, out=weights) @ values
    sums /= sums[:, :1]
    mean = sums[:, 1 : k + 1]
    return mean, sums[:, k + 1 : -k] - outer_triangles(mean), sums[:, -k:]


def _moments_on_faces(
    atoms: Atoms, b: FloatArray, H: FloatArray, concentration: FloatArray, current: FloatArray
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
    mean_on, covariance_on, logs_on = _moments(
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
    return Moments(mean, covariance, logs.mean(axis=0))


def _single(array: FloatArray) -> Single:
    return np.ascontiguousarray(array, dtype=np.float32)
