"""datasets: loaders of real data."""

from bequec.datasets.digits import Digits, load_digits
from bequec.datasets.dogs import BREEDS, Dogs, load_dogs

__all__ = ["BREEDS", "Digits", "Dogs", "load_digits", "load_dogs"]
