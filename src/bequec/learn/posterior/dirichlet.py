"""The Dirichlet prior of the memberships, learned from their posterior."""

import numpy as np
from scipy.special import digamma, polygamma

from bequec.core.arrays import FloatArray
from bequec.learn.posterior.settings import POSTERIOR


def fit_concentration(mean_log: FloatArray, start: FloatArray, n_steps: int = 20) -> FloatArray:
    """The ν of largest likelihood given the mean of log x (Minka's Newton iteration), kept in bounds.

    Solves ψ(ν_k) − ψ(Σ ν) = mean log x_k; the Hessian is diagonal plus rank one.
    """
    concentration = start.copy()
    for _ in range(n_steps):
        total = concentration.sum()
        gradient = digamma(total) - digamma(concentration) + mean_log
        diagonal = -polygamma(1, concentration)
        common = polygamma(1, total)
        shift = (gradient / diagonal).sum() / (1 / common + (1 / diagonal).sum())
        step = (gradient - shift) / diagonal
        updated = np.clip(concentration - step, concentration / 3, 3 * concentration)
        concentration = np.clip(updated, POSTERIOR.smallest_concentration, POSTERIOR.largest_concentration)
    return concentration
