"""Runs a table's trials; what is finished is kept line by line, so that a run can be interrupted and resumed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bequec import __version__
from bequec.core.errors import BequecError, DataError
from bequec.core.files import write_text
from bequec.core.progress import Progress
from bequec.paper.table import Cell, Options, Record, Table, summarise

FILE = "trials.jsonl"


class Trials:
    """The finished trials of a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.done: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            try:
                text = self.path.read_text(encoding="utf-8")
            except UnicodeDecodeError as reason:
                raise BequecError(f"{self.path} is not text ({reason}); delete it, or use another folder") from reason
            whole = text[: text.rfind("\n") + 1]
            if whole != text:  # a run was stopped while it wrote its last line
                write_text(self.path, whole)
            for number, line in enumerate(whole.splitlines(), start=1):
                trial = _read(line, f"{self.path}, line {number}")
                self.done[_key(trial)] = trial

    def add(self, trial: dict[str, Any]) -> None:
        """Keep a finished trial; one line is one write."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(trial, ensure_ascii=False) + "\n")
        self.done[_key(trial)] = trial

    def succeeded(self, which: Mapping[str, Any]) -> bool:
        """Whether a trial is finished; what failed is shown, but tried again."""
        trial = self.done.get(_key(which))
        return trial is not None and not trial.get("problem")

    def finished(self, wanted: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Those of the wanted trials that are finished, or failed."""
        return [self.done[_key(which)] for which in wanted if _key(which) in self.done]

    def by_cell(self, table: Table, options: Options) -> dict[Cell, list[dict[str, Any]]]:
        """All finished trials of a table, whichever run they are from; the table's own cells come first."""
        found: dict[Cell, list[dict[str, Any]]] = {cell: [] for cell in table.cells(options)}
        for trial in self.done.values():
            if trial["table"] == _table_key(table, options):
                found.setdefault(Cell(trial["row"], trial["column"]), []).append(trial)
        return found


def run_table(
    table: Table, options: Options, n_trials: int | None, seed: int, trials: Trials, progress: Progress | None = None
) -> list[Record]:
    """Measure what is missing and summarise every cell. A method that fails says why in its cell; the others go on.

    A cell whose data is not here says so; if none was ever measured, there is no table.
    """
    n_trials = table.default_trials if n_trials is None else n_trials
    cells = table.cells(options)
    wanted = {
        cell: [
            {"table": _table_key(table, options), **cell._asdict(), "seed": seed + number}
            for number in range(0 if table.why_not(cell) else table.trials_of(cell, n_trials))
        ]
        for cell in cells
    }
    # Trial by trial, so that all cells of a graph are measured while it is at hand.
    work = [(cell, which) for cell in cells for which in wanted[cell] if not trials.succeeded(which)]
    work.sort(key=lambda step: step[1]["seed"])
    without_data: dict[Cell, str] = {}
    for done, (cell, which) in enumerate(work):
        if progress is not None:
            progress(f"table {table.name}", done, len(work))
        if cell in without_data:
            continue
        try:
            trials.add({**which, **_measure(table, cell, which["seed"], options)})
        except DataError as reason:
            if not any(trials.succeeded(trial) for others in wanted.values() for trial in others):
                raise
            without_data[cell] = f"data not here: {reason}"
    if progress is not None:
        progress(f"table {table.name}", len(work), len(work))
    return [
        record
        for cell in cells
        for record in summarise(table, cell, trials.finished(wanted[cell]), without_data.get(cell, ""))
    ]


def _read(line: str, where: str) -> dict[str, Any]:
    try:
        trial = json.loads(line)
        _key(trial), trial["values"].items()
    except (ValueError, TypeError, KeyError, AttributeError) as reason:
        raise BequecError(f"{where} is not a finished trial; delete that line, or use another folder") from reason
    return dict(trial)


def collect(table: Table, options: Options, trials: Trials) -> list[Record]:
    """The records of everything that was ever finished in a folder, without measuring anything."""
    cells = trials.by_cell(table, options)
    return [record for cell, finished in cells.items() for record in summarise(table, cell, finished)]


def _measure(table: Table, cell: Cell, seed: int, options: Options) -> dict[str, Any]:
    """One trial; whatever a method fails of is told in its cell, but without its data nothing can be measured."""
    try:
        values = table.measure(cell, seed, options)
        return {"values": {metric: float(f"{value:.6g}") for metric, value in values.items()}}
    except DataError:
        raise
    except Exception as reason:  # whatever it is, it is this cell's, and the others go on
        return {"values": {}, "problem": str(reason) or type(reason).__name__}


def _key(trial: Mapping[str, Any]) -> str:
    """What tells one trial from all others."""
    return " | ".join(str(trial[part]) for part in ("table", "row", "column", "seed"))


def _table_key(table: Table, options: Options) -> str:
    """A table's trials are those of this version, with or without the published slips."""
    return f"{__version__}, table {table.name}{', as published' if table.is_as_published(options) else ''}"
