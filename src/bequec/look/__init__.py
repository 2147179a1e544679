"""look: judge and show."""

from bequec.look.report.report import write_report
from bequec.look.scores import (
    accuracy,
    mean_squared_error,
    normalized_mutual_information,
    rank_correlation,
    relative_error,
    score_labels,
    score_memberships,
    subspace_distance,
)
from bequec.look.verdict import Verdict, judge

__all__ = [
    "Verdict",
    "accuracy",
    "judge",
    "mean_squared_error",
    "normalized_mutual_information",
    "rank_correlation",
    "relative_error",
    "score_labels",
    "score_memberships",
    "subspace_distance",
    "write_report",
]
