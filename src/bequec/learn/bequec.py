"""The estimator: reads like the algorithm box."""

import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from threadpoolctl import threadpool_limits

from bequec.ask.answers import Answers, FloatArray
from bequec.errors import ModelError
from bequec.learn.algorithm1 import stitch_and_project
from bequec.learn.inputs import as_answers
from bequec.learn.model_files import read_model, write_model
from bequec.learn.parallel import Mapper, Progress
from bequec.learn.state import State
from bequec.plan.identifiable import check_n_clusters
from bequec.plan.query_plan import IntArray

LEARNED = ("memberships_", "labels_", "interactions_", "anchors_", "basis_", "singular_values_")
REFINEMENTS: dict[str | None, Callable[[Answers, State], State]] = {None: lambda answers, start: start}


class BeQuec(ClusterMixin, BaseEstimator):
    """Mixed memberships from the answered blocks of a graph (Algorithm 1 of the BeQuec paper).

    Parameters
    ----------
    n_clusters : int
        How many clusters to look for, at least 2.
    refine : None
        What follows the paper's algorithm; None keeps its result.
    random_state : int, Generator, RandomState or None
        Seed of the singular value solver's start vector.
    n_jobs : int or None
        Threads for the independent block SVDs; the result does not depend on it.
    callback : callable or None
        Called as ``callback(what, done, total)`` while fitting.

    Attributes
    ----------
    memberships_ : (n_nodes, n_clusters) array
        How much each node belongs to each cluster; rows are on the simplex, clusters ordered by size.
    labels_ : (n_nodes,) array
        The cluster of largest membership.
    interactions_ : (n_clusters, n_clusters) array
        The probability of a yes between clusters: least squares over the asked blocks, clipped to [0, 1].
    anchors_ : (n_clusters,) array
        The node taken for the purest of each cluster.
    basis_ : (n_nodes, n_clusters) array
        A basis of the range of the memberships.
    singular_values_ : array
        Of the first SVD, a few more than ``n_clusters`` where there are.

    Examples
    --------
    >>> import numpy as np
    >>> from bequec import BeQuec
    >>> truth = np.repeat([0, 1, 2], [12, 9, 7])
    >>> BeQuec(n_clusters=3, random_state=0).fit(truth[:, None] == truth).labels_
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2,
           2, 2, 2, 2, 2, 2])
    """

    def __init__(
        self,
        n_clusters: int,
        *,
        refine: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.refine = refine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the memberships.

        Parameters
        ----------
        X : Answers, or (n_nodes, n_nodes) array or sparse matrix
            A matrix counts as fully observed but for its diagonal; NaN in a dense array is an unknown pair.
        y : None
            Ignored, for scikit-learn's interface.
        """
        refinement = self._refinement()
        answers = as_answers(X)
        check_n_clusters(self.n_clusters, answers.plan.n_nodes)
        rng = _generator(self.random_state)
        # One BLAS thread: as fast on such small blocks, and the same bytes whatever the machine's threads.
        with threadpool_limits(limits=1, user_api="blas"):
            start = stitch_and_project(answers, self.n_clusters, rng, Mapper(self.n_jobs, self.callback))
            state = refinement(answers, start)
        self._keep(answers, state)
        return self

    def _refinement(self) -> Callable[[Answers, State], State]:
        if self.refine not in REFINEMENTS:
            known = ", ".join(repr(name) for name in REFINEMENTS)
            raise ModelError(f"refine={self.refine!r} is not available in this version; choose one of: {known}")
        return REFINEMENTS[self.refine]

    def _keep(self, answers: Answers, state: State) -> None:
        """Store the state in the caller's node order, the largest cluster first."""
        by_size = np.argsort(-state.memberships.sum(axis=0), kind="stable")
        node_at = answers.plan.position_of
        self.memberships_: FloatArray = state.memberships[node_at][:, by_size]
        self.labels_: IntArray = self.memberships_.argmax(axis=1)
        self.interactions_: FloatArray = state.interactions[np.ix_(by_size, by_size)]
        self.anchors_: IntArray = answers.plan.order[state.anchors[by_size]]
        self.basis_: FloatArray = state.basis[node_at]
        self.singular_values_: FloatArray = state.singular_values
        self.n_features_in_ = answers.plan.n_nodes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file (.npz with a JSON header)."""
        if not hasattr(self, "memberships_"):
            raise ModelError("this model is not fitted; call fit before save")
        parameters = {"n_clusters": int(self.n_clusters), "refine": self.refine}
        write_model(path, parameters, {name: getattr(self, name) for name in LEARNED})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that ``save`` wrote."""
        parameters, arrays = read_model(path)
        missing = set(LEARNED) - set(arrays)
        if missing:
            raise ModelError(f"{path} lacks {', '.join(sorted(missing))}; write the model again")
        model = cls(**parameters)
        for name in LEARNED:
            setattr(model, name, arrays[name])
        model.n_features_in_ = len(model.memberships_)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _generator(random_state: int | np.random.Generator | np.random.RandomState | None) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
