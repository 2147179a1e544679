"""The paper's theory at hand: how many nodes a plan needs, and the quantities of its error bound.

G(ε, ν) and Proposition 1 say how many nodes make it likely that every cluster has a nearly pure one; Theorem 2 bounds
the error of Algorithm 1. Its Ω and O hide constants: here they are all taken as one, so a condition that fails shows
the side that is short, not that learning must fail.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from bequec.core.arrays import FloatArray
from bequec.core.errors import PlanError
from bequec.plan.query_plan import QueryPlan

Concentration = Sequence[float] | FloatArray

ROWS_AT_ONCE = 2_000_000  # memberships in memory at a time
DRAWS = 200_000  # of the importance sampling: chances are then known to about one per cent
LARGEST_EPSILON = 0.7  # below 1/√2, nobody is near two corners


def separability_constant(epsilon: float, concentration: Concentration) -> float:
    """G(ε, ν), the paper's lower bound of the chance that a node is ε-close to its rarest corner.

    With ε/√2, as in the paper's appendix and its Table I:
    G = Γ(Σν) / ∏Γ(ν_i) · min_k (ε/√2)^(Σ_{i≠k} ν_i) / ∏_{i≠k} ν_i.

    Examples
    --------
    >>> [f"{separability_constant(0.1, nu):.3g}" for nu in ([0.5, 0.5, 0.5], [2, 0.5, 0.5], [3, 3, 3])]
    ['0.045', '0.000846', '7e-05']
    """
    nu = check_concentration(concentration)
    check_epsilon(epsilon)
    return float(np.exp(_log_corner_mass(epsilon / math.sqrt(2), nu)).min())


def sample_size(epsilon: float, concentration: Concentration, failure: float = 0.05) -> int:
    """Proposition 1: with N ≥ log(K/μ) / (2 G²) nodes, M is ε-separable with probability 1 − μ.

    Examples
    --------
    >>> sample_size(0.1, [0.5, 0.5, 0.5], failure=0.05)
    1011
    """
    if not 0 < failure < 1:
        raise PlanError(f"failure={failure:g} must be a probability above 0 and below 1")
    G = separability_constant(epsilon, concentration)
    return math.ceil(math.log(len(list(concentration)) / failure) / (2 * G * G))


def corner_chances(epsilon: float, concentration: Concentration, rng: np.random.Generator) -> FloatArray:
    """The chance that a node is ε-close to each corner, P(‖m − e_k‖ ≤ ε), by importance sampling.

    The other coordinates are drawn as z_i = ε u^(1/ν_i), so that what is averaged, (1 − Σz)^(ν_k − 1) inside the ball,
    is nearly constant, however rare such nodes are.
    """
    nu = check_concentration(concentration)
    check_epsilon(epsilon)
    chances = np.empty(len(nu))
    for k, log_mass in enumerate(_log_corner_mass(epsilon, nu)):
        others = np.delete(nu, k)
        z = epsilon * rng.random((DRAWS, len(others))) ** (1 / others)
        rest = 1 - z.sum(axis=1)
        inside = ((z**2).sum(axis=1) + (1 - rest) ** 2 <= epsilon**2) & (rest > 0)
        chances[k] = np.exp(log_mass) * np.where(inside, np.maximum(rest, 1e-300) ** (nu[k] - 1), 0.0).mean()
    return np.minimum(chances, 1.0)


def enough_nodes(chances: FloatArray, failure: float) -> int:
    """The fewest nodes with Σ_k (1 − p_k)^N ≤ μ: what would do, from the chances themselves."""

    def misses(n_nodes: int) -> float:
        return float(np.exp(n_nodes * np.log1p(-np.minimum(chances, 1 - 1e-12))).sum())

    low, high = 1, 1
    while misses(high) > failure:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if misses(middle) <= failure else (middle + 1, high)
    return low


def simulated_separability(
    n_nodes: int, epsilon: float, concentration: Concentration, n_runs: int, rng: np.random.Generator
) -> float:
    """In how many of ``n_runs`` drawn graphs every corner has an ε-close node, as a share.

    Up to 20 million nodes are drawn one by one; beyond, only how many of them are close to each corner.
    """
    nu = check_concentration(concentration)
    check_epsilon(epsilon)
    if n_nodes * n_runs > 10 * ROWS_AT_ONCE:
        p = corner_chances(epsilon, nu, rng)
        counts = rng.multinomial(n_nodes, np.append(p, max(0.0, 1 - p.sum())), size=n_runs)
        return float((counts[:, :-1] > 0).all(axis=1).mean())
    n_separable = 0
    for _ in range(n_runs):
        found = np.zeros(len(nu), dtype=bool)
        for begin in range(0, n_nodes, ROWS_AT_ONCE):
            m = rng.dirichlet(nu, min(ROWS_AT_ONCE, n_nodes - begin))
            # ‖m − e_k‖² = ‖m‖² − 2 m_k + 1
            distance = (m**2).sum(axis=1)[:, None] - 2 * m + 1
            found |= (distance <= epsilon**2).any(axis=0)
        n_separable += bool(found.all())
    return n_separable / n_runs


@dataclass(frozen=True)
class Condition:
    """One condition of Theorem 2, "left is at least right" with every constant one; both as log₁₀."""

    name: str
    left: str
    right: str
    log10_left: float
    log10_right: float

    @property
    def holds(self) -> bool:
        """Whether the left side is at least the right one."""
        return self.log10_left >= self.log10_right

    @property
    def told(self) -> str:
        """Which side fails, in words."""
        if self.holds:
            return "holds"
        return f"{self.left} is too small: {_power(self.log10_left)} against {self.right} = {_power(self.log10_right)}"


@dataclass(frozen=True)
class TheoremTwo:
    """The quantities of the paper's Theorem 2 for one graph and plan, and its conditions."""

    n_nodes: int
    n_groups: int
    gamma: float
    kappa_b: float
    sigma_min_b: float
    rho: float
    largest_degree: float
    epsilon: float
    separability: float
    log10_subspace_bound: float
    conditions: tuple[Condition, ...]


