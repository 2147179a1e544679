"""Pairs that cannot be asked: relatives, rivals, photos of the same person; given by the items' names."""

from collections.abc import Hashable, Sequence

import numpy as np

from bequec.core.arrays import IntArray
from bequec.core.errors import PlanError
from bequec.plan.node_names import nodes_named
from bequec.plan.plan_checks import check_unaskable


def node_pairs(
    unaskable: Sequence[tuple[Hashable, Hashable]], names: Sequence[Hashable] | None, n_nodes: int
) -> IntArray:
    """The nodes of pairs of names; without names, nodes are called 0 … n_nodes − 1."""
    for pair in unaskable:
        if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise PlanError(f"unaskable lists {pair!r}; it must list pairs of names, e.g. [('ann', 'bob')]")
    listed = [name for pair in unaskable for name in pair]
    nodes = nodes_named(listed, names, n_nodes)
    if (nodes < 0).any():
        unknown = listed[int(np.argmin(nodes))]
        raise PlanError(f"unaskable names {unknown!r}, which is no item of the plan; check its spelling")
    return check_unaskable(nodes.reshape(-1, 2), n_nodes)
