"""Which further blocks help most: those that even out the groups' degrees and shorten the ways between groups.

What is learned about a node has two errors. Its own: one over the number of nodes d that it was asked about. And
that of its group: each group's basis is known up to a K×K matrix Y, and the answers of an asked block (l, m) tie
Y_l + Y_mᵀ down. Its symmetric part follows the signless Laplacian of the group graph, Q = D + A, the antisymmetric
one the plain Laplacian D − A, both weighted by the blocks' pairs; what all groups have in common is no error. So the
expected squared error of a plan is, up to a factor,

    Σ n_l [ 1 / d_l + K/2 · (C (Q⁻¹ + (D − A)⁺) Cᵀ)_ll ] / N,    C = centring,

large for groups with few questions and for groups that are far from the others. The next block is the one that
lowers it most for its cost.
"""

from typing import NamedTuple

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.plan.groups import Block

RIDGE = 1e-6  # added pairs, as a share of a mean block: groups without a tie must not make a matrix singular
SHARE_AT_ONCE = 0.05  # among many groups, this share of new blocks is chosen from one look at all of them


class _Open(NamedTuple):
    """The blocks that can still be chosen."""

    rows: IntArray
    columns: IntArray
    price: FloatArray
    weight: FloatArray

    def only(self, kept: BoolArray) -> "_Open":
        return _Open(self.rows[kept], self.columns[kept], self.price[kept], self.weight[kept])


def helpful_blocks(
    asked_pairs: FloatArray,
    usable_pairs: FloatArray,
    new_pairs: FloatArray,
    cost: FloatArray,
    sizes: IntArray,
    allowance: float,
    n_clusters: int,
) -> list[Block]:
    """Blocks to ask besides those asked, the most helpful first, as long as their costs fit in the allowance.

    Parameters
    ----------
    asked_pairs, usable_pairs : (L, L) symmetric arrays
        Asked pairs of each block, and of those blocks that carry from group to group.
    new_pairs, cost : (L, L) symmetric arrays
        How many pairs asking each block would add, and what they cost; infinite where it cannot be asked.
    sizes : (L,) array
        Nodes of each group.
    allowance : float
    n_clusters : int
    """
    state = _Errors.of(asked_pairs, usable_pairs, sizes, n_clusters)
    rows, columns = np.triu_indices(len(sizes))
    possible = (np.isfinite(cost) & (new_pairs > 0))[rows, columns]
    rows, columns = rows[possible], columns[possible]
    is_open = _Open(rows, columns, np.maximum(cost[rows, columns], 1e-12), new_pairs[rows, columns])
    chosen: list[Block] = []
    at_once = 1 if len(sizes) <= 200 else int(SHARE_AT_ONCE * len(sizes))
    while True:
        is_open = is_open.only(is_open.price <= allowance)
        if not len(is_open.rows):
            return chosen
        gain = state.gains(is_open)
        best_first = np.lexsort((is_open.columns, is_open.rows, -gain / is_open.price))
        taken: list[int] = []
        touched: set[int] = set()
        for at in best_first[: 20 * at_once].tolist():
            ends, price = {int(is_open.rows[at]), int(is_open.columns[at])}, float(is_open.price[at])
            # Blocks at the same group are worth less together than each alone: leave them to the next look.
            if price <= allowance and not touched & ends:
                allowance -= price
                taken.append(at)
                touched |= ends
            if len(taken) == at_once:
                break
        new = np.array(taken)
        chosen += zip(is_open.rows[new].tolist(), is_open.columns[new].tolist(), strict=True)
        state.add(is_open.rows[new], is_open.columns[new], is_open.weight[new])
        is_open = is_open.only(~np.isin(np.arange(len(gain)), new))


def expected_error(asked: BoolArray, sizes: IntArray, pairs: FloatArray, n_clusters: int) -> float:
    """The expected squared error of a plan up to a factor: to compare plans for the same nodes."""
    weight = np.where(asked, pairs, 0.0)
    return _Errors.of(weight, weight, sizes, n_clusters).total()


class _Errors:
    """The two errors of every group, kept up to date while blocks are added."""

    def __init__(self, sizes: FloatArray, degrees: FloatArray, inverses: list[FloatArray], n_clusters: int) -> None:
        self.sizes, self.degrees, self.inverses = sizes, degrees, inverses
        self.half_k = n_clusters / 2

    @classmethod
    def of(cls, asked: FloatArray, usable: FloatArray, sizes: IntArray, n_clusters: int) -> "_Errors":
        """From the pairs of the asked blocks, and of those that carry from group to group."""
        n = sizes.astype(float)
        columns = asked / n[:, None]  # of each of group l's nodes, in the block with group m
        columns[np.diag_indices_from(columns)] *= 2
        inside = np.diag(usable.diagonal())
        apart = usable - inside
        degrees = np.diag(apart.sum(axis=1) + RIDGE * n.mean() ** 2)
        # A block inside a group counts (1 + 1)² towards Q, and not at all towards D − A.
        laplacians = (degrees + apart + 4 * inside, degrees - apart)
        return cls(
            n,
            columns.sum(axis=1),
            [np.asarray(np.linalg.inv(matrix), dtype=float) for matrix in laplacians],
            n_clusters,
        )

    def total(self) -> float:
        """The error of the whole plan."""
        own = self.sizes / np.maximum(self.degrees, 1e-3)
        of_groups = sum(float((self._centred() * inverse).sum()) for inverse in self.inverses)
        return float((own.sum() + self.half_k * of_groups) / self.sizes.sum())

    def gains(self, blocks: _Open) -> FloatArray:
        """How much the error falls with each block: own errors, and w vᵀWv / (1 + w bᵀRb), v = Rb, b = e_l ± e_m."""
        l, m, w = blocks.rows, blocks.columns, blocks.weight
        gain = self._own_gain(l, w) + np.where(l == m, 0.0, self._own_gain(m, w))
        for sign, inverse in zip((1.0, -1.0), self.inverses, strict=True):
            towards = inverse @ self.sizes
            spread = (inverse * self.sizes) @ inverse - np.outer(towards, towards) / self.sizes.sum()  # RWR
            b_r_b, b_s_b = (
                matrix.diagonal()[l] + matrix.diagonal()[m] + 2 * sign * matrix[l, m] for matrix in (inverse, spread)
            )
            gain += self.half_k * w * b_s_b / (1 + w * b_r_b)
        return np.asarray(gain)

    def add(self, l: IntArray, m: IntArray, w: FloatArray) -> None:
        """Take blocks (l, m) with their w pairs in: R ← R − V (diag(1/w) + bᵀV)⁻¹ Vᵀ, V = Rb (Woodbury)."""
        for group in (l, m):
            np.add.at(self.degrees, group, w / self.sizes[group])
        for at, sign in enumerate((1.0, -1.0)):
            R = self.inverses[at]
            V = R[:, l] + sign * R[:, m]
            inner = np.diag(1 / w) + V[l] + sign * V[m]
            self.inverses[at] = R - V @ np.linalg.solve(inner, V.T)

    def _own_gain(self, group: IntArray, w: FloatArray) -> FloatArray:
        n, d = self.sizes[group], np.maximum(self.degrees[group], 1e-3)
        return np.asarray(n / d - n / (d + w / n))

    def _centred(self) -> FloatArray:
        """W with vᵀWv = Σ n_l (v_l − mean v)²."""
        return np.asarray(np.diag(self.sizes) - np.outer(self.sizes, self.sizes) / self.sizes.sum())
