"""What rivals share besides the interface: permutation fixing, and how parameters are checked."""

import dataclasses
from abc import abstractmethod

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.baselines.alignment import fix_permutations
from bequec.core.arrays import FloatArray
from bequec.core.errors import ModelError
from bequec.core.progress import Progress
from bequec.learn.estimator import GraphEstimator
from bequec.learn.state import State


class WindowedBaseline(GraphEstimator):
    """A rival made for whole graphs: applied window by window and joined by the paper's permutation fixing."""

    def _learn(self, answers: Answers, rng: np.random.Generator, progress: Progress | None) -> State:
        memberships = fix_permutations(
            answers, int(self.n_clusters), lambda window: self._kernel(window, rng), progress
        )
        return State(memberships=memberships)

    @abstractmethod
    def _kernel(self, window: sp.csr_array, rng: np.random.Generator) -> FloatArray:
        """Memberships in one window, every node of which has a yes."""


class IteratedWindowedBaseline(WindowedBaseline):
    """One whose kernel iterates, and keeps the most iterations of any window in ``n_iter_``."""

    def _learn(self, answers: Answers, rng: np.random.Generator, progress: Progress | None) -> State:
        self.n_iter_ = 0
        found = super()._learn(answers, rng, progress)
        return dataclasses.replace(found, unfinished=unfinished(self, self.n_iter_))


def unfinished(model: GraphEstimator, n_iter: int) -> str:
    """What to warn of after so many iterations; nothing if they came to an end by themselves."""
    parameters = model.get_params()
    # With tol=0 all of max_iter is what was asked for.
    if n_iter < parameters["max_iter"] or not parameters.get("tol", 1):
        return ""
    return f"{type(model).__name__} was still moving after max_iter={n_iter} iterations; raise max_iter"


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
