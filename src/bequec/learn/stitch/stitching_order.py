"""In which order the groups are stitched, and through which shared column group."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from bequec.core.arrays import BoolArray
from bequec.plan.mask.sharing import sharing_graph


class Stitch(NamedTuple):
    """Group ``new`` is tied to group ``known`` through the column group that both were asked about."""

    known: int
    new: int
    column: int


def stitching_order(usable: BoolArray) -> list[Stitch]:
    """The L − 1 stitches; the first one's known group is where everything starts.

    Groups are visited in index order, outward from the middle, when every consecutive pair shares a column
    group, as in the paper; otherwise along a breadth-first tree of the sharing graph from its center.
    """
    n_groups = len(usable)
    consecutive_share = (usable[:-1] & usable[1:]).any(axis=1)
    if consecutive_share.all():
        middle = max(1, n_groups // 2)
        upward = [(r, r + 1) for r in range(middle - 1, n_groups - 1)]
        downward = [(r, r - 1) for r in range(middle - 1, 0, -1)]
        ties = upward + downward
    else:
        sharing = sharing_graph(usable)
        visited, parents = breadth_first_order(sharing, center(sharing), directed=False)
        ties = [(int(parents[group]), int(group)) for group in visited[1:]]
    return [Stitch(known, new, int(np.argmax(usable[known] & usable[new]))) for known, new in ties]


def center(graph: sp.csr_array) -> int:
    """The vertex of a connected graph from which all others are reached in the fewest steps; the first such."""
    linked = (graph != 0).astype(np.float32)
    reached = np.eye(graph.shape[0], dtype=bool)
    while not reached.all(axis=0).any():
        reached |= (linked @ reached.astype(np.float32)) > 0
    return int(np.argmax(reached.all(axis=0)))
