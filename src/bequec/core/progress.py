"""How long work tells how far it is."""

from collections.abc import Callable

Progress = Callable[[str, int, int], object]  # (what is being done, steps done, steps in all)
