"""With many clusters a node has a part in few: each posterior on the likeliest face of its simplex.

Atoms thin out as the number of clusters grows, whereas almost all memberships are nearly zero. So atoms are drawn on a
face of few clusters. Outside of it a membership is small, and its posterior is seen by itself.
"""

from typing import NamedTuple

import numpy as np

from bequec.core.arrays import FloatArray, IntArray
from bequec.learn.posterior.node_posteriors import Moments, NodePosteriors
from bequec.learn.posterior.settings import POSTERIOR
from bequec.learn.posterior.tilted_gamma import TiltedGamma


def on_face(concentration: FloatArray) -> FloatArray:
    """The concentration that atoms are drawn for: where there are many clusters, one for any face of few of them."""
    K = len(concentration)
    wanted = int(np.ceil(POSTERIOR.clusters_per_concentration * concentration.sum()))
    size = max(POSTERIOR.smallest_face, min(POSTERIOR.largest_face, wanted))
    return concentration if size >= K else np.full(size, float(np.exp(np.log(concentration).mean())))


class Faces(NamedTuple):
    """Each node's face (N, F), its share of the membership (N,), and the moments of what is outside (N, K)."""

    clusters: IntArray
    share: FloatArray
    mean: FloatArray
    variance: FloatArray
    mean_log: FloatArray

    @classmethod
    def of(cls, nodes: NodePosteriors, size: int) -> "Faces":
        """``size`` clusters, those that a node is in and then those that would gain most; the posterior of the others.

        Where x_k grows from zero and all others shrink alike, by d = e_k − m, the density is
        ∝ x_k^(ν_k − 1) exp(−λ_k x_k − ½ h_k x_k²): λ_k how much slower the likelihood rises along cluster k than along
        those that the node is in, h_k = dᵀHd less what the memberships on the face take up by moving along.
        """
        b, H, concentration, current, covariance = nodes
        rows = np.arange(len(b))[:, None]
        pulled = np.einsum("nab,nb->na", H, current)
        slope = b - pulled
        promise = np.where(current > POSTERIOR.surely_on_face, 1e6 * current, slope)
        clusters = np.sort(np.argsort(-promise, axis=1, kind="stable")[:, :size], axis=1)
        along = np.diagonal(H, axis1=1, axis2=2) - 2 * pulled + (pulled * current).sum(axis=1, keepdims=True)
        across = H[rows, clusters] - pulled[rows, clusters][:, :, None]
        known = covariance[_square(clusters)]
        least = POSTERIOR.least_curvature_share * np.abs(along) + 1e-6
        curvature = np.maximum(along - (across * (known @ across)).sum(axis=1), least)
        # Shrinking takes from the fluctuations on the face as well: the slope along x is E[xᵀ(b − Hx)].
        fluctuations = np.minimum(np.einsum("nab,nab->n", H, covariance), size - 1)
        level = (slope * current).sum(axis=1) - fluctuations
        slower = level[:, None] - slope - curvature * current
        # The prior of the others, as they shrink.
        slower += concentration.sum(axis=1, keepdims=True) - concentration - 1
        mean, square, mean_log = np.zeros(b.shape), np.zeros(b.shape), np.empty(b.shape)
        for k, shape in enumerate(concentration[0].tolist()):  # the prior is the same for all nodes
            small = TiltedGamma.tabulate(shape)
            mean[:, k], square[:, k], mean_log[:, k] = small.moments(slower[:, k], curvature[:, k])
        mean[rows, clusters] = 0.0
        variance = square - mean**2
        mean *= np.minimum(1, POSTERIOR.most_outside / np.maximum(mean.sum(axis=1, keepdims=True), 1e-300))
        variance = np.minimum(variance, mean * (1 - mean))  # a membership in [0, 1] varies no more
        return cls(clusters, 1 - mean.sum(axis=1), mean, variance, mean_log)

    def restrict(self, nodes: NodePosteriors) -> NodePosteriors:
        """The nodes' posteriors on their faces, given the mean of what is outside."""
        b, H, concentration, mean, covariance = nodes
        rows, face = np.arange(len(b))[:, None], self.clusters
        left = (b - np.einsum("nab,nb->na", H, self.mean))[rows, face]
        own = np.maximum(mean[rows, face], 1e-12)
        part = self.share[:, None, None]
        return NodePosteriors(
            self.share[:, None] * left,
            part**2 * H[_square(face)],
            concentration[rows, face],
            own / own.sum(axis=1, keepdims=True),
            covariance[_square(face)] / part**2,
        )

    def lift(self, moments: Moments) -> Moments:
        """Moments on the faces, with those outside, as moments on the whole simplex."""
        n_nodes, K = self.mean.shape
        rows, face, share = np.arange(n_nodes)[:, None], self.clusters, self.share[:, None]
        mean, mean_log = self.mean.copy(), self.mean_log.copy()
        mean[rows, face] = share * moments.mean
        mean_log[rows, face] = np.log(share) + moments.mean_log
        covariance = np.zeros((n_nodes, K, K))
        diagonal = np.arange(K)
        covariance[:, diagonal, diagonal] = self.variance
        covariance[_square(face)] = share[:, :, None] ** 2 * moments.covariance
        return Moments(mean, covariance, mean_log, moments.n_effective)


def _square(clusters: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Where the entries of a matrix per node are that belong to its face."""
    return np.arange(len(clusters))[:, None, None], clusters[:, :, None], clusters[:, None, :]
