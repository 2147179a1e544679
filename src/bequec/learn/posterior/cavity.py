"""One iteration of the cavity method: sums over all asked pairs, posterior of every node, interactions.

Notation: p_ij = m_iᵀ B m_j, w = W / (p (1 − p)), s = (A − W p) / (p (1 − p)), C_i the posterior covariance of m_i.
All sums are over ordered answered pairs, j ≠ i.
"""

from typing import NamedTuple

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.learn.interactions import unpack
from bequec.learn.linalg.symmetric import full, inner_weights, outer_triangles, triangles
from bequec.learn.pair_blocks import PairBlock, PairBlocks, Single
from bequec.learn.posterior.settings import POSTERIOR


class Belief(NamedTuple):
    """Posterior means (N, K) and covariances (N, K, K) of the memberships, interactions B and prior ν."""

    memberships: FloatArray
    covariances: FloatArray
    interactions: FloatArray
    concentration: FloatArray


class PairSums(NamedTuple):
    """Per node: Σ_j w_ij m_j m_jᵀ and Σ_j w_ij C_j (upper triangles) and Σ_j s_ij m_j; Mᵀ (s∘r) M over all pairs."""

    products: FloatArray
    covariances: FloatArray
    scores: FloatArray
    corrected: FloatArray


def pair_sums(blocks: PairBlocks, belief: Belief, *, cavity: bool = True) -> PairSums:
    """The sums that everything else is made of; without ``cavity`` the covariances and r are left out."""
    M = belief.memberships
    n_nodes, K = M.shape
    n_triangle = K * (K + 1) // 2
    features = np.hstack([outer_triangles(M), triangles(belief.covariances)] if cavity else [outer_triangles(M)])
    single = _Single.of(belief, features)
    weighted = np.zeros((n_nodes, features.shape[1]))
    scores = np.zeros((n_nodes, K))
    corrected = np.zeros((K, K))
    for block in blocks:
        rows, columns = block.rows, block.columns
        p, w = probabilities(block, single.M, single.MB)
        s = w * (block.mean - p)
        weighted[rows] += block.to_rows(w, single.features)
        scores[rows] += block.to_rows(s, single.M)
        if not block.is_loop:
            weighted[columns] += block.to_columns(w, single.features)
            scores[columns] += block.to_columns(s, single.M)
        if cavity:
            s *= leverage(block, single, w)
        part = single.M[rows].T @ block.to_rows(s, single.M)
        corrected += part if block.is_loop else part + part.T
    covariances = weighted[:, n_triangle:] if cavity else np.zeros((n_nodes, n_triangle))
    return PairSums(weighted[:, :n_triangle], covariances, scores, corrected)


class _Single(NamedTuple):
    """What block products need, in single precision."""

    M: Single
    MB: Single
    features: Single
    spread: Single
    squares: Single

    @classmethod
    def of(cls, belief: Belief, features: FloatArray) -> "_Single":
        K = belief.memberships.shape[1]
        MB = belief.memberships @ belief.interactions
        arrays = (
            belief.memberships,
            MB,
            features,
            triangles(belief.covariances) * inner_weights(K),
            outer_triangles(MB),
        )
        return cls(*(array.astype(np.float32) for array in arrays))


def probabilities(block: PairBlock, M: Single, MB: Single) -> tuple[Single, Single]:
    """p, clipped, and w = W / (p (1 − p)) on one block."""
    p = clipped(block.inner(MB, M))
    w = np.asarray(1 / (p * (1 - p)), dtype=np.float32)
    if block.total is not None:
        w *= block.total
    return p, w


def clipped(p: Single) -> Single:
    """Probabilities kept away from zero and one, in place."""
    least = POSTERIOR.smallest_modeled_probability
    return np.clip(p, np.float32(least), np.float32(1 - least), out=p)


