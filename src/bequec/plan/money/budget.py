"""What can be afforded: pairs, hours of work, or money; and what a plan costs in each of them."""

import math
import re
from dataclasses import dataclass
from typing import Self

from bequec.core.errors import PlanError

HOURS_PER_DAY = 8.0
SECONDS_PER_HOUR = 3600.0

# "80000", "40h", "5d", "81.60usd", "$81.60": a number, and what it counts.
_TEXT = re.compile(r"(?P<sign>[$€£])?\s*(?P<number>[\d_.,]+)\s*(?P<unit>[a-z]*)", re.IGNORECASE)
_UNITS = {"": "pairs", "pairs": "pairs", "pair": "pairs", "h": "hours", "hours": "hours", "hour": "hours"}
_UNITS |= {"d": "days", "days": "days", "day": "days"}
_UNITS |= dict.fromkeys(("usd", "eur", "gbp", "dollars", "dollar", "euros", "euro"), "money")


@dataclass(frozen=True)
class CostSheet:
    """What a number of pairs costs; hours and money only where the budget says enough to know them."""

    pairs: float
    answers: float
    hours: float | None
    money: float | None


@dataclass(frozen=True)
class Budget:
    """What can be afforded, as pairs, hours or money: exactly one of them.

    Parameters
    ----------
    pairs, hours, money : float, optional
        How much there is.
    seconds_per_pair : float, optional
        How long one answer takes; hours need it.
    hourly_pay : float, optional
        What an hour of answering is paid.
    pay_per_answer : float, optional
        What one answer is paid, instead of by the hour.
    platform_fee : float
        What the platform takes on top, as a share of the pay: 0.2 for 20 %.
    answers_per_pair : float
        How many people answer each pair.

    Examples
    --------
    >>> Budget(hours=40, seconds_per_pair=6, answers_per_pair=3).affordable_pairs
    8000
    >>> Budget(money=120, seconds_per_pair=6, hourly_pay=10, platform_fee=0.2).affordable_pairs
    6000
    """

    pairs: float | None = None
    hours: float | None = None
    money: float | None = None
    seconds_per_pair: float | None = None
    hourly_pay: float | None = None
    pay_per_answer: float | None = None
    platform_fee: float = 0.0
    answers_per_pair: float = 1.0

    def __post_init__(self) -> None:
        said = [name for name in ("pairs", "hours", "money") if getattr(self, name) is not None]
        if len(said) != 1:
            raise PlanError(f"a budget is one of pairs, hours or money, got {' and '.join(said) or 'none of them'}")
        for name, least in (
            *((what, 0.0) for what in (*said, "seconds_per_pair", "hourly_pay", "pay_per_answer")),
            ("answers_per_pair", 0.0),
        ):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > least):
                raise PlanError(f"{name}={value:g} must be a number above {least:g}")
        if not 0 <= self.platform_fee < math.inf:
            raise PlanError(f"platform_fee={self.platform_fee:g} must be a share of the pay of at least 0: 0.2 is 20 %")
        if self.hourly_pay is not None and self.pay_per_answer is not None:
            raise PlanError("give hourly_pay or pay_per_answer, not both: one follows from the other")
        if self.hours is not None and self.seconds_per_pair is None:
            raise PlanError("a budget in hours needs seconds_per_pair: how long one answer takes")
        if self.money is not None and self._money_per_answer is None:
            raise PlanError(
                "a budget in money needs to know what an answer is paid: seconds_per_pair and "
                "hourly_pay, or pay_per_answer"
            )

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        seconds_per_pair: float | None = None,
        hourly_pay: float | None = None,
        pay_per_answer: float | None = None,
        platform_fee: float = 0.0,
        answers_per_pair: float = 1.0,
        hours_per_day: float = HOURS_PER_DAY,
    ) -> Self:
        """A budget as people write it: 80000, 40h, 5d, 81.60usd or $81.60."""
        found = _TEXT.fullmatch(text.strip())
        unit = None if found is None else _UNITS.get(found["unit"].lower())
        if found is None or unit is None or (found["sign"] and unit != "pairs"):
            raise PlanError(
                f"budget {text!r} cannot be read; write pairs (80000), hours (40h), days (5d) or money (81.60usd, "
                "'$81.60')"
            )
        amount = _number(found["number"], text)
        unit = "money" if found["sign"] else unit
        if unit == "days":
            if not 0 < hours_per_day <= 24:
                raise PlanError(f"hours_per_day={hours_per_day:g} must be above 0 and at most 24")
            unit, amount = "hours", amount * hours_per_day
        return cls(
            **{unit: amount},
            seconds_per_pair=seconds_per_pair,
            hourly_pay=hourly_pay,
            pay_per_answer=pay_per_answer,
            platform_fee=platform_fee,
            answers_per_pair=answers_per_pair,
        )

    @property
    def affordable_pairs(self) -> int:
        """How many ordinary pairs (price 1) can be asked."""
        return math.floor(self._per_pair_of(1.0) * (1 + 1e-12))

    def times(self, factor: float) -> "Budget":
        """The same kind of budget, this many times as large."""
        name = next(name for name in ("pairs", "hours", "money") if getattr(self, name) is not None)
        changed = {**self.__dict__, name: getattr(self, name) * factor}
        return Budget(**changed)

    def amount_for(self, pairs: float) -> str:
        """What this many pairs would take, in the unit of the budget, rounded up."""
        sheet = self.sheet(pairs)
        if self.pairs is not None:
            return f"{math.ceil(pairs)}"
        if self.hours is not None:
            return f"{math.ceil(100 * (sheet.hours or 0.0)) / 100:g}h"
        return f"{math.ceil(100 * (sheet.money or 0.0)) / 100:.2f}usd"

    def sheet(self, pairs: float) -> CostSheet:
        """The cost sheet of this many ordinary pairs (a price per pair counts as that many of them)."""
        answers = pairs * self.answers_per_pair
        hours = None if self.seconds_per_pair is None else answers * self.seconds_per_pair / SECONDS_PER_HOUR
        per_answer = self._money_per_answer
        return CostSheet(pairs, answers, hours, None if per_answer is None else answers * per_answer)

    @property
    def _money_per_answer(self) -> float | None:
        pay = self.pay_per_answer
        if pay is None and self.hourly_pay is not None and self.seconds_per_pair is not None:
            pay = self.hourly_pay * self.seconds_per_pair / SECONDS_PER_HOUR
        return None if pay is None else pay * (1 + self.platform_fee)

    def _per_pair_of(self, pairs: float) -> float:
        """The budget as a multiple of what this many pairs cost."""
        sheet = self.sheet(pairs)
        for have, cost in ((self.pairs, sheet.pairs), (self.hours, sheet.hours), (self.money, sheet.money)):
            if have is not None and cost is not None:
                return have / cost
        raise PlanError("this budget cannot be turned into pairs")  # __post_init__ saw to it that it can


def as_budget(budget: "int | float | Budget") -> Budget:
    """A plain number is a number of pairs."""
    if isinstance(budget, Budget):
        return budget
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        raise PlanError(f"budget={budget!r} must be a number of pairs or a Budget (hours, money)")
    return Budget(pairs=float(budget))


def _number(text: str, whole: str) -> float:
    try:
        return float(text.replace("_", "").replace(",", "") if re.search(r",\d{3}\b", text) else text)
    except ValueError as reason:
        raise PlanError(f"budget {whole!r} cannot be read; write the number with a point, e.g. 81.60usd") from reason
