"""All rivals by the names that commands and tables use."""

from collections.abc import Callable

from bequec.baselines.bnmf import BayesianNMF
from bequec.baselines.convex import ConvexOpt
from bequec.baselines.correlation import CorrelationClusters
from bequec.baselines.geonmf import GeoNMF
from bequec.baselines.graph_kmeans import GraphKMeans
from bequec.baselines.mvsi import MinimumVolume
from bequec.baselines.spacl import SPACL
from bequec.baselines.spectral import SpectralClusters
from bequec.learn.estimator import GraphEstimator, Seed

Maker = Callable[[int, Seed], GraphEstimator]

BASELINES: dict[str, Maker] = {
    "geonmf": lambda n_clusters, seed: GeoNMF(n_clusters, random_state=seed),
    "spacl": lambda n_clusters, seed: SPACL(n_clusters, random_state=seed),
    "mvsi": lambda n_clusters, seed: MinimumVolume(n_clusters, random_state=seed),
    "bnmf": lambda n_clusters, seed: BayesianNMF(n_clusters, random_state=seed),
    "sc-unnorm": lambda n_clusters, seed: SpectralClusters(n_clusters, normalized=False, random_state=seed),
    "sc-norm": lambda n_clusters, seed: SpectralClusters(n_clusters, random_state=seed),
    "kmeans-graph": lambda n_clusters, seed: GraphKMeans(n_clusters, random_state=seed),
    "convex": lambda n_clusters, seed: ConvexOpt(n_clusters, random_state=seed),
    "convex-zero-filled": lambda n_clusters, seed: ConvexOpt(n_clusters, zero_filled=True, random_state=seed),
    "correlation": lambda n_clusters, seed: CorrelationClusters(n_clusters, random_state=seed),
}
"""Each rival at its best, as a maker ``(n_clusters, seed) -> estimator``."""

AS_PUBLISHED: dict[str, Maker] = {
    **BASELINES,
    "mvsi": lambda n_clusters, seed: MinimumVolume(n_clusters, coordinates="landmarks", random_state=seed),
    "bnmf": lambda n_clusters, seed: BayesianNMF(n_clusters, max_iter=19, tol=0, n_restarts=0, random_state=seed),
    "sc-unnorm": lambda n_clusters, seed: SpectralClusters(
        n_clusters, normalized=False, as_published=True, random_state=seed
    ),
    "sc-norm": lambda n_clusters, seed: SpectralClusters(n_clusters, as_published=True, random_state=seed),
    "kmeans-graph": lambda n_clusters, seed: GraphKMeans(n_clusters, as_published=True, random_state=seed),
    "convex": lambda n_clusters, seed: ConvexOpt(n_clusters, zero_filled=True, random_state=seed),
}
"""The same rivals as the BeQuec paper's experiments ran them, to explain its figures."""

ON_PLANTED: dict[str, Maker] = {
    **AS_PUBLISHED,
    "mvsi": lambda n_clusters, seed: MinimumVolume(n_clusters, coordinates="hubs", random_state=seed),
    "bnmf": lambda n_clusters, seed: BayesianNMF(
        n_clusters, max_iter=19, tol=0, n_restarts=0, diagonal=2, random_state=seed
    ),
}
"""The same as that paper's experiments on planted graphs ran them."""
