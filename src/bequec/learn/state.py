"""What one pass of learning knows, rows in group order."""

from typing import NamedTuple

from bequec.ask.answers import FloatArray
from bequec.plan.query_plan import IntArray


class State(NamedTuple):
    """Memberships and what they came from."""

    memberships: FloatArray
    interactions: FloatArray
    anchors: IntArray
    basis: FloatArray
    singular_values: FloatArray
