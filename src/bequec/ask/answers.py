"""The answers: a plan and what came back."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from bequec.ask.checks import asked_entries, check_matrix, refuse_unaskable
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import AnswersError
from bequec.plan.query_plan import QueryPlan

if TYPE_CHECKING:
    import os

    import pandas as pd

    from bequec.ask.answer_table import AnswerTable


@dataclass(frozen=True, eq=False, repr=False)
class Answers:
    """How many answers each asked pair got, and how many of them said yes.

    Built by ``ask_graph``, ``Answers.from_counts`` and ``Answers.from_table``. Inside, rows and columns
    are in group order (``plan.order``), so that a block is a slice.

    Attributes
    ----------
    plan : QueryPlan
    yes : (N, N) sparse symmetric array
        Yes answers, zero wherever nothing was asked: ``yes @ V`` sums over exactly the asked blocks.
    baseline : {0, 1}
        How many answers an asked pair got unless ``correction`` says otherwise.
    correction : (N, N) sparse symmetric array or None
        Answers of each asked pair beyond ``baseline``: with baseline 1 it is −1 where an asked pair is
        unanswered and +1 where it was answered twice. None when it is zero everywhere.
    diagonal : bool
        Whether the diagonal of the asked diagonal blocks was observed, too. If not, it is *unknown*.
    table : AnswerTable or None
        Every answer as it came: who said what, and when. None for graphs and counts.

    The plan's unaskable pairs are unanswered, whatever the baseline.
    """

    plan: QueryPlan
    yes: sp.csr_array
    baseline: int = 1
    correction: sp.csr_array | None = None
    diagonal: bool = False
    table: "AnswerTable | None" = None

    def __post_init__(self) -> None:
        yes = self.yes.copy()
        yes.eliminate_zeros()
        yes.sort_indices()
        yes.data.flags.writeable = False
        object.__setattr__(self, "yes", yes)
        if self.baseline and len(self.plan.unaskable):
            object.__setattr__(self, "correction", _unanswered_where_unaskable(self.correction, self.plan))

    def __repr__(self) -> str:
        return (
            f"Answers({self.n_answered_pairs} of {self.plan.n_pairs} asked pairs answered, "
            f"{self.n_answers:g} answers, {100 * self.share_yes:.1f} % yes)"
        )

    # --- constructors ------------------------------------------------------------------------------------

    @classmethod
    def from_counts(cls, plan: QueryPlan, yes: Any, total: Any = None) -> Self:
        """Answers from counts in the caller's node order.

        Parameters
        ----------
        plan : QueryPlan
        yes : (N, N) sparse or dense symmetric array
            How many answers of each pair said yes; similarities between 0 and the total are fine.
        total : (N, N) sparse or dense symmetric array, optional
            How many answers each pair got. None: every pair that can be asked was answered exactly once.
        """
        yes = _counts(yes, plan, "yes")
        if total is None:
            _refuse_above(yes, 1.0, plan, "give total=, the number of answers of each pair")
            return cls(plan, yes)
        total = _counts(total, plan, "total")
        excess = (yes - total).tocoo()
        if excess.nnz and excess.data.max() > 1e-12:
            at = excess.data.argmax()
            i, j = plan.order[excess.row[at]], plan.order[excess.col[at]]
            raise AnswersError(
                f"pair ({plan.name(i)}, {plan.name(j)}) has {excess.data[at]:g} more yes than answers; "
                "total counts all answers, yes and no together"
            )
        return cls.from_totals(plan, yes, total)

    @classmethod
    def from_totals(
        cls, plan: QueryPlan, yes: sp.csr_array, total: sp.csr_array, table: "AnswerTable | None" = None
    ) -> Self:
        """Answers from checked counts in group order; stores whatever is sparser about the totals."""
        if total.nnz <= plan.n_numbers:  # at most half of the pairs, each stored twice
            return cls(plan, yes, baseline=0, correction=total, table=table)
        return cls(plan, yes, baseline=1, correction=_minus_asked(total, plan), table=table)

    @classmethod
    def from_table(
        cls,
        table: "pd.DataFrame | str | os.PathLike[str]",
        plan: QueryPlan,
        *,
        unlisted: Literal["unanswered", "no"] = "unanswered",
        unsure: Literal["unanswered", "half"] = "unanswered",
        outside: Literal["error", "drop"] = "error",
    ) -> "Answers":
        """Answers from a table: see ``bequec.ask.tables.answers_from_table``."""
        from bequec.ask.tables import answers_from_table

        return answers_from_table(table, plan, unlisted=unlisted, unsure=unsure, outside=outside)

    def to_table(self) -> "pd.DataFrame":
        """One row per answered pair: left, right, label (the share of yes) and n_answers."""
        from bequec.ask.tables import answers_to_table

        return answers_to_table(self)

    # --- blocks ------------------------------------------------------------------------------------------

    def block(self, l: int, m: int) -> sp.csr_array:
        """Yes answers between group l (rows) and group m (columns): the paper's A_lm."""
        if not self.plan.asked[l, m]:
            raise AnswersError(
                f"block ({self.plan.group_name(l)}, {self.plan.group_name(m)}) was not asked: "
                "its pairs are unknown, not 'no'"
            )
        return self.yes[self.plan.span(l)][:, self.plan.span(m)]

    def block_totals(self, l: int, m: int) -> FloatArray:
        """How many answers each pair of a block got; zero on an unobserved diagonal."""
        rows, columns = self.plan.span(l), self.plan.span(m)
        asked = float(self.plan.asked[l, m])
        totals = np.full((self.plan.sizes[l], self.plan.sizes[m]), self.baseline * asked)
        if self.correction is not None:
            totals += self.correction[rows][:, columns].toarray()
        if l == m:
            np.fill_diagonal(totals, asked * self.diagonal)
        return totals

    @cached_property
    def answered_pairs(self) -> IntArray:
        """(L, L): how many pairs of each block got an answer (each pair counted once)."""
        n_pairs = self.baseline * self._ordered_pairs()
        if self.correction is not None:
            has_any = self.correction.copy()
            has_any.data = np.where(has_any.data + self.baseline > 0, 1.0, 0.0) - self.baseline
            n_pairs += self.sum_by_block(has_any)
        n_pairs[np.diag_indices_from(n_pairs)] /= 2
        return np.rint(n_pairs).astype(np.int64)

    @cached_property
    def share_answered_per_block(self) -> FloatArray:
        """(L, L): the answered share of each block's pairs; one where an asked block holds no pair to answer."""
        n_pairs = self._ordered_pairs()
        n_pairs[np.diag_indices_from(n_pairs)] /= 2
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(n_pairs > 0, self.answered_pairs / n_pairs, float(self.diagonal))
        return np.where(self.plan.asked, share, 0.0)

    @cached_property
    def mean_yes(self) -> sp.csr_array:
        """The share of yes among each pair's answers, so that a pair asked twice counts as one."""
        mean = self.yes.copy()
        mean.data = mean.data / self.total_at_yes
        return mean

    def averaged(self) -> "Answers":
        """The same answers with every answered pair counted once, by its mean."""
        if self.correction is None:
            return self
        once = self.correction.copy()
        once.data = np.where(once.data + self.baseline > 0, 1.0, 0.0) - self.baseline
        once.eliminate_zeros()
        return Answers(self.plan, self.mean_yes, self.baseline, once if once.nnz else None, self.diagonal, self.table)

    @cached_property
    def answers_per_node(self) -> FloatArray:
        """How many answers each node has, in the caller's order."""
        plan = self.plan
        in_loop = np.repeat(plan.asked.diagonal(), plan.sizes)
        n_answers = self.baseline * (np.repeat(plan.asked @ plan.sizes, plan.sizes) - in_loop).astype(float)
        if self.correction is not None:
            n_answers += np.asarray(self.correction.sum(axis=1)).ravel()
        return np.asarray(n_answers[plan.position_of])

    @cached_property
    def total_at_yes(self) -> FloatArray:
        """How many answers the pairs with a yes got, in the order of ``yes.data``."""
        if self.correction is None:
            return np.full(self.yes.nnz, float(self.baseline))
        has_yes = self.yes.copy()
        has_yes.data = np.ones_like(has_yes.data)
        total = (self.baseline * has_yes + self.correction.multiply(has_yes)).tocsr()
        total.sort_indices()
        return np.asarray(total.data)

    def sum_by_block(self, matrix: sp.csr_array) -> FloatArray:
        """(L, L): the sum of a sparse (N, N) matrix in group order over each block."""
        n = self.plan.n_nodes
        in_group = sp.csr_array(
            (np.ones(n), np.repeat(np.arange(self.plan.n_groups), self.plan.sizes), np.arange(n + 1)),
            shape=(n, self.plan.n_groups),
        )
        sums: FloatArray = (in_group.T @ matrix @ in_group).toarray()
        return sums

    def _ordered_pairs(self) -> FloatArray:
        """(L, L): ordered asked pairs i ≠ j of each block."""
        pairs = np.outer(self.plan.sizes, self.plan.sizes).astype(float)
        pairs[np.diag_indices_from(pairs)] -= self.plan.sizes
        return pairs * self.plan.asked

    # --- totals ------------------------------------------------------------------------------------------

    @property
    def n_answers(self) -> float:
        """Number of answers."""
        n_corrections = 0.0 if self.correction is None else float(self.correction.sum())
        return self.baseline * self.plan.n_numbers + n_corrections / 2

    @property
    def n_answered_pairs(self) -> int:
        """Number of pairs with at least one answer."""
        return int(np.triu(self.answered_pairs).sum())

    @property
    def share_answered(self) -> float:
        """Answered pairs as a share of the asked ones."""
        return self.n_answered_pairs / max(1, self.plan.n_pairs)

    @property
    def share_yes(self) -> float:
        """Yes answers as a share of all answers."""
        n_yes = (self.yes.sum() - self.yes.diagonal().sum()) / 2
        return float(n_yes / self.n_answers) if self.n_answers else 0.0


