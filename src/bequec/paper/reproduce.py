"""Reproduce one table or figure, or all of them, into a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bequec.errors import BequecError
from bequec.files import write_json, write_text
from bequec.paper.catalogue import TABLES
from bequec.paper.figures import FIGURES, draw_figure
from bequec.paper.output import csv_text, markdown_table, page, settings
from bequec.paper.runs import Trials, collect, run_table
from bequec.paper.table import Options, Record

Progress = Callable[[str, int, int], object]


class Reproduced(NamedTuple):
    """The records of each table, and the pictures of each figure."""

    tables: dict[str, list[Record]]
    pictures: list[Path]


def reproduce(
    what: str,
    folder: Path,
    *,
    options: Options | None = None,
    n_trials: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reproduced:
    """Measure what is missing, then write CSV, Markdown and settings of everything that the folder holds.

    Parameters
    ----------
    what : "1" … "12", "fig1" … "fig4", or "all"
    folder : Path
        Where finished trials are kept, and results written.
    options : Options, optional
    n_trials : int, optional
        Trials a cell; 20 by default.
    seed : int
        The first trial's seed; each further trial has the next.
    progress : callable, optional
        Called as ``progress(what, done, total)``.
    """
    names = [*TABLES, *FIGURES] if what == "all" else [what]
    if names[0] not in TABLES and names[0] not in FIGURES:
        raise BequecError(f"there is no {what!r} in the paper; choose one of {', '.join((*TABLES, *FIGURES))}, or all")
    options = options or Options()
    trials = Trials(folder)
    tables = {
        name: run_table(TABLES[name], options, n_trials, seed, trials, progress) for name in names if name in TABLES
    }
    pictures = [path for name in names if name in FIGURES for path in draw_figure(name, folder, seed)]
    if tables:
        _write(folder, tables, trials, options, n_trials, seed)
    return Reproduced(tables, pictures)


def _write(
    folder: Path, tables: dict[str, list[Record]], trials: Trials, options: Options, n_trials: int | None, seed: int
) -> None:
    used = settings(options, n_trials, seed)
    for name, records in tables.items():
        write_text(folder / f"table-{name}.csv", csv_text(records))
        write_text(folder / f"table-{name}.md", markdown_table(TABLES[name], records))
        write_json(folder / f"table-{name}.settings.json", used)
    # The page holds every trial that was ever finished here, also those of other sizes and methods.
    everything = Options(as_published=options.as_published)
    sections = []
    for table in TABLES.values():
        measured = [record for record in collect(table, everything, trials) if record.trials or record.problem]
        if any(record.trials for record in measured):
            sections.append(markdown_table(table, measured))
    write_text(folder / "paper.md", page(sections, used))
