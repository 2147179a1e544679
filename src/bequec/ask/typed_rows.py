"""Rows of files, read once into typed columns: what tables of answers and tables of sorts share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd

from bequec.ask.columns import text_column
from bequec.core.arrays import BoolArray, IntArray
from bequec.plan.query_plan import QueryPlan


@dataclass(frozen=True, eq=False, repr=False)
class TypedRows:
    """A data frame whose columns have stated types, its rows numbered 0 … n − 1."""

    rows: pd.DataFrame

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} rows: {', '.join(self.rows.columns)})"

    def __len__(self) -> int:
        return len(self.rows)

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

    def take(self, rows: IntArray | BoolArray) -> Self:
        """Some of the rows."""
        return type(self)(self.rows.iloc[rows].reset_index(drop=True))

    def named(self, column: str, plan: QueryPlan) -> pd.Categorical:
        """A column of nodes by their names, as files have them."""
        names = pd.Index([str(plan.name(node)) for node in range(plan.n_nodes)], dtype="str")
        return pd.Categorical.from_codes(self.rows[column], names)

    def marks(self, row: int, columns: Sequence[str]) -> list[str]:
        """What these columns say of a row, for an error message; what they do not say is left out."""
        said = ((column, self.texts(column)[row]) for column in columns if column in self.rows)
        return [f"{column} {text}" for column, text in said if pd.notna(text)]


Rows = TypeVar("Rows", bound=TypedRows)


def concatenated(tables: Sequence[Rows]) -> Rows:
    """The rows of all tables; a column that has different types in two of them becomes text."""
    if len(tables) == 1:
        return tables[0]
    columns = dict.fromkeys(column for table in tables for column in table.rows.columns)
    return type(tables[0])(pd.DataFrame({column: _joined(tables, column) for column in columns}, copy=False))


def _joined(tables: Sequence[Rows], column: str) -> Any:
    types = {str(table.rows[column].dtype) for table in tables if column in table.rows}
    if len(types) > 1 or types == {"category"}:
        return pd.api.types.union_categoricals([table.texts(column) for table in tables])
    model = next(table.rows[column].iloc[:0] for table in tables if column in table.rows)
    parts = [table.rows.get(column, model.reindex(table.rows.index)) for table in tables]
    return pd.concat(parts, ignore_index=True)
