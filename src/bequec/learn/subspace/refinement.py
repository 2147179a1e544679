"""``refine="subspace"``: the range space refined over the whole mask, then denoised corners."""

import dataclasses

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.learn.interactions import group_sums, least_squares_interactions, normal_equations
from bequec.learn.linalg.simplex import cone_memberships, simplex_least_squares
from bequec.learn.linalg.symmetric import full, outer_triangles
from bequec.learn.pair_blocks import SPARSE_BELOW, PairBlocks, Product, Single, as_single, yes_product
from bequec.learn.problem import Problem
from bequec.learn.state import State
from bequec.learn.subspace.corners import find_corners, nearest_nodes
from bequec.learn.subspace.settings import SUBSPACE
from bequec.learn.work import Work


def refine_subspace(problem: Problem, work: Work, start: State) -> State:
    """Alternating least squares over the mask, plain then weighted by the variance, and the simplex of its rows."""
    # Each pair counts once: otherwise a few pairs with very many answers would decide the least squares.
    answers, K = problem.answers.averaged(), problem.n_clusters
    blocks = problem.blocks.counted_once() if problem.fits_in_memory else None
    times = yes_product(answers, blocks)
    first, more = SUBSPACE.rounds if problem.fits_in_memory else SUBSPACE.few_rounds
    starts = [start.basis]
    for basis in start.wider_bases:
        is_wider = basis.shape[1] > K
        starts.append(cut_back(answers, alternate_rows(answers, times, basis, first), K) if is_wider else basis)
    candidates = [alternate_rows(answers, times, basis, first) for basis in starts]
    basis = alternate_rows(answers, times, max(candidates, key=lambda Q: explained_squares(answers, Q)), more)
    if blocks is not None:
        basis = alternate_weighted_rows(answers, times, blocks, basis)
    points = symmetric_points(answers, basis)
    readings = [(corners, read_memberships(answers, points, corners)) for corners in find_corners(points, K, work.rng)]
    corners, memberships = max(readings, key=lambda reading: modeled_squares(answers, reading[1]))
    return dataclasses.replace(
        start,
        basis=points,
        memberships=memberships,
        interactions=least_squares_interactions(answers, memberships),
        anchors=nearest_nodes(points, corners),
    )


def modeled_squares(answers: Answers, memberships: FloatArray) -> float:
    """How much of Σ A² over the answered pairs M B Mᵀ explains, B in least squares within [0, 1]."""
    H, right = normal_equations(answers, memberships)
    b = least_squares_interactions(answers, memberships).ravel()
    return float(2 * b @ right.ravel() - b @ H @ b)


def cut_back(answers: Answers, Q: FloatArray, rank: int) -> FloatArray:
    """The strongest directions of a refined basis."""
    s, T = np.linalg.eigh(symmetric_core(answers, Q))
    # Noise has both signs; clusters that say yes among themselves have positive ones.
    strength = np.where(s > 0, s, -SUBSPACE.negative_strength * s)
    return np.asarray(Q @ T[:, np.argsort(-strength)[:rank]])


def explained_squares(answers: Answers, Q: FloatArray) -> float:
    """How much of Σ A² over the answered pairs Q S Qᵀ explains."""
    _, right = normal_equations(answers, Q)
    return float((symmetric_core(answers, Q) * right).sum())


def alternate_rows(
    answers: Answers, times: Product, basis: FloatArray, n_rounds: int = SUBSPACE.rounds[1]
) -> FloatArray:
    """An orthonormal Q that spans the rows V of A ≈ V Qᵀ over the asked pairs, V in least squares given Q.

    Rows and columns have different coordinates, and plain alternation oscillates between the two. The next basis spans
    the mean of V and of its part inside the old range, Q QᵀV, which does not.
    """
    Q, _ = np.linalg.qr(basis)
    diagonal = np.zeros(len(Q))
    for _ in range(n_rounds):
        V = least_squares_rows(answers, times(Q), Q, diagonal)
        diagonal = np.clip((V * Q).sum(axis=1), 0.0, 1.0)
        previous, (Q, _) = Q, np.linalg.qr(V + Q @ (Q.T @ V))
        if _turn(previous, Q) < SUBSPACE.settled_turn:
            break
    return Q


