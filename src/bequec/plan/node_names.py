"""Which node a name means."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from bequec.core.arrays import IntArray


def nodes_named(names: Iterable[Hashable], node_names: Sequence[Hashable] | None, n_nodes: int) -> IntArray:
    """The node that each name means, −1 where it means none.

    Without ``node_names`` the nodes are called 0 … n_nodes − 1. Numbers and their texts are the same name, unless
    two nodes have names with the same text.

    Examples
    --------
    >>> nodes_named(["1", 0, "zoe"], None, 2).tolist()
    [1, 0, -1]
    """
    wanted = list(names)
    known = {name: node for node, name in enumerate(range(n_nodes) if node_names is None else node_names)}
    found = np.fromiter((known.get(name, -1) for name in wanted), dtype=np.int64, count=len(wanted))
    missing = np.flatnonzero(found < 0)
    if len(missing):
        by_text = {str(name): node for name, node in known.items()}
        if len(by_text) == len(known):
            found[missing] = [by_text.get(str(wanted[at]).strip(), -1) for at in missing]
    return found
