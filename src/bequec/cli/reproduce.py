"""bequec reproduce: the paper's tables and figures."""

from pathlib import Path
from typing import Annotated

import typer

from bequec.cli.say import progress_bar, say, say_json, say_table, warn


def reproduce(
    what: Annotated[
        str, typer.Argument(help="A table (1 … 12, in the paper's order), a figure (fig1 … fig4), or all.")
    ],
    trials: Annotated[int | None, typer.Option(min=1, help="Trials per cell; 20 by default.")] = None,
    sizes: Annotated[str | None, typer.Option(help="Graph sizes of the synthetic tables, e.g. 2000,4000.")] = None,
    methods: Annotated[
        str | None, typer.Option(help="Only these, e.g. bequec-paper,spacl,bequec; rivals as the paper ran them.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first trial; each further one has the next.")] = 0,
    out: Annotated[Path, typer.Option(help="The folder for finished trials and results.")] = Path("reproduced"),
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Table 6: flip one triangle only, as the published experiment does.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Say it for programs: one record per cell and metric.")] = False,
) -> None:
    """Reproduce a table or figure of the paper, beside its printed figures.

    A run that was stopped goes on where it was. Example: bequec reproduce 3 --sizes 2000 --trials 3
    """
    from bequec.paper.catalogue import TABLES
    from bequec.paper.output import as_json, layout, legend, problems
    from bequec.paper.reproduce import reproduce as run
    from bequec.paper.reproduce import wrong_choice
    from bequec.paper.table import Options

    options = Options(
        None if sizes is None else tuple(_sizes(sizes)),
        None if methods is None else tuple(dict.fromkeys(name.strip() for name in methods.split(","))),
        as_published,
    )
    problem = wrong_choice(what, options, trials)
    if problem:
        raise typer.BadParameter(problem)
    with progress_bar() as show:
        found = run(what, out, options=options, n_trials=trials, seed=seed, progress=show)
    for reason in found.missing:
        warn(f"missing: {reason}")
    if json:
        cells = [record for records in found.tables.values() for record in as_json(records)]
        say_json(cells if found.tables else [{"picture": str(path)} for path in found.pictures])
        return
    for name, records in found.tables.items():
        heads, rows = layout(records)
        n_keys = 2 if heads[1] == "metric" else 1
        say_table(heads, rows, title=f"Table {name}: {TABLES[name].title}", n_keys=n_keys)
        say(legend(records))
        for reason in problems(records):
            say(f"missing: {reason}")
        table = TABLES[name]
        say(table.note_as_published if table.is_as_published(options) else table.note)
        if table.note_as_published and not as_published:
            say(f"as published: bequec reproduce {name} --as-published")
    for path in found.pictures:
        say(f"→ {path}")
    if found.tables:
        say(f"→ {out} (CSV, Markdown, settings, finished trials)")


def _sizes(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) >= 100 for part in parts):
        raise typer.BadParameter(f"--sizes {text!r} must be whole numbers of at least 100, e.g. 2000,4000")
    return list(dict.fromkeys(int(part) for part in parts))