def least_squares_rows(answers: Answers, image: FloatArray, Q: FloatArray, diagonal: FloatArray) -> FloatArray:
    """V_i = (Σ_j W_ij q_j q_jᵀ + ridge)⁻¹ Σ_j A_ij q_j; ``image`` is A Q, ``diagonal`` stands for an unobserved one.

    All rows of a group see the same columns, so one K×K system serves a whole group; only where pairs are unanswered
    or repeated has each row its own.
    """
    plan, K = answers.plan, Q.shape[1]
    in_loop = np.repeat(plan.asked.diagonal(), plan.sizes)
    right = image
    if not answers.diagonal:
        right = image + (answers.baseline * diagonal * in_loop)[:, None] * Q
    by_group = _by_group(answers, Q)
    if answers.correction is None:
        inverse = np.linalg.inv(_with_ridge(full(by_group, K)))
        return np.concatenate([right[plan.span(l)] @ inverse[l] for l in range(plan.n_groups)])
    by_row = np.repeat(by_group, plan.sizes, axis=0) + answers.correction @ outer_triangles(Q)
    return _solve_rows(by_row, right)


def alternate_weighted_rows(
    answers: Answers, times: Product, blocks: PairBlocks, Q: FloatArray, n_rounds: int = SUBSPACE.weighted_rounds
) -> FloatArray:
    """The same alternation with each pair weighted by 1 / (p (1 − p)), p = q_iᵀ S q_j of the last round."""
    S = symmetric_core(answers, Q)
    for _ in range(n_rounds):
        V = _solve_rows(*weighted_sums(answers, times, blocks, Q, S))
        previous, (Q, R) = Q, np.linalg.qr((V + Q @ (Q.T @ V)) / 2)
        core = R @ (previous.T @ Q)  # V Q_oldᵀ in the new coordinates
        S = (core + core.T) / 2
        if _turn(previous, Q) < SUBSPACE.settled_turn:
            break
    return Q


