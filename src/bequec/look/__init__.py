"""look: judge and show. The names are loaded on first use, so that text needs no drawing library."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bequec.evaluate.compare import METHODS, compare
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
    from bequec.look.report.report import write_report
    from bequec.look.terminal import draw_mask
    from bequec.look.verdict import Verdict, judge

__all__ = [
    "METHODS",
    "Verdict",
    "accuracy",
    "compare",
    "draw_mask",
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

_HOMES = {
    "METHODS": "bequec.evaluate.compare",
    "compare": "bequec.evaluate.compare",
    "Verdict": "bequec.look.verdict",
    "draw_mask": "bequec.look.terminal",
    "judge": "bequec.look.verdict",
    "write_report": "bequec.look.report.report",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'bequec.look' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "bequec.evaluate.scores")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
