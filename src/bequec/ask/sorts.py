"""Sorts: on one sheet, a person puts the items that belong together on one pile.

A sort is kept as what it is, one placement per item. Its pairs (same pile: same, different piles: different) are made
when answers are counted, because a misplaced item errs in all of its pairs at once, and because a pair that the plan
does not ask today may be asked tomorrow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from bequec.ask.answer_table import AnswerTable
from bequec.ask.typed_rows import TypedRows, concatenated
from bequec.core.arrays import BoolArray, IntArray
from bequec.plan.query_plan import QueryPlan

MARKS = ("sheet", "worker")  # what a screen is known by
PAIRS_AT_ONCE = 2_000_000


class SortedBy(NamedTuple):
    """How much one worker sorted; ``worker`` is None for sheets that do not say whose they are."""

    worker: str | None
    n_sheets: int
    n_placed: int
    n_unsure: int


@dataclass(frozen=True, eq=False, repr=False)
class SortTable(TypedRows):
    """Every placement as it came, one item on one sheet per row.

    Attributes
    ----------
    rows : DataFrame, numbered 0 … n − 1
        ``sheet`` (texts; sheet 01 is written 1), ``item`` (index of a node), ``pile`` (texts, missing for "not
        sure"). Where somebody gave them: ``worker`` (texts), ``seconds`` (numbers), ``answered_at`` (instants), and
        every other column as texts. Texts are stored by their distinct values (``category``). The name of a pile
        means something only on its own sheet and to its own worker.

    Examples
    --------
    >>> said = pd.DataFrame({"sheet": 1, "item": ["ann", "bob", "eve"], "pile": ["a", "b", "a"]})
    >>> from bequec.ask.sort_files import parse_sorts
    >>> plan = QueryPlan([0, 0, 0], [(0, 0)], names=["ann", "bob", "eve"])
    >>> sorts, _ = parse_sorts(said, plan)
    >>> sorts
    SortTable(3 rows: sheet, item, pile)
    >>> sorts.item.tolist(), sorts.pile.tolist()
    ([0, 1, 2], [0, 1, 0])
    >>> pair_answers(sorts, plan).label.tolist()  # ann and bob, ann and eve, bob and eve
    [0.0, 1.0, 0.0]
    """

    @property
    def item(self) -> IntArray:
        """The node that each row places."""
        return np.asarray(self.rows["item"])

    @property
    def pile(self) -> IntArray:
        """The pile of each row as a whole number, the same for the same name; −1 for "not sure"."""
        return np.asarray(self.texts("pile").codes, dtype=np.int64)

    @cached_property
    def screen(self) -> IntArray:
        """The screen of each row, as a whole number from 0 on: one sheet as one person saw it."""
        sheet, worker = (self.texts(mark).codes.astype(np.int64) for mark in MARKS)
        return np.asarray(np.unique(sheet * (worker.max(initial=-1) + 2) + worker + 1, return_inverse=True)[1])

    def n_screens(self) -> int:
        """How many screens were sorted."""
        return int(self.screen.max(initial=-1)) + 1

    def by_worker(self) -> list[SortedBy]:
        """How much each worker sorted, in the order of their names; sheets without a worker come last."""
        worker = self.texts("worker")
        rows = pd.DataFrame({"worker": worker.codes, "screen": self.screen, "unsure": self.pile < 0})
        told = [
            SortedBy(
                None if code < 0 else str(worker.categories[code]),
                n_sheets=int(theirs["screen"].nunique()),
                n_placed=int((~theirs["unsure"]).sum()),
                n_unsure=int(theirs["unsure"].sum()),
            )
            for code, theirs in rows.groupby("worker")
        ]
        return sorted(told, key=lambda one: (one.worker is None, one.worker))

    def describe(self, row: int, plan: QueryPlan) -> str:
        """Which placement a row is, for an error message."""
        return ", ".join([*self.marks(row, MARKS), f"item {plan.name(self.item[row])}"])

    def to_frame(self, plan: QueryPlan) -> pd.DataFrame:
        """The rows as they are written in files, with the items' names."""
        return self.rows.assign(item=self.named("item", plan))


def with_sorts(answers: AnswerTable, sorts: SortTable | None, plan: QueryPlan) -> AnswerTable:
    """Answers to pairs, and those that sorts give; the column ``sorted`` tells them apart.

    One person has one answer per pair: what a worker said of the pair itself counts, and not what the same worker's
    piles say of it. Where they were unsure of the pair itself, their piles count.
    """
    if sorts is None:
        return answers
    both = concatenated([AnswerTable(answers.rows.assign(sorted=False)), pair_answers(sorts, plan)])
    return both.take(~_said_otherwise(both))


def pair_answers(sorts: SortTable, plan: QueryPlan) -> AnswerTable:
    """The answers of sorts to the pairs that the plan asks, marked ``sorted``, each with its ``sheet`` and ``worker``.

    A pair that one person met on several sheets counts once, as on the last of them: the latest by ``answered_at``,
    or, where that is not said, the one furthest down. A sheet without a worker is a person of its own.
    """
    placed = np.flatnonzero(sorts.pile >= 0)
    placed = placed[np.argsort(_turn(sorts)[placed], kind="stable")]
    item, pile, screen, sheet, worker = (
        codes[placed] for codes in (sorts.item, sorts.pile, sorts.screen, *(sorts.texts(mark).codes for mark in MARKS))
    )
    parts = [np.empty((2, 0), dtype=np.int64)]
    for left, right in _pairs_on_screens(screen):
        asked = plan.asks(item[left], item[right])
        parts.append(np.stack([left[asked], right[asked]]))
    left, right = np.concatenate(parts, axis=1)
    person = np.where(worker >= 0, worker, int(worker.max(initial=-1)) + 1 + screen)
    kept = _is_last_of_person(left, right, item, person)
    left, right = left[kept], right[kept]
    marks = {
        mark: pd.Categorical.from_codes(codes[left], sorts.texts(mark).categories)
        for mark, codes in zip(MARKS, (sheet, worker), strict=True)
        if mark in sorts.rows
    }
    label = (pile[left] == pile[right]).astype(float)
    return AnswerTable.of(item[left], item[right], label, further={**marks, "sorted": np.ones(len(left), dtype=bool)})


def _turn(sorts: SortTable) -> IntArray:
    """For each row the place of its screen in time: by ``answered_at``, then as the screens came."""
    screen = sorts.screen
    _, first_row = np.unique(screen, return_index=True)
    at = np.full(len(first_row), np.iinfo(np.int64).min)
    instants = sorts.rows.get("answered_at")
    if instants is not None and pd.api.types.is_datetime64_any_dtype(instants):
        said = instants.notna().to_numpy()
        np.maximum.at(at, screen[said], instants[said].astype("int64").to_numpy())
    turn = np.empty(len(first_row), dtype=np.int64)
    turn[np.lexsort((first_row, at))] = np.arange(len(first_row))
    return turn[screen]


def _pairs_on_screens(screen: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """The places of all pairs of rows on the same screen, some millions at once; rows of a screen are together."""
    row = np.arange(len(screen))
    is_last = np.append(screen[1:] != screen[:-1], True)[: len(screen)]
    end = row[is_last][np.cumsum(is_last) - is_last]  # the last row of each row's screen
    n_after = end - row
    until = np.cumsum(n_after)
    first = 0
    while first < len(row):
        begun = until[first] - n_after[first]
        stop = max(int(np.searchsorted(until, begun + PAIRS_AT_ONCE, side="right")), first + 1)
        left = np.repeat(row[first:stop], n_after[first:stop])
        starts = until[first:stop] - n_after[first:stop] - begun
        yield left, left + 1 + np.arange(len(left)) - np.repeat(starts, n_after[first:stop])
        first = stop


def _is_last_of_person(left: IntArray, right: IntArray, item: IntArray, person: IntArray) -> BoolArray:
    """Which pairs no later one repeats for the same person; only items that a person met twice are looked at."""
    met = pd.DataFrame({"person": person, "item": item}).duplicated(keep=False).to_numpy()
    again = np.flatnonzero(met[left] & met[right])[::-1]
    key = _codes_of_pairs(item[left[again]], item[right[again]]) * (int(person.max(initial=0)) + 1)
    _, last = np.unique(key + person[left[again]], return_index=True)
    kept = np.ones(len(left), dtype=bool)
    kept[again] = False
    kept[again[last]] = True
    return kept


def _said_otherwise(table: AnswerTable) -> BoolArray:
    """Which rows do not count because the same worker has another answer to the same pair."""
    worker, from_sort, is_unsure = table.texts("worker").codes, table.is_from_sort, np.isnan(table.label)
    of_kind = [np.isin(worker, worker[rows & (worker >= 0)]) for rows in (from_sort, ~from_sort)]
    at = np.flatnonzero(of_kind[0] & of_kind[1])  # only who did both can have answered a pair in both ways
    key = _codes_of_pairs(table.left[at], table.right[at]) * (int(worker.max(initial=0)) + 1) + worker[at]
    key = np.unique(key, return_inverse=True)[1]
    in_piles = np.bincount(key, weights=from_sort[at]) > 0
    itself = np.bincount(key, weights=~from_sort[at] & ~is_unsure[at]) > 0
    otherwise = np.zeros(len(table), dtype=bool)
    otherwise[at] = np.where(from_sort[at], itself[key], is_unsure[at] & in_piles[key])
    return otherwise


def _codes_of_pairs(left: IntArray, right: IntArray) -> IntArray:
    """Equal numbers for equal pairs, whichever node comes first, counted from 0."""
    low, high = np.minimum(left, right), np.maximum(left, right)
    return np.asarray(np.unique(low * (int(high.max(initial=0)) + 1) + high, return_inverse=True)[1])
