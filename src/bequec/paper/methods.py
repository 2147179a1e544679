"""The methods as the paper's tables name them: its own variants under its names, ours and repaired ones beside them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bequec.baselines import AS_PUBLISHED, BASELINES, ON_PLANTED
from bequec.evaluate.methods import METHODS


class Method(NamedTuple):
    """What a table calls a method, and how it is made from (n_clusters, seed)."""

    title: str
    make: Callable[[int, int | None], Any]


PAPER_METHODS: dict[str, Method] = {
    "bequec-paper": Method("BeQuec", METHODS["bequec-paper"]),
    "bequec-subspace": Method("BeQuec, subspace", METHODS["bequec-subspace"]),
    "bequec": Method("BeQuec, posterior", METHODS["bequec"]),
    "geonmf": Method("GeoNMF", BASELINES["geonmf"]),
    "spacl": Method("SPACL", BASELINES["spacl"]),
    "mvsi-published": Method("CD-MVSI", AS_PUBLISHED["mvsi"]),
    "mvsi": Method("CD-MVSI, eigenvectors", BASELINES["mvsi"]),
    "bnmf-published": Method("CD-BNMF", AS_PUBLISHED["bnmf"]),
    "bnmf": Method("CD-BNMF, restarted", BASELINES["bnmf"]),
    "sc-unnorm-published": Method("SC (unnorm.)", AS_PUBLISHED["sc-unnorm"]),
    "sc-unnorm": Method("SC (unnorm.), smallest eigenvalues", BASELINES["sc-unnorm"]),
    "sc-norm-published": Method("SC (norm.)", AS_PUBLISHED["sc-norm"]),
    "sc-norm": Method("SC (norm.), best of 20", BASELINES["sc-norm"]),
    "kmeans-graph-published": Method("k-means (graph)", AS_PUBLISHED["kmeans-graph"]),
    "kmeans-graph": Method("k-means (graph), best of 20", BASELINES["kmeans-graph"]),
    "convex": Method("Convex-Opt", BASELINES["convex"]),
    "convex-zero-filled": Method("Convex-Opt, zero-filled", BASELINES["convex-zero-filled"]),
    "correlation": Method("Correlation clustering", BASELINES["correlation"]),
}
PLANTED_METHODS = PAPER_METHODS | {
    key: PAPER_METHODS[key]._replace(make=ON_PLANTED[key.removesuffix("-published")])
    for key in ("mvsi-published", "bnmf-published")
}
KEYS = {method.title: key for key, method in PAPER_METHODS.items()}


def chosen_titles(
    wanted: Sequence[str] | None, default: Sequence[str], only_here: Mapping[str, str] | None = None
) -> list[str]:
    """What a table calls the wanted methods; ``only_here`` names those that make sense in this table alone.

    A name without "-published" stands for that variant where a table has only it.
    """
    only_here = only_here or {}
    names = [*default, *only_here] if wanted is None else wanted
    published = {name: f"{name}-published" for name in names if name not in default}
    keys = [published[name] if published.get(name) in default else name for name in names]
    titles = {**{key: method.title for key, method in PAPER_METHODS.items()}, **only_here}
    return list(dict.fromkeys(titles[key] for key in keys if key in titles))


def unknown_methods(wanted: Sequence[str], further: Iterable[str]) -> str:
    """Which of the wanted methods there are not, and which there are; empty if all are known."""
    known = [*PAPER_METHODS, *further]
    unknown = [name for name in wanted if name not in known]
    return f"method {', '.join(unknown)} is unknown; choose from {', '.join(known)}" if unknown else ""
