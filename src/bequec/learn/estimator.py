"""What BeQuec and its rivals share: scikit-learn clusterers that learn memberships."""

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from threadpoolctl import threadpool_limits

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import AnswersError, ModelError
from bequec.core.progress import Progress
from bequec.learn.inputs import as_answers, as_generator
from bequec.learn.state import State
from bequec.plan.mask.identifiable import check_n_clusters
from bequec.plan.query_plan import QueryPlan

Seed = int | np.random.Generator | np.random.RandomState | None


class UnfittedModelError(ModelError, NotFittedError):
    """A model is asked for what only ``fit`` learns; bequec's error and scikit-learn's at once."""


class MembershipEstimator(ClusterMixin, BaseEstimator, ABC):
    """A clusterer that learns memberships; a child stores its parameters and checks them in ``_check``.

    Attributes
    ----------
    memberships_ : (n_nodes, n_clusters) array
        Rows on the simplex, clusters ordered by size, nodes in the caller's order.
    labels_ : (n_nodes,) array
        The cluster of largest membership.
    """

    n_clusters: int
    random_state: Seed

    def _check(self) -> None:
        """Raise ``ModelError`` for parameters that make no sense."""

    def _keep_memberships(self, memberships: FloatArray, by_size: IntArray) -> None:
        """Store memberships in the caller's node order, and their clusters in the given one."""
        self.memberships_: FloatArray = memberships[:, by_size]
        self.labels_: IntArray = self.memberships_.argmax(axis=1)


def check_is_fitted(model: MembershipEstimator, before: str) -> None:
    """Refuse to do with an unfitted model what only a fitted one allows."""
    if not hasattr(model, "memberships_"):
        raise UnfittedModelError(f"this model is not fitted; call fit before {before}")


def largest_first(memberships: FloatArray) -> IntArray:
    """The clusters ordered by size, so that runs can be compared."""
    return np.argsort(-memberships.sum(axis=0), kind="stable")


class GraphEstimator(MembershipEstimator):
    """A clusterer that learns from answers about pairs; a child learns in ``_learn``."""

    n_iter_: int

    def fit(self, X: Any, y: None = None, *, progress: Progress | None = None) -> Self:
        """Learn the memberships.

        Parameters
        ----------
        X : Answers, or (n_nodes, n_nodes) array or sparse matrix, or networkx graph
            A graph counts as fully observed but for its diagonal; NaN in a dense array is an unknown pair.
        y : None
            Ignored, for scikit-learn's interface.
        progress : callable, optional
            Called as ``progress(what, done, total)`` while fitting.
        """
        self._check()
        if progress is not None and not callable(progress):
            raise ModelError(f"progress={progress!r} must be a function (what, done, total), or None")
        answers = as_answers(X)
        check_n_clusters(self.n_clusters, answers.plan.n_nodes)
        if not answers.yes.nnz:
            raise AnswersError(
                f"none of the {answers.n_answered_pairs} answered pairs is a yes; there is nothing to cluster: collect "
                "answers, or check that labels and names were read as meant ('unsure' counts only with unsure='half')"
            )
        # One thread of BLAS and of k-means: as fast on small blocks, and the same bytes on any number of cores.
        with threadpool_limits(limits=1):
            state = self._learn(answers, as_generator(self.random_state), progress)
        self._keep(state, answers.plan)
        if state.unfinished:
            warnings.warn(state.unfinished, ConvergenceWarning, stacklevel=2)
        return self

    @abstractmethod
    def _learn(self, answers: Answers, rng: np.random.Generator, progress: Progress | None) -> State:
        """What the answers show, memberships at least; rows in group order."""

    def _keep(self, state: State, plan: QueryPlan) -> IntArray:
        """Store the memberships; the clusters' order, the largest first."""
        by_size = largest_first(state.memberships)
        self._keep_memberships(state.memberships[plan.position_of], by_size)
        self.n_features_in_ = plan.n_nodes
        return by_size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = True
        return tags
