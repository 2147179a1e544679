"""The tuning constants of the refined subspace, in one place: meaning, unit, effect, and the record that chose them.

Users do not change these. "record" names the file of that number in docs/decisions.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SubspaceSettings:
    """Every number that the refined subspace was tuned with."""

    # --- alternating least squares (record 0005) -----------------------------------------------------------
    rounds: tuple[int, int] = (40, 60)
    """Most rounds of each start before the best of them is chosen, and most further rounds of that one."""
    few_rounds: tuple[int, int] = (10, 20)
    """The same where the pairs are too many to be visited one by one: a round there takes seconds (record 0027)."""
    weighted_rounds: int = 40
    """Most rounds weighted by the inverse variance of the answers."""
    settled_turn: float = 1e-4
    """Sine of an angle: a round that turns the range space by less is the last."""
    ridge: float = 1e-3
    """Share of a system's mean eigenvalue, added to its diagonal: rows with few answers stay bounded."""
    negative_strength: float = 0.75
    """Factor on negative eigenvalues when a start is cut back to K directions: they are noise more often."""
    smallest_weighted_probability: float = 0.02
    """Probability of a yes: less likely pairs are weighted like this one, and need not be visited."""

    # --- reading the memberships ---------------------------------------------------------------------------
    centroids_per_cluster: int = 6
    """Centroids among which the corners are sought: more are noisier, fewer are mixed."""
    most_rows_for_directions: int = 20_000
    """Rows among whose directions clusters are sought; the others follow them."""
    direction_starts: int = 5
    """Starts of that k-means (record 0027)."""
    worst_condition: float = 1e6
    """Condition number of corners: larger ones do not span K dimensions."""
    on_the_plane: float = 0.85
    """Mean of U h over all rows, one on the plane through the corners: below, only directions count (record 0011)."""
    membership_rounds: int = 4
    """Rounds of memberships given B and B given memberships, which take the turn out of long chains (record 0005)."""

    @property
    def common_weight(self) -> float:
        """The weight 1 / (p (1 − p)) of all pairs that are less likely, most of them where yes is rare."""
        p = self.smallest_weighted_probability
        return 1 / (p * (1 - p))


SUBSPACE = SubspaceSettings()
