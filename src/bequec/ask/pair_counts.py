"""Numbers of answers as sparse (N, N) matrices in group order: what blocks and single pairs contribute to them."""

import numpy as np
import scipy.sparse as sp

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.plan.query_plan import QueryPlan


def single_pairs_once(plan: QueryPlan) -> sp.csr_array | None:
    """One at every listed pair outside the blocks asked whole; None without such pairs."""
    if not len(plan.single_pairs):
        return None
    return _at_pairs(plan, plan.single_pairs.left, plan.single_pairs.right, 1.0)


def stored_in_blocks(matrix: sp.csr_array, plan: QueryPlan) -> BoolArray:
    """Which stored entries of a matrix are in blocks asked whole, in the order of ``matrix.data``."""
    group = np.repeat(np.arange(plan.n_groups), plan.sizes)
    in_blocks: BoolArray = plan.asked[np.repeat(group, np.diff(matrix.indptr)), group[matrix.indices]]
    return in_blocks


def stored_values(matrix: sp.csr_array, rows: IntArray, columns: IntArray) -> FloatArray:
    """The entries of a sparse matrix at these places; zero where none is stored."""
    picked = matrix[rows, columns]  # scipy gives a sparse or a dense array
    return np.asarray(picked.todense() if sp.issparse(picked) else picked, dtype=float).ravel()


def baseline_at(matrix: sp.csr_array, plan: QueryPlan, baseline: int) -> FloatArray | int:
    """The baseline of each stored entry of a matrix in group order: zero outside the blocks asked whole."""
    if not baseline or not len(plan.single_pairs):
        return baseline
    return baseline * stored_in_blocks(matrix, plan).astype(float)


def once_each(correction: sp.csr_array, plan: QueryPlan, baseline: int) -> sp.csr_array:
    """The correction that counts every answered pair once."""
    once = sp.csr_array(correction, copy=True)
    before = baseline_at(once, plan, baseline)
    once.data = np.where(once.data + before > 0, 1.0, 0.0) - before
    return once


def totals_at(yes: sp.csr_array, correction: sp.csr_array | None, plan: QueryPlan, baseline: int) -> FloatArray:
    """How many answers the pairs with a yes got, in the order of ``yes.data``."""
    if correction is None:
        return np.full(yes.nnz, float(baseline))
    has_yes, before = yes.copy(), yes.copy()
    has_yes.data = np.ones_like(has_yes.data)
    before.data = baseline_at(yes, plan, baseline) * has_yes.data
    total = (before + correction.multiply(has_yes)).tocsr()
    total.sort_indices()
    return np.asarray(total.data)


def sum_by_block(matrix: sp.csr_array, sizes: IntArray) -> FloatArray:
    """(L, L): the sum of a sparse (N, N) matrix over each block of groups of these sizes."""
    n = matrix.shape[0]
    in_group = sp.csr_array((np.ones(n), np.repeat(np.arange(len(sizes)), sizes), np.arange(n + 1)))
    sums: FloatArray = (in_group.T @ matrix @ in_group).toarray()
    return sums


def minus_asked(total: sp.csr_array, plan: QueryPlan) -> sp.csr_array | None:
    """Total − 1 on the pairs of asked blocks and total on single pairs, sparse; None when that is zero everywhere."""
    rows, columns, values = [], [], []
    if len(plan.single_pairs):
        outside, entries = ~stored_in_blocks(total, plan), total.tocoo()
        rows, columns, values = [entries.row[outside]], [entries.col[outside]], [entries.data[outside]]
    for l, m in plan.blocks.tolist():
        difference = total[plan.span(l)][:, plan.span(m)].toarray() - 1.0
        if l == m:
            np.fill_diagonal(difference, 0.0)
        at = np.nonzero(difference)
        value = difference[at]
        row, column = at[0] + plan.starts[l], at[1] + plan.starts[m]
        rows.append(row)
        columns.append(column)
        values.append(value)
        if l != m:
            rows.append(column)
            columns.append(row)
            values.append(value)
    if not sum(map(len, values)):
        return None
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array(entries, shape=(plan.n_nodes, plan.n_nodes))


def unanswered_where_unaskable(correction: sp.csr_array | None, plan: QueryPlan) -> sp.csr_array:
    """The correction to a baseline of one, −1 at every pair of an asked block that cannot be asked."""
    left, right = plan.unaskable[plan.asked[tuple(plan.group_of[plan.unaskable].T)]].T
    unanswered = _at_pairs(plan, left, right, -1.0)
    if correction is None:
        return unanswered
    return (correction + unanswered - correction.multiply(unanswered != 0)).tocsr()


def _at_pairs(plan: QueryPlan, left: IntArray, right: IntArray, value: float) -> sp.csr_array:
    """A value at pairs of nodes, both ways round."""
    i, j = plan.position_of[left], plan.position_of[right]
    both_ways = np.concatenate([i, j]), np.concatenate([j, i])
    return sp.csr_array((np.full(2 * len(i), value), both_ways), shape=(plan.n_nodes, plan.n_nodes))
