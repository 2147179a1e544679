"""Algorithm 1, lines 1–13: the range space of the memberships, stitched together block by block."""

from typing import NamedTuple

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import BoolArray, FloatArray
from bequec.learn.execution.parallel import Mapper
from bequec.learn.stitch.settings import STITCH
from bequec.learn.stitch.stitching_order import stitching_order
from bequec.learn.stitch.windows import gap, window_svd


class RangeSpace(NamedTuple):
    """A basis of range(M), rows in group order; the first SVD's singular values; σ_K / σ_{K+1} of every window."""

    basis: FloatArray
    singular_values: FloatArray
    gaps: FloatArray


def stitch(known_basis: FloatArray, shared_basis: FloatArray) -> FloatArray:
    """Basis of the new group, in the coordinates of ``known_basis``: the paper's PairStitch.

    ``shared_basis`` spans what both groups answered about the same columns, the known group's rows first:
    U_new = V_new pinv(V_known) U_known.
    """
    n_known = len(known_basis)
    to_known, *_ = np.linalg.lstsq(shared_basis[:n_known], known_basis, rcond=None)
    return shared_basis[n_known:] @ to_known


def estimate_range_space(
    answers: Answers, usable: BoolArray, n_clusters: int, start: FloatArray, mapper: Mapper
) -> RangeSpace:
    """Estimate range(M) from the usable blocks by stitching each group to a known one."""
    plan = answers.plan
    order = stitching_order(usable)
    if not order:  # a single group: nothing to stitch
        left, values, _ = window_svd(answers, [0], [0], n_clusters, start, STITCH.more_singular_values)
        return RangeSpace(left, values, np.array([gap(values, n_clusters)]))

    def shared_svd(index: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        known, new, column = order[index]
        return window_svd(
            answers, [known, new], [column], n_clusters, start, more=1 if index else STITCH.more_singular_values
        )

    shared = mapper.map("stitching groups", shared_svd, range(len(order)))
    basis = np.empty((plan.n_nodes, n_clusters))
    first = order[0]
    basis[plan.span(first.known)], basis[plan.span(first.new)] = np.split(shared[0][0], [plan.sizes[first.known]])
    for (known, new, _), (left, _, _) in zip(order[1:], shared[1:], strict=True):
        basis[plan.span(new)] = stitch(basis[plan.span(known)], left)
    gaps = np.array([gap(values, n_clusters) for _, values, _ in shared])
    return RangeSpace(basis, singular_values=shared[0][1], gaps=gaps)
