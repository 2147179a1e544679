"""The values that options choose from; any other is wrong usage."""

from typing import Literal

Pattern = Literal["diagonal", "random", "reference", "spread", "cheapest"]
Refine = Literal["none", "subspace", "posterior"]
Picture = Literal["svg", "png", "pdf"]
Unsure = Literal["unanswered", "half"]
Outside = Literal["error", "drop"]
Material = Literal["digits", "dogs"]
Workers = Literal["weigh", "ignore"]
