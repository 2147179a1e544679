"""How commands speak: results on stdout, progress and warnings on stderr."""

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from bequec.core.progress import Progress

SECONDS_OF_A_DAY = 86_400.0
SECONDS_BETWEEN_LINES = 60.0


def say(text: str) -> None:
    """A line of result."""
    typer.echo(text)


def say_json(value: object) -> None:
    """A result for programs; JSON has no infinity and no NaN: such a number is null."""
    typer.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def warn(text: str) -> None:
    """A word of caution."""
    typer.echo(f"bequec: {text}", err=True)


def say_table(columns: list[str], rows: list[list[str]], *, title: str | None = None, n_keys: int = 1) -> None:
    """A small table; the first column is text, the others are numbers.

    Numbers are never cut off: where a terminal is too narrow for all columns, they come in two parts, each with the
    first ``n_keys``.
    """
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False)
    n_values = len(columns) - n_keys
    if n_values > 1 and Measurement.get(console, console.options.update(width=10**6), table).minimum > console.width:
        half = n_keys + (n_values + 1) // 2
        say_table(columns[:half], [row[:half] for row in rows], title=title, n_keys=n_keys)
        rest = [[*row[:n_keys], *row[half:]] for row in rows]
        say_table([*columns[:n_keys], *columns[half:]], rest, n_keys=n_keys)
    else:
        console.print(table)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Shows a bar on stderr while the work lasts."""
    from rich import progress as rich_progress
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:  # in a log a bar would leave empty lines
        yield _progress_lines()
        return
    bar = rich_progress.Progress(
        rich_progress.TextColumn("{task.description}"),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        speed_estimate_period=SECONDS_OF_A_DAY,  # steps differ in length: the mean of all is the best guess
    )
    tasks: dict[str, Any] = {}

    def show(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total)
        bar.update(tasks[what], completed=done, total=total)

    with bar:
        yield show


def _progress_lines() -> Progress:
    """Says in a line how far the work is and about how long it will take, once a minute."""
    said = time.monotonic()
    began: dict[str, float] = {}

    def show(what: str, done: int, total: int) -> None:
        nonlocal said
        now = time.monotonic()
        began.setdefault(what, now)
        if now - said > SECONDS_BETWEEN_LINES:
            said = now
            left = f", about {math.ceil((now - began[what]) / done * (total - done) / 60)} min left" if done else ""
            warn(f"{what}: {done} of {total}{left}")

    return show
