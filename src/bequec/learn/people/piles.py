"""The piles that people made, read from the pairs of their sorts."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from bequec.core.arrays import IntArray

if TYPE_CHECKING:
    from bequec.ask.answer_table import AnswerTable


class ScreenRows(NamedTuple):
    """The rows of a table that are pairs of a sort, and the screen of each: one sheet as one person saw it."""

    row: IntArray
    screen: IntArray


class Placements(NamedTuple):
    """One item on one screen each: the node, the screen and the pile, numbered from 0 on."""

    item: IntArray
    screen: IntArray
    pile: IntArray


def rows_of_screens(table: "AnswerTable") -> ScreenRows:
    """The rows that are from sorts, by sheet and worker."""
    row = np.flatnonzero(table.is_from_sort)
    sheet, worker = (np.asarray(table.texts(mark).codes[row], dtype=np.int64) for mark in ("sheet", "worker"))
    key = sheet * (int(worker.max(initial=-1)) + 2) + worker + 1
    return ScreenRows(row, np.asarray(np.unique(key, return_inverse=True)[1], dtype=np.int64))


def read_placements(table: "AnswerTable") -> Placements:
    """Which pile of which screen each item was put on: items tied by "same" on one screen are on one pile."""
    row, screen = rows_of_screens(table)
    left, right, same = table.left[row], table.right[row], table.label[row] == 1.0
    n_nodes = int(max(left.max(initial=-1), right.max(initial=-1))) + 1
    keys, place = np.unique(np.concatenate([screen * n_nodes + left, screen * n_nodes + right]), return_inverse=True)
    first, second = place[: len(row)][same], place[len(row) :][same]
    graph = sp.coo_array((np.ones(len(first)), (first, second)), shape=(len(keys), len(keys)))
    _, pile = connected_components(graph, directed=False)
    return Placements(keys % max(n_nodes, 1), keys // max(n_nodes, 1), np.asarray(pile, dtype=np.int64))