def theorem_two(
    memberships: FloatArray, interactions: FloatArray, plan: QueryPlan, concentration: Concentration | None = None
) -> TheoremTwo:
    """The quantities and conditions of Theorem 2 for given or learned memberships and interactions.

    Parameters
    ----------
    memberships : (N, K) array
    interactions : (K, K) array
    plan : QueryPlan
        Its groups need not be of equal size; N/L stands for their mean size.
    concentration : K floats, optional
        Dirichlet parameter ν of the memberships; by default estimated from them.
    """
    M, B = np.asarray(memberships, dtype=float), np.asarray(interactions, dtype=float)
    N, K = M.shape
    L = plan.n_groups
    if plan.n_nodes != N or B.shape != (K, K):
        raise PlanError(
            f"memberships {M.shape}, interactions {B.shape} and a plan of {plan.n_nodes} nodes do not fit together"
        )
    nu = estimated_concentration(M) if concentration is None else check_concentration(concentration)
    gamma = max(_condition_number(M[group]) for group in plan.groups)
    sigma = np.linalg.svd(B, compute_uv=False)
    kappa, sigma_min = float(sigma[0] / max(sigma[-1], 1e-300)), float(sigma[-1])
    rho, degree = _largest_chance(M, B), _largest_degree(M, B)
    epsilon = min(LARGEST_EPSILON, 1 / (K * gamma**3)) if np.isfinite(gamma) else 0.0
    log_g = _log10(float(np.exp(_log_corner_mass(epsilon / math.sqrt(2), nu)).min())) if epsilon > 0 else -math.inf
    log_chain = L * (math.log10(K) + 2 * _log10(gamma))
    log_n = math.log10(N)
    conditions = (
        Condition("enough yes answers", "ρ", "L log(N/L) / N", _log10(rho), _log10(L * math.log(max(N / L, 1.0)) / N)),
        Condition("few enough groups", "ρN/d", "L", _log10(rho * N / max(degree, 1e-300)), math.log10(L)),
        Condition("nodes for the groups", "N", "L²", log_n, 2 * math.log10(L)),
        Condition(
            "nodes for pure ones",
            "N",
            "log(NK/L²) / G²",
            log_n,
            _log10(math.log(max(N * K / L**2, 1.0 + 1e-12))) - 2 * log_g,
        ),
        Condition(
            "nodes for the chain of stitches",
            "N",
            "(Kγ²)^L ρ κ²(B) / σ²min(B)",
            log_n,
            log_chain + _log10(rho) + 2 * _log10(kappa) - 2 * _log10(sigma_min),
        ),
    )
    bound = log_chain / 2 + _log10(kappa) + 0.5 * _log10(rho) - _log10(sigma_min) - 0.5 * math.log10(N / L)
    return TheoremTwo(
        N, L, gamma, kappa, sigma_min, rho, degree, epsilon, 10**log_g if log_g > -300 else 0.0, bound, conditions
    )


