"""What asking costs: a price per pair for every block, infinite where a block cannot be asked.

A price is how many ordinary pairs one pair of the block counts for, so that prices and budgets share one unit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bequec.core.arrays import BoolArray, FloatArray, IntArray
from bequec.core.errors import PlanError, shortened
from bequec.plan.groups import Block, group_index, ordered_block
from bequec.plan.query_plan import QueryPlan

if TYPE_CHECKING:
    import pandas as pd

FORBIDDEN = ("", "inf", "infinity", "forbidden", "nan", "none", "-")
ROW_COLUMNS = 3

ADD_MISSING = "name every group, with empty cells where nobody can be asked"


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices that were checked: (L, L) and symmetric, in the order of the groups; ``inf`` forbids a block."""

    per_pair: FloatArray

    @classmethod
    def read(cls, cost: Any, group_names: Sequence[str]) -> "Prices":
        """Prices as people give them.

        Parameters
        ----------
        cost : Prices; (L, L) array by group index; DataFrame with group names on both sides, or with three columns
            group, group, cost; or mapping {(group, group): price}
            In a mapping and in three columns, blocks that are not listed cannot be asked.
        group_names : sequence of L texts
        """
        if isinstance(cost, Prices):
            _check_shape(cost.per_pair, len(group_names))
            return cost
        if isinstance(cost, Mapping):
            per_pair = _from_rows([(l, m, price) for (l, m), price in _pairs_of(cost)], group_names)
        elif hasattr(cost, "columns"):
            per_pair = _from_table(cost, group_names)
        else:
            per_pair = _from_array(cost, len(group_names))
        _check_prices(per_pair, group_names)
        return cls(per_pair)

    @property
    def allowed(self) -> BoolArray:
        """(L, L): the blocks that can be asked."""
        return np.isfinite(self.per_pair)

    def with_opened(self, blocks: Iterable[Block]) -> "Prices":
        """With forbidden blocks opened: nobody said what they cost, so as much as the most expensive other block."""
        finite = self.per_pair[self.allowed]
        highest = float(finite.max()) if len(finite) else 1.0
        opened = self.per_pair.copy()
        for l, m in blocks:
            if np.isinf(opened[l, m]):
                opened[l, m] = opened[m, l] = highest
        return Prices(opened)

    def of(self, blocks: IntArray, n_pairs: IntArray | FloatArray) -> float:
        """What these numbers of pairs cost in these blocks, (l, m) a row."""
        # A block of a single node holds no pair: nothing is asked there, whatever the price.
        asked = n_pairs > 0
        return float(self.per_pair[tuple(blocks[asked].T)] @ n_pairs[asked])


def plan_cost(plan: QueryPlan, cost: Any = None) -> float:
    """What a plan costs, in ordinary pairs: the price per pair times the number of pairs, over the asked blocks.

    A forbidden block that is asked all the same counts as much per pair as the most expensive other one.

    Examples
    --------
    >>> plan = QueryPlan([0, 0, 0, 1, 1], [(0, 0), (0, 1)])
    >>> plan_cost(plan, [[1, 2], [2, 1]])
    15.0
    """
    if cost is None:
        return float(plan.n_pairs)
    prices = Prices.read(cost, [plan.group_name(l) for l in range(plan.n_groups)])
    opened = prices.with_opened((l, m) for l, m in plan.covered_blocks.tolist())
    return opened.of(plan.covered_blocks, plan.pairs_per_block)


def _pairs_of(cost: Mapping[Any, Any]) -> list[tuple[tuple[Any, Any], Any]]:
    for key in cost:
        if not isinstance(key, tuple) or len(key) != 2:
            raise PlanError(f"cost has the key {key!r}; keys are pairs of groups, e.g. {{('A', 'B'): 1.5}}")
    return list(cost.items())


