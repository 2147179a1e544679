"""Windows of answered blocks and their leading subspaces, with the unobserved diagonal imputed."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.learn.linalg.sparse_plus import Matrix, SparsePlusLowRank
from bequec.learn.linalg.top_svd import improved_svd, top_svd
from bequec.learn.stitch.settings import STITCH


def answered_block(answers: Answers, l: int, m: int) -> sp.csr_array:
    """The mean answer of each pair; a block that is partly answered is scaled by its answered share."""
    block = answers.mean_yes[answers.plan.span(l)][:, answers.plan.span(m)]
    return block / answers.answered_density_per_block[l, m]


def centered_block(answers: Answers, l: int, m: int) -> tuple[sp.csr_array, float]:
    """The same block as a sparse part and a constant: where many pairs have no answer, they stand at the block's mean.

    X = (A − p̄ W) / d + p̄, d the answered share: A − p̄ W is zero where nobody answered. With W = b + C, b the baseline,
    the sparse part is (A − p̄ C) / d. ``answers`` count each pair once.
    """
    plan, density = answers.plan, answers.answered_density_per_block[l, m]
    rows, columns = plan.span(l), plan.span(m)
    block = answers.mean_yes[rows][:, columns]
    if density >= STITCH.centered_below or answers.correction is None:
        return block / density, 0.0
    n_answered = answers.answered_pairs[l, m] * (2 if l == m else 1)
    mean = float(block.sum() / n_answered)
    constant = mean * (1 - answers.baseline * bool(plan.asked[l, m]) / density)
    sparse = (block - mean * answers.correction[rows][:, columns]) / density
    if l == m and not answers.diagonal:  # unobserved: it is imputed by itself
        sparse = sparse - constant * sp.eye_array(sparse.shape[0], format="csr")
    return sparse.tocsr(), constant


def gap(values: FloatArray, rank: int) -> float:
    """σ_K / σ_{K+1}: how far the last kept direction stands out of what follows, or of 3 % of the first."""
    if values[0] == 0:
        return 0.0
    following = values[rank] if len(values) > rank else 0.0
    return float(values[rank - 1] / max(following, STITCH.hardly_visible * values[0]))


def window_svd(
    answers: Answers, rows: Sequence[int], columns: Sequence[int], rank: int, start: FloatArray, more: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Top SVD of the window of all row groups by all column groups, with ``more`` singular values than ``rank``.

    The diagonal is unobserved unless it was given: a zero there would be a bias, not an answer, so it is
    imputed from the rank-K fit itself, in three rounds of (SVD, refill, clipped to probabilities). It starts from each
    node's mean answer: zeros would be directions of their own, one for every node and all of the same size.
    """
    window = _window(answers.averaged(), rows, columns)
    at_row, at_column = _diagonal_positions(answers, rows, columns)
    n_rounds = STITCH.imputation_rounds if len(at_row) and not answers.diagonal else 0
    filled = window
    if n_rounds:
        filled = _with_diagonal(window, at_row, at_column, window.sum(axis=1)[at_row] / max(window.shape[1] - 1, 1))
    for done in range(n_rounds):
        if done == 0:
            left, values, right = top_svd(filled, rank, start)
        else:  # only the diagonal has changed
            left, values, right = improved_svd(filled, right)
        filled = _with_diagonal(window, at_row, at_column, (left[at_row] * values * right[at_column]).sum(axis=1))
    # Only the last SVD looks for values beyond K: they lie close together and take longest.
    more = min(more, min(window.shape) - rank)
    left, values, right = top_svd(filled, rank + more, start, n_rough=more)
    shown = _shown(values[:rank])
    return left[:, :rank] * shown, values, right[:, :rank] * shown


def rough_window_svd(
    answers: Answers, rows: Sequence[int], columns: Sequence[int], rank: int, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Left singular vectors and values of a window by a few block power iterations, for a start that is refined later.

    The unobserved diagonal is refilled in every one of them. ``start`` has a row for every node and at least ``rank``
    columns.
    """
    window = _window(answers.averaged(), rows, columns)
    at_row, at_column = _diagonal_positions(answers, rows, columns)
    diagonal = np.zeros((len(at_row), 1))
    matrix = window.toarray() if window.nnz > STITCH.dense_above * window.shape[0] * window.shape[1] else window
    right = start[: window.shape[1], : min(rank, *window.shape)]
    for _ in range(STITCH.rough_rounds):
        image = matrix @ right
        image[at_row] += diagonal * right[at_column]
        left, _ = np.linalg.qr(image)
        image = matrix.T @ left
        image[at_column] += diagonal * left[at_row]
        right, core = np.linalg.qr(image)
        if not answers.diagonal:
            fitted = ((left @ core.T)[at_row] * right[at_column]).sum(axis=1, keepdims=True)
            diagonal = np.clip(fitted, 0.0, 1.0)
    turn, values, _ = np.linalg.svd(core.T)
    return left @ turn * _shown(values), values


def _window(answers: Answers, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
    """The blocks of some rows and columns; where some are partly answered, with their constants as a low rank."""
    blocks = [[centered_block(answers, l, m) for m in columns] for l in rows]
    sparse = sp.block_array([[part for part, _ in row] for row in blocks], format="csr")
    constants = np.array([[constant for _, constant in row] for row in blocks])
    if not constants.any():
        return sparse
    sizes = answers.plan.sizes
    of_row, of_column = (np.repeat(np.arange(len(groups)), sizes[list(groups)]) for groups in (rows, columns))
    return SparsePlusLowRank(sparse, constants[of_row], np.eye(len(columns))[of_column])


def _with_diagonal(window: Matrix, at_row: IntArray, at_column: IntArray, diagonal: FloatArray) -> Matrix:
    """The window with an imputed diagonal, clipped to probabilities."""
    return window + sp.csr_array((np.clip(diagonal, 0.0, 1.0), (at_row, at_column)), shape=window.shape)


def _shown(values: FloatArray) -> BoolArray:
    """Singular vectors of a zero singular value are arbitrary: they show nothing and must not look as if they did."""
    return np.asarray(values > STITCH.zero_singular_value * values[0])


def _diagonal_positions(answers: Answers, rows: Sequence[int], columns: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Where the diagonal of the graph lies inside the window."""
    sizes = answers.plan.sizes
    row_starts = np.concatenate([[0], np.cumsum(sizes[list(rows)])])
    column_starts = np.concatenate([[0], np.cumsum(sizes[list(columns)])])
    positions = [
        (row_starts[rows.index(group)] + np.arange(sizes[group]), column_starts[c] + np.arange(sizes[group]))
        for c, group in enumerate(columns)
        if group in rows
    ]
    if not positions:
        nowhere = np.empty(0, dtype=np.int64)
        return nowhere, nowhere
    at_rows, at_columns = zip(*positions, strict=True)
    return np.concatenate(at_rows), np.concatenate(at_columns)
