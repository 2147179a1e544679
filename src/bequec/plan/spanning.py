"""The cheapest blocks that identify all groups, by a greedy algorithm that is provably optimal.

Edge sets that are forests, or forests plus one edge that closes an odd cycle, are the independent sets
of a matroid (the lift matroid of the all-negative signed graph), so taking the cheapest block that
keeps independence gives the cheapest basis: L − 1 tree edges and one odd cycle.
"""

import numpy as np
import numpy.typing as npt

from bequec.plan.patterns import Block


def cheapest_spanning_blocks(cost: npt.NDArray[np.float64]) -> list[Block]:
    """The cheapest identifying set of blocks; an infinite cost forbids a block.

    Parameters
    ----------
    cost : (L, L) symmetric array
        What each block costs.

    Returns
    -------
    list of (l, m), l ≤ m
        As many independent blocks as there are: L of them exactly when the groups can be identified.
    """
    rows, columns = np.triu_indices(len(cost))
    prices = cost[rows, columns]
    cheapest_first = np.argsort(prices, kind="stable")
    cheapest_first = cheapest_first[np.isfinite(prices[cheapest_first])]
    forest = _ParityForest(len(cost))
    return [
        (l, m)
        for l, m in zip(rows[cheapest_first].tolist(), columns[cheapest_first].tolist(), strict=True)
        if forest.add(l, m)
    ]


class _ParityForest:
    """Union–find that knows the parity of the path from each group to its root."""

    def __init__(self, n_groups: int) -> None:
        self.parent = list(range(n_groups))
        self.parity = [0] * n_groups
        self.has_odd_cycle = False

    def root(self, group: int) -> tuple[int, int]:
        path, parity = [], 0
        while self.parent[group] != group:
            path.append(group)
            parity ^= self.parity[group]
            group = self.parent[group]
        to_root = parity
        for passed in path:
            self.parent[passed], self.parity[passed], to_root = group, to_root, to_root ^ self.parity[passed]
        return group, parity

    def add(self, l: int, m: int) -> bool:
        """Add block (l, m) if the blocks stay independent; say whether they did."""
        (root_l, parity_l), (root_m, parity_m) = self.root(l), self.root(m)
        if root_l != root_m:
            self.parent[root_l], self.parity[root_l] = root_m, parity_l ^ parity_m ^ 1
            return True
        closes_odd_cycle = parity_l == parity_m
        if closes_odd_cycle and not self.has_odd_cycle:
            self.has_odd_cycle = True
            return True
        return False
