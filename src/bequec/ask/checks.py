"""Checks that every matrix of answers passes before any work."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from bequec.core.errors import AnswersError
from bequec.plan.query_plan import QueryPlan


def check_matrix(matrix: Any, plan: QueryPlan, what: str, *, largest: float) -> sp.csr_array:
    """A (N, N) sparse or dense matrix as a sparse one: finite, between 0 and ``largest``, symmetric."""
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
        if matrix.ndim != 2:
            raise AnswersError(f"{what} must be a square matrix, got an array of shape {matrix.shape}")
    if matrix.shape != (plan.n_nodes, plan.n_nodes):
        raise AnswersError(
            f"{what} has shape {matrix.shape}, but the plan has {plan.n_nodes} nodes; "
            f"give a ({plan.n_nodes}, {plan.n_nodes}) matrix in the plan's node order"
        )
    if matrix.dtype.kind not in "buif":
        raise AnswersError(f"{what} must hold numbers, got values of type {matrix.dtype}")
    matrix = sp.csr_array(matrix, dtype=np.float64)
    matrix.sum_duplicates()
    _check_values(matrix, plan, what, largest)
    _check_symmetric(matrix, plan, what)
    return matrix


def check_counts(matrix: Any, plan: QueryPlan, what: str) -> sp.csr_array:
    """Checked counts in group order; anything outside the plan is an error."""
    matrix = check_matrix(matrix, plan, what, largest=np.inf)
    refuse_unaskable(matrix, plan, what)
    inside, n_outside, n_self = asked_entries(matrix, plan)
    if n_outside:
        raise AnswersError(
            f"{what} has {n_outside} entries outside the asked pairs; "
            "an unasked pair cannot have an answer: remove them, or plan for their blocks (also=)"
        )
    if n_self:
        raise AnswersError(f"{what} has {n_self} entries on its diagonal: a self-pair is not a question; remove them")
    return inside


def refuse_above(matrix: sp.csr_array, largest: float, plan: QueryPlan, remedy: str) -> None:
    """An error that names the pair with the most yes, if that is more than ``largest``."""
    if matrix.nnz and matrix.data.max() > largest:
        at = matrix.tocoo()
        worst = at.data.argmax()
        i, j = plan.order[at.row[worst]], plan.order[at.col[worst]]
        raise AnswersError(f"pair ({plan.name(i)}, {plan.name(j)}) has {at.data[worst]:g} yes; {remedy}")


def refuse_more_yes_than_answers(yes: sp.csr_array, total: sp.csr_array, plan: QueryPlan) -> None:
    """An error that names the pair with the largest excess of yes over answers."""
    excess = (yes - total).tocoo()
    if excess.nnz and excess.data.max() > 1e-12:
        at = excess.data.argmax()
        i, j = plan.order[excess.row[at]], plan.order[excess.col[at]]
        raise AnswersError(
            f"pair ({plan.name(i)}, {plan.name(j)}) has {excess.data[at]:g} more yes than answers; "
            "total counts all answers, yes and no together"
        )


def _check_values(matrix: sp.csr_array, plan: QueryPlan, what: str, largest: float) -> None:
    values = matrix.data
    for wrong, is_what, remedy in (
        (np.isnan(values), "is NaN", "leave unknown pairs out, or pass a dense array with NaN to BeQuec.fit"),
        (np.isinf(values), "is infinite", "use finite values"),
        (values < 0, "is negative", "answers are counts or similarities of at least 0"),
        (values > largest, f"is above {largest:g}", "scale the similarities to [0, 1]"),
    ):
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            i, j = int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])
            raise AnswersError(
                f"{what}[{i}, {j}] = {values[at]:g} (nodes {plan.name(i)} and {plan.name(j)}) {is_what}; {remedy}"
            )


def _check_symmetric(matrix: sp.csr_array, plan: QueryPlan, what: str) -> None:
    difference = (matrix - matrix.T).tocoo()
    wrong = np.abs(difference.data) > 1e-12
    if wrong.any():
        i, j = int(difference.row[wrong][0]), int(difference.col[wrong][0])
        raise AnswersError(
            f"{what} is not symmetric: {what}[{i}, {j}] = {matrix[i, j]:g} but {what}[{j}, {i}] = {matrix[j, i]:g} "
            f"(nodes {plan.name(i)} and {plan.name(j)}); a pair has one answer, e.g. use maximum({what}, {what}.T)"
        )


def asked_entries(matrix: sp.csr_array, plan: QueryPlan, *, diagonal: bool = False) -> tuple[sp.csr_array, int, int]:
    """The entries at asked pairs, in group order; how many were outside, and on the diagonal.

    Entries on the diagonal are kept only with ``diagonal=True``, those of unaskable pairs never.
    """
    entries = matrix.tocoo()
    stored = entries.data != 0
    row, column, data = entries.row[stored], entries.col[stored], entries.data[stored]
    on_diagonal = row == column
    inside = plan.asked[plan.group_of[row], plan.group_of[column]]
    if len(plan.listed):
        inside |= plan.listed_index.holds(row.astype(np.int64), column.astype(np.int64))
    kept = inside & (~on_diagonal | diagonal)
    if len(plan.unaskable):
        kept &= ~plan.cannot_be_asked(row.astype(np.int64), column.astype(np.int64))
    positions = plan.position_of[row[kept]], plan.position_of[column[kept]]
    ordered = sp.csr_array((data[kept], positions), shape=matrix.shape)
    ordered.sort_indices()
    return ordered, int((~inside & ~on_diagonal).sum()), int(on_diagonal.sum())


def refuse_unaskable(matrix: sp.csr_array, plan: QueryPlan, what: str) -> None:
    """A pair that cannot be asked cannot have an answer."""
    if not len(plan.unaskable):
        return
    entries = matrix.tocoo()
    wrong = plan.cannot_be_asked(entries.row.astype(np.int64), entries.col.astype(np.int64)) & (entries.data != 0)
    if wrong.any():
        i, j = int(entries.row[wrong][0]), int(entries.col[wrong][0])
        raise AnswersError(
            f"{what} has an entry for the pair ({plan.name(i)}, {plan.name(j)}), which the plan lists as one that "
            "cannot be asked; remove the entry, or plan without listing the pair (unaskable=)"
        )
