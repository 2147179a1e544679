"""Groups of nodes: drawn at random, or given by labels such as villages."""

from collections.abc import Hashable, Sequence

import numpy as np

from bequec.errors import PlanError
from bequec.plan.query_plan import IntArray


def draw_groups(n_nodes: int, n_groups: int, rng: np.random.Generator) -> IntArray:
    """Deal the nodes at random into groups whose sizes differ by at most one; nobody is left out."""
    group_of = np.empty(n_nodes, dtype=np.int64)
    group_of[rng.permutation(n_nodes)] = np.arange(n_nodes) * n_groups // n_nodes
    return group_of


def groups_from_labels(labels: Sequence[Hashable]) -> tuple[IntArray, tuple[str, ...]]:
    """The group of each node and the groups' names, from one label per node, in sorted order."""
    values = np.asarray(labels)
    if values.ndim != 1 or not len(values):
        raise PlanError(f"groups must list one label per node, got an array of shape {values.shape}")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise PlanError(f"node {np.flatnonzero(np.isnan(values))[0]} has no group label; give every node one")
    try:
        unique, group_of = np.unique(values, return_inverse=True)
    except TypeError as reason:
        raise PlanError(f"the group labels cannot be sorted ({reason}); use texts or numbers only") from reason
    return group_of.astype(np.int64), tuple(str(label) for label in unique.tolist())
