"""bequec: find overlapping clusters in a graph that you can only afford to ask about.

The public names, loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bequec.ask.answers import Answers
    from bequec.ask.graph import ask_graph
    from bequec.errors import AnswersError, BequecError, DataError, ModelError, PlanError, StudyError
    from bequec.learn.bequec import BeQuec
    from bequec.learn.matching import match_clusters
    from bequec.plan.identifiable import check_identifiable, is_identifiable
    from bequec.plan.planning import plan_queries
    from bequec.plan.query_plan import QueryPlan

__version__ = "0.1.0"

_HOMES = {
    "Answers": "bequec.ask.answers",
    "AnswersError": "bequec.errors",
    "BeQuec": "bequec.learn.bequec",
    "BequecError": "bequec.errors",
    "DataError": "bequec.errors",
    "ModelError": "bequec.errors",
    "PlanError": "bequec.errors",
    "QueryPlan": "bequec.plan.query_plan",
    "StudyError": "bequec.errors",
    "ask_graph": "bequec.ask.graph",
    "check_identifiable": "bequec.plan.identifiable",
    "is_identifiable": "bequec.plan.identifiable",
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
    "ask_graph",
    "check_identifiable",
    "is_identifiable",
    "match_clusters",
    "plan_queries",
]


_ROOMS = ("ask", "baselines", "datasets", "learn", "look", "plan", "simulate")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"bequec.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'bequec' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS, "__version__"])