def _counts(matrix: Any, plan: QueryPlan, what: str) -> sp.csr_array:
    """Checked counts in group order; anything outside the plan is an error."""
    matrix = check_matrix(matrix, plan, what, largest=np.inf)
    refuse_unaskable(matrix, plan, what)
    inside, n_outside, n_self = asked_entries(matrix, plan)
    if n_outside:
        raise AnswersError(
            f"{what} has {n_outside} entries outside the asked blocks; "
            "an unasked pair cannot have an answer: remove them, or plan for their blocks (also=)"
        )
    if n_self:
        raise AnswersError(f"{what} has {n_self} entries on its diagonal: a self-pair is not a question; remove them")
    return inside


def _refuse_above(matrix: sp.csr_array, largest: float, plan: QueryPlan, remedy: str) -> None:
    if matrix.nnz and matrix.data.max() > largest:
        at = matrix.tocoo()
        worst = at.data.argmax()
        i, j = plan.order[at.row[worst]], plan.order[at.col[worst]]
        raise AnswersError(f"pair ({plan.name(i)}, {plan.name(j)}) has {at.data[worst]:g} yes; {remedy}")


def _minus_asked(total: sp.csr_array, plan: QueryPlan) -> sp.csr_array | None:
    """Total − 1 on the asked pairs, sparse; None when that is zero everywhere."""
    rows, columns, values = [], [], []
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


def _unanswered_where_unaskable(correction: sp.csr_array | None, plan: QueryPlan) -> sp.csr_array:
    """The correction to a baseline of one, −1 at every pair of an asked block that cannot be asked."""
    left, right = plan.unaskable[plan.asked[tuple(plan.group_of[plan.unaskable].T)]].T
    i, j = plan.position_of[left], plan.position_of[right]
    shape = (plan.n_nodes, plan.n_nodes)
    both_ways = np.concatenate([i, j]), np.concatenate([j, i])
    unanswered = sp.csr_array((np.full(2 * len(i), -1.0), both_ways), shape=shape)
    if correction is None:
        return unanswered
    return (correction + unanswered - correction.multiply(unanswered != 0)).tocsr()
