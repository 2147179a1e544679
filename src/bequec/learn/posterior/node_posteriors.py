"""Every node's posterior: the density that an iteration finds, and its moments."""

from typing import Any, NamedTuple

from bequec.core.arrays import FloatArray


class NodePosteriors(NamedTuple):
    """Per node the density ∝ Dirichlet(x; ν) exp(bᵀx − ½ xᵀHx), and the mean and covariance of the last iteration.

    b, ν and the mean are (N, K), H and the covariance (N, K, K).
    """

    b: FloatArray
    H: FloatArray
    concentration: FloatArray
    mean: FloatArray
    covariance: FloatArray

    def take(self, which: Any) -> "NodePosteriors":
        """Some of them."""
        return NodePosteriors(*(array[which] for array in self))


class Moments(NamedTuple):
    """Per node the posterior mean (K,), covariance (K, K) and E[log x] (K,), and how many atoms are effective."""

    mean: FloatArray
    covariance: FloatArray
    mean_log: FloatArray
    n_effective: FloatArray
