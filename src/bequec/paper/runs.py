"""Runs a table's trials; what is finished is kept line by line, so that a run can be interrupted and resumed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bequec import __version__
from bequec.errors import BequecError
from bequec.paper.table import Cell, Options, Record, Table, summarise

Progress = Callable[[str, int, int], object]
FILE = "trials.jsonl"


class Trials:
    """The finished trials of a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.done: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    trial = json.loads(line)
                except ValueError:  # the last line of a run that was stopped while writing it
                    continue
                self.done[trial["key"]] = trial

    def add(self, trial: dict[str, Any]) -> None:
        """Keep a finished trial; one line is one write."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(trial, ensure_ascii=False) + "\n")
        self.done[trial["key"]] = trial

    def of(self, table: Table, cell: Cell, options: Options) -> list[dict[str, Any]]:
        """All finished trials of a cell, whichever run they are from."""
        start = _cell_key(table, cell, options)
        return [trial for key, trial in self.done.items() if key.startswith(start)]


def run_table(
    table: Table, options: Options, n_trials: int | None, seed: int, trials: Trials, progress: Progress | None = None
) -> list[Record]:
    """Measure what is missing and summarise every cell. A method that fails says why in its cell; the others go on."""
    n_trials = table.default_trials if n_trials is None else n_trials
    work = [
        (number, cell)
        for number in range(n_trials)
        for cell in table.cells(options)
        if number < table.trials_of(cell, n_trials) and not table.why_not(cell)
    ]
    wanted: dict[Cell, list[dict[str, Any]]] = {cell: [] for cell in table.cells(options)}
    for done, (number, cell) in enumerate(work):
        if progress is not None:
            progress(f"table {table.name}", done, len(work))
        key = f"{_cell_key(table, cell, options)}{seed + number}"
        if key not in trials.done:
            trials.add({"key": key, **_measure(table, cell, seed + number, options)})
        wanted[cell].append(trials.done[key])
    if progress is not None:
        progress(f"table {table.name}", len(work), len(work))
    return [record for cell, finished in wanted.items() for record in summarise(table, cell, finished)]


def collect(table: Table, options: Options, trials: Trials) -> list[Record]:
    """The records of everything that was ever finished in a folder, without measuring anything."""
    return [
        record for cell in table.cells(options) for record in summarise(table, cell, trials.of(table, cell, options))
    ]


def _measure(table: Table, cell: Cell, seed: int, options: Options) -> dict[str, Any]:
    try:
        return {"values": table.measure(cell, seed, options)}
    except (BequecError, np.linalg.LinAlgError, MemoryError) as reason:
        return {"values": {}, "problem": str(reason) or type(reason).__name__}


def _cell_key(table: Table, cell: Cell, options: Options) -> str:
    published = " as published" if options.as_published else ""
    return f"{__version__} | table {table.name}{published} | {cell.row} | {cell.column} | seed "
