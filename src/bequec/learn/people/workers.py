"""How reliable each worker is: the line of a worker's answers against the probabilities of the model."""

from typing import NamedTuple

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.learn.linalg.symmetric import inner_weights, outer_triangles, triangles
from bequec.learn.people.settings import WORKERS


class Lines(NamedTuple):
    """Per worker: P(yes) = intercept + slope p, the slope's standard error, and the sum of the answers' weights."""

    intercept: FloatArray
    slope: FloatArray
    standard_error: FloatArray
    weight: FloatArray


def left_out_probabilities(
    memberships: FloatArray,
    covariances: FloatArray | None,
    interactions: FloatArray,
    left: IntArray,
    right: IntArray,
    mean: FloatArray,
    total: FloatArray,
) -> FloatArray:
    """The probability of a yes of each pair (i, j) = (left, right) as if its own answers had not been used.

    p^cav = a − (a − p) r, clipped, with p = m_iᵀ B m_j, a the mean of the pair's W answers, w = W / (p (1 − p)),
    z = B m and r = 1 + clip(w (z_jᵀ C_i z_j + z_iᵀ C_j z_i), 0, 1). Without covariances C it is p.
    """
    Z, least = memberships @ interactions, WORKERS.smallest_modeled_probability
    probability = np.empty(len(left))
    if covariances is not None:
        spread = triangles(covariances) * inner_weights(len(interactions))
        squares = outer_triangles(Z)
    for start in range(0, len(left), WORKERS.rows_at_once):
        part = slice(start, start + WORKERS.rows_at_once)
        i, j, a = left[part], right[part], mean[part]
        p = np.clip(np.einsum("nk,nk->n", memberships[i], Z[j]), least, 1 - least)
        if covariances is not None:
            moved = np.einsum("nt,nt->n", spread[i], squares[j]) + np.einsum("nt,nt->n", spread[j], squares[i])
            p = a - (a - p) * (1 + np.clip(total[part] / (p * (1 - p)) * moved, 0.0, 1.0))
        probability[part] = np.clip(p, least, 1 - least)
    return probability


def fit_lines(p: FloatArray, answer: FloatArray, weight: FloatArray, worker: IntArray, n_workers: int) -> Lines:
    """P(yes) = α_w + β_w p by iteratively reweighted least squares, shrunk as much as the workers are alike.

    θ_w = (α_w, β_w) ~ Normal(μ, T), so that θ_w = Σ_w (Σ v a x + T⁻¹μ) with Σ_w = (Σ v x xᵀ + T⁻¹)⁻¹, sums over the
    worker's answers a, x = (1, p), v = W / (q (1 − q)) and q = α_w + β_w p of the round before. Both are learned by
    EM: μ = mean θ_w, T = (Σ_w (Σ_w + (θ_w − μ)(θ_w − μ)ᵀ) + c T₀) / (n_workers + c), where T₀⁻¹ is what n₀ average
    answers tell: n₀ Σ W x xᵀ / (p (1 − p)) / Σ W.
    """
    p = _clipped(p)
    information = _moments(p, weight / (p * (1 - p)), np.zeros(len(p), dtype=np.int64), 1)[0]
    first = np.linalg.inv(information * WORKERS.prior_answers / max(float(weight.sum()), 1e-300))
    mean, spread, theta = np.array([0.0, 1.0]), first, np.tile([0.0, 1.0], (n_workers, 1))
    for _ in range(WORKERS.regression_rounds):
        q = _clipped(theta[worker, 0] + theta[worker, 1] * p)
        v = weight / (q * (1 - q))
        prior = np.linalg.inv(spread)
        covariance = np.linalg.inv(_moments(p, v, worker, n_workers) + prior)
        right = np.stack([np.bincount(worker, v * answer * x, n_workers) for x in (1.0, p)], axis=1) + prior @ mean
        theta = np.einsum("wab,wb->wa", covariance, right)
        mean = theta.mean(axis=0)
        squares = (covariance + (theta - mean)[:, :, None] * (theta - mean)[:, None, :]).sum(axis=0)
        spread = (squares + WORKERS.prior_workers * first) / (n_workers + WORKERS.prior_workers)
    n_answers = np.asarray(np.bincount(worker, weight, n_workers), dtype=float)
    return Lines(theta[:, 0], theta[:, 1], np.sqrt(covariance[:, 1, 1]), n_answers)


def _moments(p: FloatArray, v: FloatArray, worker: IntArray, n_workers: int) -> FloatArray:
    """(n_workers, 2, 2): Σ v x xᵀ with x = (1, p)."""
    sums = [np.bincount(worker, v * power, n_workers) for power in (1.0, p, p * p)]
    return np.stack([sums[0], sums[1], sums[1], sums[2]], axis=1, dtype=float).reshape(n_workers, 2, 2)


def _clipped(p: FloatArray) -> FloatArray:
    return np.asarray(np.clip(p, WORKERS.smallest_probability, 1 - WORKERS.smallest_probability))


def weights_of(lines: Lines) -> FloatArray:
    """u_w = clip(β_w, 0, 1)², scaled to Σ n u² / Σ n u = 1, so that a typical answer still counts once."""
    u = np.clip(lines.slope, 0.0, WORKERS.largest_slope) ** 2
    scale = float(lines.weight @ u) / max(float(lines.weight @ u**2), 1e-300)
    return np.asarray(np.maximum(scale * u, WORKERS.smallest_weight))


def efficiency(weights: FloatArray, n_answers: FloatArray) -> float:
    """(Σ u)² / (n Σ u²): the share of equally weighted answers that n weighted ones are worth."""
    return float((n_answers @ weights) ** 2 / (n_answers.sum() * (n_answers @ weights**2)))


def clearly_worse(lines: Lines) -> BoolArray:
    """Whose slope is below half of the median worker's by more than two standard errors."""
    limit = WORKERS.flagged_share * np.median(lines.slope)
    return np.asarray(lines.slope + WORKERS.flagged_errors * lines.standard_error < limit)
