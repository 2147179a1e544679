"""What every step of learning works with, and what it hands on. Rows are in group order."""

import dataclasses
import time
from dataclasses import dataclass, field

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.learn.execution.parallel import Mapper


@dataclass(frozen=True)
class Task:
    """The answers, the blocks that can be used, and the limits of the work."""

    answers: Answers
    usable: BoolArray
    n_clusters: int
    rng: np.random.Generator
    mapper: Mapper = field(default_factory=Mapper)
    max_iter: int = 100
    tol: float = 1e-3
    time_limit: float | None = None
    started: float = field(default_factory=time.monotonic)

    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.time_limit is not None and time.monotonic() - self.started > self.time_limit

    def with_share_of_time(self, share: float) -> "Task":
        """The same task with part of its time."""
        return self if self.time_limit is None else dataclasses.replace(self, time_limit=share * self.time_limit)

    def say(self, what: str, done: int, total: int) -> None:
        """Tell whoever listens how far the work is."""
        if self.mapper.progress is not None:
            self.mapper.progress(what, done, total)


@dataclass(frozen=True)
class State:
    """A range space and, from the step on that finds them, memberships; the last fields come from the posterior."""

    basis: FloatArray
    singular_values: FloatArray
    gaps: FloatArray
    memberships: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    interactions: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    anchors: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    wider_bases: tuple[FloatArray, ...] = ()
    covariances: FloatArray | None = None
    log_predictive: FloatArray | None = None
    n_iter: int = 1
    unfinished: str = ""
