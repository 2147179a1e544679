"""A last pass over the nodes with the exact likelihood of their answers.

Iterations take every node's log likelihood for a quadratic form, which is a poor one where p is near zero or one.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bequec.learn.pair_blocks import DenseBlock, ListedBlock, PairBlock, PairBlocks, Single
from bequec.learn.posterior.cavity import Belief, clipped, node_potentials, pair_sums
from bequec.learn.posterior.local_atoms import LocalAtoms
from bequec.learn.posterior.node_posteriors import NodePosteriors
from bequec.learn.posterior.settings import POSTERIOR


def with_exact_likelihood(blocks: PairBlocks, belief: Belief, seed: int) -> Belief:
    """The belief with every node's posterior by its exact likelihood; all others, B and the prior stay as they are.

    Nodes with too few effective atoms of their own keep what they have.
    """
    M, prior = belief.memberships, belief.concentration
    b, H = node_potentials(belief, pair_sums(blocks, belief))
    nodes = NodePosteriors(b, H, np.tile(prior, (len(M), 1)), M, belief.covariances)
    atoms = LocalAtoms.draw(prior, np.random.default_rng(seed), POSTERIOR.exact_atoms)
    z = (M @ belief.interactions).astype(np.float32)
    memberships, covariances = M.copy(), belief.covariances.copy()
    for group in range(blocks.plan.n_groups):
        span = blocks.plan.span(group)
        answers = GroupAnswers.of(blocks, span, z)
        found = atoms.moments(nodes.take(span), answers.log_likelihood)
        known = found.n_effective > POSTERIOR.least_effective_atoms
        memberships[span][known] = found.mean[known]
        covariances[span][known] = found.covariance[known]
    return belief._replace(memberships=memberships, covariances=covariances)


class GroupAnswers(NamedTuple):
    """All answers of one group's nodes, as blocks with the group's nodes as rows, and z_j = B m_j of all nodes j."""

    blocks: tuple[PairBlock, ...]
    z: Single

    @classmethod
    def of(cls, blocks: PairBlocks, span: slice, z: Single) -> "GroupAnswers":
        """From the blocks that the group is on either side of."""
        own = [
            block if block.rows == span else block.turned() for block in blocks if span in (block.rows, block.columns)
        ]
        return cls(tuple(own), z)

    def log_likelihood(self, x: Single, rows: slice) -> Single:
        """Σ_j W_ij [a_ij log(x·z_j) + (1 − a_ij) log(1 − x·z_j)] for atoms x (n, K, S) of these nodes → (n, S)."""
        total = np.zeros((len(x), x.shape[2]), dtype=np.float32)
        for block in self.blocks:
            z = self.z[block.columns]
            total += _dense(block, x, rows, z) if isinstance(block, DenseBlock) else _listed(block, x, rows, z)
        return total


def _dense(block: DenseBlock, x: Single, rows: slice, z: Single) -> Single:
    a, weight = block.mean[rows], None if block.total is None else block.total[rows]
    sums = np.empty((len(x), x.shape[2]), dtype=np.float32)
    # A few nodes at once, so that the array over their pairs and atoms stays in a core's cache.
    step = max(1, POSTERIOR.exact_cells_at_once // (a.shape[1] * x.shape[2]))
    for begin in range(0, len(x), step):
        part = slice(begin, begin + step)
        own = np.ones_like(a[part]) if weight is None else weight[part]
        sums[part] = _weighted_logs(a[part][:, :, None], own[:, None, :], x[part], z)
    return sums


def _weighted_logs(a: Single, weight: Single, x: Single, z: Single) -> Single:
    """For a (n, J, 1) and W (n, 1, J): the sum over all J pairs of each node."""
    if ((a == 0) | (a == 1)).all():  # x·z or 1 − x·z = x·(1 − z): one logarithm per pair
        return np.asarray((weight @ _log(np.where(a > 0, z, 1 - z) @ x))[:, 0])
    share = a[:, None, :, 0]
    return np.asarray(((weight * share) @ _log(z @ x) + (weight * (1 - share)) @ _log((1 - z) @ x))[:, 0])


def _listed(block: ListedBlock, x: Single, rows: slice, z: Single) -> Single:
    begins = block.begins[rows.start : rows.start + len(x) + 1]
    pairs = slice(int(begins[0]), int(begins[-1]))
    begins = begins - begins[0]
    a, weight, z = block.mean[pairs], block.total[pairs], z[block.at[pairs]]
    own = x[np.repeat(np.arange(len(x)), np.diff(begins))]
    p = np.einsum("pk,pks->ps", z, own)
    columns = np.arange(len(a))

    def summed(values: Single, logs: Single) -> Single:
        return np.asarray(sp.csr_array((values, columns, begins), shape=(len(x), len(a))) @ logs)

    return summed(weight * a, _log(p.copy())) + summed(weight * (1 - a), _log(1 - p))


def _log(p: Single) -> Single:
    return np.asarray(np.log(clipped(p), out=p))
