"""Error against N and L by simulation, beside the shape of the paper's bound."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.core.progress import Progress
from bequec.evaluate.scores import mean_squared_error
from bequec.learn.bequec import BeQuec
from bequec.plan.planning import plan_queries
from bequec.plan.theory import theorem_two
from bequec.simulate.mixed_membership import simulate_mixed_memberships


@dataclass(frozen=True)
class ErrorPoint:
    """One cell: what Algorithm 1 reached, and what the bound says about it up to a constant."""

    n_nodes: int
    n_groups: int
    subspace_error: float
    mse: float
    log10_bound: float


def error_points(
    cells: Sequence[tuple[int, int]],
    concentration: Sequence[float],
    *,
    between: float = 0.1,
    n_runs: int = 3,
    random_state: int = 0,
    progress: Progress | None = None,
) -> list[ErrorPoint]:
    """‖Û − UO‖_F of the paper's Algorithm 1 with the diagonal pattern, the mean over runs, for cells (N, L)."""
    points = []
    K = len(concentration)
    for done, (n_nodes, n_groups) in enumerate(cells):
        found = []
        for run in range(n_runs):
            rng = np.random.default_rng([random_state, n_nodes, n_groups, run])
            plan = plan_queries(n_nodes, K, n_groups=n_groups, random_state=rng)
            planted = simulate_mixed_memberships(
                plan, K, concentration=concentration, between=between, random_state=rng
            )
            model = BeQuec(K, refine=None, random_state=rng).fit(planted.answers)
            bound = theorem_two(planted.memberships, planted.interactions, plan, concentration).log10_subspace_bound
            error = subspace_error(model.basis_, planted.memberships)
            found.append((error, mean_squared_error(model.memberships_, planted.memberships), bound))
        points.append(ErrorPoint(n_nodes, n_groups, *np.mean(found, axis=0).tolist()))
        if progress is not None:
            progress("simulating", done + 1, len(cells))
    return points


def subspace_error(basis: FloatArray, memberships: FloatArray) -> float:
    """Min over orthogonal O of ‖Û − UO‖_F, both with orthonormal columns: √(2K − 2 Σ cos θ_k)."""
    Q, _ = np.linalg.qr(basis)
    U, _ = np.linalg.qr(memberships)
    cosines = np.linalg.svd(U.T @ Q, compute_uv=False)
    return math.sqrt(max(0.0, 2 * len(cosines) - 2 * float(cosines.sum())))
