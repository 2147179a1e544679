"""simulate: planted graphs, and people who answer or sort and err."""

from bequec.simulate.mixed_membership import (
    Planted,
    draw_answers,
    draw_interactions,
    expected_answers,
    simulate_clusters,
    simulate_mixed_memberships,
)
from bequec.simulate.people import simulate_people
from bequec.simulate.sorters import simulate_sorts

__all__ = [
    "Planted",
    "draw_answers",
    "draw_interactions",
    "expected_answers",
    "simulate_clusters",
    "simulate_mixed_memberships",
    "simulate_people",
    "simulate_sorts",
]
