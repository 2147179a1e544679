"""Moments of the density ∝ x^(ν − 1) exp(−λx − ½hx²), x > 0: a membership that may well be none."""

from typing import NamedTuple

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.learn.posterior.settings import POSTERIOR


class TiltedGamma(NamedTuple):
    """For y = √h x and a tilt z = λ / √h: log E[y], log E[y²] and E[log y], tabulated by asinh z."""

    tilts: FloatArray
    log_mean: FloatArray
    log_square: FloatArray
    mean_log: FloatArray

    @classmethod
    def tabulate(cls, shape: float) -> "TiltedGamma":
        """By the trapezoid rule in log y; in the left tail y^ν alone counts, and its integral is known."""
        tilts = np.linspace(np.arcsinh(POSTERIOR.steepest_rise), np.arcsinh(POSTERIOR.steepest_fall), POSTERIOR.n_tilts)
        z = np.sinh(tilts)[:, None]
        first = np.log(POSTERIOR.integral_begins / (1 + np.abs(z)))
        last = np.log(np.sqrt(z * z + 2 * POSTERIOR.integral_ends) - z)
        log_y = first + (last - first) * np.linspace(0, 1, POSTERIOR.n_points)
        y = np.exp(log_y)
        peak = np.where(z < 0, z * z / 2, 0.0)
        density = np.exp(shape * log_y - z * y - y * y / 2 - peak)
        tail = np.exp(shape * first - peak)[:, 0] / shape
        total = tail + np.trapezoid(density, log_y, axis=1)
        mean = (tail * shape / (1 + shape) * np.exp(first[:, 0]) + np.trapezoid(density * y, log_y, axis=1)) / total
        square = np.trapezoid(density * y * y, log_y, axis=1) / total
        mean_log = (tail * (first[:, 0] - 1 / shape) + np.trapezoid(density * log_y, log_y, axis=1)) / total
        return cls(tilts, np.log(mean), np.log(square), mean_log)

    def moments(self, slope: FloatArray, curvature: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """E[x], E[x²] and E[log x] for each λ and h."""
        log_root = np.log(curvature) / 2
        at = np.arcsinh(slope * np.exp(-log_root))
        log_mean, log_square, mean_log = (np.interp(at, self.tilts, column) for column in self[1:])
        return np.exp(log_mean - log_root), np.exp(log_square - 2 * log_root), mean_log - log_root
