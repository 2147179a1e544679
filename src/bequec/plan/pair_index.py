"""A list of pairs of nodes that finds each of them by its nodes."""

import numpy as np

from bequec.core.arrays import BoolArray, IntArray


class PairIndex:
    """Where in a list of distinct pairs a pair of nodes is, whichever node comes first."""

    def __init__(self, pairs: IntArray, n_nodes: int) -> None:
        self._n_nodes = n_nodes
        keys = self._keys(pairs[:, 0], pairs[:, 1])
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def find(self, left: IntArray, right: IntArray) -> IntArray:
        """The place of each pair in the list; −1 where it is not listed."""
        keys = self._keys(left, right)
        found = np.full(keys.shape, -1)
        if not len(self._sorted):
            return found
        order = np.argsort(keys)  # among millions of pairs, a search in order is many times faster
        ordered = keys[order]
        at = np.minimum(np.searchsorted(self._sorted, ordered), len(self._sorted) - 1)
        found[order] = np.where(self._sorted[at] == ordered, self._order[at], -1)
        return found

    def holds(self, left: IntArray, right: IntArray) -> BoolArray:
        """Whether each pair is listed."""
        return np.asarray(self.find(left, right) >= 0)

    def _keys(self, left: IntArray, right: IntArray) -> IntArray:
        low, high = np.minimum(left, right), np.maximum(left, right)
        return np.asarray(low.astype(np.int64) * self._n_nodes + high)
