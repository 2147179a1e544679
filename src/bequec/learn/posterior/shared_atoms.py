"""Posterior memberships by quasi-random atoms of the Dirichlet prior.

For each node the posterior is ∝ Dirichlet(x; ν) exp(β (bᵀx − ½ xᵀHx)): a weighted sum over atoms drawn once for all
nodes, so that every moment is a matrix product.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, gammaln
from scipy.stats import qmc

from bequec.core.arrays import FloatArray
from bequec.learn.linalg.symmetric import full, inner_weights, outer_triangles, triangles
from bequec.learn.pair_blocks import Single
from bequec.learn.posterior.node_posteriors import Moments, NodePosteriors
from bequec.learn.posterior.settings import POSTERIOR


class SharedAtoms(NamedTuple):
    """Points on a simplex (S, k) with their logarithms, drawn for one concentration and shared by all nodes."""

    points: FloatArray
    logs: FloatArray
    concentration: FloatArray

    @classmethod
    def draw(cls, concentration: FloatArray, rng: np.random.Generator, n_atoms: int) -> "SharedAtoms":
        """Scrambled Sobol points taken to the simplex through the inverse gamma distribution."""
        uniform = np.clip(qmc.Sobol(len(concentration), scramble=True, rng=rng).random(n_atoms), 1e-12, 1 - 1e-12)
        logs = log_gamma_quantiles(uniform, concentration)
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        return cls(np.exp(logs), logs, concentration)

    def moments(self, nodes: NodePosteriors) -> Moments:
        """Moments of each node's posterior; where ν is not the atoms' own, they are reweighted by ∏ x^(ν − ν')."""
        k = len(self.concentration)
        pairs = outer_triangles(self.points)
        logs = np.maximum(self.logs, -700.0)
        exponents = _single(np.hstack([self.points, -0.5 * pairs * inner_weights(k), logs]).T)
        values = _single(np.hstack([np.ones((len(logs), 1)), self.points, pairs, logs]))
        potentials = _single(np.hstack([nodes.b, triangles(nodes.H), nodes.concentration - self.concentration]))
        n_nodes = len(potentials)
        sums, n_effective = np.empty((n_nodes, values.shape[1])), np.empty(n_nodes)
        step = max(8, POSTERIOR.cells_at_once // len(logs))
        for begin in range(0, n_nodes, step):
            weights = potentials[begin : begin + step] @ exponents
            weights -= weights.max(axis=1, keepdims=True)
            sums[begin : begin + step] = np.exp(weights, out=weights) @ values
            n_effective[begin : begin + step] = np.einsum("ns,ns->n", weights, weights)
        n_effective = sums[:, 0] ** 2 / n_effective
        sums /= sums[:, :1]
        mean = sums[:, 1 : k + 1]
        covariance = full(sums[:, k + 1 : -k] - outer_triangles(mean), k)
        return Moments(mean, covariance, sums[:, -k:], n_effective)


def log_gamma_quantiles(uniform: FloatArray, shape: FloatArray) -> FloatArray:
    """The logarithm of the gamma distribution's quantiles."""
    gamma = gammaincinv(shape, uniform)
    # For small shapes the quantile underflows, its logarithm does not: γ(ν, x) ≈ x^ν / Γ(ν + 1).
    small = (np.log(uniform) + gammaln(shape + 1)) / shape
    return np.asarray(np.where(gamma > 1e-200, np.log(np.maximum(gamma, 1e-200)), small))


def _single(array: FloatArray) -> Single:
    return np.ascontiguousarray(array, dtype=np.float32)
