"""bequec: find overlapping clusters in a graph that you can only afford to ask about.

The public names, loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bequec.ask.answers import Answers
    from bequec.ask.graph import ask_graph
    from bequec.core.errors import AnswersError, BequecError, DataError, ModelError, PlanError, StudyError, TableError
    from bequec.learn.bequec import BeQuec
    from bequec.learn.matching import match_clusters
    from bequec.plan.mask.identifiable import check_identifiable, is_identifiable
    from bequec.plan.planning import plan_queries
    from bequec.plan.query_plan import QueryPlan

__version__ = "0.1.0"

_HOMES = {
    "Answers": "bequec.ask.answers",
    "AnswersError": "bequec.core.errors",
    "BeQuec": "bequec.learn.bequec",
    "BequecError": "bequec.core.errors",
    "DataError": "bequec.core.errors",
    "ModelError": "bequec.core.errors",
    "PlanError": "bequec.core.errors",
    "QueryPlan": "bequec.plan.query_plan",
    "StudyError": "bequec.core.errors",
    "TableError": "bequec.core.errors",
    "ask_graph": "bequec.ask.graph",
    "check_identifiable": "bequec.plan.mask.identifiable",
    "is_identifiable": "bequec.plan.mask.identifiable",
    "match_clusters": "bequec.learn.matching",
    "plan_queries": "bequec.plan.planning",
}

__all__ = [
    "Answers",
    "AnswersError",
    "BeQuec",
    "BequecError",
    "DataError",
    "ModelError",
    "PlanError",
    "QueryPlan",
    "StudyError",
    "TableError",
    "ask_graph",
    "check_identifiable",
    "is_identifiable",
    "match_clusters",
    "plan_queries",
]


_ROOMS = ("advise", "ask", "baselines", "datasets", "evaluate", "learn", "look", "plan", "simulate", "study")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"bequec.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'bequec' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS, "__version__"])
