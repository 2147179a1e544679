"""Groups of nodes: drawn at random, or given by labels such as villages."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from bequec.core.arrays import IntArray
from bequec.core.errors import PlanError


def draw_groups(n_nodes: int, n_groups: int, rng: np.random.Generator) -> IntArray:
    """Deal the nodes at random into groups whose sizes differ by at most one; nobody is left out."""
    group_of = np.empty(n_nodes, dtype=np.int64)
    group_of[rng.permutation(n_nodes)] = np.arange(n_nodes) * n_groups // n_nodes
    return group_of


def groups_from_labels(labels: Sequence[Hashable]) -> tuple[IntArray, tuple[str, ...]]:
    """The group of each node and the groups' names, from one label per node; numbers are in numeric order."""
    values = [_label(label, node) for node, label in enumerate(labels)]
    if not values:
        raise PlanError("groups must list one label per node, got none")
    kinds = {type(value).__name__ for value in values}
    if len(kinds - {"int", "float"}) > 1 or (kinds & {"str"} and len(kinds) > 1):
        raise PlanError(
            f"the group labels are of several types ({', '.join(sorted(kinds))}); use texts or numbers only"
        )
    unique = sorted(set(values), key=_natural)
    index = {label: l for l, label in enumerate(unique)}
    group_of = np.fromiter((index[value] for value in values), dtype=np.int64, count=len(values))
    return group_of, tuple(str(label) for label in unique)


def _label(label: Any, node: int) -> Any:
    """A plain label without blanks around it; missing ones are refused."""
    label = label.item() if isinstance(label, np.generic) else label
    label = label.strip() if isinstance(label, str) else label
    if label is None or label == "" or label != label:  # noqa: PLR0124 - only NaN differs from itself
        raise PlanError(f"node {node} has no group label; give every node one")
    return label


def _natural(label: Any) -> tuple[int, Any]:
    """Numbers, also as texts, by size and before other texts."""
    if isinstance(label, str) and not label.isdecimal():
        return (1, label)
    return (0, int(label) if isinstance(label, str) else label)
