"""What every step of learning hands on. Rows are in group order."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray, IntArray, StrArray

if TYPE_CHECKING:
    import pandas as pd


def _nothing() -> FloatArray:
    return np.empty((0, 0))


class WorkerQuality(NamedTuple):
    """What was learned about each worker, sorted by name.

    The reliability is the slope β of P(yes) = α + β p against the model's probability p: about one for the average
    person, zero for somebody whose answers have nothing to do with the question. ``flagged`` says who is clearly
    worse than the others.
    """

    worker: StrArray
    n_answers: FloatArray
    reliability: FloatArray
    standard_error: FloatArray
    flagged: BoolArray

    @classmethod
    def of_frame(cls, frame: "pd.DataFrame") -> "WorkerQuality":
        """The columns of a data frame as plain arrays."""
        columns = cls(*(frame[name].to_numpy() for name in cls._fields))
        return columns._replace(worker=columns.worker.astype(np.str_))

    def to_frame(self) -> "pd.DataFrame":
        """One row per worker."""
        import pandas as pd

        return pd.DataFrame(self._asdict())


@dataclass(frozen=True)
class State:
    """A range space and, from the step on that finds them, memberships; of the rivals memberships alone.

    The covariances, the concentration ν of the memberships' prior and the log predictive come from the posterior.
    ``workers`` is None where nobody was judged, and ``unfinished`` says why the result is not settled, where it is not.
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
    workers: WorkerQuality | None = None
    unfinished: str = ""
