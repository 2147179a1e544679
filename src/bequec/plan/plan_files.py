"""Plans as JSON files."""

import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bequec.core.errors import PlanError
from bequec.core.files import read_json, write_json

if TYPE_CHECKING:
    from bequec.plan.query_plan import QueryPlan

    Plan = TypeVar("Plan", bound=QueryPlan)

FORMAT, VERSION, VERSION_WITHOUT_LISTED = "bequec plan", 2, 1


def write_plan(plan: "QueryPlan", path: str | os.PathLike[str]) -> None:
    """Write a plan; one without listed pairs in the format that version 0.1 reads, too."""
    value: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION_WITHOUT_LISTED,
        "n_groups": plan.n_groups,
        "asked": plan.blocks.tolist(),
        "group_names": plan.group_names,
        "group_of": plan.group_of.tolist(),
        "names": plan.names,
        "unaskable": plan.unaskable.tolist(),
        "later_blocks": plan.later_blocks,
    }
    if len(plan.listed):
        left, right = plan.listed.T.tolist()
        value |= {"version": VERSION, "listed": [left, right], "listed_before": plan.listed_before}
    try:
        write_json(path, value)
    except TypeError as reason:
        raise PlanError(f"the names cannot be saved ({reason}); use texts or numbers as names") from reason


def read_plan(path: str | os.PathLike[str], make: "type[Plan]") -> "Plan":
    """The plan that was written."""
    value = read_json(path, kind=FORMAT, version=VERSION, error=PlanError)
    try:
        group_of, asked, names, group_names = (value[key] for key in ("group_of", "asked", "names", "group_names"))
    except KeyError as missing:
        raise PlanError(f"{path} lacks {missing}; write the plan again") from missing
    # What may be missing was not there when the first plans were written.
    listed = value.get("listed", ([], []))
    if len(listed) != 2 or len(listed[0]) != len(listed[1]):
        raise PlanError(f"the listed pairs of {path} are not two lists of equal length; write the plan again")
    try:
        return make(
            group_of,
            [tuple(block) for block in asked],
            None if names is None else [_hashable(name) for name in names],
            group_names,
            value.get("unaskable", []),
            [tuple(block) for block in value.get("later_blocks", [])],
            np.stack(listed, axis=1),
            value.get("listed_before", []),
        )
    except TypeError as reason:
        raise PlanError(f"{path} is not a plan that can be read ({reason}); write the plan again") from reason


def _hashable(name: Any) -> Any:
    """JSON has no tuples: names such as (0, 1), common in networkx, come back as lists."""
    return tuple(_hashable(part) for part in name) if isinstance(name, list) else name
