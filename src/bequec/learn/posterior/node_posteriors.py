"""What is asked of every node's posterior, and the answer."""

from typing import Any, NamedTuple

from bequec.core.arrays import FloatArray


class Nodes(NamedTuple):
    """Nodes with posteriors ∝ Dirichlet(x; ν) exp(bᵀx − ½ xᵀHx), and the mean and covariance that they had before.

    b, ν and the mean are (N, K), H and the covariance (N, K, K).
    """

    b: FloatArray
    H: FloatArray
    concentration: FloatArray
    mean: FloatArray
    covariance: FloatArray

    def take(self, which: Any) -> "Nodes":
        """Some of them."""
        return Nodes(*(array[which] for array in self))


class Moments(NamedTuple):
    """Posterior mean (N, K), covariance (N, K, K) and E[log x] (N, K), and on how many atoms they rest (N,)."""

    mean: FloatArray
    covariance: FloatArray
    mean_log: FloatArray
    n_effective: FloatArray
