"""``refine="subspace"``: the range space refined over the whole mask, then denoised corners."""

import dataclasses

import numpy as np
from sklearn.cluster import KMeans

from bequec.ask.answers import Answers, FloatArray
from bequec.learn.anchors import successive_projection
from bequec.learn.dense_blocks import DenseBlocks, fits_densely
from bequec.learn.interactions import least_squares_interactions, normal_equations
from bequec.learn.simplex import simplex_least_squares
from bequec.learn.symmetric import full, outer_triangles
from bequec.learn.task import State, Task
from bequec.plan.query_plan import IntArray

PLAIN_ROUNDS, WEIGHTED_ROUNDS = 100, 40
SETTLED = 1e-4  # a round that turns the range space by less is the last
RIDGE = 1e-3
SMALLEST_P = 0.02
CENTROIDS_PER_CLUSTER = 6


def refine_subspace(task: Task, start: State) -> State:
    """Alternating least squares over the mask, plain then weighted by the variance, and the simplex of its rows."""
    answers, K = task.answers, task.n_clusters
    basis = alternate_rows(answers, start.basis)
    if fits_densely(answers):
        basis = alternate_weighted_rows(answers, DenseBlocks(answers), basis)
    points = symmetric_points(answers, basis)
    corners = denoised_corners(points, K, task.rng)
    memberships = simplex_least_squares(points, corners)
    return dataclasses.replace(
        start,
        basis=points,
        memberships=memberships,
        interactions=least_squares_interactions(answers, memberships),
        anchors=nearest_nodes(points, corners),
    )


def alternate_rows(answers: Answers, basis: FloatArray, n_rounds: int = PLAIN_ROUNDS) -> FloatArray:
    """An orthonormal Q that spans the rows V of A ≈ V Qᵀ over the asked pairs, V in least squares given Q.

    Rows and columns have different coordinates, and plain alternation swings between the two; the mean of V and of
    its part inside the old range, Q QᵀV, takes the swing out.
    """
    Q, _ = np.linalg.qr(basis)
    diagonal = np.zeros(len(Q))
    for _ in range(n_rounds):
        V = least_squares_rows(answers, Q, diagonal)
        diagonal = np.clip((V * Q).sum(axis=1), 0.0, 1.0)
        previous, (Q, _) = Q, np.linalg.qr(V + Q @ (Q.T @ V))
        if _turn(previous, Q) < SETTLED:
            break
    return Q


def least_squares_rows(answers: Answers, Q: FloatArray, diagonal: FloatArray) -> FloatArray:
    """V_i = (Σ_j W_ij q_j q_jᵀ + ridge)⁻¹ Σ_j A_ij q_j; an unobserved diagonal is filled in by ``diagonal``.

    All rows of a group see the same columns, so one K×K system serves a whole group; only where pairs are unanswered
    or repeated has each row its own.
    """
    plan, K = answers.plan, Q.shape[1]
    in_loop = np.repeat(plan.asked.diagonal(), plan.sizes)
    right = answers.yes @ Q
    if not answers.diagonal:
        right += (answers.baseline * diagonal * in_loop)[:, None] * Q
    products = outer_triangles(Q)
    sums = np.add.reduceat(products, plan.starts[:-1], axis=0)
    by_group = float(answers.baseline) * (plan.asked.astype(float) @ sums)
    if answers.correction is None:
        inverse = np.linalg.inv(_with_ridge(full(by_group, K)))
        return np.concatenate([right[plan.span(l)] @ inverse[l] for l in range(plan.n_groups)])
    by_row = np.repeat(by_group, plan.sizes, axis=0) + answers.correction @ products
    return np.linalg.solve(_with_ridge(full(by_row, K)), right[:, :, None])[:, :, 0]


