"""What a table of the paper is: cells, each measured in several trials, beside the printed figures."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

LOWER_IS_BETTER = {"MSE", "RE", "Dist"}
SIZES = {"N", "K"}  # these are right or wrong
HIGHER_IS_BETTER = {"SRC", "ACC", "NMI"}


class Cell(NamedTuple):
    """One row and column; metrics are measured together."""

    row: str
    column: str


@dataclass(frozen=True)
class Options:
    """What the user chose: graph sizes, methods, and the published slips instead of their repair."""

    sizes: tuple[int, ...] | None = None
    methods: tuple[str, ...] | None = None
    as_published: bool = False

    @property
    def given(self) -> set[str]:
        """The options that are not left at their defaults."""
        return {field.name for field in fields(self) if getattr(self, field.name) != field.default}


@dataclass(frozen=True)
class Table(ABC):
    """A table: which cells it has, how one is measured, and what the paper prints."""

    options_used: ClassVar[frozenset[str]] = frozenset({"methods"})  # the options that change it
    is_random: ClassVar[bool] = True  # trials of a cell may differ, so that one alone says nothing about noise
    only_here: ClassVar[Mapping[str, str]] = {}  # methods that no other table has, with their titles

    name: str
    title: str
    note: str = ""
    note_as_published: str = ""
    default_trials: int = 20
    printed: Mapping[tuple[str, str, str], float] = field(default_factory=dict)

    @abstractmethod
    def cells(self, options: Options) -> list[Cell]:
        """The cells in the order of the paper."""

    @abstractmethod
    def measure(self, cell: Cell, seed: int, options: Options) -> dict[str, float]:
        """One trial of a cell: metrics by name, "seconds" among them where time was taken."""

    def trials_of(self, cell: Cell, wanted: int) -> int:
        """How many trials a cell gets; fewer where nothing is random, or each takes long."""
        del cell
        return wanted if self.is_random else 1

    def is_as_published(self, options: Options) -> bool:
        """Whether the published slips were chosen, and this table has some."""
        return options.as_published and "as_published" in self.options_used

    def why_not(self, cell: Cell) -> str:
        """Why a cell cannot be measured here; empty if it can."""
        del cell
        return ""


class Record(NamedTuple):
    """One metric of one cell, over all its trials."""

    table: str
    row: str
    column: str
    metric: str
    ours: float | None
    standard_error: float | None
    seconds: float | None
    paper: float | None
    trials: int
    problem: str = ""

    @property
    def is_worse(self) -> bool:
        """Whether ours is worse than the printed figure by more than noise: the paper's own is taken to be as large."""
        if self.ours is None or self.paper is None or self.metric not in LOWER_IS_BETTER | HIGHER_IS_BETTER | SIZES:
            return False
        if self.metric in SIZES:
            return self.ours != self.paper
        if self.standard_error is None:  # one trial of a random cell says nothing about noise
            return False
        shortfall = self.ours - self.paper if self.metric in LOWER_IS_BETTER else self.paper - self.ours
        noise = 2 * math.sqrt(2) * self.standard_error
        return shortfall > max(noise, abs(self.paper) * 5e-3)


def summarise(table: Table, cell: Cell, trials: Sequence[Mapping[str, Any]], without_data: str = "") -> list[Record]:
    """The records of one cell: mean, standard error of the mean and mean seconds of the trials that succeeded."""
    problem = table.why_not(cell) or without_data or next((str(t["problem"]) for t in trials if t.get("problem")), "")
    done = [t["values"] for t in trials if not t.get("problem")]
    if done and problem and not without_data:
        problem = f"{len(trials) - len(done)} of {len(trials)} trials failed: {problem}"
    printed = {metric: value for (row, column, metric), value in table.printed.items() if (row, column) == cell}
    # A cell that failed, and of which the paper prints nothing, still has the table's metrics.
    expected = printed or [metric for *_, metric in table.printed if metric != "seconds"]
    metrics = list(dict.fromkeys([m for values in done for m in values if m != "seconds"] or expected))
    if "seconds" in printed and "seconds" not in metrics:
        metrics.append("seconds")
    seconds = _mean([values["seconds"] for values in done if "seconds" in values])
    records = []
    for metric in metrics:
        found = [float(values[metric]) for values in done if metric in values]
        records.append(
            Record(
                table.name,
                *cell,
                metric,
                _mean(found),
                _standard_error(found) if table.is_random else 0.0 if found else None,
                seconds,
                printed.get(metric),
                len(found),
                problem,
            )
        )
    return records


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _standard_error(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
