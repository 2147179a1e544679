"""What is learned from: data only, so that it can be sent to another process."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bequec.ask.answers import Answers
from bequec.core.arrays import BoolArray
from bequec.learn.pair_blocks import PairBlocks, fits_in_memory


@dataclass(frozen=True, eq=False)
class Problem:
    """The answers, the blocks that can be used, and the number of clusters.

    ``dispersion`` says how many times p (1 − p) the variance of an answer is: every answer counts 1 / dispersion.
    """

    answers: Answers
    usable: BoolArray
    n_clusters: int
    dispersion: float = 1.0

    @property
    def fits_in_memory(self) -> bool:
        """Whether ``blocks`` fit into memory."""
        return fits_in_memory(self.answers)

    @cached_property
    def blocks(self) -> PairBlocks:
        """The answered blocks read once and shared by all steps."""
        return PairBlocks.of(self.answers).with_dispersion(self.dispersion)

    def with_dispersion(self, dispersion: float) -> "Problem":
        """The same problem, with the same arrays, whose answers vary more or less."""
        if dispersion == self.dispersion:
            return self
        problem = dataclasses.replace(self, dispersion=dispersion)
        if "blocks" in vars(self):
            vars(problem)["blocks"] = self.blocks.with_dispersion(dispersion)
        return problem

    def __getstate__(self) -> dict[str, Any]:
        # Dense blocks are larger than the answers, so another process reads them again.
        return {name: value for name, value in vars(self).items() if name != "blocks"}
