"""Simulated people who sort items into piles, and err."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import BequecError
from bequec.plan.query_plan import QueryPlan
from bequec.simulate.checks import check_counts, check_rates


def simulate_sorts(
    truth: npt.ArrayLike,
    items: QueryPlan | Sequence[Hashable] | None = None,
    *,
    screen: int = 24,
    rounds: int = 4,
    slip: float = 0.1,
    lumper: float = 0.0,
    splitter: float = 0.0,
    unsure_rate: float = 0.0,
    people: int = 12,
    random_state: int | np.random.Generator | None = None,
) -> pd.DataFrame:
    """A table of sorts (sheet, worker, item, pile), as ``Answers.from_sorts`` reads it.

    In every round all items are dealt at random to screens, each of which one person sorts once. The names of piles
    are numbers that begin anew on every screen.

    Parameters
    ----------
    truth : (n,) labels, or (n, K) memberships
        What each item belongs to. An item with memberships is placed by a cluster drawn from them, anew on each
        screen.
    items : QueryPlan or sequence of names, optional
        What the items are called; without it 0 … n − 1.
    screen : int
        How many items are sorted at once; the last screen of a round has those that are left.
    rounds : int
        How often each item is sorted.
    slip : float
        How often an item lands in another pile than was meant: in any other of the screen, or in one of its own, each
        equally likely.
    lumper : float
        On how many screens two clusters become one pile.
    splitter : float
        On how many screens a pile of several items becomes two, at random.
    unsure_rate : float
        How often an item is left without a pile.
    people : int
        How many people take turns.
    random_state : int, Generator or None

    Examples
    --------
    >>> simulate_sorts([0, 0, 1], ["ann", "bob", "eve"], rounds=1, slip=0, random_state=0)
       sheet worker item pile
    0      1     p1  eve    1
    1      1     p1  ann    2
    2      1     p1  bob    2
    """
    check_rates(slip=slip, lumper=lumper, splitter=splitter, unsure_rate=unsure_rate)
    check_counts(screen=screen, rounds=rounds, people=people)
    shares = _shares(truth)
    names = _names(items, len(shares))
    rng = np.random.default_rng(random_state)
    n, n_screens = len(shares), -(-len(shares) // screen)
    item = np.concatenate([rng.permutation(n) for _ in range(rounds)])
    sheet = np.repeat(np.arange(rounds) * n_screens, n) + np.tile(np.arange(n) // screen, rounds)
    until = shares.cumsum(axis=1) / shares.sum(axis=1, keepdims=True)
    cluster = (until[item] <= rng.random(len(item))[:, None]).sum(axis=1)
    pile = _lumped(sheet, cluster, rng.random(rounds * n_screens) < lumper, rng)
    pile = _split(sheet, pile, rng.random(rounds * n_screens) < splitter, rng)
    pile = _slipped(sheet, pile, rng.random(len(item)) < slip, rng)
    is_unsure = rng.random(len(item)) < unsure_rate
    return pd.DataFrame(
        {
            "sheet": sheet + 1,
            "worker": np.char.add("p", (sheet % people + 1).astype(str)).astype(object),
            "item": names[item],
            "pile": np.where(is_unsure, "", _numbered_anew(sheet, pile).astype(str)).astype(object),
        }
    ).infer_objects()


def _shares(truth: npt.ArrayLike) -> FloatArray:
    """How much each item belongs to each cluster, from labels or memberships."""
    given = np.asarray(truth)
    if given.ndim == 1 and len(given):
        labels, code = np.unique(given, return_inverse=True)
        return np.eye(len(labels))[code]
    if given.ndim != 2 or not given.size:
        raise BequecError(f"truth must be (n,) labels or (n, K) memberships, got an array of shape {given.shape}")
    shares = given.astype(float)
    wrong = np.flatnonzero(~((shares >= 0).all(axis=1) & (np.abs(shares.sum(axis=1) - 1) < 1e-6)))
    if len(wrong):
        raise BequecError(
            f"the memberships of item {wrong[0]} are {shares[wrong[0]].tolist()}; they must be positive and add up to 1"
        )
    return shares


def _names(items: QueryPlan | Sequence[Hashable] | None, n: int) -> npt.NDArray[np.object_]:
    """What the items are called."""
    if isinstance(items, QueryPlan):
        items = [items.name(node) for node in range(items.n_nodes)]
    items = range(n) if items is None else items
    if len(items) != n:
        raise BequecError(f"the truth is about {n} items, but {len(items)} are named; give one name per item")
    names = np.empty(n, dtype=object)
    names[:] = list(items)
    return names


class _Piles(NamedTuple):
    """The piles on all screens, screen after screen.

    ``code`` is each row's pile; of each pile ``size`` counts its items; of each screen ``first`` is its first pile
    and ``number`` counts its piles.
    """

    code: IntArray
    screen: IntArray
    size: IntArray
    first: IntArray
    number: IntArray


def _piles(screen: IntArray, pile: IntArray) -> _Piles:
    n_names = int(pile.max()) + 1
    keys, code, size = np.unique(screen * n_names + pile, return_inverse=True, return_counts=True)
    of_pile = keys // n_names
    number = np.bincount(of_pile)
    return _Piles(code, of_pile, size, np.cumsum(number) - number, number)


def _lumped(screen: IntArray, pile: IntArray, lumps: BoolArray, rng: np.random.Generator) -> IntArray:
    """Two piles at random become one on these screens, where there are two."""
    piles = _piles(screen, pile)
    one, other = (rng.random(len(lumps)) * (piles.number - less) // 1 for less in (0, 1))
    other += other >= one
    at = lumps & (piles.number > 1)
    joined = np.arange(len(piles.size))
    joined[(piles.first + other)[at].astype(np.int64)] = (piles.first + one)[at]
    return joined[piles.code]


def _split(screen: IntArray, pile: IntArray, splits: BoolArray, rng: np.random.Generator) -> IntArray:
    """One pile at random becomes two on these screens, where one has two items; neither half is empty."""
    piles = _piles(screen, pile)
    draw = np.where(piles.size > 1, rng.random(len(piles.size)), -1.0)
    chosen = np.zeros(len(piles.size), dtype=bool)
    chosen[np.lexsort((draw, piles.screen))[np.cumsum(piles.number) - 1]] = True  # the largest draw of each screen
    chosen &= splits[piles.screen] & (piles.size > 1)
    rows = np.flatnonzero(chosen[piles.code])
    rows = rows[np.lexsort((rng.random(len(rows)), piles.code[rows]))]
    place = pd.Series(rows).groupby(piles.code[rows]).cumcount().to_numpy()
    leaves = np.where(place < 2, place == 1, rng.random(len(rows)) < 0.5)  # the first stays and the second leaves
    code = piles.code.copy()
    code[rows[leaves]] += len(piles.size)
    return code


def _slipped(screen: IntArray, pile: IntArray, slips: BoolArray, rng: np.random.Generator) -> IntArray:
    """These items land in another pile of their screen, or in one of their own; never in the one that was meant."""
    piles = _piles(screen, pile)
    meant, n_others = piles.code - piles.first[screen], piles.number[screen] - 1
    n_choices = n_others + (piles.size[piles.code] > 1)  # who is alone already cannot get a pile of its own
    choice = (rng.random(len(pile)) * n_choices).astype(np.int64)
    other = piles.first[screen] + choice + (choice >= meant)
    own = len(piles.size) + np.arange(len(pile))
    return np.where(slips & (n_choices > 0), np.where(choice < n_others, other, own), piles.code)


def _numbered_anew(screen: IntArray, pile: IntArray) -> IntArray:
    """The piles of every screen as 1, 2, … in the order in which they are met; rows of a screen are together."""
    code = pd.factorize(pile)[0]
    first_row = np.unique(screen, return_index=True)[1]
    return np.asarray(code - code[first_row][screen] + 1)
