"""What all baselines share: they are scikit-learn clusterers that take what BeQuec takes."""

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from bequec.ask.answers import Answers
from bequec.baselines.alignment import fix_permutations
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import AnswersError, ModelError
from bequec.learn.inputs import as_answers, as_generator
from bequec.plan.mask.identifiable import check_n_clusters

Seed = int | np.random.Generator | np.random.RandomState | None


class MembershipClusterer(ClusterMixin, BaseEstimator, ABC):
    """Any rival that learns memberships; a child stores its parameters and says ``_check`` and ``_learn``.

    Attributes
    ----------
    memberships_ : (n_nodes, n_clusters) array
        Rows on the simplex, clusters ordered by size, nodes in the caller's order.
    labels_ : (n_nodes,) array
        The cluster of largest membership.
    """

    n_clusters: int
    random_state: Seed

    def _keep(self, memberships: FloatArray, n_features: int) -> Self:
        """Store the result, the largest cluster first."""
        by_size = np.argsort(-memberships.sum(axis=0), kind="stable")
        self.memberships_: FloatArray = memberships[:, by_size]
        self.labels_: IntArray = self.memberships_.argmax(axis=1)
        self.n_features_in_ = n_features
        return self

    def _check(self) -> None:
        """Raise ``ModelError`` for parameters that make no sense."""


class GraphBaseline(MembershipClusterer):
    """A rival that learns from all answers at once; one that iterates says after how many it stopped."""

    n_iter_: int

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the memberships.

        Parameters
        ----------
        X : Answers, or (n_nodes, n_nodes) array or sparse matrix, or networkx graph
            A graph counts as fully observed but for its diagonal; NaN in a dense array is an unknown pair.
        y : None
            Ignored, for scikit-learn's interface.
        """
        self._check()
        answers = as_answers(X)
        check_n_clusters(self.n_clusters, answers.plan.n_nodes)
        if not answers.yes.nnz:
            raise AnswersError(
                f"none of the {answers.n_answered_pairs} answered pairs is a yes; there is nothing to cluster: "
                "collect answers, or check that they were read as meant"
            )
        # One thread of BLAS and of k-means: the same bytes whatever the machine.
        with threadpool_limits(limits=1):
            memberships = self._learn(answers, as_generator(self.random_state))
        # With tol=0 all of max_iter is what was asked for.
        if vars(self).get("tol", 1) and vars(self).get("n_iter_", 0) >= vars(self).get("max_iter", np.inf):
            unsettled = (
                f"{type(self).__name__} was still moving after max_iter={self.n_iter_} iterations; raise max_iter"
            )
            warnings.warn(unsettled, ConvergenceWarning, stacklevel=2)
        return self._keep(memberships[answers.plan.position_of], answers.plan.n_nodes)

    @abstractmethod
    def _learn(self, answers: Answers, rng: np.random.Generator) -> FloatArray:
        """Memberships in group order."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class WindowedBaseline(GraphBaseline):
    """A rival made for whole graphs: applied window by window and joined by the paper's permutation fixing."""

    def _learn(self, answers: Answers, rng: np.random.Generator) -> FloatArray:
        return fix_permutations(answers, int(self.n_clusters), lambda window: self._kernel(window, rng))

    @abstractmethod
    def _kernel(self, window: sp.csr_array, rng: np.random.Generator) -> FloatArray:
        """Memberships in one window, every node of which has a yes."""


def rows_on_simplex(weights: FloatArray) -> FloatArray:
    """Negative weights cut to zero and rows divided by their sums; rows of nothing become uniform."""
    positive = np.where(weights > 1e-12, weights, 0.0)
    sums = positive.sum(axis=1, keepdims=True)
    return np.asarray(np.where(sums > 0, positive / np.where(sums > 0, sums, 1.0), 1.0 / weights.shape[1]))


def check_share(name: str, value: float) -> None:
    """Raise ``ModelError`` unless the parameter is strictly between 0 and 1."""
    if not isinstance(value, int | float | np.number) or not 0 < value < 1:
        raise ModelError(f"{name}={value!r} must be a number between 0 and 1, both excluded")


def check_count(name: str, value: int, least: int = 1) -> None:
    """Raise ``ModelError`` unless the parameter is a whole number of at least ``least``."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ModelError(f"{name}={value!r} must be a whole number of at least {least}")
