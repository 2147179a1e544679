"""bequec plan: which pairs to ask."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bequec.cli import plan_flags as flags
from bequec.cli.plan_options import BudgetOptions, PreviewOptions, Shown, read_blocks
from bequec.cli.say import say, say_json

if TYPE_CHECKING:
    import pandas as pd

    from bequec.plan.money.budget import Budget

OF_PREVIEW = {"error_rate", "confusion", "balance", "mixing", "refine"}
OF_NEW_PLANS = {"clusters", "study", "pattern", "groups", "group_column", "references", "degree", "unaskable"} | {
    "preview",
    "tree",
    "seed",
    "overwrite",
}


def plan(
    context: typer.Context,
    items: flags.Items = None,
    clusters: flags.Clusters = None,
    study: flags.StudyFolder = Path("study"),
    pattern: flags.PatternName = "diagonal",
    groups: flags.Groups = None,
    group_column: flags.GroupColumn = None,
    references: flags.References = None,
    degree: flags.Degree = None,
    cost: flags.CostFile = None,
    also: flags.Also = None,
    unaskable: flags.UnaskableFile = None,
    budget: flags.BudgetText = None,
    seconds_per_pair: flags.SecondsPerPair = None,
    hourly_pay: flags.HourlyPay = None,
    pay_per_answer: flags.PayPerAnswer = None,
    fee: flags.Fee = 0.0,
    answers_per_pair: flags.AnswersPerPair = 1.0,
    hours_per_day: flags.HoursPerDay = 8.0,
    extend: flags.Extend = None,
    preview: flags.Preview = False,
    error_rate: flags.ErrorRate = None,
    confusion: flags.Confusion = None,
    balance: flags.Balance = None,
    mixing: flags.Mixing = None,
    refine: flags.RefineWith = None,
    tree: flags.Tree = False,
    pictures: flags.Pictures = None,
    seed: flags.Seed = 0,
    overwrite: flags.Overwrite = False,
    json: flags.Json = False,
) -> None:
    """Plan which pairs to ask, and start a study.

    Example: bequec plan photos/ -k 5 --study dogs --budget 80000
    """
    paid = BudgetOptions(budget, seconds_per_pair, hourly_pay, pay_per_answer, fee, answers_per_pair, hours_per_day)
    expected = PreviewOptions(error_rate, confusion, balance, mixing, answers_per_pair, refine)
    shown = Shown(tree, pictures, json)
    affordable = paid.read()
    if not preview:
        _refuse(context, OF_PREVIEW, "only with --preview")
    if extend is not None:
        _refuse(context, OF_NEW_PLANS, "for new plans; an extended one keeps what it has")
        _extend(extend, items, affordable, cost, read_blocks(also), shown)
        return
    if items is None or clusters is None:
        what = "argument ITEMS (what to plan for)" if items is None else "option -k (how many clusters to look for)"
        raise typer.BadParameter(f"Missing {what}; e.g. bequec plan photos/ -k 5")
    table, arguments = _plan_arguments(items, study, group_column, unaskable, cost)
    arguments |= {"n_clusters": clusters, "n_groups": groups, "pattern": pattern, "n_references": references}
    arguments |= {"degree": degree, "also": read_blocks(also), "budget": affordable, "random_state": seed}
    if preview:
        _preview(arguments, expected, study, shown)
    else:
        _start(arguments, table, study, paid, shown, overwrite=overwrite)


def _refuse(context: typer.Context, options: set[str], why: str) -> None:
    """Options that were given and mean nothing here are wrong usage."""
    useless = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in options and _is_given(context, parameter.name)
    ]
    if useless:
        raise typer.BadParameter(f"{', '.join(useless)}: {why}")


def _is_given(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _plan_arguments(
    items: str, study: Path, group_column: str | None, unaskable: Path | None, cost: Path | None
) -> tuple["pd.DataFrame", dict[str, Any]]:
    """The items, and what the files say about the plan: how many, names and groups, prices, unaskable pairs."""
    from bequec.cli.plan_options import group_labels, read_prices, read_unaskable
    from bequec.study.items import read_items

    table = read_items(items, study)
    labels = None if group_column is None else group_labels(table, group_column, items)
    return table, {
        "n_nodes": len(table),
        "groups": labels,
        "names": None if items.isdecimal() and not Path(items).exists() else table["name"].tolist(),
        "unaskable": read_unaskable(unaskable),
        "cost": read_prices(cost, labels),
    }


def _preview(arguments: dict[str, Any], expected: PreviewOptions, study: Path, shown: Shown) -> None:
    """Simulate what accuracy to expect; no study is started."""
    from bequec.cli.plan_said import say_preview

    say_preview(arguments, expected.answer_model(), expected.learner, study, shown)


def _start(
    arguments: dict[str, Any], table: "pd.DataFrame", study: Path, paid: BudgetOptions, shown: Shown, *, overwrite: bool
) -> None:
    """Plan, and start the study."""
    from bequec.cli.plan_said import draw_plan, numbers, say_costs, say_if_small, say_mask, say_tree
    from bequec.plan.planning import plan_queries
    from bequec.study.folder import Study

    n_clusters, pattern = arguments["n_clusters"], arguments["pattern"]
    budget, prices = arguments["budget"], arguments["cost"]
    made = plan_queries(**arguments)
    Study.create(study, made, table, n_clusters, overwrite=overwrite)
    if shown.pictures is not None:
        draw_plan(study, made, prices, n_clusters, shown.pictures)
    if shown.json:
        say_json({"study": str(study), "pattern": pattern, **numbers(made, budget, prices)})
        return
    say_mask(made, prices)
    if shown.tree:
        say_tree(made, n_clusters)
    say(
        f"{made.n_nodes} items in {made.n_groups} groups{_why(arguments, made.share_asked)}, pattern "
        f"{pattern}: {made.n_pairs:,} pairs to ask, {100 * made.share_asked:.1f} % of all → {study}"
    )
    say_costs(made, budget, prices, paid)
    if arguments["groups"] is None:
        say_if_small(made, n_clusters)
    say(f"next: bequec ask {study} --sheets 120")


def _extend(
    folder: Path,
    items: str | None,
    budget: "Budget | None",
    cost: Path | None,
    also: list[tuple[str, str]],
    shown: Shown,
) -> None:
    """Add questions to a study without touching those already asked."""
    from bequec.cli.plan_options import read_prices
    from bequec.cli.plan_said import draw_plan, drawn_endings, numbers, say_mask
    from bequec.plan.extension import extend_plan
    from bequec.study.folder import Study

    if items is not None:
        raise typer.BadParameter(f"--extend {folder} keeps the study's items; leave {items} out")
    opened = Study.open(folder)
    earlier = opened.plan
    prices = read_prices(cost, [earlier.group_name(l) for l in range(earlier.n_groups)])
    extended = extend_plan(earlier, opened.n_clusters, budget=budget, cost=prices, also=also)
    opened.extend(extended)
    for ending in sorted({*drawn_endings(folder), *([] if shown.pictures is None else [shown.pictures])}):
        draw_plan(folder, extended, prices, opened.n_clusters, ending)
    n_new = extended.n_pairs - earlier.n_pairs
    if shown.json:
        say_json({"study": str(folder), "n_new_pairs": n_new, **numbers(extended, budget, prices)})
        return
    say_mask(extended, prices)
    n_blocks = len(extended.blocks) - len(earlier.blocks)
    say(
        f"{n_blocks} new blocks with {n_new:,} pairs: now {extended.n_pairs:,} pairs, "
        f"{100 * extended.share_asked:.1f} % of all → {folder}; earlier questions keep their numbers"
    )
    if opened.dealt_until:
        say("sheets that are out stay valid; the next ones hold only the new questions")
    say(f"next: bequec ask {folder} --sheets 120")


def _why(arguments: dict[str, Any], share: float) -> str:
    """How the number of groups came about, if nobody said it."""
    if arguments["n_groups"] is not None or arguments["groups"] is not None:
        return ""
    if arguments["budget"] is not None:
        return f" (the fewest for a budget of {arguments['budget'].affordable_pairs:,} pairs)"
    if share > 0.25:
        return " (the default: more groups would be so small that some miss a cluster)"
    return " (the default: about 20 % of the pairs)"
