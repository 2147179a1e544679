"""Checks of what simulated people are to do."""

from bequec.core.errors import BequecError


def check_rates(**rates: float) -> None:
    """Each must be a probability."""
    for what, rate in rates.items():
        if not 0 <= rate <= 1:
            raise BequecError(f"{what}={rate:g} must be a probability in [0, 1]")


def check_counts(**counts: int) -> None:
    """Each must be at least one."""
    for what, count in counts.items():
        if count < 1:
            raise BequecError(f"{what}={count} must be at least 1")
