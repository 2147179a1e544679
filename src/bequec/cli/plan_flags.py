"""The options of `bequec plan`: how they are written, and what each is for."""

from pathlib import Path
from typing import Annotated

import typer

from bequec.cli.choices import Pattern, Picture, Refine

Items = Annotated[str | None, typer.Argument(help="A folder of images, a table of items (CSV, Parquet), or a number.")]
Clusters = Annotated[int | None, typer.Option("-k", "--clusters", min=2, help="How many clusters to look for.")]
StudyFolder = Annotated[Path, typer.Option(help="The folder to keep the study in.")]
PatternName = Annotated[Pattern, typer.Option(help="Which blocks to ask.")]
Groups = Annotated[int | None, typer.Option(help="How many groups; by default about 20 % of the pairs are asked.")]
GroupColumn = Annotated[
    str | None, typer.Option(help="The column of the table that names each item's group, e.g. village.")
]
References = Annotated[int | None, typer.Option(help="Pattern reference: how many reference groups.")]
Degree = Annotated[int | None, typer.Option(help="Pattern spread: blocks per group.")]
CostFile = Annotated[
    Path | None,
    typer.Option(
        help="Pattern cheapest: a table of prices per pair, square by group or group,group,cost; "
        "empty or inf: cannot be asked."
    ),
]
Also = Annotated[list[str] | None, typer.Option(help="A further block to ask, as GROUP,GROUP, also a forbidden one.")]
UnaskableFile = Annotated[
    Path | None, typer.Option(help="A table of pairs of items that cannot be asked: left, right.")
]
Extend = Annotated[Path | None, typer.Option(help="Add questions to this study; the budget is for the new ones.")]
Tree = Annotated[bool, typer.Option("--tree", help="Show in which order the groups are tied together.")]
Pictures = Annotated[Picture | None, typer.Option(help="Draw mask and stitching tree into the study, in this format.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random groups.")]
Overwrite = Annotated[bool, typer.Option(help="Replace a study that has no answers yet.")]
Json = Annotated[bool, typer.Option("--json", help="Say it for programs.")]

BudgetText = Annotated[
    str | None, typer.Option(rich_help_panel="Budget", help="80000 (pairs), 40h, 5d, 81.60usd or '$81.60'.")
]
SecondsPerPair = Annotated[float | None, typer.Option(rich_help_panel="Budget", help="How long one answer takes.")]
HourlyPay = Annotated[float | None, typer.Option(rich_help_panel="Budget", help="What an hour of answering is paid.")]
PayPerAnswer = Annotated[float | None, typer.Option(rich_help_panel="Budget", help="What one answer is paid.")]
Fee = Annotated[
    float, typer.Option(rich_help_panel="Budget", help="The platform's fee as a share of the pay, 0.2 for 20 %.")
]
AnswersPerPair = Annotated[float, typer.Option(rich_help_panel="Budget", help="How many people answer each pair.")]
HoursPerDay = Annotated[float, typer.Option(rich_help_panel="Budget", help="Working hours of a day.")]

Preview = Annotated[
    bool,
    typer.Option(
        "--preview", rich_help_panel="Preview", help="Simulate what accuracy to expect, and start no study yet."
    ),
]
ErrorRate = Annotated[
    str | None,
    typer.Option(rich_help_panel="Preview", help="How often people err: one rate, or FALSE_NO,FALSE_YES."),
]
Confusion = Annotated[
    float | None,
    typer.Option(rich_help_panel="Preview", help="How often the two most alike clusters are called the same."),
]
Balance = Annotated[float | None, typer.Option(rich_help_panel="Preview", help="Largest over smallest cluster (1).")]
Mixing = Annotated[
    float | None,
    typer.Option(rich_help_panel="Preview", help="0: one cluster per item (default), 0.2 mostly pure, 1 mixed."),
]
RefineWith = Annotated[
    Refine | None,
    typer.Option(rich_help_panel="Preview", help="The refinement to learn with; subspace by default."),
]
