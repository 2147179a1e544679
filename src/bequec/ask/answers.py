"""The answers: a plan and what came back."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from bequec.ask.checks import check_counts, refuse_above, refuse_more_yes_than_answers
from bequec.ask.pair_counts import (
    minus_asked,
    once_each,
    single_pairs_once,
    stored_in_blocks,
    stored_values,
    sum_by_block,
    totals_at,
    unanswered_where_unaskable,
)
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import AnswersError
from bequec.plan.groups import pairs_in_blocks
from bequec.plan.query_plan import QueryPlan

if TYPE_CHECKING:
    import os

    import pandas as pd

    from bequec.ask.answer_table import AnswerTable
    from bequec.ask.counting import Reading


@dataclass(frozen=True, eq=False, repr=False)
class Answers:
    """How many answers each asked pair got, and how many of them said yes.

    Built by ``ask_graph``, ``Answers.from_counts``, ``from_table``, ``from_sorts`` and ``from_tables``. Inside, rows
    and columns are in group order (``plan.order``), so that a block is a slice.

    Attributes
    ----------
    plan : QueryPlan
    yes : (N, N) sparse symmetric array
        Yes answers, zero wherever nothing was asked: ``yes @ V`` sums over exactly the asked pairs.
    baseline : {0, 1}
        How many answers a pair of a block asked whole got unless ``correction`` says otherwise. It does not count
        for listed pairs outside these blocks.
    correction : (N, N) sparse symmetric array or None
        Answers of each asked pair beyond that: with baseline 1, −1 where a pair of an asked block is unanswered, +1
        where it was answered twice; and always +1 where a listed pair was answered once. None when zero everywhere.
    diagonal : bool
        Whether the diagonal of the asked diagonal blocks was observed, too. If not, it is *unknown*.
    table : AnswerTable or None
        Every answer as it came: who said what, and when; ``reading`` says how it was counted. None for graphs and
        counts.

    The plan's unaskable pairs are unanswered, whatever the baseline.
    """

    plan: QueryPlan
    yes: sp.csr_array
    baseline: int = 1
    correction: sp.csr_array | None = None
    diagonal: bool = False
    table: "AnswerTable | None" = None
    reading: "Reading | None" = None

    def __post_init__(self) -> None:
        yes = self.yes.copy()
        yes.eliminate_zeros()
        yes.sort_indices()
        yes.data.flags.writeable = False
        object.__setattr__(self, "yes", yes)
        if self.baseline and len(self.plan.unaskable):
            object.__setattr__(self, "correction", unanswered_where_unaskable(self.correction, self.plan))

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
        yes = check_counts(yes, plan, "yes")
        if total is None:
            refuse_above(yes, 1.0, plan, "give total=, the number of answers of each pair")
            return cls.each_once(plan, yes)
        total = check_counts(total, plan, "total")
        refuse_more_yes_than_answers(yes, total, plan)
        return cls.from_totals(plan, yes, total)

    @classmethod
    def from_totals(
        cls,
        plan: QueryPlan,
        yes: sp.csr_array,
        total: sp.csr_array,
        table: "AnswerTable | None" = None,
        reading: "Reading | None" = None,
    ) -> Self:
        """Answers from checked counts in group order; stores whatever is sparser about the totals."""
        n_in_blocks = total.nnz
        if len(plan.single_pairs):
            n_in_blocks -= int((total.data[~stored_in_blocks(total, plan)] != 0).sum())
        if n_in_blocks <= plan.numbers_per_block.sum():  # at most half of the pairs, each stored twice
            return cls(plan, yes, baseline=0, correction=total, table=table, reading=reading)
        return cls(plan, yes, baseline=1, correction=minus_asked(total, plan), table=table, reading=reading)

    @classmethod
    def each_once(cls, plan: QueryPlan, yes: sp.csr_array, *, diagonal: bool = False) -> Self:
        """Answers from checked yes in group order, where every pair that can be asked was answered exactly once."""
        return cls(plan, yes, int(plan.asked.any()), single_pairs_once(plan), diagonal)

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

    @classmethod
    def from_sorts(
        cls,
        table: "pd.DataFrame | str | os.PathLike[str]",
        plan: QueryPlan,
        *,
        outside: Literal["error", "drop"] = "error",
    ) -> "Answers":
        """Answers from piles of items: ``sorts`` of ``bequec.ask.tables.answers_from_tables``."""
        return cls.from_tables(plan, sorts=table, outside=outside)

    @classmethod
    def from_tables(
        cls,
        plan: QueryPlan,
        *,
        answers: "pd.DataFrame | str | os.PathLike[str] | None" = None,
        sorts: "pd.DataFrame | str | os.PathLike[str] | None" = None,
        unsure: Literal["unanswered", "half"] = "unanswered",
        outside: Literal["error", "drop"] = "error",
    ) -> "Answers":
        """Answers to pairs and sorts together: see ``bequec.ask.tables.answers_from_tables``."""
        from bequec.ask.tables import answers_from_tables

        return answers_from_tables(plan, answers=answers, sorts=sorts, unsure=unsure, outside=outside)

    def to_table(self) -> "pd.DataFrame":
        """One row per answered pair: left, right, label (the share of yes) and n_answers."""
        from bequec.ask.tables import answers_to_table

        return answers_to_table(self)

    def without_workers(self, names: Iterable[str]) -> "Answers":
        """The answers of everybody but these workers; a name that nobody has is an error."""
        from bequec.ask.counting import without_workers

        return without_workers(self, names)

    # --- blocks ------------------------------------------------------------------------------------------

    def block(self, l: int, m: int) -> sp.csr_array:
        """Yes answers between group l (rows) and group m (columns): the paper's A_lm."""
        if not self.plan.covered[l, m]:
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
        plan = self.plan
        n_pairs = self.baseline * plan.asked * pairs_in_blocks(plan.sizes)
        if self.correction is not None:
            off_diagonal = sum_by_block(once_each(self.correction, plan, self.baseline), plan.sizes)
            off_diagonal[np.diag_indices_from(off_diagonal)] /= 2
            n_pairs += off_diagonal
        return np.rint(n_pairs).astype(np.int64)

    @cached_property
    def share_answered_per_block(self) -> FloatArray:
        """(L, L): the answered share of each block's asked pairs; one where the block holds no pair to answer."""
        return self._share_of(self.plan.asked_pairs)

    @cached_property
    def answered_density_per_block(self) -> FloatArray:
        """(L, L): the answered share of all pairs of each block, asked or not: what scales its sums up to the whole."""
        return self._share_of(pairs_in_blocks(self.plan.sizes))

    def _share_of(self, n_pairs: FloatArray | IntArray) -> FloatArray:
        share = np.where(n_pairs > 0, self.answered_pairs / np.maximum(n_pairs, 1), float(self.diagonal))
        return np.where(self.plan.covered, share, 0.0)

    @cached_property
    def mean_yes(self) -> sp.csr_array:
        """The share of yes among each pair's answers, so that a pair asked twice counts as one."""
        mean = self.yes.copy()
        mean.data = mean.data / self.total_at_yes
        return mean

    def averaged(self) -> "Answers":
        """The same answers with every answered pair counted once, by its mean."""
        return self if self.correction is None else self._averaged

    @cached_property
    def _averaged(self) -> "Answers":
        once = once_each(self.correction, self.plan, self.baseline)
        once.eliminate_zeros()
        return dataclasses.replace(self, yes=self.mean_yes, correction=once if once.nnz else None)

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
        return totals_at(self.yes, self.correction, self.plan, self.baseline)

    def totals_of(self, left: IntArray, right: IntArray) -> FloatArray:
        """How many answers asked pairs of nodes got, the nodes in the caller's order."""
        plan = self.plan
        total = self.baseline * plan.asked[plan.group_of[left], plan.group_of[right]].astype(float)
        if self.correction is not None:
            total += stored_values(self.correction, plan.position_of[left], plan.position_of[right])
        return total

    @property
    def has_similarities(self) -> bool:
        """Whether some answers are neither yes nor no; answers that count more or less than once are not."""
        from bequec.ask.counting import has_similarities

        return has_similarities(self)

    # --- totals ------------------------------------------------------------------------------------------

    @property
    def n_answers(self) -> float:
        """Number of answers."""
        n_corrections = 0.0 if self.correction is None else float(self.correction.sum())
        return self.baseline * int(self.plan.numbers_per_block.sum()) + n_corrections / 2

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
