"""simulate: planted graphs and people who err."""

from bequec.simulate.mixed_membership import (
    Planted,
    draw_answers,
    draw_interactions,
    expected_answers,
    simulate_clusters,
    simulate_mixed_memberships,
)
from bequec.simulate.people import simulate_people

__all__ = [
    "Planted",
    "draw_answers",
    "draw_interactions",
    "expected_answers",
    "simulate_clusters",
    "simulate_mixed_memberships",
    "simulate_people",
]
