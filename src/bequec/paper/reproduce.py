"""Reproduce one table or figure, or all of them, into a folder."""

from pathlib import Path
from typing import NamedTuple

from bequec.core.errors import BequecError, DataError
from bequec.core.files import write_json, write_text
from bequec.core.progress import Progress
from bequec.paper.catalogue import TABLES
from bequec.paper.figures import FIGURES, draw_figure
from bequec.paper.methods import unknown_methods
from bequec.paper.output import csv_text, markdown_table, page, settings
from bequec.paper.runs import Trials, collect, run_table
from bequec.paper.table import Options, Record


class Reproduced(NamedTuple):
    """The records of each table, the pictures of each figure, and why others of all could not be made."""

    tables: dict[str, list[Record]]
    pictures: list[Path]
    missing: list[str]


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
        Trials per cell; 20 by default.
    seed : int
        The first trial's seed; each further trial has the next.
    progress : callable, optional
        Called as ``progress(what, done, total)``.
    """
    options = options or Options()
    problem = wrong_choice(what, options, n_trials)
    if problem:
        raise BequecError(problem)
    names = [*TABLES, *FIGURES] if what == "all" else [what]
    trials = Trials(folder)
    found = Reproduced({}, [], [])
    for name in names:
        try:
            if name in FIGURES:
                found.pictures.extend(draw_figure(name, folder, seed))
                continue
            found.tables[name] = run_table(TABLES[name], options, n_trials, seed, trials, progress)
        except DataError as reason:
            if what != "all":
                raise
            found.missing.append(f"{name}: {reason}")
        else:
            _write(folder, name, found.tables[name], trials, options, seed)
    return found


def wrong_choice(what: str, options: Options, n_trials: int | None) -> str:
    """What is wrong with a choice of table and options, before any work; empty if nothing is."""
    if what not in (*TABLES, *FIGURES, "all"):
        return f"there is no {what!r} in the paper; choose one of {', '.join((*TABLES, *FIGURES))}, or all"
    tables = [table for name, table in TABLES.items() if what in (name, "all")]
    if wrong := unknown_methods(options.methods or (), [key for table in tables for key in table.only_here]):
        return wrong
    used = frozenset[str]().union(*(table.options_used for table in tables))
    given = options.given | ({"n_trials"} if n_trials is not None else set())
    used |= set() if what in FIGURES else {"n_trials"}
    ignored = [f"{name}=" for name in sorted(given - used)]
    return f"{', '.join(ignored)} changes nothing in {what}; leave it out" if ignored else ""


def _write(folder: Path, name: str, records: list[Record], trials: Trials, options: Options, seed: int) -> None:
    as_published = TABLES[name].is_as_published(options)
    used = settings(records, options, seed)
    stem = f"table-{name}{'-as-published' if as_published else ''}"
    write_text(folder / f"{stem}.csv", csv_text(records))
    write_text(folder / f"{stem}.md", markdown_table(TABLES[name], records, as_published=as_published))
    write_json(folder / f"{stem}.settings.json", used)
    # The page holds every trial that was ever finished here, also those of other sizes and methods.
    sections, is_complete = [], True
    for table in TABLES.values():
        for as_published in (False, True) if "as_published" in table.options_used else (False,):
            everything = collect(table, Options(as_published=as_published), trials)
            measured = with_a_trial(everything)
            if measured:
                sections.append(markdown_table(table, measured, as_published=as_published))
            is_complete = is_complete and all(record.trials or record.problem for record in everything)
    write_text(folder / "paper.md", page(sections, used, is_complete=is_complete))


def with_a_trial(records: list[Record]) -> list[Record]:
    """The rows and columns of which some cell was measured; none if no cell was."""
    if not any(record.trials for record in records):
        return []
    told = [record for record in records if record.trials or record.problem]
    rows, columns = {record.row for record in told}, {record.column for record in told}
    return [record for record in records if record.row in rows and record.column in columns]
