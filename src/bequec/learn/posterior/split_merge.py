"""Moves out of a wrong basin: split a cluster that holds two, merge two that are one."""

import itertools

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import expit

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.learn.interactions import least_squares_interactions
from bequec.learn.pair_blocks import PairBlocks, Single
from bequec.learn.posterior.cavity import Belief, probabilities
from bequec.learn.posterior.settings import POSTERIOR


def propose_moves(answers: Answers, blocks: PairBlocks, belief: Belief) -> tuple[list[FloatArray], list[FloatArray]]:
    """Memberships after promising moves: splits of one cluster with a merge of two others, and pairs split anew."""
    structure = cluster_structure(blocks, belief, belief.memberships)
    merges = _merges_by_loss(belief)
    M = belief.memberships
    splits = []
    for k in sorted(range(len(structure)), key=lambda k: -structure[k][0])[: POSTERIOR.most_splits]:
        for a, b in [pair for pair in merges if k not in pair][: POSTERIOR.most_merges]:
            kept = [j for j in range(M.shape[1]) if j not in (k, a, b)]
            splits.append(np.column_stack([M[:, kept], split(M[:, k], structure[k][1]), M[:, a] + M[:, b]]))
    return splits, [resplit(answers, blocks, belief, a, b) for a, b in merges[: POSTERIOR.most_merges]]


def resplit(answers: Answers, blocks: PairBlocks, belief: Belief, a: int, b: int) -> FloatArray:
    """Memberships with clusters a and b merged, and split again where the residuals of the merged model say."""
    M = belief.memberships
    kept = [j for j in range(M.shape[1]) if j not in (a, b)]
    merged = np.column_stack([M[:, kept], M[:, a] + M[:, b]])
    model = belief._replace(memberships=merged, interactions=least_squares_interactions(answers, merged))
    [(_, direction)] = cluster_structure(blocks, model, merged[:, -1:])
    return np.column_stack([M[:, kept], split(merged[:, -1], direction)])


def split(own: FloatArray, direction: FloatArray) -> FloatArray:
    """One cluster's memberships shared out to two, by the side of the direction that each node is on."""
    side = np.where(own > 1e-6, direction / np.maximum(own, POSTERIOR.least_member), 0.0)
    inside = own > POSTERIOR.clear_member
    spread = np.std(side[inside]) if inside.sum() > 3 else np.std(side)
    share = expit(POSTERIOR.split_sharpness * side / max(float(spread), 1e-12))
    return np.column_stack([own * share, own * (1 - share)])


def cluster_structure(blocks: PairBlocks, belief: Belief, members: FloatArray) -> list[tuple[float, FloatArray]]:
    """For each column of members: how far the residuals among them stand out of noise, and in which direction.

    The largest eigenvalue of D R D, R_ij = √w (a − p) the whitened residual and D = diag(members), in units of what
    independent noise of variance one would reach. A cluster that holds two shows a large one: its eigenvector is
    positive on one and negative on the other.
    """
    residuals = _whitened_residuals(blocks, belief)
    n_nodes = len(members)
    plan = blocks.plan

    def multiply(x: FloatArray) -> FloatArray:
        single = x.astype(np.float32)[:, None]
        result = np.zeros(n_nodes)
        for block, residual in zip(blocks, residuals, strict=True):
            result[block.rows] += block.to_rows(residual, single)[:, 0]
            if not block.is_loop:
                result[block.columns] += block.to_columns(residual, single)[:, 0]
        return result

    found = []
    for d in members.T:
        operator = LinearOperator((n_nodes, n_nodes), lambda x, d=d: d * multiply(d * x.ravel()), dtype=float)
        value, vector = eigsh(operator, k=1, which="LA", v0=np.ones(n_nodes), tol=1e-2)
        squares = plan.covered @ np.add.reduceat(d * d, plan.starts[:-1])
        noise = 2 * np.sqrt(squares.max()) * d.max()
        found.append((float(value[0] / max(noise, 1e-12)), vector[:, 0]))
    return found


def _merges_by_loss(belief: Belief) -> list[tuple[int, int]]:
    """Pairs of clusters, those first that others can hardly tell apart or that are small."""
    B, sizes = belief.interactions, belief.memberships.mean(axis=0)

    def loss(pair: tuple[int, int]) -> float:
        a, b = pair
        return float(np.abs(B[a] - B[b]) @ sizes * min(sizes[a], sizes[b]))

    return sorted(itertools.combinations(range(len(B)), 2), key=loss)


def _whitened_residuals(blocks: PairBlocks, belief: Belief) -> list[Single]:
    M = belief.memberships.astype(np.float32)
    MB = (belief.memberships @ belief.interactions).astype(np.float32)
    residuals = []
    for block in blocks:
        p, w = probabilities(block, M, MB)
        residuals.append(np.sqrt(w) * (block.mean - p))
    return residuals
