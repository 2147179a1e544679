"""The estimator: reads like the algorithm box."""

import dataclasses
import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import numpy as np

from bequec.ask.answers import Answers
from bequec.ask.counting import weighted
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import ModelError
from bequec.core.progress import Progress
from bequec.learn.estimator import GraphEstimator, Seed, check_is_fitted
from bequec.learn.execution.parallel import Mapper
from bequec.learn.model_files import read_model, write_model
from bequec.learn.people.sorting import has_sorts, refine_by_piles
from bequec.learn.people.weighing import Weighed, named_answers, weigh_workers
from bequec.learn.posterior.refinement import refine_posterior
from bequec.learn.problem import Problem
from bequec.learn.state import State, WorkerQuality
from bequec.learn.stitch.algorithm1 import answered_usable_blocks, stitch_and_project, stitch_widely
from bequec.learn.subspace.refinement import refine_subspace
from bequec.learn.work import Work
from bequec.plan.query_plan import QueryPlan

if TYPE_CHECKING:
    import pandas as pd

# How each refinement starts, and the steps that follow.
START: dict[str | None, Callable[[Problem, Work], State]] = {
    None: stitch_and_project,
    "subspace": stitch_widely,
    "posterior": stitch_widely,
}
REFINEMENTS: dict[str | None, tuple[Callable[[Problem, Work, State], State], ...]] = {
    None: (),
    "subspace": (refine_subspace,),
    "posterior": (refine_subspace, refine_posterior),
}
LEARNED = ("memberships_", "labels_", "interactions_", "anchors_", "basis_", "singular_values_", "gaps_")
LEARNED_BY_POSTERIOR = ("memberships_std_", "log_predictive_per_node_", "memberships_covariance_", "concentration_")
WORKERS_ARE = ("weigh", "ignore")
FIRST_FIT = 0.5  # share of a limited time: the fit by which workers are judged, before the one that counts
USED_BY_POSTERIOR = ("max_iter", "tol", "time_limit", "keep_covariances")  # parameters, by no other refinement


