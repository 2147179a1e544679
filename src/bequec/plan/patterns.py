"""The query patterns: which blocks to ask. Figure 1 of the paper, and a shallow one."""

from itertools import pairwise

import numpy as np

from bequec.core.errors import PlanError
from bequec.plan.groups import Block, as_mask, ordered_block
from bequec.plan.mask.sharing import is_connected_by_sharing


def diagonal_blocks(n_groups: int) -> list[Block]:
    """Every group with itself and with its successor: A_ll and A_l,l+1."""
    return [(l, l) for l in range(n_groups)] + [(l, l + 1) for l in range(n_groups - 1)]


def random_blocks(n_groups: int, rng: np.random.Generator, *, loops: bool = True) -> list[Block]:
    """A random chain of the edge query principle: blocks (l_r, m_r) and (l_r+1, m_r) for r = 1 … L − 1.

    Without ``loops`` no m_r is l_r or l_r+1, for groups whose diagonal blocks are too small to use.
    """
    if n_groups == 1:
        return [(0, 0)]
    chain = rng.permutation(n_groups).tolist()
    blocks = []
    for l, following in pairwise(chain):
        columns = [m for m in range(n_groups) if loops or m not in (l, following)] or [l]
        m = columns[rng.integers(len(columns))]
        blocks += [(l, m), (following, m)]
    return blocks


def reference_blocks(n_groups: int, n_references: int) -> list[Block]:
    """Every group with each of the reference groups, which are the first ones."""
    if not 1 <= n_references <= n_groups:
        raise PlanError(f"n_references={n_references} must be between 1 and the number of groups, {n_groups}")
    return [(r, l) for r in range(n_references) for l in range(r, n_groups)]


def spread_blocks(n_groups: int, degree: int, rng: np.random.Generator) -> list[Block]:
    """A random regular graph on the groups, without loops, connected and with an odd cycle.

    Balanced degrees and a depth of about log L: errors travel through few stitches. When
    ``n_groups * degree`` is odd no regular graph exists and one group gets one block more.
    """
    if n_groups < 3:
        raise PlanError(f"pattern 'spread' needs at least 3 groups, got {n_groups}; use pattern 'diagonal'")
    if not 2 <= degree < n_groups:
        raise PlanError(f"degree={degree} must be between 2 and n_groups − 1 = {n_groups - 1}")
    for _ in range(100):
        edges = _shuffled_regular_graph(n_groups, degree, rng)
        if is_connected_by_sharing(as_mask(edges, n_groups)):
            return sorted(edges)
    raise PlanError(
        f"no connected graph of degree {degree} with an odd cycle was found on {n_groups} groups; use degree 3 or more"
    )


def _shuffled_regular_graph(n_groups: int, degree: int, rng: np.random.Generator) -> set[Block]:
    """A circulant graph of the given degree, shuffled by ten swaps of end points per edge."""
    edges = {ordered_block(l, (l + step) % n_groups) for l in range(n_groups) for step in range(1, degree // 2 + 1)}
    if degree % 2:
        # Antipodes; when L is odd the last group has none left and takes one block more.
        edges |= {ordered_block(l, (l + n_groups // 2) % n_groups) for l in range((n_groups + 1) // 2)}
    listed = sorted(edges)
    for first, second in rng.integers(len(listed), size=(10 * len(listed), 2)).tolist():
        (a, b), (c, d) = listed[first], listed[second]
        if rng.integers(2):
            c, d = d, c
        swapped = ordered_block(a, d), ordered_block(c, b)
        if len({a, b, c, d}) == 4 and edges.isdisjoint(swapped):
            edges -= {listed[first], listed[second]}
            edges.update(swapped)
            listed[first], listed[second] = swapped
    return edges
