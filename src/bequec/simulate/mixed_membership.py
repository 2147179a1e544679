"""Planted graphs: memberships, interactions, and answers drawn only where the plan asks.

The mixed membership model of the paper: m_i ~ Dirichlet(ν), A_ij ~ Bernoulli(m_iᵀ B m_j) for i < j. With pure
memberships it is the stochastic block model.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.ask.graph import ask_graph
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.errors import BequecError
from bequec.plan.query_plan import QueryPlan

Seed = int | np.random.Generator | None

DENSE_ABOVE = 0.1  # edges more probable than this are drawn pair by pair
PAIRS_AT_ONCE = 2_000_000  # 16 MB of probabilities


class Planted(NamedTuple):
    """Simulated answers and the truth behind them."""

    answers: Answers
    memberships: FloatArray
    interactions: FloatArray


def simulate_mixed_memberships(
    plan: QueryPlan,
    n_clusters: int,
    *,
    concentration: float | Sequence[float] = 0.2,
    between: float = 0.1,
    average_degree: float | None = None,
    anchors: bool = False,
    random_state: Seed = None,
) -> Planted:
    """Draw memberships, interactions and the answers to the plan, as in the paper's experiments.

    Parameters
    ----------
    plan : QueryPlan
        Only its asked pairs are drawn.
    n_clusters : int
    concentration : float or n_clusters floats
        Dirichlet parameter ν of the memberships: small values make nearly pure nodes.
    between : float
        The paper's η: interactions between clusters are uniform on [0, η], inside on [0.8, 1].
    average_degree : float, optional
        Scale the interactions so that a node has this many yes answers on average.
    anchors : bool
        Make one randomly chosen node of each cluster pure.
    random_state : int, Generator or None

    Examples
    --------
    >>> from bequec import plan_queries
    >>> plan = plan_queries(n_nodes=200, n_clusters=3, n_groups=4, random_state=0)
    >>> simulate_mixed_memberships(plan, 3, average_degree=20, random_state=0).answers
    Answers(12400 of 12400 asked pairs answered, 12400 answers, 15.9 % yes)
    """
    rng = np.random.default_rng(random_state)
    memberships = rng.dirichlet(np.broadcast_to(np.asarray(concentration, dtype=float), n_clusters), plan.n_nodes)
    if anchors:
        memberships[rng.choice(plan.n_nodes, n_clusters, replace=False)] = np.eye(n_clusters)
    return _plant(plan, memberships, between, average_degree, rng)


def simulate_clusters(
    plan: QueryPlan,
    n_clusters: int,
    *,
    between: float = 0.1,
    average_degree: float | None = None,
    random_state: Seed = None,
) -> Planted:
    """The stochastic block model: every node belongs to one cluster only, drawn with equal probability."""
    rng = np.random.default_rng(random_state)
    memberships = np.eye(n_clusters)[rng.integers(n_clusters, size=plan.n_nodes)]
    return _plant(plan, memberships, between, average_degree, rng)


def draw_interactions(n_clusters: int, between: float, rng: np.random.Generator) -> FloatArray:
    """Symmetric B: uniform on [0.8, 1] on the diagonal and on [0, η] elsewhere."""
    upper = np.triu(rng.uniform(0.0, between, (n_clusters, n_clusters)), k=1)
    return np.asarray(upper + upper.T + np.diag(rng.uniform(0.8, 1.0, n_clusters)))


def expected_answers(
    plan: QueryPlan, memberships: FloatArray, interactions: FloatArray, *, diagonal: bool = True
) -> Answers:
    """The ideal case: every asked pair answered by its probability m_iᵀ B m_j itself."""
    left = memberships @ interactions
    return ask_graph(
        lambda i, j: np.clip(np.einsum("nk,nk->n", left[i], memberships[j]), 0.0, 1.0), plan, diagonal=diagonal
    )


def draw_answers(
    plan: QueryPlan, memberships: FloatArray, interactions: FloatArray, random_state: Seed = None
) -> Answers:
    """Answers drawn with probability m_iᵀ B m_j, only on the asked pairs."""
    rng = np.random.default_rng(random_state)
    draw = _draw_rare_block if interactions.max() <= DENSE_ABOVE else _draw_block
    parts = []
    for l, m in plan.blocks.tolist():
        row, column = draw(memberships[plan.groups[l]], memberships[plan.groups[m]], interactions, l == m, rng)
        parts.append((row + plan.starts[l], column + plan.starts[m]))
    parts.append(_draw_pairs(plan, memberships, interactions, rng))
    row, column = (np.concatenate(side) for side in zip(*parts, strict=True))
    if len(plan.unaskable):
        kept = ~plan.cannot_be_asked(plan.order[row], plan.order[column])
        row, column = row[kept], column[kept]
    both_ways = np.concatenate([row, column]), np.concatenate([column, row])
    yes = sp.csr_array((np.ones(2 * len(row)), both_ways), shape=(plan.n_nodes, plan.n_nodes))
    return Answers.each_once(plan, yes)


def _plant(
    plan: QueryPlan, memberships: FloatArray, between: float, average_degree: float | None, rng: np.random.Generator
) -> Planted:
    if not 0 <= between <= 1:
        raise BequecError(f"between={between:g} must be a probability in [0, 1]")
    interactions = draw_interactions(memberships.shape[1], between, rng)
    if average_degree is not None:
        interactions *= average_degree / _expected_degree(plan, memberships, interactions)
        if interactions.max() > 1:
            raise BequecError(
                f"average_degree={average_degree:g} would need a probability of {interactions.max():.3g}; "
                f"at most {average_degree / interactions.max():.3g} is possible with this plan"
            )
    return Planted(draw_answers(plan, memberships, interactions, rng), memberships, interactions)


def _expected_degree(plan: QueryPlan, memberships: FloatArray, interactions: FloatArray) -> float:
    """The expected number of yes answers per node (self-pairs counted in, which is negligible)."""
    sums = np.add.reduceat(memberships[plan.order], plan.starts[:-1], axis=0)
    in_blocks = float(((sums @ interactions) * (plan.asked @ sums)).sum())
    left, right = memberships[plan.single_pairs.left], memberships[plan.single_pairs.right]
    return (in_blocks + 2 * float(((left @ interactions) * right).sum())) / plan.n_nodes


def _draw_pairs(
    plan: QueryPlan, memberships: FloatArray, interactions: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Yes pairs among the listed ones outside the blocks, by position."""
    left, right = plan.single_pairs.left, plan.single_pairs.right
    probability = np.einsum("nk,nk->n", memberships[left] @ interactions, memberships[right])
    is_yes = rng.random(len(left)) < probability
    return plan.position_of[left[is_yes]], plan.position_of[right[is_yes]]