def _from_array(cost: Any, n_groups: int) -> FloatArray:
    try:
        prices = np.array(cost, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise PlanError(
            f"cost must hold numbers per pair ({reason}); give an array, a DataFrame or a mapping"
        ) from reason
    _check_shape(prices, n_groups)
    return prices


def _check_shape(prices: FloatArray, n_groups: int) -> None:
    if prices.shape != (n_groups, n_groups):
        raise PlanError(
            f"cost has shape {prices.shape}, but there are {n_groups} groups; give a ({n_groups}, {n_groups}) array"
        )


def _from_table(table: "pd.DataFrame", group_names: Sequence[str]) -> FloatArray:
    columns = [str(column).strip() for column in table.columns]
    known = set(group_names)
    if len(columns) == ROW_COLUMNS and not known.issuperset(columns[1:]):
        return _from_rows(list(table.itertuples(index=False, name=None)), group_names)
    first = [] if table.empty else [str(name).strip() for name in table.iloc[:, 0]]
    # As read from a file, also with a group missing: the first column holds the rows' names.
    if len(columns) == len(table) + 1 or (columns[:1] and columns[0] not in known and not known.isdisjoint(first)):
        rows = first
        columns, values = columns[1:], table.iloc[:, 1:].to_numpy(dtype=object)
    else:
        rows, values = [str(name).strip() for name in table.index], table.to_numpy(dtype=object)
    for side, found in (("columns", columns), ("rows", rows)):
        _refuse_unknown(found, known, f"the cost table's {side}")
        missing = [name for name in group_names if name not in found]
        if missing or len(found) != len(group_names):
            raise PlanError(
                f"the cost table's {side} name {len(found)} groups, the plan has {len(group_names)}"
                + (f"; missing: {shortened(missing)}; {ADD_MISSING}" if missing else "; name each once")
            )
    order_l, order_m = ([found.index(name) for name in group_names] for found in (rows, columns))
    prices = [[_price(value) for value in row] for row in values[np.ix_(order_l, order_m)]]
    return np.array(prices, dtype=np.float64)


def _from_rows(rows: list[tuple[Any, Any, Any]], group_names: Sequence[str]) -> FloatArray:
    index = {name: l for l, name in enumerate(group_names)}
    prices = np.full((len(index), len(index)), np.inf)
    told: dict[tuple[int, int], float] = {}
    for first, second, value in rows:
        block = l, m = ordered_block(group_index(first, index, "cost"), group_index(second, index, "cost"))
        price = _price(value)
        if told.setdefault(block, price) != price:
            raise PlanError(
                f"block ({group_names[l]}, {group_names[m]}) costs {told[block]:g} in one row and {price:g} in "
                "another; asking one way asks the other: give it one price"
            )
        prices[l, m] = prices[m, l] = price
    return prices


def _refuse_unknown(found: Sequence[str], known: set[str], where: str) -> None:
    unknown = [name for name in found if name not in known]
    if unknown:
        raise PlanError(
            f"{where} name {shortened([repr(name) for name in unknown])}, which is no group of the plan; "
            f"the groups are {shortened(sorted(known))}"
        )


def _price(value: Any) -> float:
    """A price; texts as they come from a file, where empty or "inf" forbids a block."""
    if isinstance(value, str) or value is None:
        text = "" if value is None else value.strip().lower()
        if text in FORBIDDEN:
            return np.inf
        try:
            value = float(text)
        except ValueError as reason:
            raise PlanError(
                f"cost {value!r} is not a number; write a price per pair, or inf where it cannot be asked"
            ) from reason
    return np.inf if value != value else float(value)  # noqa: PLR0124 - an empty cell of a DataFrame is NaN


def _check_prices(prices: FloatArray, group_names: Sequence[str]) -> None:
    if np.isnan(prices).any():
        l, m = np.argwhere(np.isnan(prices))[0]
        raise PlanError(f"cost[{l}, {m}] is NaN; give a price per pair, or inf where it cannot be asked")
    if (prices < 0).any():
        l, m = np.argwhere(prices < 0)[0]
        raise PlanError(
            f"block ({group_names[l]}, {group_names[m]}) costs {prices[l, m]:g} a pair; it cannot be < 0: "
            "give a price of 0 or more, or inf (in a file, an empty cell) where it cannot be asked"
        )
    different = prices != prices.T
    if different.any():
        l, m = np.argwhere(different)[0]
        raise PlanError(
            f"cost is not symmetric: ({group_names[l]}, {group_names[m]}) costs {prices[l, m]:g} and "
            f"({group_names[m]}, {group_names[l]}) {prices[m, l]:g}; asking one asks the other: "
            "give both the same price (np.maximum(cost, cost.T))"
        )
