"""bequec plan: which pairs to ask."""

from pathlib import Path
from typing import Annotated

import typer

from bequec.cli.say import say, say_json
from bequec.errors import PlanError


def plan(
    items: Annotated[str, typer.Argument(help="A folder of images, a table of items (CSV, Parquet), or a number.")],
    clusters: Annotated[int, typer.Option("-k", "--clusters", help="How many clusters to look for.")],
    study: Annotated[Path, typer.Option(help="The folder to keep the study in.")] = Path("study"),
    pattern: Annotated[str, typer.Option(help="diagonal, random, reference or spread.")] = "diagonal",
    groups: Annotated[
        int | None, typer.Option(help="How many groups; by default about 20 % of the pairs are asked.")
    ] = None,
    group_column: Annotated[
        str | None, typer.Option(help="The column of the table that names each item's group, e.g. village.")
    ] = None,
    references: Annotated[int | None, typer.Option(help="Pattern reference: how many reference groups.")] = None,
    degree: Annotated[int | None, typer.Option(help="Pattern spread: blocks per group.")] = None,
    also: Annotated[list[str] | None, typer.Option(help="A further block to ask, as GROUP,GROUP.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random groups.")] = 0,
    overwrite: Annotated[bool, typer.Option(help="Replace a study that has no answers yet.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Say it for programs.")] = False,
) -> None:
    """Plan which pairs to ask, and start a study.

    Example: bequec plan photos/ -k 5 --study dogs
    """
    from bequec.cli.items import read_items
    from bequec.look.terminal import draw_mask
    from bequec.plan.planning import plan_queries
    from bequec.study import Study

    table = read_items(items, study)
    if group_column is not None and group_column not in table:
        raise PlanError(f"{items} has no column {group_column!r}; its columns are {', '.join(table.columns)}")
    made = plan_queries(
        len(table),
        clusters,
        n_groups=groups,
        pattern=pattern,
        groups=None if group_column is None else table[group_column].tolist(),
        names=None if items.isdecimal() and not Path(items).exists() else table["name"].tolist(),
        n_references=references,
        degree=degree,
        also=[_block(text) for text in also or []],
        random_state=seed,
    )
    Study.create(study, made, table, clusters, overwrite=overwrite)
    if json:
        say_json(
            {
                "study": str(study),
                "n_nodes": made.n_nodes,
                "n_groups": made.n_groups,
                "n_blocks": len(made.blocks),
                "n_pairs": made.n_pairs,
                "share_asked": made.share_asked,
            }
        )
        return
    say(draw_mask(made))
    say(
        f"{made.n_nodes} items in {made.n_groups} groups{_why(groups, group_column, made.share_asked)}, pattern "
        f"{pattern}: {made.n_pairs:,} pairs to ask, {100 * made.share_asked:.1f} % of all → {study}"
    )
    say(f"next: bequec ask {study} --sheets 120")


def _why(groups: int | None, group_column: str | None, share: float) -> str:
    """How the number of groups came about, if nobody said it."""
    if groups is not None or group_column is not None:
        return ""
    if share > 0.25:
        return " (the default: more groups would be so small that some miss a cluster)"
    return " (the default: about 20 % of the pairs)"


def _block(text: str) -> tuple[str, str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise PlanError(f"--also {text!r} is not a block; write two group names, e.g. --also 0,3")
    return parts[0], parts[1]
