"""The co-author networks of the paper's Tables VII to IX, with how much each author belongs to each field.

DBLP1 … DBLP5, MAG1 and MAG2 (Mao, Sarkar and Chakrabarti, ICML 2017) as two text files each: ``*_adjacency.txt`` with
one edge per line, larger index first, and ``*_community.txt`` with lines ``node community weight``.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bequec.core.arrays import FloatArray
from bequec.core.errors import DataError
from bequec.datasets.files import find_file

DBLP = tuple(f"DBLP{number}" for number in range(1, 6))
NETWORKS = (*(f"DBLP-{number}" for number in range(1, 6)), "MAG1", "MAG2")
FEWEST_LATER_NEIGHBOURS = 6


class Coauthors(NamedTuple):
    """A symmetric 0/1 graph (N, N) and the authors' true memberships (N, K)."""

    graph: sp.csr_array
    memberships: FloatArray


def load_coauthors(network: str) -> Coauthors:
    """Read a network: "MAG1", "MAG2", one of "DBLP1" … "DBLP5", or "DBLP-1" … "DBLP-5" for the union of the others.

    As in the paper's experiments only authors with more than five neighbours *of a larger index* are kept: the
    published filter counts the columns of a lower-triangular matrix, and it is what gives the paper's N.
    """
    if network in DBLP or network in ("MAG1", "MAG2"):
        return _read(network)
    if network in NETWORKS:
        parts = [_read(name) for name in DBLP if name != network.replace("-", "")]
        graph = sp.block_diag([part.graph for part in parts], format="csr")
        memberships = sp.block_diag([part.memberships for part in parts]).toarray()
        return Coauthors(sp.csr_array(graph), memberships)
    raise DataError(f"network={network!r} is unknown; choose one of {', '.join((*DBLP, *NETWORKS))}")


def _read(name: str) -> Coauthors:
    edges_file, communities_file = (find_file(f"coauthors/{name}_{part}.txt") for part in ("adjacency", "community"))
    larger, smaller = (_numbers(edges_file, 2)[:, :2].astype(np.int64) - 1).T
    node, community, weight = _numbers(communities_file, 3).T
    n_nodes = int(max(larger.max(), smaller.max(), node.max() - 1)) + 1
    lower = sp.csr_array((np.ones(len(larger)), (larger, smaller)), shape=(n_nodes, n_nodes))
    lower.data[:] = 1.0
    entries = weight, (node.astype(np.int64) - 1, community.astype(np.int64) - 1)
    memberships = sp.csr_array(entries, shape=(n_nodes, int(community.max()))).toarray()
    kept = np.flatnonzero(np.asarray(lower.sum(axis=0)).ravel() >= FEWEST_LATER_NEIGHBOURS)
    graph = (lower + lower.T)[kept][:, kept]
    return Coauthors(sp.csr_array(graph), memberships[kept])


def _numbers(path: Path, n_columns: int) -> FloatArray:
    try:
        numbers = np.loadtxt(path, ndmin=2)
    except ValueError as reason:
        raise DataError(f"{path} is not a table of numbers ({reason}); download it again") from reason
    if numbers.shape[1] < n_columns:
        raise DataError(f"{path} has {numbers.shape[1]} columns instead of {n_columns}; download it again")
    return np.asarray(numbers)
