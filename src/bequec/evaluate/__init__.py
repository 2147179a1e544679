"""evaluate: scores against a truth, and methods against each other."""

from bequec.evaluate.scores import (
    accuracy,
    mean_squared_error,
    normalized_mutual_information,
    rank_correlation,
    relative_error,
    score_labels,
    score_memberships,
    subspace_distance,
)

__all__ = [
    "accuracy",
    "mean_squared_error",
    "normalized_mutual_information",
    "rank_correlation",
    "relative_error",
    "score_labels",
    "score_memberships",
    "subspace_distance",
]
