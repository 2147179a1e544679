"""The tuning constants of the posterior, in one place: meaning, unit, effect, and the decision record that chose them.

Users do not change these; what they may change are parameters of ``BeQuec``.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

NumberOfAtoms = tuple[int, int]  # shared atoms, and local ones per node


class Course(NamedTuple):
    """Iterations after a start: plain ones, one for each sharpness, then cavity ones, with so many atoms.

    The sharpness multiplies the log likelihood: below one the posteriors are wider.
    """

    sharpness: tuple[float, ...]
    n_cavity: int
    n_atoms: NumberOfAtoms


def _rising(first: float, n_steps: int) -> tuple[float, ...]:
    return tuple(np.linspace(first, 1.0, n_steps).tolist())


@dataclass(frozen=True)
class PosteriorSettings:
    """Every number that the posterior was tuned with; "record" names the file of that number in docs/decisions."""

    # --- the model -----------------------------------------------------------------------------------------
    smallest_modeled_probability: float = 0.002
    """Probability of a yes: p is kept in [this, 1 − this], so that no single answer outweighs 500 others."""
    smallest_interaction: float = 0.004
    """Probability: entries of B are kept in [this, 1 − this]."""
    smallest_dispersion: float = 0.01
    """Ratio to p (1 − p): similarities count at most 1 / this times as much as yes and no answers."""
    smallest_concentration: float = 0.05
    """Concentration ν of the prior per cluster: smaller values are numerically the same as pure nodes (record 0009)."""
    largest_concentration: float = 5.0
    """Concentration ν of the prior per cluster: above, memberships are all alike and ν is undetermined."""
    first_concentration: float = 0.4
    """Concentration ν that iterations start from."""

    # --- one iteration -------------------------------------------------------------------------------------
    damping: float = 0.5
    """Share of the way to the new posterior that an iteration goes; B goes half as far, or oscillates (record 0006)."""
    largest_newton_step: float = 0.3
    """Probability: the most that one Newton step may change an entry of B, before damping."""
    first_prior_update: int = 2
    """Iterations of a start before the prior is learned: the first posteriors are still far off."""

    # --- iterating to convergence --------------------------------------------------------------------------
    undamped_iterations: int = 20
    """Iterations after which steps get shorter, which ends an oscillation between two states."""
    extrapolation_interval: int = 4
    """Iterations between the members of the sequence that is extrapolated (record 0008)."""
    largest_ratio: float = 0.9
    """Ratio of that geometric sequence: larger ones would be extrapolated too far."""
    least_cosine: float = 0.7
    """Cosine of two changes in succession: below it B wanders, and is not extrapolated."""
    largest_jump: float = 0.75
    """Multiple of the tolerance: a larger extrapolation of B means that it is not settled."""

    # --- starts --------------------------------------------------------------------------------------------
    annealed_start: Course = field(default=Course(_rising(0.2, 15), 10, (256, 0)))
    """Iterations of every start; low sharpness leads out of wrong basins."""
    cold_start: Course = field(default=Course((1.0,) * 6, 10, (256, 0)))
    """The same without low sharpness, for many clusters (record 0009) or few yes per node (record 0011)."""
    iterations_of_beginning: int = 6
    """Cavity iterations of the first memberships, whatever the time: what the search must not fall behind."""
    few_yes_per_node: int = 30
    """Yes answers per node, counted from both ends: below it the first start is also run cold (record 0011), and there
    is neither a floored prior nor a last pass (record 0026)."""
    share_of_time_for_search: float = 0.6
    """Share of a limited time: an unpolished state is worse than a polished one of a wrong basin."""

    # --- moves out of a wrong basin (record 0006) ----------------------------------------------------------
    most_rounds_of_moves: int = 12
    """Times that all moves are tried; the search ends earlier when none of them helps."""
    most_splits: int = 3
    """Clusters that are split, those first whose residuals stand out most."""
    most_merges: int = 6
    """Pairs of clusters that are merged, those first that the answers hardly tell apart."""
    split_sharpness: float = 3.0
    """Slope of the logistic curve that shares out a split cluster's members, per standard deviation between them."""
    clear_member: float = 0.3
    """Membership from which on a node counts when that standard deviation is taken."""
    least_member: float = 0.05
    """Membership: of smaller ones the direction of the split says as little as of this one."""
    most_swaps: int = 3
    """Swaps of two clusters' names that are tried, the most doubtful ones first."""
    least_swap_cost: float = 10.0
    """Log likelihood that a swap must cost a right model; below it the answers cannot tell."""
    doubtful_swap_share: float = 0.6
    """Share of that cost: a swap that costs less is tried."""
    plain_stage: Course = field(default=Course((0.6, 0.8, 1.0, 1.0), 0, (128, 0)))
    """First half of a race between moves."""
    cavity_stage: Course = field(default=Course((), 4, (128, 0)))
    """Second half: only cavity iterations tell good moves from bad ones."""
    final_stage: Course = field(default=Course(_rising(0.7, 4), 10, (256, 0)))
    """What the best moves of a race go on with, as long as a start, so that their scores compare."""
    n_finalists: int = 3
    """Moves of a kind that go on after their race."""
    allowed_deficit: float = 100.0
    """Log predictive that a move may be short of the best run's after its race: later iterations can add so much."""
    deficit_doubles_at: float = 150_000.0
    """Log predictive of the best run at which the allowed deficit is twice as large; it grows linearly."""
    halfway_deficit_factor: float = 1.5
    """Multiple of the allowed deficit, half-way through the race."""
    same_basin_distance: float = 0.15
    """Relative distance of two states' memberships: farther apart they are in different basins."""
    clear_lead: float = 1.5
    """Standard errors from node to node: a move is kept if its lead in log predictive is larger."""
    undecided_lead: float = 100.0
    """Log predictive: a smaller lead can come from few atoms or iterations, so both runs are carried on."""
    comparison_iterations: int = 40
    """Most cavity iterations of two runs before they are compared."""
    short_comparison_iterations: int = 8
    """The same with more atoms, where the lead is clear at once."""
    comparison_tolerance: float = 5e-4
    """Movement of the memberships, root mean square, that ends a comparison's iterations earlier."""

    # --- the final iterations ------------------------------------------------------------------------------
    comparison_atoms: NumberOfAtoms = (256, 64)
    """Atoms of a comparison, of a sample that settles, and of the first final stage (record 0008)."""
    final_atoms: NumberOfAtoms = (256, 256)
    """Atoms of the last stage and of close comparisons: fewer local ones cost a tenth of accuracy (record 0008)."""
    first_tolerance_factor: float = 5.0
    """Multiple of the tolerance at which the first final stage ends, as more atoms follow."""

    # --- the prior of pure nodes, and the exact likelihood (record 0026) -----------------------------------
    sparse_prior: float = 0.1
    """Concentration ν: where one is smaller, memberships may have exact zeros, and the floored prior is tried."""
    floor_of_memberships: float = 0.002
    """Membership: in the floored prior smaller ones count as this one, so that exact zeros do not decide ν."""
    clear_lead_of_prior: float = 10.0
    """Standard errors from node to node: a smaller lead of the floored prior can mislead, as scores hardly see ν."""
    prior_iterations: int = 40
    """Most iterations with the floored prior before it is compared."""
    prior_step: float = 2.0
    """Multiple of the usual step of B in these iterations: it has far to go."""
    rare_yes: float = 0.02
    """Probability of a yes: where the median between clusters is lower, the last pass is made."""
    exact_atoms: int = 256
    """Local atoms per node in the last pass."""
    least_effective_atoms: float = 20.0
    """Effective atoms: nodes with fewer in the last pass keep the moments of the quadratic form."""
    exact_cells_at_once: int = 2**18
    """Entries of the last pass's array over pairs and atoms: so many stay in a core's cache."""

    # --- a sample of the nodes (record 0010) ---------------------------------------------------------------
    sampled_pairs_per_cluster: float = 600_000
    """Answered pairs of a sample, per cluster: with so many, basins are told apart as well as with all."""
    sampled_answers_per_cluster: float = 60
    """Yes answers per node and cluster, or no if they are rarer, that a sample keeps in the mean."""
    smallest_sampled_group: int = 20
    """Nodes per cluster that a sample keeps of each group."""
    largest_sample: float = 0.8
    """Share of the nodes, above which a sample saves little and all are taken."""
    share_of_time_for_sample: float = 0.75
    """Share of a limited time, until the sample is settled."""

    # --- atoms (records 0008 and 0009) ---------------------------------------------------------------------
    redraw_beyond: float = 0.1
    """Change of log ν: up to it atoms are reweighted instead of drawn anew."""
    effective_share_needed: float = 0.4
    """Share of the number of local atoms: nodes with fewer effective shared atoms use local ones."""
    least_local_atoms: int = 64
    """Local atoms per node where there are faces, as shared ones alone never suffice there."""
    n_sets_of_atoms: int = 8
    """Independent sets of local atoms that nodes take turns with, so that their errors average out in B and ν."""
    cells_at_once: int = 2**15
    """Entries of an intermediate array: so many stay in a core's cache."""
    widening: float = 1.5
    """Multiple of the variance that the last moments say: narrower proposals miss tails."""
    surely_present_below: float = 0.06
    """Relative squared error of a membership: below it the node surely has some part in the cluster."""
    least_share_of_none: float = 0.03
    """Share of a node's atoms in a cluster that are drawn as if it had no part in it, where that is not sure."""
    most_share_of_none: float = 0.95
    """The largest such share."""
    smallest_proposed_mean: float = 1e-6
    """Membership: smaller ones are taken for this when atoms are placed."""
    smallest_proposed_variance: float = 1e-4
    """Variance of a log ratio, added where atoms are placed."""
    least_curvature_of_node: float = 10.0
    """Inverse variance of a membership: the variance is below a tenth whatever is known."""
    largest_log_ratio: float = 60.0
    """Log ratio of two memberships: single precision overflows at 88."""

    # --- faces, for many clusters (record 0009) ------------------------------------------------------------
    smallest_face: int = 8
    """Clusters on a node's face; with at most so many there are no faces."""
    largest_face: int = 16
    """Clusters on a node's face at the most: with more of them atoms thin out."""
    clusters_per_concentration: float = 4.0
    """Clusters on a face per unit of the prior's sum: the larger it is, the more clusters a node has a part in."""
    surely_on_face: float = 0.02
    """Membership from which on a cluster is on the face whatever the likelihood's slope."""
    most_outside: float = 0.5
    """Sum of the memberships outside the face, to which they are scaled down."""
    least_curvature_share: float = 0.3
    """Share of the curvature along a cluster that remains after the face has given way."""

    # --- tables of a small membership's moments (record 0009) ----------------------------------------------
    steepest_rise: float = -8.0
    """Smallest tilt λ / √h that is tabulated; beyond, the end of the table is taken."""
    steepest_fall: float = 500.0
    """Largest tilt λ / √h that is tabulated."""
    n_tilts: int = 97
    """Tilts in a table, between which moments are interpolated."""
    n_points: int = 129
    """Points of the trapezoid rule for each tilt."""
    integral_begins: float = 1e-3
    """Exponent up to which exp is taken for one, and the integral is known."""
    integral_ends: float = 30.0
    """Exponent beyond which the density is taken for zero."""


POSTERIOR = PosteriorSettings()
