"""How it is learned: random numbers, limits, threads, and the function that progress is reported to."""

import dataclasses
import time
from dataclasses import dataclass, field

import numpy as np

from bequec.learn.execution.parallel import Mapper


@dataclass(frozen=True)
class Work:
    """Random numbers, threads and limits of one fit; bound to this process, unlike ``Problem``."""

    rng: np.random.Generator
    mapper: Mapper = field(default_factory=Mapper)
    max_iter: int = 100
    tol: float = 1e-3
    time_limit: float | None = None
    started: float = field(default_factory=time.monotonic)

    def seed(self) -> int:
        """A new seed for random numbers that several runs share."""
        return int(self.rng.integers(2**31))

    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.time_limit is not None and time.monotonic() - self.started > self.time_limit

    def with_share_of_time(self, share: float) -> "Work":
        """The same work with part of its time."""
        return self if self.time_limit is None else dataclasses.replace(self, time_limit=share * self.time_limit)

    def say(self, what: str, done: int, total: int) -> None:
        """Report progress, if a function for it was given."""
        if self.mapper.progress is not None:
            self.mapper.progress(what, done, total)