def _draw_block(
    left: FloatArray, right: FloatArray, B: FloatArray, is_loop: bool, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Yes pairs of a block, pair by pair; of a diagonal block only those above the diagonal."""
    step = max(1, PAIRS_AT_ONCE // max(1, len(right)))
    rows, columns = [], []
    for begin in range(0, len(left), step):
        probability = left[begin : begin + step] @ B @ right.T
        row, column = np.nonzero(rng.random(probability.shape) < probability)
        kept = (row + begin < column) | (not is_loop)
        rows.append(row[kept] + begin)
        columns.append(column[kept])
    return np.concatenate(rows), np.concatenate(columns)


def _draw_rare_block(
    left: FloatArray, right: FloatArray, B: FloatArray, is_loop: bool, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """The same distribution at a cost of the expected yes answers instead of all pairs.

    A Poisson number of candidates for each pair of clusters, end points in proportion to their memberships, hits
    pair (i, j) with probability 1 − exp(−c p_ij) ≥ p_ij for c = −log(1 − b)/b, b = max B; keeping a hit pair with
    probability p_ij / (1 − exp(−c p_ij)) makes it exactly p_ij.
    """
    b = float(B.max())
    if b == 0.0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    c = -np.log1p(-b) / b
    rates = c * np.outer(left.sum(axis=0), right.sum(axis=0)) * B
    counts = rng.poisson(rates)
    row = np.concatenate([_draw_nodes(left[:, a], n, rng) for a, n in enumerate(counts.sum(axis=1))])
    in_pair = np.repeat(np.tile(np.arange(B.shape[1]), len(B)), counts.ravel())
    column = np.empty(len(row), dtype=np.int64)
    for cluster in range(B.shape[1]):
        at = np.flatnonzero(in_pair == cluster)
        column[at] = _draw_nodes(right[:, cluster], len(at), rng)
    hit = np.unique(row * len(right) + column)
    row, column = hit // len(right), hit % len(right)
    p = np.einsum("na,ab,nb->n", left[row], B, right[column])
    kept = (rng.random(len(p)) * -np.expm1(-c * p) < p) & ((row < column) | (not is_loop))
    return row[kept], column[kept]


def _draw_nodes(weights: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Nodes in proportion to their weights, with replacement."""
    cumulated = np.cumsum(weights)
    at = np.searchsorted(cumulated, rng.random(n) * cumulated[-1], side="right")
    return np.asarray(np.minimum(at, len(weights) - 1), dtype=np.int64)
