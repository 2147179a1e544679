"""Posterior memberships as sums over atoms: weighted points on the simplex, shared by all nodes or a node's own."""

from typing import NamedTuple

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.learn.posterior.faces import Faces, on_face
from bequec.learn.posterior.local_atoms import LocalAtoms
from bequec.learn.posterior.node_posteriors import Moments, NodePosteriors
from bequec.learn.posterior.settings import POSTERIOR
from bequec.learn.posterior.shared_atoms import SharedAtoms


class Atoms(NamedTuple):
    """Shared atoms for nodes that many of them suit and, if there are any, atoms of their own for the others."""

    shared: SharedAtoms
    local: LocalAtoms | None
    concentration: FloatArray

    @classmethod
    def draw(cls, concentration: FloatArray, rng: np.random.Generator, n_shared: int, n_local: int) -> "Atoms":
        """Both kinds for one concentration; with many clusters shared ones alone never suffice."""
        if len(concentration) > POSTERIOR.smallest_face:
            n_local = max(n_local, POSTERIOR.least_local_atoms)
        shape = on_face(concentration)
        shared = SharedAtoms.draw(shape, rng, n_shared)
        return cls(shared, LocalAtoms.draw(shape, rng, n_local) if n_local else None, concentration)

    def suit(self, concentration: FloatArray) -> bool:
        """Whether ν is so near to the atoms' own that they can be reweighted instead of drawn anew."""
        moved = np.abs(np.log(concentration / self.concentration))
        # Atoms of a face are drawn for the mean of ν anyway.
        return bool((moved.mean() if self.is_of_faces else moved.max()) <= POSTERIOR.redraw_beyond)

    @property
    def is_of_faces(self) -> bool:
        """Whether there are so many clusters that the atoms lie on faces of the simplex."""
        return len(self.shared.concentration) < len(self.concentration)

    def moments(self, nodes: NodePosteriors) -> Moments:
        """Moments of each node's posterior, on the whole simplex or, with many clusters, on its likeliest face."""
        if not self.is_of_faces:
            return self._moments(nodes)
        faces = Faces.of(nodes, len(self.shared.concentration))
        return faces.lift(self._moments(faces.restrict(nodes)))

    def _moments(self, nodes: NodePosteriors) -> Moments:
        """By the kind of atoms of which more are effective for the node."""
        moments = self.shared.moments(nodes)
        if self.local is None:
            return moments
        few = np.flatnonzero(moments.n_effective < POSTERIOR.effective_share_needed * self.local.n_atoms)
        own = self.local.moments(nodes.take(few))
        better = own.n_effective > moments.n_effective[few]
        for array, improved in zip(moments, own, strict=True):
            array[few[better]] = improved[better]
        return moments