def weighted_sums(
    answers: Answers, times: Product, blocks: PairBlocks, Q: FloatArray, S: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Per row: Σ_j w_ij q_j q_jᵀ (upper triangles) and Σ_j w_ij a_ij q_j.

    Unlikely pairs all have the same weight. Where yes is rare few have another one, and only these are visited.
    """
    products = outer_triangles(Q)
    weighted = np.repeat(_by_group(answers, Q), answers.plan.sizes, axis=0)
    if answers.correction is not None:
        weighted += answers.correction @ products
    # W is one on a given diagonal and zero on an unobserved one, whatever the baseline.
    in_loop = np.repeat(answers.plan.asked.diagonal(), answers.plan.sizes)
    weighted[in_loop] += (float(answers.diagonal) - answers.baseline) * products[in_loop]
    weighted *= SUBSPACE.common_weight
    right = SUBSPACE.common_weight * times(Q)
    single, scaled, pairs = as_single(Q), as_single(Q @ S), as_single(products)
    for block in blocks:
        beyond = _weight_beyond_common(block.inner(scaled, single), block.total)
        beyond_yes = beyond * block.mean
        weighted[block.rows] += block.to_rows(beyond, pairs)
        right[block.rows] += block.to_rows(beyond_yes, single)
        if not block.is_loop:
            weighted[block.columns] += block.to_columns(beyond, pairs)
            right[block.columns] += block.to_columns(beyond_yes, single)
    return weighted, right


def _weight_beyond_common(p: Single, total: Single | None) -> "Single | sp.csr_array":
    """By how much a pair's weight differs from the common one; sparse where few do."""
    likely = p > SUBSPACE.smallest_weighted_probability
    if p.ndim == 1 or np.count_nonzero(likely) >= SPARSE_BELOW * p.size:  # of a list of pairs, or a dense block
        beyond = _weight(p) - np.float32(SUBSPACE.common_weight)
        return beyond if total is None else beyond * total
    at = np.divmod(np.flatnonzero(likely), p.shape[1])
    values = _weight(p[at]) - np.float32(SUBSPACE.common_weight)
    return sp.csr_array((values if total is None else values * total[at], at), shape=p.shape)


def _weight(p: Single) -> Single:
    least = SUBSPACE.smallest_weighted_probability
    p = np.clip(p, np.float32(least), np.float32(1 - least))
    return np.asarray(1 / (p * (1 - p)), dtype=np.float32)


def read_memberships(answers: Answers, points: FloatArray, corners: FloatArray) -> FloatArray:
    """Where each row lies between the corners, then alternated with B; or, by its direction alone.

    Memberships sum to one, so rows should lie on the plane through the corners, U h = 1. Where degrees differ, or are
    so low that the corners are far out by their own noise, rows do not reach the plane, and their length says nothing.
    """
    h = np.linalg.solve(corners, np.ones(len(corners)))
    if (points @ h).mean() < SUBSPACE.on_the_plane:
        return cone_memberships(points, corners)
    return alternate_memberships(answers, simplex_least_squares(points, corners))


def alternate_memberships(answers: Answers, memberships: FloatArray) -> FloatArray:
    """A few rounds of least squares for each node's membership given all others and B, on the simplex.

    A range space may turn slowly along a long chain of groups without a worse fit; B is the same for all groups and
    memberships stay on the simplex, so that these rounds take the turn out.
    """
    M = memberships
    for _ in range(SUBSPACE.membership_rounds):
        M = (M + least_squares_memberships(answers, M, least_squares_interactions(answers, M))) / 2
    return M


def least_squares_memberships(answers: Answers, M: FloatArray, B: FloatArray) -> FloatArray:
    """Each node's membership that fits its answers best given all others; a node whose row of M is zero is left out."""
    plan, K = answers.plan, M.shape[1]
    in_loop = np.repeat(plan.asked.diagonal(), plan.sizes) * (answers.baseline if not answers.diagonal else 0)
    diagonal = ((M @ B) * M).sum(axis=1)
    right = (answers.yes @ M + (in_loop * diagonal)[:, None] * M) @ B
    gram = B @ full(_by_group(answers, M), K) @ B
    if answers.correction is not None:
        # Rows of a partly answered block differ; their group's mean stands for them.
        by_row = answers.correction @ outer_triangles(M)
        mean = np.add.reduceat(by_row, plan.starts[:-1], axis=0) / plan.sizes[:, None]
        gram = gram + B @ full(mean, K) @ B
    factors = np.linalg.cholesky(_with_ridge(gram))
    fitted = [
        simplex_least_squares(np.linalg.solve(factors[l], right[plan.span(l)].T).T, factors[l])
        for l in range(plan.n_groups)
    ]
    return np.concatenate(fitted)


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


def _by_group(answers: Answers, Q: FloatArray) -> FloatArray:
    """Σ_j q_j q_jᵀ (upper triangles) over all j that a group's nodes were asked about, themselves included."""
    return np.asarray(answers.baseline * (answers.plan.asked.astype(float) @ group_sums(answers.plan, Q)))


def _solve_rows(packed: FloatArray, right: FloatArray) -> FloatArray:
    matrices = _with_ridge(full(packed, right.shape[1]))
    return np.asarray(np.linalg.solve(matrices, right[:, :, None])[:, :, 0])


def _with_ridge(matrices: FloatArray) -> FloatArray:
    K = matrices.shape[-1]
    level = SUBSPACE.ridge * np.trace(matrices, axis1=1, axis2=2) / K
    return np.asarray(matrices + np.maximum(level, 1e-12)[:, None, None] * np.eye(K))


def _turn(old: FloatArray, new: FloatArray) -> float:
    """The sine of the largest angle between two orthonormal bases."""
    cosines = np.linalg.svd(old.T @ new, compute_uv=False)
    return float(np.sqrt(max(0.0, 1.0 - cosines[-1] ** 2)))
