"""What `bequec plan` says and draws about a plan."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bequec.cli.hints import in_options
from bequec.cli.plan_options import BudgetOptions, Shown
from bequec.cli.say import progress_bar, say, say_json, say_table

if TYPE_CHECKING:
    from bequec.advise.preview import AnswerModel, Expectation
    from bequec.core.arrays import FloatArray
    from bequec.plan.money.budget import Budget, CostSheet
    from bequec.plan.money.prices import Prices
    from bequec.plan.query_plan import QueryPlan


def numbers(plan: "QueryPlan", budget: "Budget | None", prices: "Prices | None") -> dict[str, Any]:
    """A plan in numbers, for programs."""
    told: dict[str, Any] = {
        "n_nodes": plan.n_nodes,
        "n_groups": plan.n_groups,
        "n_blocks": len(plan.blocks),
        "n_pairs": plan.n_pairs,
        "share_asked": plan.share_asked,
    }
    if budget is not None:
        told["costs"] = {what: vars(sheet) for what, sheet in cost_sheets(plan, budget, prices).items()}
    return told


def say_mask(plan: "QueryPlan", prices: "Prices | None") -> None:
    """The mask as text."""
    from bequec.look.terminal import draw_mask

    say(draw_mask(plan, prices=_per_pair(prices)))
    if prices is not None:
        say("darker: more expensive, ×: cannot be asked")


def say_costs(plan: "QueryPlan", budget: "Budget | None", prices: "Prices | None", paid: BudgetOptions) -> None:
    """The cost sheet."""
    if budget is None:
        return
    for line in told_costs(cost_sheets(plan, budget, prices), with_prices=prices is not None):
        say(line)
    if budget.hours is not None and paid.budget is not None and "d" in paid.budget:
        say(f"{paid.budget} are {budget.hours:g} hours: {paid.hours_per_day:g} a day (--hours-per-day)")


def cost_sheets(plan: "QueryPlan", budget: "Budget", prices: "Prices | None") -> "dict[str, CostSheet]":
    """What the plan costs, and what asking every pair would, or every pair that prices allow."""
    import numpy as np

    from bequec.plan.groups import pairs_among, pairs_in_blocks
    from bequec.plan.money.prices import plan_cost

    if prices is None:
        return {
            "plan": budget.sheet(plan.n_pairs),
            "all pairs": budget.sheet(pairs_among(plan.n_nodes)),
        }
    allowed = np.triu(prices.allowed)
    everything = float(prices.per_pair[allowed] @ pairs_in_blocks(plan.sizes)[allowed])
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


def say_if_small(plan: "QueryPlan", n_clusters: int) -> None:
    """A word of caution where drawn groups are so small that some of them miss a cluster."""
    from bequec.plan.pattern_choice import size_that_meets_all

    smallest = int(plan.sizes.min())
    if plan.n_groups > 1 and smallest < size_that_meets_all(n_clusters, plan.n_groups):
        say(f"groups of {smallest} items are small for {n_clusters} clusters: some may miss one; see --preview")


def draw_plan(folder: Path, plan: "QueryPlan", prices: "Prices | None", n_clusters: int, ending: str) -> None:
    """The mask and the stitching tree as pictures; `bequec look` draws another mask, of the answers."""
    from bequec.look.plots import plot_mask, plot_stitching_tree, save_picture
    from bequec.plan.mask.sharing import usable_blocks

    pictures = {"plan_mask": plot_mask(plan, prices=_per_pair(prices))}
    if plan.sizes.min() >= n_clusters:  # smaller groups grow from a seed: there is no stitching tree
        pictures["stitching_tree"] = plot_stitching_tree(plan, usable_blocks(plan, n_clusters))
    for name, picture in pictures.items():
        save_picture(picture, folder / "pictures" / f"{name}.{ending}")


def drawn_endings(folder: Path) -> list[str]:
    """The formats in which the plan was drawn before."""
    return sorted(path.suffix[1:] for path in (folder / "pictures").glob("plan_mask.*"))


def say_tree(plan: "QueryPlan", n_clusters: int) -> None:
    """The stitching tree as text."""
    from bequec.look.terminal import draw_tree
    from bequec.plan.mask.sharing import usable_blocks

    if plan.sizes.min() >= n_clusters:
        say("stitching tree:\n" + draw_tree(plan, usable_blocks(plan, n_clusters)))


def say_preview(
    arguments: dict[str, Any], model: "AnswerModel", refine: str | None, folder: Path, shown: Shown
) -> None:
    """Simulate, and show what the budget buys."""
    from bequec.advise.preview import preview

    seed = arguments["random_state"]
    with progress_bar() as show:
        by_budget, by_pattern = preview(arguments, model, refine=refine, random_state=seed, progress=show)
    if shown.pictures is not None:
        from bequec.look.plots import plot_budget_accuracy, save_picture

        path = folder / "pictures" / f"budget_accuracy.{shown.pictures}"
        save_picture(plot_budget_accuracy(by_budget, by_pattern), path)
    if shown.json:
        say_json({"budget": [_told(one) for one in by_budget], "pattern": [_told(one) for one in by_pattern]})
    else:
        _say_expectations(by_budget, by_pattern)
        _say_what_was_simulated(arguments["n_nodes"], model)


def _say_expectations(by_budget: "list[Expectation]", by_pattern: "list[Expectation]") -> None:
    from bequec.look.terminal import draw_curve

    for title, rows in (("what the budget buys", by_budget), ("patterns for the same budget", by_pattern)):
        if len(rows) == 1:
            continue  # prices leave no other pattern to compare with
        say_table(["", "pairs", "accuracy", "± spread", "runs"], [_row(one) for one in rows], title=title)
    shown = [*by_budget, *by_pattern[1:]]
    say(draw_curve([one.name for one in shown], [one.mean for one in shown]))
    for one in (*by_budget, *by_pattern):
        if one.why_not:
            say(in_options(f"{one.name}: {one.why_not}"))


def _say_what_was_simulated(n_nodes: int, model: "AnswerModel") -> None:
    from bequec.advise.preview import MOST_NODES_SIMULATED

    if n_nodes > MOST_NODES_SIMULATED:
        say(
            f"simulated with about {MOST_NODES_SIMULATED} of the {n_nodes:,} items and the same blocks: "
            "each item has fewer answers there than in the real study, so these figures are cautious"
        )
    say(
        f"simulated people call {100 * model.false_no:g} % of the same different, {100 * model.false_yes:g} % of "
        f"the different the same ({100 * model.confusion:g} % between the two most alike clusters)"
    )


def _per_pair(prices: "Prices | None") -> "FloatArray | None":
    return None if prices is None else prices.per_pair


def _row(one: "Expectation") -> list[str]:
    if not one.accuracies:
        return [one.name, "", "does not fit", "", ""]
    spread = "" if math.isnan(one.spread) else f"{100 * one.spread:.1f}"
    return [one.name, f"{one.n_pairs:,}", f"{100 * one.mean:.1f} %", spread, str(len(one.accuracies))]


def _told(one: "Expectation") -> dict[str, Any]:
    told = {"accuracy": one.mean, "spread": one.spread, "cost": one.cost}
    return {"name": one.name, "n_pairs": one.n_pairs, **told, "n_runs": len(one.accuracies), "why_not": one.why_not}
