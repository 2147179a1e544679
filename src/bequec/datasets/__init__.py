"""datasets: loaders of real data."""

from bequec.datasets.coauthors import NETWORKS, Coauthors, load_coauthors
from bequec.datasets.digits import Digits, load_digits
from bequec.datasets.dogs import BREEDS, Dogs, load_dogs

__all__ = ["BREEDS", "NETWORKS", "Coauthors", "Digits", "Dogs", "load_coauthors", "load_digits", "load_dogs"]
