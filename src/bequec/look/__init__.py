"""look: judge and show. What draws is loaded on first use, so that text needs no drawing library."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bequec import evaluate
from bequec.evaluate import *  # noqa: F403  # the scores' home, which lists them

if TYPE_CHECKING:
    from bequec.evaluate.compare import compare
    from bequec.evaluate.methods import METHODS
    from bequec.look.report.report import write_report
    from bequec.look.terminal import draw_mask
    from bequec.look.verdict import Verdict, judge

__all__ = ["METHODS", "Verdict", "compare", "draw_mask", "judge", "write_report"]
__all__ += evaluate.__all__

_HOMES = {
    "METHODS": "bequec.evaluate.methods",
    "Verdict": "bequec.look.verdict",
    "compare": "bequec.evaluate.compare",
    "draw_mask": "bequec.look.terminal",
    "judge": "bequec.look.verdict",
    "write_report": "bequec.look.report.report",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bequec.look' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
