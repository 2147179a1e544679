"""Pairs that cannot be asked: relatives, rivals, photos of the same person; given by the items' names."""

from collections.abc import Hashable, Sequence

import numpy as np

from bequec.core.arrays import IntArray
from bequec.core.errors import PlanError
from bequec.plan.plan_checks import check_unaskable


def node_pairs(
    unaskable: Sequence[tuple[Hashable, Hashable]], names: Sequence[Hashable] | None, n_nodes: int
) -> IntArray:
    """The nodes of pairs of names; without names, nodes are called 0 … n_nodes − 1."""
    known: dict[Hashable, int] = {name: node for node, name in enumerate(range(n_nodes) if names is None else names)}
    as_text = {str(name): node for name, node in known.items()} if len(unaskable) else {}
    nodes = []
    for pair in unaskable:
        if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise PlanError(f"unaskable lists {pair!r}; it must list pairs of names, e.g. [('ann', 'bob')]")
        for name in pair:
            if name not in known and str(name).strip() not in as_text:
                raise PlanError(f"unaskable names {name!r}, which is no item of the plan; check its spelling")
        nodes.append([known.get(name, as_text.get(str(name).strip(), -1)) for name in pair])
    return check_unaskable(np.array(nodes, dtype=np.int64), n_nodes)
