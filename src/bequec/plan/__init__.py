"""plan: which blocks of pairs to ask."""

from bequec.plan.extension import extend_plan
from bequec.plan.mask.identifiable import check_identifiable, is_identifiable, mending_blocks
from bequec.plan.money.budget import Budget, CostSheet
from bequec.plan.money.prices import plan_cost
from bequec.plan.planning import default_n_groups, plan_queries, with_blocks
from bequec.plan.query_plan import QueryPlan

__all__ = [
    "Budget",
    "CostSheet",
    "QueryPlan",
    "check_identifiable",
    "default_n_groups",
    "extend_plan",
    "is_identifiable",
    "mending_blocks",
    "plan_cost",
    "plan_queries",
    "with_blocks",
]
