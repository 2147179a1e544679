"""The truth that a result is scored against, read from a table."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bequec.core.errors import StudyError

if TYPE_CHECKING:
    import numpy.typing as npt

    from bequec.plan.query_plan import QueryPlan


UNKNOWN = ("", "nan")


def read_truth(path: Path, plan: "QueryPlan") -> "npt.NDArray[Any]":
    """One label per node ("" where unknown), or one row of memberships per node (NaN where unknown)."""
    import numpy as np

    from bequec.core.tables import read_table
    from bequec.plan.node_names import nodes_named

    table = read_table(path)
    others = [column for column in table.columns if column != "name"]
    if "name" not in table or not others:
        raise StudyError(
            f"{path} has the columns {', '.join(table.columns)}; it needs name and label, or name and one column per "
            "cluster with the true memberships"
        )
    columns = ["label"] if "label" in table else others
    known = ~table[columns].apply(lambda column: column.str.strip().str.lower().isin(UNKNOWN)).any(axis=1)
    table = table[known]
    if len(table) < 2:
        raise StudyError(f"{path} labels {len(table)} items; label at least 2 to have a score")
    nodes = nodes_named(table["name"], plan.names, plan.n_nodes)
    if (nodes < 0).any():
        unknown = table["name"][nodes < 0]
        raise StudyError(
            f"{path}, row {unknown.index[0] + 1}: unknown item {unknown.iloc[0]!r} ({len(unknown)} unknown in all); "
            "name items as the plan does"
        )
    if len(np.unique(nodes)) != len(nodes):
        raise StudyError(f"{path} labels an item twice; label each at most once")
    if len(nodes) < plan.n_nodes:
        warnings.warn(f"{path} labels {len(nodes)} of {plan.n_nodes} items; the scores are of these", stacklevel=2)
    if "label" in table:
        labels = np.full(plan.n_nodes, "", dtype=object)
        labels[nodes] = table["label"].to_numpy()
        return labels
    memberships = np.full((plan.n_nodes, len(others)), np.nan)
    try:
        memberships[nodes] = table[others].to_numpy(dtype=float)
    except ValueError as reason:
        raise StudyError(f"{path} has no column label, and its other columns are not numbers ({reason})") from reason
    sums, least = memberships[nodes].sum(axis=1), memberships[nodes].min(axis=1)
    wrong = (np.abs(sums - 1) > 1e-3) | (least < 0)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        found = f"are as low as {least[first]:g}" if least[first] < 0 else f"sum to {sums[first]:g}"
        name = table["name"].to_numpy()[first]
        raise StudyError(f"{path}: the memberships of {name} {found}; they must be ≥ 0 and sum to 1")
    return memberships