def alternate_weighted_rows(
    answers: Answers, blocks: DenseBlocks, Q: FloatArray, n_rounds: int = WEIGHTED_ROUNDS
) -> FloatArray:
    """The same alternation with each pair weighted by 1 / (p (1 − p)), p = q_iᵀ S q_j of the last round."""
    S = symmetric_core(answers, Q)
    K = Q.shape[1]
    for _ in range(n_rounds):
        weighted, right = _weighted_sums(blocks, Q, S)
        V = np.linalg.solve(_with_ridge(full(weighted, K)), right[:, :, None])[:, :, 0]
        previous, (Q, R) = Q, np.linalg.qr((V + Q @ (Q.T @ V)) / 2)
        core = R @ (previous.T @ Q)  # V Q_oldᵀ in the new coordinates
        S = (core + core.T) / 2
        if _turn(previous, Q) < SETTLED:
            break
    return Q


def _weighted_sums(blocks: DenseBlocks, Q: FloatArray, S: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Per row: Σ_j w_ij q_j q_jᵀ (upper triangles) and Σ_j w_ij a_ij q_j."""
    single, scaled = Q.astype(np.float32), (Q @ S).astype(np.float32)
    products = outer_triangles(Q).astype(np.float32)
    weighted, right = np.zeros(products.shape), np.zeros(Q.shape)
    for block in blocks:
        rows, columns = block.rows, block.columns
        p = np.clip(scaled[rows] @ single[columns].T, np.float32(SMALLEST_P), np.float32(1 - SMALLEST_P))
        w = 1 / (p * (1 - p))
        if block.total is not None:
            w *= block.total
        weighted[rows] += w @ products[columns]
        if not block.is_loop:
            weighted[columns] += w.T @ products[rows]
        w *= block.mean
        right[rows] += w @ single[columns]
        if not block.is_loop:
            right[columns] += w.T @ single[rows]
    return weighted, right


def symmetric_core(answers: Answers, Q: FloatArray) -> FloatArray:
    """The symmetric S with A ≈ Q S Qᵀ in least squares over the answered pairs."""
    H, right = normal_equations(answers, Q)
    S, *_ = np.linalg.lstsq(H, right.ravel(), rcond=None)
    S = S.reshape(right.shape)
    return np.asarray((S + S.T) / 2)


def symmetric_points(answers: Answers, Q: FloatArray) -> FloatArray:
    """U = Q T |s|^½ with S = T diag(s) Tᵀ: in this scale weak directions are not blown up."""
    s, T = np.linalg.eigh(symmetric_core(answers, Q))
    return np.asarray((Q @ T) * np.sqrt(np.abs(s)))


def denoised_corners(points: FloatArray, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """Successive projection on the centroids of many small k-means clusters: their noise is averaged out."""
    centroids = draw_centroids(points, n_clusters, rng)
    return centroids[successive_projection(centroids, n_clusters)]


def draw_centroids(points: FloatArray, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """The centroids of about six k-means clusters for each cluster that is looked for."""
    n_centroids = min(CENTROIDS_PER_CLUSTER * n_clusters, len(points))
    seed = int(rng.integers(2**31))
    return np.asarray(KMeans(n_centroids, n_init=1, random_state=seed).fit(points).cluster_centers_)


def nearest_nodes(points: FloatArray, corners: FloatArray) -> IntArray:
    """For each corner the node whose point is nearest to it."""
    distances = (points**2).sum(axis=1)[:, None] - 2 * points @ corners.T
    return np.asarray(distances.argmin(axis=0), dtype=np.int64)


def _with_ridge(matrices: FloatArray) -> FloatArray:
    K = matrices.shape[-1]
    level = RIDGE * np.trace(matrices, axis1=1, axis2=2) / K
    return np.asarray(matrices + np.maximum(level, 1e-12)[:, None, None] * np.eye(K))


def _turn(old: FloatArray, new: FloatArray) -> float:
    """The sine of the largest angle between two orthonormal bases."""
    return float(np.linalg.norm(new - old @ (old.T @ new), ord=2))
