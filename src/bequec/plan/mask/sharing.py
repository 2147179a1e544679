"""The sharing graph: two groups can be stitched when they share an asked column group.

It connects all groups exactly when the group graph (asked blocks as edges, a diagonal block as a loop)
is connected and has an odd cycle.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.plan.groups import pairs_in_blocks
from bequec.plan.query_plan import QueryPlan


def completes_its_diagonal(sizes: IntArray, n_clusters: int) -> BoolArray:
    """Whether a diagonal block of each size determines its own unobserved diagonal.

    Its rank-K completion is determined if the (n−K)(n−K+1)/2 equations of rank K are at least as many
    as the n missing entries.
    """
    spare = np.maximum(np.asarray(sizes) - n_clusters, 0)
    enough: BoolArray = spare * (spare + 1) // 2 >= sizes
    return enough


def usable_blocks(plan: QueryPlan, n_clusters: int, *, diagonal: bool = False) -> BoolArray:
    """The asked blocks that can carry a stitch: diagonal ones only if their diagonal is known or follows."""
    return usable_among(mostly_asked_blocks(plan), plan.sizes, n_clusters, diagonal=diagonal)


def usable_among(asked: BoolArray, sizes: IntArray, n_clusters: int, *, diagonal: bool = False) -> BoolArray:
    """These blocks without the diagonal ones whose diagonal is neither known nor follows."""
    usable = asked.copy()
    if not diagonal:
        usable[np.diag_indices_from(usable)] &= completes_its_diagonal(sizes, n_clusters)
    return usable


def mostly_asked_blocks(plan: QueryPlan) -> BoolArray:
    """The blocks of which at least half of the pairs are asked, whole or listed: others are not relied on."""
    if not len(plan.unaskable) and not len(plan.listed):
        return plan.asked
    return np.asarray(plan.covered & (2 * plan.asked_pairs >= pairs_in_blocks(plan.sizes)))


def asked_share_of_blocks(plan: QueryPlan) -> FloatArray:
    """(L, L): the share of each block's pairs that is asked; one for a block asked whole, unaskable pairs or not."""
    return np.asarray(np.where(plan.asked, 1.0, plan.asked_pairs / np.maximum(pairs_in_blocks(plan.sizes), 1)))


def sharing_graph(usable: BoolArray) -> sp.csr_array:
    """Which groups share a usable column group, as a sparse (L, L) matrix of counts without its diagonal."""
    asked = sp.csr_array(usable.astype(np.int64))
    shared = (asked @ asked).tocsr()
    shared.setdiag(0)
    shared.eliminate_zeros()
    shared.sort_indices()
    return shared


def sharing_components(usable: BoolArray) -> IntArray:
    """The component of the sharing graph that each group is in."""
    _, component = connected_components(sharing_graph(usable), directed=False)
    return np.asarray(component, dtype=np.int64)


def is_connected_by_sharing(usable: BoolArray) -> bool:
    """Whether the sharing graph connects all groups, and each of them has a usable block."""
    return bool(usable.any(axis=1).all() and (sharing_components(usable) == 0).all())
