"""Every answer as it came: who said what of which pair, read once into typed columns."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from bequec.ask.columns import label_text
from bequec.ask.typed_rows import TypedRows
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.plan.query_plan import QueryPlan

CORE = ("left", "right", "label", "n_answers")


@dataclass(frozen=True, eq=False, repr=False)
class AnswerTable(TypedRows):
    """Every answer as it came, one per row.

    Attributes
    ----------
    rows : DataFrame, numbered 0 … n − 1
        ``left`` and ``right`` are indices of nodes; ``label`` is in [0, 1], NaN for "unsure"; ``n_answers`` says
        how many answers a row stands for, NaN where it does not say so: then it is one. Where somebody gave them:
        ``worker`` and ``sheet`` (texts), ``question`` (whole numbers), ``seconds`` (numbers), ``answered_at``
        (instants), and every other column as texts. Texts are stored by their distinct values (``category``);
        what was not said is missing. Where sorts were counted, ``sorted`` (booleans) says which rows are pairs of a
        sort: ``sheet`` and ``worker`` are then the screen that both items were on.

    Examples
    --------
    >>> from bequec import Answers, QueryPlan
    >>> said = pd.DataFrame({"left": ["ann"], "right": ["eve"], "label": ["same"], "worker": ["w1"]})
    >>> table = Answers.from_table(said, QueryPlan([0, 0], [(0, 0)], names=["ann", "eve"])).table
    >>> table
    AnswerTable(1 rows: left, right, label, n_answers, worker)
    >>> table.left.tolist(), table.label.tolist()
    ([0], [1.0])
    """

    @classmethod
    def of(
        cls,
        left: IntArray,
        right: IntArray,
        label: FloatArray,
        n_answers: FloatArray | None = None,
        further: dict[str, Any] | None = None,
    ) -> Self:
        """A table of these columns; ``further`` holds those beyond the first four, of the types stated above."""
        n_answers = np.full(len(left), np.nan) if n_answers is None else n_answers
        core = dict(zip(CORE, (left, right, label, n_answers), strict=True))
        return cls(pd.DataFrame({**core, **(further or {})}, copy=False))

    @property
    def left(self) -> IntArray:
        """The one node of each pair."""
        return np.asarray(self.rows["left"])

    @property
    def right(self) -> IntArray:
        """The other node of each pair."""
        return np.asarray(self.rows["right"])

    @property
    def label(self) -> FloatArray:
        """What was said: 1 for same, 0 for different, a similarity between, NaN for unsure."""
        return np.asarray(self.rows["label"])

    @property
    def n_answers(self) -> FloatArray:
        """How many answers each row stands for."""
        stated = np.asarray(self.rows["n_answers"])
        return np.where(np.isnan(stated), 1.0, stated)

    @property
    def says_n_answers(self) -> BoolArray:
        """Which rows say how many answers they stand for."""
        return np.asarray(self.rows["n_answers"].notna())

    @property
    def is_from_sort(self) -> BoolArray:
        """Which rows are pairs of a sort, and not answers to the pair itself."""
        marked = self.rows.get("sorted")
        is_marked = marked is not None and marked.dtype == bool  # a file's own column of this name is text
        return np.asarray(marked) if is_marked else np.zeros(len(self), dtype=bool)

    def describe(self, row: int, plan: QueryPlan) -> str:
        """Which answer a row is, for an error message."""
        pair = plan.name(self.left[row]), plan.name(self.right[row])
        return ", ".join([*self.marks(row, ("sheet", "worker", "question")), f"pair ({pair[0]}, {pair[1]})"])

    def to_frame(self, plan: QueryPlan) -> pd.DataFrame:
        """The rows as they are written in files: names for nodes, "same", "different" and "unsure" for labels."""
        codes, values = pd.factorize(self.label, use_na_sentinel=False)
        labels = pd.Index([label_text(value) for value in values], dtype="str")
        written = {column: self.named(column, plan) for column in ("left", "right")}
        silent = [] if self.says_n_answers.any() else ["n_answers"]
        return self.rows.drop(columns=silent).assign(**written, label=pd.Categorical.from_codes(codes, labels))


EMPTY = AnswerTable.of(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))  # nobody said anything
