"""How right is it? The paper's scores, with its definitions and matchings.

Clusters have no names, so every score first matches learned to true clusters one to one, in the way that suits
it best (Hungarian method).
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from bequec.core.arrays import FloatArray
from bequec.core.errors import ModelError
from bequec.learn.matching import best_assignment, check_same_shape, match_clusters


def subspace_distance(basis: FloatArray, memberships: FloatArray) -> float:
    """Dist = ‖(I − M(MᵀM)⁻¹Mᵀ) Q‖₂, Q an orthonormal basis of the estimated range: 0 same space, 1 orthogonal."""
    basis, memberships = check_same_shape(basis, memberships)
    Q, _ = np.linalg.qr(basis)
    true_basis, _ = np.linalg.qr(memberships)
    return float(np.linalg.norm(Q - true_basis @ (true_basis.T @ Q), ord=2))


def mean_squared_error(learned: FloatArray, truth: FloatArray) -> float:
    """MSE = min over matchings of the mean over clusters of ‖m_k/‖m_k‖ − m̂_k/‖m̂_k‖‖², between 0 and 2."""
    learned, truth = check_same_shape(learned, truth)
    similarity = _unit_columns(learned).T @ _unit_columns(truth)
    order = best_assignment(similarity)
    return float(np.mean(2.0 - 2.0 * similarity[order, np.arange(len(order))]))


def relative_error(learned: FloatArray, truth: FloatArray) -> float:
    """RE = min over matchings of ‖M − M̂‖_F / ‖M‖_F."""
    learned, truth = check_same_shape(learned, truth)
    return float(np.linalg.norm(match_clusters(learned, truth) - truth) / np.linalg.norm(truth))


def rank_correlation(learned: FloatArray, truth: FloatArray) -> float:
    """SRC: Spearman's rank correlation of the memberships of each cluster, averaged over the best matching.

    A cluster with constant memberships has no ranking and counts as correlation 0.
    """
    learned, truth = check_same_shape(learned, truth)
    ranks = [_unit_columns(r - r.mean(axis=0)) for r in (rankdata(learned, axis=0), rankdata(truth, axis=0))]
    correlation = ranks[0].T @ ranks[1]
    order = best_assignment(correlation)
    return float(np.mean(correlation[order, np.arange(len(order))]))


def accuracy(labels: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """ACC: the share of nodes whose cluster is right under the best matching of clusters to classes."""
    labels, truth = _check_labels(labels, truth)
    table = contingency_matrix(labels, truth)
    side = max(table.shape)
    square = np.zeros((side, side))
    square[: table.shape[0], : table.shape[1]] = table
    return float(square[best_assignment(square), np.arange(side)].sum() / len(labels))


def normalized_mutual_information(labels: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """NMI: mutual information over the arithmetic mean of the two entropies."""
    labels, truth = _check_labels(labels, truth)
    return float(normalized_mutual_info_score(truth, labels, average_method="arithmetic"))


OF_MEMBERSHIPS: dict[str, Callable[[FloatArray, FloatArray], float]] = {
    "MSE": mean_squared_error,
    "RE": relative_error,
    "SRC": rank_correlation,
}
OF_LABELS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], float]] = {
    "ACC": accuracy,
    "NMI": normalized_mutual_information,
}
SCORES = (*OF_MEMBERSHIPS, *OF_LABELS)  # in the order in which they are shown


def score_memberships(learned: FloatArray, truth: FloatArray) -> dict[str, float]:
    """All scores of learned memberships against true ones; labels are the largest memberships.

    Examples
    --------
    >>> import numpy as np
    >>> score_memberships(np.eye(3)[[0, 1, 2, 2]], np.eye(3)[[1, 2, 0, 0]])["ACC"]
    1.0
    """
    learned, truth = check_same_shape(learned, truth)
    return {
        **{name: score(learned, truth) for name, score in OF_MEMBERSHIPS.items()},
        **score_labels(learned.argmax(axis=1), truth.argmax(axis=1)),
    }


def score_labels(labels: npt.ArrayLike, truth: npt.ArrayLike) -> dict[str, float]:
    """The scores that need labels only."""
    return {name: score(labels, truth) for name, score in OF_LABELS.items()}


def _unit_columns(matrix: FloatArray) -> FloatArray:
    norms = np.linalg.norm(matrix, axis=0)
    return np.asarray(matrix / np.where(norms > 0, norms, 1.0))


def _check_labels(labels: npt.ArrayLike, truth: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    labels, truth = np.asarray(labels), np.asarray(truth)
    if labels.shape != truth.shape or labels.ndim != 1 or not len(labels):
        raise ModelError(
            f"learned labels have shape {labels.shape}, true ones {truth.shape}; "
            "give one label per node in the same order"
        )
    return labels, truth
