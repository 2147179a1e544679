"""What can be compared: our methods and their rivals by name, and any estimator that clusters answers."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sklearn.base import clone

from bequec.baselines import BASELINES, ItemKMeans
from bequec.core.errors import ModelError
from bequec.learn.bequec import BeQuec

Maker = Callable[[int, int | None], Any]
Method = str | Any  # a name, or an estimator; in a mapping also a maker

METHODS: dict[str, Maker] = {
    "bequec": lambda n_clusters, seed: BeQuec(n_clusters, random_state=seed),
    "bequec-subspace": lambda n_clusters, seed: BeQuec(n_clusters, refine="subspace", random_state=seed),
    "bequec-paper": lambda n_clusters, seed: BeQuec(n_clusters, refine=None, random_state=seed),
    **BASELINES,
}
"""Every method by name, as a maker ``(n_clusters, seed) -> estimator``."""
ITEMS = "kmeans-items"


def cluster_items(n_clusters: int, seed: int | None) -> ItemKMeans:
    """The method that is fitted to the items themselves instead of the answers."""
    return ItemKMeans(n_clusters, random_state=seed)


def chosen_methods(
    methods: str | Iterable[Method] | Mapping[str, Method] | None, *, has_features: bool
) -> dict[str, Maker]:
    """The makers of the chosen methods by name, all by default; unknown names are refused.

    Estimators of a sequence are named after their class, and numbered where several are of one class.
    """
    known = {**METHODS, **({ITEMS: cluster_items} if has_features else {})}
    if methods is None:
        return known
    if hasattr(methods, "fit"):
        methods = [methods]
    if isinstance(methods, Mapping):
        named = {str(name): method for name, method in methods.items()}
    else:
        named = _named(methods.split(",") if isinstance(methods, str) else methods)
    unknown = [name for name in named.values() if isinstance(name, str) and name not in known]
    if ITEMS in unknown:
        raise ModelError(f"method {ITEMS} clusters the items themselves, of which nothing is known but answers")
    if unknown or not named:
        raise ModelError(f"method {', '.join(unknown) or 'list'} is unknown; choose from {', '.join(known)}")
    return {name: known[method] if isinstance(method, str) else _maker(method) for name, method in named.items()}


def _named(methods: Iterable[Method]) -> dict[str, Method]:
    """Each of a sequence's methods by its name or its class, each name once."""
    named: dict[str, Method] = {}
    met: Counter[str] = Counter()
    for method in methods:
        if isinstance(method, str):
            named[method.strip()] = method.strip()
            continue
        kind = type(method).__name__
        met[kind] += 1
        named[kind if met[kind] == 1 else f"{kind}-{met[kind]}"] = method
    return named


def _maker(method: Any) -> Maker:
    if isinstance(method, type):
        raise ModelError(f"{method.__name__} is a class; give an estimator, {method.__name__}(…)")
    if hasattr(method, "fit") and hasattr(method, "get_params"):
        return lambda n_clusters, seed: _fresh(method, n_clusters, seed)
    if callable(method):
        made: Maker = method
        return made
    raise ModelError(
        f"{method!r} cannot be compared; give the name of a method, a scikit-learn estimator, "
        "or in a mapping a function (n_clusters, seed) -> estimator"
    )


def _fresh(estimator: Any, n_clusters: int, seed: int | None) -> Any:
    """A clone with this number of clusters and this seed, as far as it has such parameters."""
    wanted = {"n_clusters": n_clusters, **({} if seed is None else {"random_state": seed})}
    own = estimator.get_params(deep=False)
    return clone(estimator).set_params(**{name: value for name, value in wanted.items() if name in own})
