"""What items.csv says of the plan's items, whatever the order of its rows."""

from pathlib import Path

import pandas as pd

from bequec.core.errors import StudyError
from bequec.plan.query_plan import QueryPlan

REMEDY = "names must stay as they were planned: restore the file from a copy, or correct the name"


def column_by_name(items: pd.DataFrame, column: str, plan: QueryPlan, path: Path) -> dict[str, str]:
    """A column by the items' names, one row for each item of the plan: somebody may have sorted the rows anew."""
    if "name" not in items:
        raise StudyError(f"{path} has no column name; restore it, so that every row says which item it is")
    names = items["name"].astype(str).str.strip()
    planned = [str(plan.name(node)) for node in range(plan.n_nodes)]
    missing, unknown = (
        [name for name in some if name not in others] for some, others in ((planned, set(names)), (names, set(planned)))
    )
    if missing:
        raise StudyError(f"{path} lacks {len(missing)} of the plan's items, first {missing[0]!r}; {REMEDY}")
    if unknown:
        raise StudyError(f"{path} lists {len(unknown)} items that the plan lacks, first {unknown[0]!r}; {REMEDY}")
    if names.duplicated().any():
        raise StudyError(f"{path} lists the item {names[names.duplicated()].iloc[0]!r} twice; keep one row per item")
    return dict(zip(names, items[column].astype(str), strict=True))