def estimated_concentration(memberships: FloatArray) -> FloatArray:
    """ν of a Dirichlet distribution with the means and variances of the memberships, each kept in [0.01, 100]."""
    mean, variance = memberships.mean(axis=0), memberships.var(axis=0)
    spread = (mean * (1 - mean)).sum()
    total = spread / max(float(variance.sum()), 1e-12) - 1  # Var m_k = mean_k (1 − mean_k) / (Σν + 1)
    return np.asarray(np.clip(mean * total, 0.01, 100.0))


def check_concentration(concentration: Concentration) -> FloatArray:
    """At least two positive Dirichlet parameters."""
    nu = np.atleast_1d(np.asarray(concentration, dtype=float))
    if nu.ndim != 1 or len(nu) < 2:
        raise PlanError(f"ν must have one entry per cluster, at least 2, got {nu.tolist()}; e.g. nu=[0.5, 0.5, 0.5]")
    if not (np.isfinite(nu) & (nu > 0)).all():
        raise PlanError(f"ν must be positive, got {nu.tolist()}")
    return nu


def check_epsilon(epsilon: float) -> None:
    """A distance from a corner at which no node is close to two of them."""
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise PlanError(f"ε={epsilon:g} must be above 0 and at most {LARGEST_EPSILON}; the paper's examples have 0.1")


def _log_corner_mass(reach: float, nu: FloatArray) -> FloatArray:
    """Log of Γ(Σν) / ∏Γ(ν_i) · ∏_{i≠k} reach^ν_i / ν_i, for each k."""
    per_coordinate = nu * math.log(reach) - np.log(nu)
    return np.asarray(gammaln(nu.sum()) - gammaln(nu).sum() + per_coordinate.sum() - per_coordinate)


def _condition_number(M: FloatArray) -> float:
    if len(M) < M.shape[1]:
        return math.inf
    sigma = np.linalg.svd(M, compute_uv=False)
    return float(sigma[0] / sigma[-1]) if sigma[-1] > 1e-12 * sigma[0] else math.inf


def _largest_chance(M: FloatArray, B: FloatArray) -> float:
    """ρ = max m_iᵀ B m_j over all pairs."""
    left = M @ B
    step = max(1, ROWS_AT_ONCE // len(M))
    return max(float((left[begin : begin + step] @ M.T).max()) for begin in range(0, len(M), step))


def _largest_degree(M: FloatArray, B: FloatArray) -> float:
    """The largest expected number of yes answers of a node in the whole graph."""
    left = M @ B
    return float((left @ M.sum(axis=0) - np.einsum("nk,nk->n", left, M)).max())


def _log10(value: float) -> float:
    return math.log10(value) if value > 0 else -math.inf


def _power(log10: float) -> str:
    return f"{10**log10:.3g}" if abs(log10) < 6 else f"10^{log10:.1f}"
