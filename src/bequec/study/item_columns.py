"""What items.csv says of the plan's items, whatever the order of its rows."""

from pathlib import Path

import numpy as np
import pandas as pd

from bequec.core.errors import StudyError
from bequec.plan.node_names import nodes_named
from bequec.plan.query_plan import QueryPlan

REMEDY = "names must stay as they were planned: restore the file from a copy, or correct the name"


def column_by_node(items: pd.DataFrame, column: str, plan: QueryPlan, path: Path) -> list[str]:
    """A column in the order of the plan's nodes, one row for each: somebody may have sorted the rows anew."""
    if "name" not in items:
        raise StudyError(f"{path} has no column name; restore it, so that every row says which item it is")
    names = items["name"].astype(str).str.strip()
    nodes = nodes_named(names, plan.names, plan.n_nodes)
    n_rows = np.bincount(nodes[nodes >= 0], minlength=plan.n_nodes)
    missing, unknown, repeated = np.flatnonzero(n_rows == 0), names[nodes < 0], names[n_rows[nodes] > 1]
    if len(missing):
        first = str(plan.name(int(missing[0])))
        raise StudyError(f"{path} lacks {len(missing)} of the plan's items, first {first!r}; {REMEDY}")
    if len(unknown):
        raise StudyError(f"{path} lists {len(unknown)} items that the plan lacks, first {unknown.iloc[0]!r}; {REMEDY}")
    if len(repeated):
        raise StudyError(f"{path} lists the item {repeated.iloc[0]!r} twice; keep one row per item")
    values = items[column].astype(str).to_numpy(dtype=object)[np.argsort(nodes)]
    return [str(value) for value in values]
