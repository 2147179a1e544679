"""What the options of `bequec plan` mean: blocks, costs, budgets and pairs that cannot be asked."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bequec.core.errors import PlanError

if TYPE_CHECKING:
    import pandas as pd

    from bequec.advise.preview import AnswerModel
    from bequec.plan.money.budget import Budget
    from bequec.plan.money.prices import Prices


def read_blocks(texts: list[str] | None) -> list[tuple[str, str]]:
    """Blocks written as GROUP,GROUP."""
    blocks = []
    for text in texts or []:
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 2 or not all(parts):
            raise typer.BadParameter(f"--also {text!r} is not a block; write two group names, e.g. --also 0,3")
        blocks.append((parts[0], parts[1]))
    return blocks


def group_labels(table: "pd.DataFrame", column: str, items: str) -> list[Any]:
    """The group of every item, from a column of the table of items."""
    import numpy as np

    if column not in table:
        raise PlanError(f"{items} has no column {column!r}; its columns are {', '.join(table.columns)}")
    empty = np.flatnonzero(table[column].isna() | (table[column].astype(str).str.strip() == ""))
    if len(empty):
        at = int(empty[0])
        raise PlanError(
            f"{items}, row {at + 1}: the {column} of {table['name'].iloc[at]!r} is empty "
            f"({len(empty)} such rows); say in the column {column} which group every item is in"
        )
    return list(table[column].tolist())


def read_prices(path: Path | None, labels: Sequence[Hashable] | None) -> "Prices | pd.DataFrame | None":
    """A table of prices, checked once for the groups; while it is not known which there are, as it is."""
    if path is None:
        return None
    from bequec.core.tables import read_table
    from bequec.plan.groups import groups_from_labels
    from bequec.plan.money.prices import Prices

    table = read_table(path)
    return table if labels is None else Prices.read(table, groups_from_labels(labels)[1])


def read_unaskable(path: Path | None) -> list[tuple[str, str]]:
    """Pairs of names: the first two columns of a table, or its columns left and right."""
    if path is None:
        return []
    from bequec.core.tables import read_table

    table = read_table(path)
    columns = ["left", "right"] if {"left", "right"} <= set(table.columns) else list(table.columns[:2])
    if len(columns) < 2:
        raise PlanError(f"{path} has the columns {', '.join(table.columns)}; it needs left and right: a pair a row")
    return list(table[columns].itertuples(index=False, name=None))


@dataclass(frozen=True)
class BudgetOptions:
    """What can be afforded, and what an answer costs."""

    budget: str | None
    seconds_per_pair: float | None
    hourly_pay: float | None
    pay_per_answer: float | None
    fee: float
    answers_per_pair: float
    hours_per_day: float

    def read(self) -> "Budget | None":
        """A budget as people write it."""
        from bequec.plan.money.budget import Budget

        told = {
            "--seconds-per-pair": self.seconds_per_pair,
            "--hourly-pay": self.hourly_pay,
            "--pay-per-answer": self.pay_per_answer,
            "--fee": self.fee or None,
        }
        useless = [option for option, value in told.items() if value is not None]
        if self.budget is None and useless:
            raise typer.BadParameter(
                f"{', '.join(useless)} say what a budget buys; say --budget, too, e.g. --budget 40h"
            )
        if self.budget is None:
            return None
        try:
            return Budget.parse(
                self.budget,
                seconds_per_pair=self.seconds_per_pair,
                hourly_pay=self.hourly_pay,
                pay_per_answer=self.pay_per_answer,
                platform_fee=self.fee,
                answers_per_pair=self.answers_per_pair,
                hours_per_day=self.hours_per_day,
            )
        except PlanError as reason:  # what is wrong is how it was written
            raise typer.BadParameter(str(reason)) from reason


@dataclass(frozen=True)
class PreviewOptions:
    """What answers to expect, and how to learn from them."""

    error_rate: str | None
    confusion: float | None
    balance: float | None
    mixing: float | None
    answers_per_pair: float
    refine: str | None

    @property
    def learner(self) -> str | None:
        """The refinement of the simulated studies."""
        return None if self.refine == "none" else self.refine or "subspace"

    def answer_model(self) -> "AnswerModel":
        """What answers to expect; what is not said is typical."""
        from bequec.advise.preview import AnswerModel

        typical = AnswerModel()
        false_no, false_yes = self._rates(typical.false_no, typical.false_yes)
        if self.answers_per_pair != round(self.answers_per_pair) or self.answers_per_pair < 1:
            raise typer.BadParameter(
                f"a preview needs a whole number of answers per pair, got {self.answers_per_pair:g}"
            )
        confusion = self.confusion
        if confusion is None:
            confusion = max(typical.confusion, false_yes) if self.error_rate is None else false_yes
        return AnswerModel(
            false_no=false_no,
            false_yes=false_yes,
            confusion=confusion,
            balance=typical.balance if self.balance is None else self.balance,
            mixing=typical.mixing if self.mixing is None else self.mixing,
            answers_per_pair=round(self.answers_per_pair),
        )

    def _rates(self, false_no: float, false_yes: float) -> tuple[float, float]:
        text = self.error_rate
        if text is None:
            return false_no, false_yes
        try:
            rates = [float(part) for part in text.split(",")]
        except ValueError as reason:
            raise typer.BadParameter(f"--error-rate {text!r} cannot be read; write 0.1, or 0.2,0.05") from reason
        if len(rates) > 2:
            raise typer.BadParameter(f"--error-rate {text!r} has {len(rates)} rates; write 0.1, or 0.2,0.05")
        return rates[0], rates[-1]


@dataclass(frozen=True)
class Shown:
    """How the plan is shown."""

    tree: bool
    pictures: str | None
    json: bool
