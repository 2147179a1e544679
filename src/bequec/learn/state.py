"""What every step of learning hands on. Rows are in group order."""

from dataclasses import dataclass, field

import numpy as np

from bequec.core.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class State:
    """A range space and, from the step on that finds them, memberships.

    The covariances, the concentration ν of the memberships' prior and the log predictive come from the posterior.
    """

    basis: FloatArray
    singular_values: FloatArray
    gaps: FloatArray
    memberships: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    interactions: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    anchors: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    wider_bases: tuple[FloatArray, ...] = ()
    covariances: FloatArray | None = None
    concentration: FloatArray | None = None
    log_predictive: FloatArray | None = None
    n_iter: int = 1
    unfinished: str = ""
