"""In which order groups smaller than K can be completed: from a seed of rank K, group by group.

The rows of a group are known once its asked, known columns count at least K nodes; the columns of a
group once its asked, known rows do. Rows and columns of one group are known apart, as they are
expressed in different coordinates.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from bequec.core.arrays import BoolArray, IntArray
from bequec.plan.mask.sharing import sharing_graph

Groups = tuple[int, ...]
Side = Literal["rows", "columns"]

MOST_PAIRS_TRIED = 20_000  # seeds repeat in large regular masks; a bound keeps the search in seconds
SIDES: tuple[tuple[Side, Side], ...] = (("rows", "columns"), ("columns", "rows"))


@dataclass(frozen=True)
class CompletionStep:
    """The rows (or columns) of ``group`` follow from the known columns (or rows) of the groups ``via``."""

    side: Side
    group: int
    via: Groups


@dataclass(frozen=True)
class Completion:
    """A seed, fully asked between its row groups and its column groups, and the steps that follow."""

    seed_rows: Groups
    seed_columns: Groups
    steps: list[CompletionStep] = field(default_factory=list)
    known_rows: frozenset[int] = frozenset()
    known_columns: frozenset[int] = frozenset()

    def contains(self, other: "Completion") -> bool:
        """Whether the other's seed is known here: then it cannot reach further."""
        return self.known_rows.issuperset(other.seed_rows) and self.known_columns.issuperset(other.seed_columns)


def best_completion(
    asked: BoolArray, usable: BoolArray, sizes: IntArray, n_clusters: int, *, diagonal: bool = False
) -> Completion | None:
    """The order of completion that reaches the most nodes; None when no seed has K rows and K columns.

    Seeds are made of ``usable`` blocks; in a step every ``asked`` block counts, a group's own by one node less
    where its diagonal is unobserved.
    """
    counts = np.where(asked, sizes, 0) - np.diag(asked.diagonal() * (not diagonal)).astype(np.int64)
    tried: list[Completion] = []
    for seed in _seeds(usable, sizes, n_clusters):
        if any(completion.contains(seed) for completion in tried):
            continue
        tried.append(_complete(seed, counts, n_clusters))
        if len(tried[-1].known_rows) == len(sizes):
            break
    return max(tried, key=lambda completion: sizes[list(completion.known_rows)].sum(), default=None)


def _seeds(usable: BoolArray, sizes: IntArray, n_clusters: int) -> list[Completion]:
    """Fully asked rectangles with at least K nodes on both sides, the largest first.

    Column sets are tried that one group asks or two groups share; the rows are all groups that ask
    all of them. Rectangles that meet the diagonal come last: part of it is unobserved.
    """
    column_sets: set[Groups] = {tuple(np.flatnonzero(row).tolist()) for row in usable}
    shared = sharing_graph(usable).tocoo()
    first_pairs = slice(0, MOST_PAIRS_TRIED)
    for l, other in zip(shared.row[first_pairs], shared.col[first_pairs], strict=True):
        column_sets.add(tuple(np.flatnonzero(usable[l] & usable[other]).tolist()))
    column_sets |= {(m,) for m in range(len(sizes))}
    seeds = []
    for columns in column_sets:
        if not columns:
            continue
        rows = tuple(np.flatnonzero(usable[:, list(columns)].all(axis=1)).tolist())
        n_rows, n_columns = sizes[list(rows)].sum(), sizes[list(columns)].sum()
        if min(n_rows, n_columns) >= n_clusters:
            rank = (not set(rows) & set(columns), min(n_rows, n_columns))
            seeds.append((rank, rows, columns))
    seeds.sort(key=lambda seed: (seed[0], tuple(-l for l in seed[1])), reverse=True)
    return [Completion(rows, columns) for _, rows, columns in seeds]


def _complete(seed: Completion, counts: IntArray, n_clusters: int) -> Completion:
    known: dict[Side, set[int]] = {"rows": set(seed.seed_rows), "columns": set(seed.seed_columns)}
    steps: list[CompletionStep] = []
    found_more = True
    while found_more:
        found_more = False
        for side, other in SIDES:
            is_known = np.zeros(len(counts), dtype=bool)
            is_known[list(known[other])] = True
            for group in np.flatnonzero(counts @ is_known >= n_clusters).tolist():
                if group not in known[side]:
                    via = tuple(np.flatnonzero((counts[group] > 0) & is_known).tolist())
                    steps.append(CompletionStep(side, group, via))
                    known[side].add(group)
                    found_more = True
    return Completion(seed.seed_rows, seed.seed_columns, steps, frozenset(known["rows"]), frozenset(known["columns"]))