class BeQuec(GraphEstimator):
    """Mixed memberships from the answered blocks of a graph (Algorithm 1 of the BeQuec paper, then refinement).

    Parameters
    ----------
    n_clusters : int
        How many clusters to look for, at least 2.
    refine : {None, "subspace", "posterior"}
        "posterior", the default, gives posterior means with error bars; "subspace" stops at the range space refined
        over the whole mask, many times faster; None is the paper's Algorithm 1.
    random_state : int, Generator, RandomState or None
        Seed of everything random.
    n_jobs : int or None
        Threads for independent pieces of work; the result does not depend on it.
    max_iter : int
        Most iterations of each stage of the posterior.
    tol : float
        The posterior is settled when an iteration moves the memberships by less than this (root mean square).
    time_limit : float or None
        Seconds after which the posterior returns the best that it has; the refined subspace comes before it in any
        case.
    keep_covariances : bool
        Keep ``memberships_covariance_``, N K² numbers.
    workers : {"weigh", "ignore"}
        "weigh", the default, counts every answer by how reliable its worker is, where the answers' table says who
        gave them: a first fit judges the workers, a second one learns from the weighed answers. "ignore" takes all
        for equal.

    ``max_iter``, ``tol``, ``time_limit`` and ``keep_covariances`` are used by "posterior" only; given for another
    refinement they are an error.

    Attributes
    ----------
    memberships_ : (n_nodes, n_clusters) array
        How much each node belongs to each cluster; rows are on the simplex, clusters ordered by size.
    labels_ : (n_nodes,) array
        The cluster of largest membership.
    interactions_ : (n_clusters, n_clusters) array
        The probability of a yes between clusters, in [0, 1].
    anchors_ : (n_clusters,) array
        The node taken for the purest of each cluster.
    basis_ : (n_nodes, n_clusters) array
        A basis of the range of the memberships.
    singular_values_ : array
        Of the first SVD, a few more than ``n_clusters`` where there are.
    gaps_ : array
        σ_K / σ_{K+1} of every window that was stitched: below about 1.15 a window shows too little.
    n_iter_ : int
        Iterations of the posterior's last stage.
    memberships_std_ : (n_nodes, n_clusters) array
        Standard errors of the memberships; "posterior" only.
    log_predictive_, log_predictive_per_node_ : float, (n_nodes,) array
        Leave-one-out log probability of the answers, in all and by node; "posterior" only.
    concentration_ : (n_clusters,) array
        The learned Dirichlet prior ν of the memberships; "posterior" only.
    workers_ : DataFrame or None
        One row per worker, by name: ``worker``, ``n_answers``, ``reliability`` (about one for the average person, zero
        for answers that have nothing to do with the question), its ``standard_error``, and ``flagged``: whether it is
        clearly below half of the median worker's. None where nobody was judged: with ``workers="ignore"``, or where
        fewer than two people, or fewer than 100 answers, have a name.
    memberships_covariance_ : (n_nodes, n_clusters, n_clusters) array
        With ``keep_covariances``; "posterior" only.

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
        refine: str | None = "posterior",
        random_state: Seed = None,
        n_jobs: int | None = None,
        max_iter: int = 100,
        tol: float = 1e-3,
        time_limit: float | None = None,
        keep_covariances: bool = False,
        workers: str = "weigh",
    ) -> None:
        self.n_clusters = n_clusters
        self.refine = refine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.tol = tol
        self.time_limit = time_limit
        self.keep_covariances = keep_covariances
        self.workers = workers

    def _check(self) -> None:
        if not isinstance(self.refine, str | None) or self.refine not in REFINEMENTS:
            known = ", ".join(repr(name) for name in REFINEMENTS)
            raise ModelError(f"refine={self.refine!r} is unknown; choose one of: {known}")
        if self.workers not in WORKERS_ARE:
            known = ", ".join(repr(name) for name in WORKERS_ARE)
            raise ModelError(f"workers={self.workers!r} is unknown; choose one of: {known}")
        if not _is_whole(self.max_iter) or self.max_iter < 1:
            raise ModelError(f"max_iter={self.max_iter!r} must be a whole number of at least 1")
        if not _is_number(self.tol) or not self.tol >= 0:
            raise ModelError(f"tol={self.tol!r} must be a number of at least 0")
        if self.time_limit is not None and not (_is_number(self.time_limit) and self.time_limit > 0):
            raise ModelError(f"time_limit={self.time_limit!r} must be a positive number of seconds, or None")
        if self.n_jobs is not None and (not _is_whole(self.n_jobs) or self.n_jobs == 0):
            raise ModelError(f"n_jobs={self.n_jobs!r} must be a number of threads, -1 for all cores, or None for one")
        for name in USED_BY_POSTERIOR if self.refine != "posterior" else ():
            value = getattr(self, name)
            if value != inspect.signature(BeQuec).parameters[name].default:
                raise ModelError(
                    f"{name}={value!r} has no effect with refine={self.refine!r}: only refine='posterior' uses it; "
                    f"leave out {name}, or use refine='posterior'"
                )

    def _learn(self, answers: Answers, rng: np.random.Generator, progress: Progress | None) -> State:
        mapper = Mapper(self.n_jobs, progress)
        work = Work(rng, mapper, int(self.max_iter), float(self.tol), self.time_limit)
        named = named_answers(answers) if self.workers == "weigh" else None
        problem, state = self._refined(answers, work if named is None else work.with_share_of_time(FIRST_FIT))
        judged = Weighed() if named is None else weigh_workers(answers, named, state)
        if named is not None and judged.weights is not None:
            # Start afresh: the first state may be in a basin that bad answers led to.
            problem, state = self._refined(weighted(answers, judged.weights), work)
            judged = judged._replace(quality=weigh_workers(problem.answers, named, state).quality)
        if has_sorts(answers):
            state = refine_by_piles(problem, work, state, judged.weights)
        return dataclasses.replace(state, workers=judged.quality)

    def _refined(self, answers: Answers, work: Work) -> tuple[Problem, State]:
        problem = Problem(answers, answered_usable_blocks(answers, self.n_clusters), int(self.n_clusters))
        state = START[self.refine](problem, work)
        for refine in REFINEMENTS[self.refine]:
            state = refine(problem, work, state)
        return problem, state

    def _keep(self, state: State, plan: QueryPlan) -> IntArray:
        """Store the state in the caller's node order, the largest cluster first."""
        for name in (*LEARNED_BY_POSTERIOR, "log_predictive_"):
            self.__dict__.pop(name, None)  # fit starts afresh
        by_size = super()._keep(state, plan)
        node_at = plan.position_of
        self.interactions_: FloatArray = state.interactions[np.ix_(by_size, by_size)]
        self.anchors_: IntArray = plan.order[state.anchors[by_size]]
        self.basis_: FloatArray = state.basis[node_at]
        self.singular_values_: FloatArray = state.singular_values
        self.gaps_: FloatArray = state.gaps
        self.n_iter_ = state.n_iter
        self.workers_: pd.DataFrame | None = None if state.workers is None else state.workers.to_frame()
        if state.covariances is not None and state.concentration is not None and state.log_predictive is not None:
            covariances = state.covariances[node_at][:, by_size][:, :, by_size]
            self.memberships_std_ = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
            self.concentration_: FloatArray = state.concentration[by_size]
            self.log_predictive_per_node_ = state.log_predictive[node_at]
            self.log_predictive_ = float(state.log_predictive.sum())
            if self.keep_covariances:
                self.memberships_covariance_ = covariances
        return by_size

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file (.npz with a JSON header)."""
        check_is_fitted(self, before="save")
        parameters = {"n_clusters": int(self.n_clusters), "refine": self.refine, "n_iter": int(self.n_iter_)}
        names = [name for name in (*LEARNED, *LEARNED_BY_POSTERIOR) if hasattr(self, name)]
        arrays = {name: getattr(self, name) for name in names}
        if self.workers_ is not None:
            columns = WorkerQuality.of_frame(self.workers_)._asdict()
            arrays |= {f"workers_{name}": column for name, column in columns.items()}
        write_model(path, parameters, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that ``save`` wrote; what it learned, not how (seed, threads, limits)."""
        parameters, arrays = read_model(path)
        missing = set(LEARNED) - set(arrays)
        if missing:
            raise ModelError(f"{path} lacks {', '.join(sorted(missing))}; write the model again")
        model = cls(n_clusters=int(parameters["n_clusters"]), refine=parameters.get("refine"))
        for name in (*LEARNED, *LEARNED_BY_POSTERIOR):
            if name in arrays:
                setattr(model, name, arrays[name])
        workers = [arrays[f"workers_{name}"] for name in WorkerQuality._fields if f"workers_{name}" in arrays]
        model.workers_ = WorkerQuality(*workers).to_frame() if workers else None
        model.n_features_in_ = len(model.memberships_)
        model.n_iter_ = int(parameters.get("n_iter", 1))
        if "log_predictive_per_node_" in arrays:
            model.log_predictive_ = float(arrays["log_predictive_per_node_"].sum())
        return model


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
