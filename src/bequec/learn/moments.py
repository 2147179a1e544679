"""What is known of every node's memberships after one look at its answers."""

from typing import NamedTuple

from bequec.ask.answers import FloatArray


class Moments(NamedTuple):
    """Posterior mean (N, K), covariance (N, K, K) and E[log x] (N, K), and on how many atoms they rest (N,)."""

    mean: FloatArray
    covariance: FloatArray
    mean_log: FloatArray
    n_effective: FloatArray
