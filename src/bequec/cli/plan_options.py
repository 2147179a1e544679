"""What the options of `bequec plan` mean: blocks, costs, budgets and pairs that cannot be asked."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bequec.core.errors import PlanError

if TYPE_CHECKING:
    import pandas as pd

    from bequec.advise.preview import AnswerModel
    from bequec.plan.money.budget import Budget, CostSheet
    from bequec.plan.query_plan import QueryPlan


def read_blocks(texts: list[str] | None) -> list[tuple[str, str]]:
    """Blocks written as GROUP,GROUP."""
    blocks = []
    for text in texts or []:
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 2 or not all(parts):
            raise typer.BadParameter(f"--also {text!r} is not a block; write two group names, e.g. --also 0,3")
        blocks.append((parts[0], parts[1]))
    return blocks


def read_costs(path: Path | None) -> "pd.DataFrame | None":
    """A table of costs: square with the groups' names on both sides, or rows group, group, cost."""
    if path is None:
        return None
    from bequec.core.tables import read_table

    return read_table(path)


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


def read_budget(
    text: str | None,
    *,
    seconds_per_pair: float | None,
    hourly_pay: float | None,
    pay_per_answer: float | None,
    fee: float,
    answers_per_pair: float,
    hours_per_day: float,
) -> "Budget | None":
    """A budget as people write it."""
    from bequec.plan.money.budget import Budget

    if text is None:
        given = {"--seconds-per-pair": seconds_per_pair, "--hourly-pay": hourly_pay, "--pay-per-answer": pay_per_answer}
        useless = [option for option, value in {**given, "--fee": fee or None}.items() if value is not None]
        if useless:
            raise typer.BadParameter(
                f"{', '.join(useless)} say what a budget buys; say --budget, too, e.g. --budget 40h"
            )
        return None
    try:
        return Budget.parse(
            text,
            seconds_per_pair=seconds_per_pair,
            hourly_pay=hourly_pay,
            pay_per_answer=pay_per_answer,
            platform_fee=fee,
            answers_per_pair=answers_per_pair,
            hours_per_day=hours_per_day,
        )
    except PlanError as reason:  # what is wrong is how it was written
        raise typer.BadParameter(str(reason)) from reason


def read_guess(
    error_rate: str | None,
    confusion: float | None,
    balance: float | None,
    mixing: float | None,
    answers_per_pair: float,
) -> "AnswerModel":
    """What answers to expect; what is not said is typical."""
    from bequec.advise.preview import AnswerModel

    typical = AnswerModel()
    false_no, false_yes = typical.false_no, typical.false_yes
    if error_rate is not None:
        try:
            rates = [float(part) for part in error_rate.split(",")]
        except ValueError as reason:
            raise typer.BadParameter(f"--error-rate {error_rate!r} cannot be read; write 0.1, or 0.2,0.05") from reason
        if len(rates) > 2:
            raise typer.BadParameter(f"--error-rate {error_rate!r} has {len(rates)} rates; write 0.1, or 0.2,0.05")
        false_no, false_yes = rates[0], rates[-1]
    if answers_per_pair != round(answers_per_pair) or answers_per_pair < 1:
        raise typer.BadParameter(f"a preview needs a whole number of answers per pair, got {answers_per_pair:g}")
    if confusion is None:
        confusion = max(typical.confusion, false_yes) if error_rate is None else false_yes
    return AnswerModel(
        false_no=false_no,
        false_yes=false_yes,
        confusion=confusion,
        balance=typical.balance if balance is None else balance,
        mixing=typical.mixing if mixing is None else mixing,
        answers_per_pair=round(answers_per_pair),
    )


def cost_sheets(plan: "QueryPlan", budget: "Budget", costs: "pd.DataFrame | None") -> "dict[str, CostSheet]":
    """What the plan costs, and what asking every pair would, or every pair that prices allow."""
    import numpy as np

    from bequec.plan.money.prices import check_cost, plan_cost
    from bequec.plan.query_plan import pairs_in_blocks

    if costs is None:
        return {
            "plan": budget.sheet(plan.n_pairs),
            "all pairs": budget.sheet(plan.n_nodes * (plan.n_nodes - 1) // 2),
        }
    prices = check_cost(costs, [plan.group_name(l) for l in range(plan.n_groups)])
    allowed = np.triu(np.isfinite(prices))
    everything = float(prices[allowed] @ pairs_in_blocks(plan.sizes)[allowed])
    return {"plan": budget.sheet(plan_cost(plan, prices)), "all allowed pairs": budget.sheet(everything)}


def told_costs(sheets: "dict[str, CostSheet]", *, with_prices: bool) -> list[str]:
    """The cost sheets as lines of text."""
    lines = []
    for what, sheet in sheets.items():
        parts = [f"{sheet.pairs:,.0f} {'ordinary pairs' if with_prices else 'pairs'}"]
        if sheet.answers != sheet.pairs:
            parts.append(f"{sheet.answers:,.0f} answers")
        if sheet.hours is not None:
            parts.append(f"{sheet.hours:,.1f} hours")
        if sheet.money is not None:
            parts.append(f"{sheet.money:,.2f} in money")
        lines.append(f"cost of {what}: {', '.join(parts)}")
    return lines
