"""bequec plan: which pairs to ask."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bequec.cli.choices import Pattern, Picture, Refine
from bequec.cli.say import say, say_json
from bequec.core.errors import PlanError

if TYPE_CHECKING:
    import pandas as pd

    from bequec.plan.money.budget import Budget


def plan(
    items: Annotated[
        str | None, typer.Argument(help="A folder of images, a table of items (CSV, Parquet), or a number.")
    ] = None,
    clusters: Annotated[
        int | None, typer.Option("-k", "--clusters", min=2, help="How many clusters to look for.")
    ] = None,
    study: Annotated[Path, typer.Option(help="The folder to keep the study in.")] = Path("study"),
    pattern: Annotated[Pattern, typer.Option(help="Which blocks to ask.")] = "diagonal",
    groups: Annotated[
        int | None, typer.Option(help="How many groups; by default about 20 % of the pairs are asked.")
    ] = None,
    group_column: Annotated[
        str | None, typer.Option(help="The column of the table that names each item's group, e.g. village.")
    ] = None,
    references: Annotated[int | None, typer.Option(help="Pattern reference: how many reference groups.")] = None,
    degree: Annotated[int | None, typer.Option(help="Pattern spread: blocks per group.")] = None,
    cost: Annotated[
        Path | None,
        typer.Option(
            help="Pattern cheapest: a table of prices per pair, square by group or group,group,cost; "
            "empty or inf: cannot be asked."
        ),
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option(help="A further block to ask, as GROUP,GROUP, also a forbidden one.")
    ] = None,
    unaskable: Annotated[
        Path | None, typer.Option(help="A table of pairs of items that cannot be asked: left, right.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(rich_help_panel="Budget", help="80000 (pairs), 40h, 5d, 81.60usd or '$81.60'.")
    ] = None,
    seconds_per_pair: Annotated[
        float | None, typer.Option(rich_help_panel="Budget", help="How long one answer takes.")
    ] = None,
    hourly_pay: Annotated[
        float | None, typer.Option(rich_help_panel="Budget", help="What an hour of answering is paid.")
    ] = None,
    pay_per_answer: Annotated[
        float | None, typer.Option(rich_help_panel="Budget", help="What one answer is paid.")
    ] = None,
    fee: Annotated[
        float, typer.Option(rich_help_panel="Budget", help="The platform's fee as a share of the pay, 0.2 for 20 %.")
    ] = 0.0,
    answers_per_pair: Annotated[
        float, typer.Option(rich_help_panel="Budget", help="How many people answer each pair.")
    ] = 1.0,
    hours_per_day: Annotated[float, typer.Option(rich_help_panel="Budget", help="Working hours of a day.")] = 8.0,
    extend: Annotated[
        Path | None, typer.Option(help="Add questions to this study; the budget is for the new ones.")
    ] = None,
    preview: Annotated[
        bool,
        typer.Option(
            "--preview", rich_help_panel="Preview", help="Simulate what accuracy to expect, and start no study yet."
        ),
    ] = False,
    error_rate: Annotated[
        str | None,
        typer.Option(rich_help_panel="Preview", help="How often people err: one rate, or FALSE_NO,FALSE_YES."),
    ] = None,
    confusion: Annotated[
        float | None,
        typer.Option(rich_help_panel="Preview", help="How often the two most alike clusters are called the same."),
    ] = None,
    balance: Annotated[
        float | None, typer.Option(rich_help_panel="Preview", help="Largest over smallest cluster (1).")
    ] = None,
    mixing: Annotated[
        float | None,
        typer.Option(rich_help_panel="Preview", help="0: one cluster per item (default), 0.2 mostly pure, 1 mixed."),
    ] = None,
    refine: Annotated[
        Refine | None,
        typer.Option(rich_help_panel="Preview", help="The refinement to learn with; subspace by default."),
    ] = None,
    tree: Annotated[bool, typer.Option("--tree", help="Show in which order the groups are tied together.")] = False,
    pictures: Annotated[
        Picture | None, typer.Option(help="Draw mask and stitching tree into the study, in this format.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random groups.")] = 0,
    overwrite: Annotated[bool, typer.Option(help="Replace a study that has no answers yet.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Say it for programs.")] = False,
) -> None:
    """Plan which pairs to ask, and start a study.

    Example: bequec plan photos/ -k 5 --study dogs --budget 80000
    """
    from bequec.cli.plan_options import read_blocks, read_budget, read_costs, read_guess

    affordable = read_budget(
        budget,
        seconds_per_pair=seconds_per_pair,
        hourly_pay=hourly_pay,
        pay_per_answer=pay_per_answer,
        fee=fee,
        answers_per_pair=answers_per_pair,
        hours_per_day=hours_per_day,
    )
    costs = read_costs(cost)
    of_preview = {"--error-rate": error_rate, "--confusion": confusion, "--balance": balance, "--mixing": mixing}
    useless = [option for option, value in {**of_preview, "--refine": refine}.items() if value is not None]
    if useless and not preview:
        raise typer.BadParameter(f"{', '.join(useless)}: only with --preview")
    if extend is not None:
        of_new_plans = {
            "-k": clusters,
            "--study": None if study == Path("study") else study,
            "--pattern": None if pattern == "diagonal" else pattern,
            "--groups": groups,
            "--group-column": group_column,
            "--references": references,
            "--degree": degree,
            "--unaskable": unaskable,
            "--preview": preview or None,
            "--tree": tree or None,
            "--overwrite": overwrite or None,
        }
        useless = [option for option, value in of_new_plans.items() if value is not None]
        if useless:
            raise typer.BadParameter(f"{', '.join(useless)}: for new plans; an extended one keeps what it has")
        _extend(extend, items, affordable, costs, read_blocks(also), pictures, json=json)
        return
    if items is None or clusters is None:
        what = "argument ITEMS (what to plan for)" if items is None else "option -k (how many clusters to look for)"
        raise typer.BadParameter(f"Missing {what}; e.g. bequec plan photos/ -k 5")
    wish = _wish(items, study, group_column, unaskable)
    table = wish.pop("items")
    wish |= {
        "n_clusters": clusters,
        "n_groups": groups,
        "pattern": pattern,
        "n_references": references,
        "degree": degree,
        "cost": costs,
        "also": read_blocks(also),
        "budget": affordable,
        "random_state": seed,
    }
    if preview:
        from bequec.cli.plan_said import say_preview

        guess = read_guess(error_rate, confusion, balance, mixing, answers_per_pair)
        learner = None if refine == "none" else refine or "subspace"
        say_preview(wish, guess, learner, study, pictures, json=json)
        return
    from bequec.cli.plan_said import draw_plan, numbers, say_costs, say_if_small, say_mask, say_tree
    from bequec.plan.planning import plan_queries
    from bequec.study.folder import Study

    made = plan_queries(**wish)
    Study.create(study, made, table, clusters, overwrite=overwrite)
    if pictures is not None:
        draw_plan(study, made, costs, clusters, pictures)
    if json:
        say_json({"study": str(study), "pattern": pattern, **numbers(made, affordable, costs)})
        return
    say_mask(made, costs)
    if tree:
        say_tree(made, clusters)
    why = _why(groups, group_column, affordable, made.share_asked)
    say(
        f"{made.n_nodes} items in {made.n_groups} groups{why}, pattern "
        f"{pattern}: {made.n_pairs:,} pairs to ask, {100 * made.share_asked:.1f} % of all → {study}"
    )
    say_costs(made, affordable, costs, budget, hours_per_day)
    if group_column is None:
        say_if_small(made, clusters)
    say(f"next: bequec ask {study} --sheets 120")


def _wish(items: str, study: Path, group_column: str | None, unaskable: Path | None) -> dict[str, Any]:
    """What the items say about the plan: how many, their names and groups, and the pairs that cannot be asked."""
    import numpy as np

    from bequec.cli.plan_options import read_unaskable
    from bequec.study.items import read_items

    table = read_items(items, study)
    if group_column is not None and group_column not in table:
        raise PlanError(f"{items} has no column {group_column!r}; its columns are {', '.join(table.columns)}")
    if group_column is not None:
        empty = np.flatnonzero(table[group_column].isna() | (table[group_column].astype(str).str.strip() == ""))
        if len(empty):
            at = int(empty[0])
            raise PlanError(
                f"{items}, row {at + 1}: the {group_column} of {table['name'].iloc[at]!r} is empty "
                f"({len(empty)} such rows); say in the column {group_column} which group every item is in"
            )
    return {
        "items": table,
        "n_nodes": len(table),
        "groups": None if group_column is None else table[group_column].tolist(),
        "names": None if items.isdecimal() and not Path(items).exists() else table["name"].tolist(),
        "unaskable": read_unaskable(unaskable),
    }


def _extend(
    folder: Path,
    items: str | None,
    budget: "Budget | None",
    costs: "pd.DataFrame | None",
    also: list[tuple[str, str]],
    pictures: str | None,
    *,
    json: bool,
) -> None:
    """Add questions to a study without touching those already asked."""
    from bequec.cli.plan_said import draw_plan, drawn_endings, numbers, say_mask
    from bequec.plan.extension import extend_plan
    from bequec.study.folder import Study

    if items is not None:
        raise typer.BadParameter(f"--extend {folder} keeps the study's items; leave {items} out")
    opened = Study.open(folder)
    earlier = opened.plan
    extended = extend_plan(earlier, opened.n_clusters, budget=budget, cost=costs, also=also)
    opened.extend(extended)
    for ending in sorted({*drawn_endings(folder), *([] if pictures is None else [pictures])}):
        draw_plan(folder, extended, costs, opened.n_clusters, ending)
    n_new = extended.n_pairs - earlier.n_pairs
    if json:
        say_json({"study": str(folder), "n_new_pairs": n_new, **numbers(extended, budget, costs)})
        return
    say_mask(extended, costs)
    n_blocks = len(extended.blocks) - len(earlier.blocks)
    say(
        f"{n_blocks} new blocks with {n_new:,} pairs: now {extended.n_pairs:,} pairs, "
        f"{100 * extended.share_asked:.1f} % of all → {folder}; earlier questions keep their numbers"
    )
    if opened.dealt_until:
        say("sheets that are out stay valid; the next ones hold only the new questions")
    say(f"next: bequec ask {folder} --sheets 120")


def _why(groups: int | None, group_column: str | None, budget: "Budget | None", share: float) -> str:
    """How the number of groups came about, if nobody said it."""
    if groups is not None or group_column is not None:
        return ""
    if budget is not None:
        return f" (the fewest for a budget of {budget.affordable_pairs:,} pairs)"
    if share > 0.25:
        return " (the default: more groups would be so small that some miss a cluster)"
    return " (the default: about 20 % of the pairs)"
