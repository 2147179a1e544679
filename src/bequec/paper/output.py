"""Records as text: a table for the terminal, Markdown, CSV, and the settings behind them."""

import csv
import datetime
import io
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bequec import __version__
from bequec.paper.table import Options, Record, Table

WORSE = "▼"


def layout(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a table: metrics side by side if the paper's table has one column, else the columns."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    one_column = len({record.column for record in records}) == 1
    for record in records:
        row, column = (record.row, ""), record.metric
        if not one_column:
            row, column = (record.row, record.metric), record.column
        rows.setdefault(row, {})[column] = told(record)
    columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
    heads = ["", *columns] if one_column else ["", "metric", *columns]
    lines = [
        [row, *([] if one_column else [metric]), *(cells.get(column, "") for column in columns)]
        for (row, metric), cells in rows.items()
    ]
    return heads, lines


def told(record: Record) -> str:
    """A cell: ours ± standard error, the paper's figure in brackets, and a mark where ours is worse."""
    if record.ours is None:
        ours = (
            "–" if not record.problem else "data not here" if record.problem.startswith("data not here") else "failed"
        )
    else:
        ours = number(record.ours, record.metric)
        if record.standard_error is not None and record.standard_error > 1e-9 * abs(record.ours):
            ours += f" ±{number(record.standard_error, record.metric)}"
    paper = f" ({number(record.paper, record.metric)})" if record.paper is not None else ""
    return ours + paper + (f" {WORSE}" if record.is_worse else "")


def number(value: float, metric: str) -> str:
    """As many digits as the paper prints."""
    if metric in ("N", "K"):
        return f"{value:.0f}"
    if metric in ("ACC", "seconds", "error rate"):
        return f"{value:.2f}" if value < 10 else f"{value:.1f}"
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.4f}" if metric != "NMI" else f"{value:.3f}"


def problems(records: Sequence[Record]) -> list[str]:
    """Why some cells are empty, each reason once."""
    reasons: dict[str, list[str]] = {}
    for record in records:
        if record.problem:
            reasons.setdefault(record.problem, []).append(" ".join(filter(None, (record.row, record.column))))
    return [f"{', '.join(dict.fromkeys(where))}: {reason}" for reason, where in reasons.items()]


def legend(records: Sequence[Record]) -> str:
    """How to read the cells, and on how many trials they rest."""
    cells: dict[int, list[Record]] = {}
    for record in first_metrics(records):
        if record.trials:
            cells.setdefault(record.trials, []).append(record)
    if all(record.trials == 1 and record.standard_error == 0 for record in records if record.trials):
        return "ours (paper)"  # nothing is random
    usual, *others = sorted(cells, key=lambda count: -len(cells[count])) or [0]
    trials = f"{usual} trial{'s' if usual != 1 else ''}"
    trials += "".join(f", {count} of {', '.join(named_together(cells[count], records))}" for count in sorted(others))
    worse = f"; {WORSE} worse than the paper by more than noise" if any(record.is_worse for record in records) else ""
    return f"ours ± standard error (paper), mean of {trials}{worse}"


def named_together(cells: Sequence[Record], records: Sequence[Record]) -> list[str]:
    """The cells by whole rows where these are complete, else by the columns that some rows have in common."""
    columns: dict[str, list[str]] = {}
    for cell in reversed(cells):
        columns.setdefault(cell.row, []).append(cell.column)
    rows: dict[tuple[str, ...], list[str]] = {}
    for row, found in columns.items():
        whole = {record.column for record in records if record.row == row and record.trials}
        rows.setdefault(() if set(found) == whole else tuple(found), []).append(row)
    return [", ".join(names) + (f" ({' and '.join(found)})" if found else "") for found, names in rows.items()]


def markdown_table(table: Table, records: Sequence[Record], *, as_published: bool = False) -> str:
    """A section of the page: title, table, legend, note."""
    heads, rows = layout(records)
    variant, note = (", as published", table.note_as_published) if as_published else ("", table.note)
    lines = [f"## Table {table.name}{variant}: {table.title}", ""]
    lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    seconds = sum((r.seconds or 0.0) * r.trials for r in first_metrics(records))
    told_how = legend(records)
    took = f" Fitting took {duration(seconds)} in all." if seconds else ""
    lines += ["", f"{told_how[0].upper()}{told_how[1:]}.{took}"]
    lines += [f"Missing: {reason}." for reason in problems(records)]
    lines += ["", note, ""] if note else [""]
    return "\n".join(lines)


def first_metrics(records: Sequence[Record]) -> list[Record]:
    """One record of each cell, for what belongs to the cell and not to a metric."""
    return list({(record.row, record.column): record for record in reversed(records)}.values())


def duration(seconds: float) -> str:
    """Seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def csv_text(records: Sequence[Record]) -> str:
    """All records, one per line."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(Record._fields)
    writer.writerows(records)
    return buffer.getvalue()


def as_json(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Records for programs."""
    return [{key: value for key, value in record._asdict().items() if key != "problem" or value} for record in records]


def settings(records: Sequence[Record], options: Options, seed: int) -> dict[str, Any]:
    """What a table was made with: machine, versions and what was chosen, by the user or by default."""
    packages = ("numpy", "scipy", "scikit-learn")
    return {
        "bequec": __version__,
        "python": platform.python_version(),
        "machine": f"{_processor()}, {platform.system()}, {os.cpu_count()} cores",
        **{package: version(package) for package in packages},
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "trials": max((record.trials for record in records), default=0),
        "seed": seed,
        "rows": list(dict.fromkeys(record.row for record in records)),
        "columns": list(dict.fromkeys(record.column for record in records)),
        "as_published": options.as_published,
    }


def _processor() -> str:
    """The processor's name where the system tells it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


IN_SHORT = (
    "In short: the ideal case, the sizes of the data, and Algorithm 1 on the dogs as people answered and on the "
    "co-author networks reproduce. Its printed figures on planted graphs do not, neither with the authors' public "
    "program nor with ours. Nor does its printed lead over GeoNMF and SPACL on the dogs and the networks: with all "
    "that was asked, both sort every dog, and on the networks the three are level. On planted graphs CD-MVSI and, with "
    "unequal clusters, CD-BNMF come near their printed figures with that program's settings; with equal ones GeoNMF "
    "does far better than printed up to N = 8000. Of what bequec adds, the errors of both refinements are below every "
    "printed figure on planted graphs, and on the networks the subspace refinement has a smaller MSE than any other "
    "method, though far from a good one.\n\n"
)


def page(sections: Sequence[str], used: Mapping[str, Any], *, is_complete: bool) -> str:
    """The page of what was measured; its summary only where every table was."""
    head = (
        "# The paper's tables, reproduced\n\n"
        "Written by `bequec reproduce`, not typed. Each cell shows ours ± its standard error, the paper's figure in "
        f"brackets, and {WORSE} where ours is worse by more than noise; seconds are not marked, as machines differ, "
        "nor is a single trial of something random. How many trials a cell rests on is said below its table.\n\n"
        f"{IN_SHORT if is_complete else ''}"
        f"bequec {used['bequec']}, Python {used['python']}, numpy {used['numpy']}, scipy {used['scipy']}, scikit-learn "
        f"{used['scikit-learn']}, {used['machine']}, {used['date']}. Times are of one thread on a shared machine. "
        "Trials are kept while the version stays the same; some are of earlier states of its code.\n"
    )
    return "\n".join([head, *sections])
