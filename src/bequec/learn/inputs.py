"""What ``fit`` takes: answers, a fully observed graph, or a dense array whose unknown pairs are NaN; and a seed."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from bequec.ask.answers import Answers
from bequec.ask.graph import ask_graph, is_networkx
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import AnswersError
from bequec.plan.query_plan import QueryPlan

CLEAR_STEP = 0.1  # between the distances of observed sets inside groups and across them


class NotNumbersError(AnswersError, TypeError):
    """Values that cannot be numbers; bequec's error and scikit-learn's at once."""


def as_answers(X: Any) -> Answers:
    """Answers as they are; a square array, sparse matrix or networkx graph as one whose every pair was asked."""
    if isinstance(X, Answers):
        return X
    if is_networkx(X):
        return ask_graph(X, QueryPlan(np.zeros(len(X), dtype=int), [(0, 0)]))
    X = _as_numbers(X)
    if X.ndim == 2 and X.shape[0] != 0 == X.shape[1]:
        raise AnswersError(f"found 0 feature(s) (shape={X.shape}) while a minimum of 1 is required: one per node")
    if X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise AnswersError(
            f"expected Answers or a square array (one row and one column per node), got shape {X.shape}; "
            "for items with features, compute their similarities first"
        )
    if X.shape[0] < 2:
        raise AnswersError(f"found n_samples={X.shape[0]} node(s): there is no pair to learn from, give at least 2")
    values = X.data if sp.issparse(X) else X
    if (values < 0).any():
        raise AnswersError("Negative values in data: answers are shares of yes, so give values in [0, 1]")
    if not sp.issparse(X) and np.isnan(values).any():
        return _from_gaps(X)
    return ask_graph(X, QueryPlan(np.zeros(X.shape[0], dtype=int), [(0, 0)]))


def _as_numbers(X: Any) -> Any:
    """An array or sparse matrix of plain numbers; Python objects that are numbers become such."""
    X = X.tocsr() if sp.issparse(X) else np.asarray(X)
    if X.dtype.kind == "c":
        raise AnswersError(f"Complex data not supported: answers are shares of yes in [0, 1], got type {X.dtype}")
    if X.dtype == object:
        try:
            return X.astype(float)
        except TypeError as reason:
            raise NotNumbersError(f"the array holds something else than numbers: {reason}") from reason
        except ValueError as reason:
            raise AnswersError(f"the array holds something else than numbers: {reason}") from reason
    if X.dtype.kind not in "buif":
        raise AnswersError(f"expected Answers or a square array of numbers, got values of type {X.dtype}")
    return X


def _from_gaps(X: FloatArray) -> Answers:
    """Nodes with equal or similar observed sets form groups; gaps inside an asked block are unanswered pairs."""
    observed = ~np.isnan(X)
    np.fill_diagonal(observed, False)
    if not observed.any():
        raise AnswersError("every pair is NaN: there is no answer to learn from; give 0 or 1 for the known pairs")
    np.fill_diagonal(observed, True)
    if (observed != observed.T).any():
        i, j = np.argwhere(observed != observed.T)[0]
        raise AnswersError(f"pair ({i}, {j}) is known one way round and NaN the other; fill in both or neither")
    group_of = _similar_rows(observed)
    np.fill_diagonal(observed, False)
    total = sp.csr_array(observed.astype(float))
    in_group = sp.csr_array((np.ones(len(X)), (np.arange(len(X)), group_of)))
    asked = (in_group.T @ total @ in_group).toarray() > 0
    values = np.where(observed, X, 0.0)
    return Answers.from_counts(QueryPlan(group_of, asked), values, total)


def _similar_rows(observed: BoolArray) -> IntArray:
    """Group rows that observe the same, or nearly; one group if there are none such (gaps all over the place).

    Distances are Jaccard's, 1 − |both| / |either|, joined by average linkage up to the first clear step between
    the distances inside groups and across them.
    """
    unique, group_of = np.unique(observed, axis=0, return_inverse=True)
    if len(unique) == 1:
        return np.zeros(len(observed), dtype=np.int64)
    joined = linkage(pdist(unique, metric="jaccard"), method="average")
    heights = np.concatenate([[0.0], joined[:, 2]])
    for step in np.flatnonzero(np.diff(heights) >= CLEAR_STEP):
        cut = (heights[step] + heights[step + 1]) / 2
        cluster_of = np.asarray(fcluster(joined, cut, criterion="distance") - 1, dtype=np.int64)
        if cluster_of.max() < len(observed) / 4:  # else the step is from nothing to single rows
            return cluster_of[group_of.ravel()]
    return np.zeros(len(observed), dtype=np.int64)


def as_generator(random_state: int | np.random.Generator | np.random.RandomState | None) -> np.random.Generator:
    """A generator from whatever scikit-learn's users pass as ``random_state``."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
