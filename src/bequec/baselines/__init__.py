"""baselines: the rivals, with the interface of ``BeQuec``. The names are loaded on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bequec.baselines.bnmf import BayesianNMF
    from bequec.baselines.by_name import AS_PUBLISHED, BASELINES, ON_PLANTED
    from bequec.baselines.convex import ConvexOpt
    from bequec.baselines.correlation import CorrelationClusters
    from bequec.baselines.geonmf import GeoNMF
    from bequec.baselines.graph_kmeans import GraphKMeans
    from bequec.baselines.item_kmeans import ItemKMeans
    from bequec.baselines.mvsi import MinimumVolume
    from bequec.baselines.pixels import load_pixels
    from bequec.baselines.spacl import SPACL
    from bequec.baselines.spectral import SpectralClusters

_HOMES = {
    "AS_PUBLISHED": "by_name",
    "BASELINES": "by_name",
    "BayesianNMF": "bnmf",
    "ConvexOpt": "convex",
    "CorrelationClusters": "correlation",
    "GeoNMF": "geonmf",
    "GraphKMeans": "graph_kmeans",
    "ItemKMeans": "item_kmeans",
    "MinimumVolume": "mvsi",
    "ON_PLANTED": "by_name",
    "SPACL": "spacl",
    "SpectralClusters": "spectral",
    "load_pixels": "pixels",
}

__all__ = [
    "AS_PUBLISHED",
    "BASELINES",
    "ON_PLANTED",
    "SPACL",
    "BayesianNMF",
    "ConvexOpt",
    "CorrelationClusters",
    "GeoNMF",
    "GraphKMeans",
    "ItemKMeans",
    "MinimumVolume",
    "SpectralClusters",
    "load_pixels",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bequec.baselines' has no attribute {name!r}")
    return getattr(import_module(f"bequec.baselines.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
