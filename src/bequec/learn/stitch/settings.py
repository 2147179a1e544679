"""The tuning constants of stitching, in one place: meaning, unit, effect, and the decision record that chose them.

Users do not change these. "record" names the file of that number in docs/decisions.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class StitchSettings:
    """Every number that stitching was tuned with."""

    more_singular_values: int = 5
    """Singular values of the first window beyond K, so that the gap can be seen."""
    imputation_rounds: int = 3
    """Rounds of SVD and refilled diagonal in an exact window (record 0012)."""
    rough_rounds: int = 12
    """Power iterations of a window that is refined later."""
    zero_singular_value: float = 1e-12
    """Share of the first singular value: the vectors of smaller ones are arbitrary."""
    hardly_visible: float = 0.03
    """Share of the first singular value: an imputed diagonal alone makes directions of about half this size."""
    dense_above: float = 0.1
    """Share of nonzero entries in a window: above it products with plain arrays are faster."""
    oversampling: tuple[int, ...] = (2, 4, 6, 8)
    """Directions beyond K of the further starts, which keep what a single window loses (record 0005)."""
    gap_for_one_start: float = 1.5
    """σ_K / σ_{K+1}: where every window's gap is larger, one start loses nothing, and there are no further ones."""
    centered_below: float = 0.75
    """Answered share of a block: below it, pairs without an answer stand at the block's mean. Above it that changes
    little, and earlier results stay as they are (record 0027)."""
    scattered_below: float = 0.5
    """Share of all pairs that are answered: where they lie all over the blocks and are fewer, the centered spectrum is
    the start (record 0027)."""
    degree_rounds: int = 200
    """Rounds of the expected degrees of groups, which converge by a half in each."""
    least_level: float = 0.1
    """Mean of U h over a group's rows, one on the plane through the corners: lower, the group is not scaled to it
    (record 0002)."""


STITCH = StitchSettings()
