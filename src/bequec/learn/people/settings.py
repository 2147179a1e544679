"""The tuning constants of what is learned about people, in one place: meaning, unit, effect, decision record."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkerSettings:
    """Every number that the weighing of workers was tuned with (record 0022)."""

    prior_answers: float = 20.0
    """Answers: a line is shrunk to the average one as by so many, until it is learned how much workers differ."""
    prior_workers: float = 3.0
    """Workers whose lines differ as much as that beforehand: so many count beside those that are there."""
    regression_rounds: int = 50
    """Rounds of reweighted least squares; more change nothing in the third digit."""
    smallest_probability: float = 0.02
    """Probability: in the regression p and q are kept in [this, 1 − this], so that no answer outweighs 50 others."""
    smallest_modeled_probability: float = 0.002
    """Probability: leave-one-out probabilities are worked out with p in [this, 1 − this], as in the posterior."""
    largest_slope: float = 1.0
    """Slope from which on a worker's answers weigh no more: much of what is above the average is chance."""
    smallest_weight: float = 0.01
    """Weight: answers of less are counted as this, so that no pair becomes unanswered and no block is cut off."""
    flagged_share: float = 0.5
    """Share of the median worker's slope below which a worker is flagged."""
    flagged_errors: float = 2.0
    """Standard errors by which the slope must be below it."""
    fewest_answers: float = 100.0
    """Answers in all: with fewer nobody is judged."""
    largest_efficiency: float = 0.98
    """(Σ u)² / (n Σ u²): where weights differ so little they could gain no more than 2 %, and nothing is refitted."""
    rows_at_once: int = 100_000
    """Rows of a table that are worked on together: so many stay below 100 MB with twenty clusters."""


WORKERS = WorkerSettings()


@dataclass(frozen=True)
class PileSettings:
    """Every number that learning from piles was tuned with (record 0023)."""

    first_concentration: float = 0.4
    """Concentration ν of the prior per cluster that sampling starts from."""
    smallest_concentration: float = 0.001
    """Concentration ν per cluster: smaller values are numerically the same as pure items."""
    largest_concentration: float = 5.0
    """Concentration ν per cluster: above, memberships are all alike and ν is undetermined."""
    first_slips: float = 0.1
    """Share of placements on a pile at random that sampling starts from."""
    smallest_slips: float = 0.001
    """Share of placements: smaller ones cannot be told from none, and none would rule piles out."""
    largest_slips: float = 0.5
    """Share of placements: with more, piles say nothing."""
    prior_placements: float = 1e-6
    """Placements that a cluster has on each pile beforehand: decides only where nobody else of it is on the screen."""
    sweeps_before_fitting: int = 5
    """Sweeps before the prior and the slips are learned: the first roles are still those of the pairs."""
    fitting_sweeps: int = 400
    """Sweeps while these are learned; more change accuracy and coverage by less than their noise."""
    kept_sweeps: int = 150
    """Sweeps whose mean is the posterior: its sampling error is below a tenth of the standard errors."""
    over_relaxation: float = 1.5
    """Power of each fixed-point step of ν: plain ones are slow where items are pure, and from 3 on they diverge."""
    parts: int = 4
    """Parts of each item's turn: items of one part are drawn at once, those of a screen mostly one after another."""
    rounds_with_pairs: int = 2
    """Times that answers to single pairs and placements are brought together."""
    smallest_mean: float = 1e-6
    """Membership: smaller ones are taken for this, as a Dirichlet distribution has no zeros."""
    smallest_total: float = 0.05
    """Sum of a Dirichlet's parameters: smaller ones are numerically the same as one pure item or another."""
    largest_total: float = 1e4
    """Sum of a Dirichlet's parameters at the most: near a corner it is not determined."""


PILES = PileSettings()
