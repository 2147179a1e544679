"""What every step of learning hands on. Rows are in group order."""

from dataclasses import dataclass, field

import numpy as np

from bequec.core.arrays import FloatArray, IntArray


def _nothing() -> FloatArray:
    return np.empty((0, 0))


@dataclass(frozen=True)
class State:
    """A range space and, from the step on that finds them, memberships; of the rivals memberships alone.

    The covariances, the concentration ν of the memberships' prior and the log predictive come from the posterior.
    ``unfinished`` says why the result is not settled, where it is not.
    """

    basis: FloatArray = field(default_factory=_nothing)
    singular_values: FloatArray = field(default_factory=_nothing)
    gaps: FloatArray = field(default_factory=_nothing)
    memberships: FloatArray = field(default_factory=_nothing)
    interactions: FloatArray = field(default_factory=_nothing)
    anchors: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    wider_bases: tuple[FloatArray, ...] = ()
    covariances: FloatArray | None = None
    concentration: FloatArray | None = None
    log_predictive: FloatArray | None = None
    n_iter: int = 1
    unfinished: str = ""
