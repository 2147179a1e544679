"""Memberships from piles: every placement is one draw of the item's role, however many pairs it makes.

Item i has memberships x_i ~ Dirichlet(α_i). On screen s it plays the role z_is ~ x_i, and its pile is drawn from
P(c | k) = (1 − e) v_ck / Σ_c v_ck + e / (piles + 1), where v_ck counts the other items of role k on pile c. People who
lump two clusters or split one need no parameter: v says which piles a cluster went to on each screen.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from bequec.core.arrays import FloatArray, IntArray
from bequec.learn.people.piles import Placements
from bequec.learn.people.settings import PILES


class PilePosterior(NamedTuple):
    """Posterior means (N, K) and covariances (N, K, K) of the memberships, and what was learned besides.

    The interactions say how often two items in roles k and l on one screen are on one pile; then the prior's ν, and
    the share of slips e.
    """

    memberships: FloatArray
    covariances: FloatArray
    interactions: FloatArray
    concentration: FloatArray
    slips: float


@dataclass
class Roles:
    """The roles drawn last: of each placement, and counted by item, by pile and by screen."""

    placements: Placements
    role: IntArray
    by_item: FloatArray
    by_pile: FloatArray
    by_screen: FloatArray
    n_piles: IntArray

    @classmethod
    def draw(cls, placements: Placements, memberships: FloatArray, rng: np.random.Generator) -> "Roles":
        """Every role from the item's memberships."""
        item, screen, pile = placements
        role = _drawn(memberships[item], rng)
        n_screens, K = int(screen.max(initial=-1)) + 1, memberships.shape[1]
        _, first = np.unique(pile, return_index=True)
        n_piles = np.bincount(screen[first], minlength=n_screens)
        by_item, by_pile, by_screen = (np.zeros((size, K)) for size in (len(memberships), len(first), n_screens))
        roles = cls(placements, role, by_item, by_pile, by_screen, n_piles)
        roles._count(item, screen, pile, role, 1.0)
        return roles

    def draw_again(self, part: IntArray, prior: FloatArray, slips: float, rng: np.random.Generator) -> float:
        """Draw some placements' roles given all others; how many of them are expected to be slips.

        P(z_is = k | all others) ∝ (α_ik + n_ik) P(c | k). No item may be in ``part`` twice.
        """
        item, screen, pile = (values[part] for values in self.placements)
        self._count(item, screen, pile, self.role[part], -1.0)
        n_piles = self.n_piles[screen][:, None]
        others = self.by_pile[pile] + PILES.prior_placements
        by_chance = slips / (n_piles + 1)
        likelihood = (1 - slips) * others / (self.by_screen[screen] + PILES.prior_placements * n_piles) + by_chance
        weights = (prior[item] + self.by_item[item]) * likelihood
        weights /= weights.sum(axis=1, keepdims=True)
        self.role[part] = _drawn(weights, rng)
        self._count(item, screen, pile, self.role[part], 1.0)
        return float((weights * by_chance / likelihood).sum())

    def pairs_together(self) -> tuple[FloatArray, FloatArray]:
        """(K, K): how many ordered pairs of items in each two roles are on one pile, and on one screen."""
        together, met = (v.T @ v - np.diag(v.sum(axis=0)) for v in (self.by_pile, self.by_screen))
        return together, met

    def _count(self, item: IntArray, screen: IntArray, pile: IntArray, role: IntArray, change: float) -> None:
        for count, at in ((self.by_item, item), (self.by_pile, pile), (self.by_screen, screen)):
            np.add.at(count, (at, role), change)


def sample_memberships(
    placements: Placements, memberships: FloatArray, known: FloatArray | None, rng: np.random.Generator
) -> PilePosterior:
    """The posterior by Gibbs sampling from first memberships on; ν and e are learned on the way.

    ``known`` (N, K) are the α_i of items of which something else is known; without it all are ν.
    """
    n_nodes, K = memberships.shape
    roles, parts = Roles.draw(placements, memberships, rng), _parts(placements.item, rng)
    concentration, slips = np.full(K, PILES.first_concentration), PILES.first_slips
    mean, second = np.zeros((n_nodes, K)), np.zeros((n_nodes, K, K))
    together, met = np.zeros((K, K)), np.full((K, K), 1e-300)
    for sweep in range(PILES.fitting_sweeps + PILES.kept_sweeps):
        prior = np.tile(concentration, (n_nodes, 1)) if known is None else known
        n_slips = sum(roles.draw_again(part, prior, slips, rng) for part in parts)
        if sweep >= PILES.fitting_sweeps:
            m, C = dirichlet_moments(prior + roles.by_item)
            mean += m / PILES.kept_sweeps
            second += (C + m[:, :, None] * m[:, None, :]) / PILES.kept_sweeps
            counted = roles.pairs_together()
            together, met = together + counted[0], met + counted[1]
        elif sweep >= PILES.sweeps_before_fitting:
            concentration = polya_step(roles.by_item, concentration)
            share = n_slips / max(len(placements.item), 1)
            slips = float(np.clip((slips + share) / 2, PILES.smallest_slips, PILES.largest_slips))
    covariances = second - mean[:, :, None] * mean[:, None, :]
    return PilePosterior(mean, covariances, together / met, concentration, slips)


def dirichlet_moments(parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means m (N, K) and covariances (diag(m) − m mᵀ) / (α₀ + 1) of Dirichlet distributions."""
    total = parameters.sum(axis=1, keepdims=True)
    m = parameters / total
    C = -m[:, :, None] * m[:, None, :]
    at = np.arange(parameters.shape[1])
    C[:, at, at] += m
    return m, C / (total + 1)[:, :, None]


def polya_step(counts: FloatArray, concentration: FloatArray) -> FloatArray:
    """ν_k ← ν_k (Σ_i ψ(n_ik + ν_k) − ψ(ν_k)) / (Σ_i ψ(n_i + ν₀) − ψ(ν₀)), over-relaxed: towards the ν of most likely n.

    Minka's fixed point for the Dirichlet-multinomial distribution; items without counts say nothing.
    """
    total = concentration.sum()
    ratio = (psi(counts + concentration) - psi(concentration)).sum(axis=0)
    ratio = ratio / max(float((psi(counts.sum(axis=1) + total) - psi(total)).sum()), 1e-300)
    step = concentration * ratio**PILES.over_relaxation
    return np.asarray(np.clip(step, PILES.smallest_concentration, PILES.largest_concentration))


def _parts(item: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """The placements in parts that hold no item twice, mixed at random: a whole screen at once would not converge."""
    shuffled = rng.permutation(len(item))
    by_item = shuffled[np.argsort(item[shuffled], kind="stable")]
    starts = np.searchsorted(item[by_item], item[by_item])
    turn = np.empty(len(item), dtype=np.int64)
    turn[by_item] = np.arange(len(item)) - starts
    lane = rng.integers(0, PILES.parts, int(item.max(initial=-1)) + 1)[item]
    part = turn * PILES.parts + (lane + turn) % PILES.parts
    order = np.argsort(part, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(part[order])) + 1)


def _drawn(weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """One column of each row, drawn with these probabilities."""
    passed = weights.cumsum(axis=1) < rng.random((len(weights), 1))
    return np.asarray(np.minimum(passed.sum(axis=1), weights.shape[1] - 1), dtype=np.int64)
