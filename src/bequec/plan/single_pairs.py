"""Asked pairs whose block is not asked whole, sorted by their block."""

from dataclasses import dataclass

import numpy as np

from bequec.core.arrays import IntArray


@dataclass(frozen=True)
class SinglePairs:
    """Pairs of nodes outside the blocks that are asked whole.

    ``left`` is in the first and ``right`` in the second group of the pair's block (l, m), l ≤ m. ``blocks`` are these
    blocks, in lexicographic order; block b holds the pairs ``starts[b]`` … ``starts[b + 1] − 1``.
    """

    left: IntArray
    right: IntArray
    blocks: IntArray
    starts: IntArray

    @classmethod
    def of(cls, pairs: IntArray, group_of: IntArray, n_groups: int) -> "SinglePairs":
        """From pairs of nodes (low, high), which keep their order inside a block."""
        left, right = pairs.T
        swap = group_of[left] > group_of[right]
        left, right = np.where(swap, right, left), np.where(swap, left, right)
        key = group_of[left] * n_groups + group_of[right]
        order = np.argsort(key, kind="stable")
        found, starts = np.unique(key[order], return_index=True)
        blocks = np.stack(np.divmod(found, n_groups), axis=1)
        return cls(left[order], right[order], blocks, np.append(starts, len(pairs)).astype(np.int64))

    def __len__(self) -> int:
        return len(self.left)

    def in_block(self, l: int, m: int) -> tuple[IntArray, IntArray]:
        """The pairs of block (l, m), l ≤ m."""
        at = np.flatnonzero((self.blocks == (l, m)).all(axis=1))
        inside = slice(*self.starts[[at[0], at[0] + 1]]) if len(at) else slice(0)
        return self.left[inside], self.right[inside]
