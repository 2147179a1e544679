"""Every answer as it came: who said what of which pair, read once into typed columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from bequec.ask.columns import label_text, text_column
from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.plan.query_plan import QueryPlan

CORE = ("left", "right", "label", "n_answers")


@dataclass(frozen=True, eq=False, repr=False)
class AnswerTable:
    """Every answer as it came, one per row.

    Attributes
    ----------
    rows : DataFrame, numbered 0 … n − 1
        ``left`` and ``right`` are indices of nodes; ``label`` is in [0, 1], NaN for "unsure"; ``n_answers`` says
        how many answers a row stands for, NaN where it does not say so: then it is one. Where somebody gave them:
        ``worker`` and ``sheet`` (texts), ``question`` (whole numbers), ``seconds`` (numbers), ``answered_at``
        (instants), and every other column as texts. Texts are stored by their distinct values (``category``);
        what was not said is missing.

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

    rows: pd.DataFrame

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

    def __repr__(self) -> str:
        return f"AnswerTable({len(self)} rows: {', '.join(self.rows.columns)})"

    def __len__(self) -> int:
        return len(self.rows)

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

    def texts(self, column: str) -> pd.Categorical:
        """A column as texts; all missing where there is no such column."""
        if column not in self.rows:
            return pd.Categorical.from_codes(np.full(len(self), -1), pd.Index([], dtype="str"))
        values = self.rows[column]
        is_text = isinstance(values.dtype, pd.CategoricalDtype)
        return values.array if is_text else text_column(values)

    def largest_sheet(self) -> int:
        """The largest number of a sheet, 0 if no sheet has one."""
        return max((int(name) for name in self.texts("sheet").categories if name.isdecimal()), default=0)

    def take(self, rows: IntArray | BoolArray) -> "AnswerTable":
        """Some of the rows."""
        return AnswerTable(self.rows.iloc[rows].reset_index(drop=True))

    def with_answers(self, label: FloatArray, n_answers: FloatArray) -> "AnswerTable":
        """The same rows with other answers; of ``n_answers``, NaN says nothing."""
        return AnswerTable(self.rows.assign(label=label, n_answers=n_answers))

    def describe(self, row: int, plan: QueryPlan) -> str:
        """Which answer a row is, for an error message."""
        marks = [
            f"{column} {self.texts(column)[row]}"
            for column in ("sheet", "worker", "question")
            if column in self.rows and pd.notna(self.rows[column].iloc[row])
        ]
        pair = plan.name(self.left[row]), plan.name(self.right[row])
        return ", ".join([*marks, f"pair ({pair[0]}, {pair[1]})"])

    def to_frame(self, plan: QueryPlan) -> pd.DataFrame:
        """The rows as they are written in files: names for nodes, "same", "different" and "unsure" for labels."""
        names = pd.Index([str(plan.name(node)) for node in range(plan.n_nodes)], dtype="str")
        codes, values = pd.factorize(self.label, use_na_sentinel=False)
        labels = pd.Index([label_text(value) for value in values], dtype="str")
        written = {name: pd.Categorical.from_codes(self.rows[name], names) for name in ("left", "right")}
        silent = [] if self.says_n_answers.any() else ["n_answers"]
        return self.rows.drop(columns=silent).assign(**written, label=pd.Categorical.from_codes(codes, labels))


def concatenated(tables: Sequence[AnswerTable]) -> AnswerTable:
    """The rows of all tables; a column that has different types in two of them becomes text."""
    if len(tables) == 1:
        return tables[0]
    columns = dict.fromkeys(column for table in tables for column in table.rows.columns)
    return AnswerTable(pd.DataFrame({column: _joined(tables, column) for column in columns}, copy=False))


def _joined(tables: Sequence[AnswerTable], column: str) -> Any:
    types = {str(table.rows[column].dtype) for table in tables if column in table.rows}
    if len(types) > 1 or types == {"category"}:
        return pd.api.types.union_categoricals([table.texts(column) for table in tables])
    model = next(table.rows[column].iloc[:0] for table in tables if column in table.rows)
    parts = [table.rows.get(column, model.reindex(table.rows.index)) for table in tables]
    return pd.concat(parts, ignore_index=True)
