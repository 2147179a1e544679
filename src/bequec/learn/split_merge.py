"""Out of a wrong basin: split a cluster that hides two, merge two that are one."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from bequec.ask.answers import FloatArray
from bequec.learn.cavity import Belief, probabilities
from bequec.learn.dense_blocks import DenseBlocks

MOST_SPLITS, MOST_MERGES = 3, 6


class Move(NamedTuple):
    """Split cluster ``split`` along a direction, merge clusters ``first`` and ``second``."""

    split: int
    direction: FloatArray
    first: int
    second: int


def propose_moves(blocks: DenseBlocks, belief: Belief) -> Iterator[Move]:
    """The most promising splits, each with the cheapest merges of two other clusters."""
    structure = cluster_structure(blocks, belief)
    merges = _merges_by_loss(belief)
    for k in sorted(range(len(structure)), key=lambda k: -structure[k][0])[:MOST_SPLITS]:
        others = [pair for pair in merges if k not in pair][:MOST_MERGES]
        yield from (Move(k, structure[k][1], *pair) for pair in others)


def cluster_structure(blocks: DenseBlocks, belief: Belief) -> list[tuple[float, FloatArray]]:
    """For each cluster: how far the residuals among its members stand out of noise, and in which direction.

    The largest eigenvalue of D R D, R_ij = √w (a − p) the whitened residual and D = diag(m_k), in units of what
    independent noise of variance one would reach. A cluster that hides two shows a large one: its eigenvector is
    positive on one and negative on the other.
    """
    M = belief.memberships
    residuals = _whitened_residuals(blocks, belief)
    n_nodes, K = M.shape
    plan = blocks.plan

    def multiply(x: FloatArray) -> FloatArray:
        single = x.astype(np.float32)
        result = np.zeros(n_nodes)
        for block, residual in zip(blocks, residuals, strict=True):
            result[block.rows] += residual @ single[block.columns]
            if not block.is_loop:
                result[block.columns] += single[block.rows] @ residual
        return result

    found = []
    for k in range(K):
        d = M[:, k]
        operator = LinearOperator((n_nodes, n_nodes), lambda x, d=d: d * multiply(d * x.ravel()), dtype=float)
        value, vector = eigsh(operator, k=1, which="LA", v0=np.ones(n_nodes), tol=1e-2)
        squares = plan.asked @ np.add.reduceat(d * d, plan.starts[:-1])
        noise = 2 * np.sqrt(squares.max()) * d.max()
        found.append((float(value[0] / max(noise, 1e-12)), vector[:, 0]))
    return found


def apply_move(memberships: FloatArray, move: Move) -> FloatArray:
    """Memberships after the move, columns in a new order."""
    own = memberships[:, move.split]
    side = np.where(own > 1e-6, move.direction / np.maximum(own, 0.05), 0.0)
    inside = own > 0.3
    spread = np.std(side[inside]) if inside.sum() > 3 else np.std(side)
    share = 1 / (1 + np.exp(-3 * side / max(spread, 1e-12)))
    kept = [k for k in range(memberships.shape[1]) if k not in (move.split, move.first, move.second)]
    merged = memberships[:, move.first] + memberships[:, move.second]
    return np.column_stack([memberships[:, kept], own * share, own * (1 - share), merged])


def _merges_by_loss(belief: Belief) -> list[tuple[int, int]]:
    """Pairs of clusters, those first that others can hardly tell apart or that are small."""
    B, sizes = belief.interactions, belief.memberships.mean(axis=0)

    def loss(pair: tuple[int, int]) -> float:
        a, b = pair
        return float(np.abs(B[a] - B[b]) @ sizes * min(sizes[a], sizes[b]))

    return sorted(itertools.combinations(range(len(B)), 2), key=loss)


def _whitened_residuals(blocks: DenseBlocks, belief: Belief) -> list[FloatArray]:
    M = belief.memberships.astype(np.float32)
    MB = (belief.memberships @ belief.interactions).astype(np.float32)
    residuals = []
    for block in blocks:
        p, w = probabilities(block, M, MB)
        residuals.append(np.sqrt(w) * (block.mean - p))
    return residuals
