"""Posterior memberships as sums over atoms: weighted points on the simplex, shared by all nodes or a node's own."""

from typing import NamedTuple

import numpy as np

from bequec.ask.answers import FloatArray
from bequec.learn.cavity import Belief
from bequec.learn.local_atoms import LocalAtoms
from bequec.learn.moments import Moments
from bequec.learn.shared_atoms import WHOLE_SIMPLEX, SharedAtoms

LEAST_LOCAL = 64
ENOUGH = 0.4  # of the local atoms: about as many as are effective


class Atoms(NamedTuple):
    """Shared atoms for nodes that many of them suit and, if there are any, atoms of their own for the others."""

    shared: SharedAtoms
    local: LocalAtoms | None

    @classmethod
    def draw(cls, concentration: FloatArray, rng: np.random.Generator, n_shared: int, n_local: int) -> "Atoms":
        """Both kinds for one concentration; with many clusters shared ones alone never suffice."""
        shared = SharedAtoms.draw(concentration, rng, n_shared)
        n_local = n_local if len(concentration) <= WHOLE_SIMPLEX else max(n_local, LEAST_LOCAL)
        return cls(shared, LocalAtoms.draw(concentration, rng, n_local) if n_local else None)

    def suit(self, concentration: FloatArray) -> bool:
        """Whether ν is so near to the atoms' own that they can be reweighted instead of drawn anew."""
        return self.shared.suit(concentration)

    def moments(self, b: FloatArray, H: FloatArray, belief: Belief) -> Moments:
        """Moments of each node's posterior by the atoms of which more have some weight there."""
        moments = self.shared.moments(b, H, belief)
        if self.local is None:
            return moments
        few = np.flatnonzero(moments.n_effective < ENOUGH * self.local.normals.shape[1])
        nodes = belief._replace(memberships=belief.memberships[few], covariances=belief.covariances[few])
        own = self.local.moments(b[few], H[few], nodes)
        better = own.n_effective > moments.n_effective[few]
        for array, improved in zip(moments, own, strict=True):
            array[few[better]] = improved[better]
        return moments