def leverage(block: PairBlock, single: "_Single", w: Single) -> Single:
    """r_ij = 1 + clip(w_ij (z_jᵀ C_i z_j + z_iᵀ C_j z_i), 0, 1): how much a pair's own answer moves its p."""
    r = block.inner(single.spread, single.squares)
    r += block.inner(single.squares, single.spread)
    r *= w
    np.clip(r, 0, 1, out=r)
    r += 1
    return r


def node_potentials(belief: Belief, sums: PairSums) -> tuple[FloatArray, FloatArray]:
    """B (N, K) and H (N, K, K) of every node's quadratic likelihood.

    H_i = Σ_j w z_j z_jᵀ, b_i = Σ_j s z_j + H_i m_i − D_i m_i, D_i = Σ_j w B C_j B removes the echo of A_ij
    through m_j.
    """
    B, M = belief.interactions, belief.memberships
    K = len(B)
    H = B @ full(sums.products, K) @ B
    D = B @ full(sums.covariances, K) @ B
    b = sums.scores @ B + np.einsum("nab,nb->na", H - D, M)
    return b, H


def update_interactions(belief: Belief, sums: PairSums, step: float = POSTERIOR.damping / 2) -> FloatArray:
    """B + part of a Newton step that is bounded per entry, symmetric, kept away from zero and one.

    H_B[(ab), (cd)] = Σ w m_ia m_ic m_jb m_jd, g_B = Mᵀ(s∘r)M − (T + Tᵀ), T = Σ_i C_i B Σ_j w m_j m_jᵀ.
    """
    B, M = belief.interactions, belief.memberships
    K = len(B)
    H = unpack(outer_triangles(M).T @ sums.products, K)
    by_first = belief.covariances.transpose(1, 0, 2).reshape(K, -1)
    echo = by_first @ (B @ full(sums.products, K)).reshape(-1, K)
    gradient = sums.corrected - echo - echo.T
    ridge = 1e-10 * np.trace(H) / len(H) + 1e-300  # an empty cluster leaves its part of B undetermined
    newton = np.linalg.solve(H + ridge * np.eye(len(H)), gradient.ravel()).reshape(K, K)
    change = step * np.clip((newton + newton.T) / 2, -POSTERIOR.largest_newton_step, POSTERIOR.largest_newton_step)
    return np.asarray(np.clip(B + change, POSTERIOR.smallest_interaction, 1 - POSTERIOR.smallest_interaction))


def pearson_dispersion(blocks: PairBlocks, belief: Belief) -> float:
    """Mean (a − p)² / (p (1 − p)): one for yes and no answers, less for similarities."""
    single = _Single.of(belief, np.empty((len(belief.memberships), 0)))
    squares = n_answers = 0.0
    for block in blocks:
        p, w = probabilities(block, single.M, single.MB)
        squares += float((w * (block.mean - p) ** 2).sum())
        n_answers += float(block.weight.sum())
    return float(np.clip(squares / max(n_answers, 1.0), POSTERIOR.smallest_dispersion, 1.0))


def log_predictive(blocks: PairBlocks, belief: Belief) -> FloatArray:
    """Per node: half the leave-one-out log probability of its answers, so that the sum counts each pair once.

    p^cav = a − (a − p) r, clipped: the probability of an answer had it not been used.
    """
    single = _Single.of(belief, np.empty((len(belief.memberships), 0)))
    per_node, ones = np.zeros(len(belief.memberships)), np.ones((len(belief.memberships), 1))
    for block in blocks:
        p, w = probabilities(block, single.M, single.MB)
        a = block.mean
        p_cavity = a - (a - p) * leverage(block, single, w)
        p_cavity = clipped(p_cavity)
        log_p = a * np.log(p_cavity) + (1 - a) * np.log1p(-p_cavity)
        if block.total is not None:
            log_p *= block.total
        # A diagonal block holds each pair twice, any other once: every node gets half of each of its pairs.
        per_node[block.rows] += block.to_rows(log_p, ones)[:, 0] / 2
        if not block.is_loop:
            per_node[block.columns] += block.to_columns(log_p, ones)[:, 0] / 2
    return per_node
