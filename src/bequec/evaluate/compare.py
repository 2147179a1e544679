"""All methods on the same answers, side by side: scores, seconds and peak memory."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bequec.ask.answers import Answers
from bequec.baselines import BASELINES, ItemKMeans
from bequec.core.errors import ModelError
from bequec.core.progress import Progress
from bequec.evaluate.measured import Measured
from bequec.evaluate.scores import score_labels, score_memberships
from bequec.learn.bequec import BeQuec
from bequec.learn.inputs import as_answers

Maker = Callable[[int, int | None], Any]

METHODS: dict[str, Maker] = {
    "bequec": lambda n_clusters, seed: BeQuec(n_clusters, random_state=seed),
    "bequec-subspace": lambda n_clusters, seed: BeQuec(n_clusters, refine="subspace", random_state=seed),
    "bequec-paper": lambda n_clusters, seed: BeQuec(n_clusters, refine=None, random_state=seed),
    **BASELINES,
}
"""Every method by name, as a maker ``(n_clusters, seed) -> estimator``."""
ITEMS = "kmeans-items"


def compare(
    answers: Any,
    truth: npt.ArrayLike,
    *,
    methods: str | Sequence[str] | None = None,
    n_clusters: int | None = None,
    features: npt.ArrayLike | Callable[[], npt.ArrayLike] | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Fit every method to the same answers and score it against the truth.

    Parameters
    ----------
    answers : Answers, or whatever ``fit`` takes
    truth : (n_nodes, K) true memberships, or (n_nodes,) labels
        A label of None, NaN or "" is unknown; such nodes are learned, but not scored.
    methods : names, optional
        Some of ``METHODS``; all by default.
    n_clusters : int, optional
        How many clusters to look for; by default as many as the truth has.
    features : (n_nodes, n_features) array, or a function that gives it, optional
        The items themselves, e.g. ``load_pixels(images)``: adds "kmeans-items", what is reached without any answer.
    random_state : int, optional
    progress : callable, optional
        Called as ``progress(what, done, total)``.

    Returns
    -------
    DataFrame
        One row per method: its scores, ``seconds``, ``peak_mb`` (what the process grew by), ``problem``, empty unless
        it failed, and ``warning``, empty unless the method has doubts about its result, as when it stopped before it
        was settled.

    Examples
    --------
    >>> from bequec import plan_queries
    >>> from bequec.simulate import simulate_clusters
    >>> planted = simulate_clusters(plan_queries(200, 3, n_groups=3, random_state=0), 3, random_state=0)
    >>> table = compare(planted.answers, planted.memberships, methods=["bequec-paper", "spacl"], random_state=0)
    >>> table[["method", "ACC"]].to_dict("list")
    {'method': ['bequec-paper', 'spacl'], 'ACC': [1.0, 1.0]}
    """
    names = check_methods(methods, has_features=features is not None)
    answers = as_answers(answers)
    truth = _check_truth(truth, answers)
    n_true = truth.shape[1] if truth.ndim == 2 else len(set(truth[known_nodes(truth)].tolist()))
    n_clusters = n_true if n_clusters is None else n_clusters
    if truth.ndim == 2 and n_true != n_clusters:
        warnings.warn(
            f"the truth has {n_true} clusters, {n_clusters} are looked for: labels are compared, but not memberships",
            stacklevel=2,
        )
    rows = []
    for done, name in enumerate(names):
        if progress is not None:
            progress("comparing methods", done, len(names))
        make, given = (_cluster_items, features) if name == ITEMS else (METHODS[name], answers)
        rows.append({"method": name, **measure(make, given, truth, n_clusters, random_state)})
    if progress is not None:
        progress("comparing methods", len(names), len(names))
    scores = [name for name in ("MSE", "RE", "SRC", "ACC", "NMI") if any(name in row for row in rows)]
    return pd.DataFrame(rows, columns=["method", *scores, "seconds", "peak_mb", "problem", "warning"])


def _cluster_items(n_clusters: int, seed: int | None) -> ItemKMeans:
    return ItemKMeans(n_clusters, random_state=seed)


def check_methods(methods: str | Sequence[str] | None, *, has_features: bool) -> list[str]:
    """The methods' names, all by default, each once; unknown ones are refused."""
    known = [*METHODS, ITEMS] if has_features else list(METHODS)
    if methods is None:
        return known
    names = [name.strip() for name in (methods.split(",") if isinstance(methods, str) else methods)]
    unknown = [name for name in names if name not in known]
    if ITEMS in unknown:
        raise ModelError(f"method {ITEMS} clusters the items themselves, of which nothing is known but answers")
    if unknown or not names:
        raise ModelError(f"method {', '.join(unknown) or 'list'} is unknown; choose from {', '.join(known)}")
    return list(dict.fromkeys(names))


def measure(make: Maker, given: Any, truth: npt.NDArray[Any], n_clusters: int, seed: int | None) -> dict[str, Any]:
    """One method's scores, seconds and peak memory; a method that fails says why and spares the others."""
    with warnings.catch_warnings(record=True) as doubts, Measured() as work:
        warnings.simplefilter("always", UserWarning)
        try:
            model = make(n_clusters, seed).fit(given() if callable(given) else given)
            problem = ""
        except Exception as reason:  # whatever it is, it is this method's
            problem = str(reason) or type(reason).__name__
    warning = "; ".join(dict.fromkeys(str(doubt.message) for doubt in doubts))
    told = {"seconds": work.seconds, "peak_mb": work.peak_mb, "problem": problem, "warning": warning}
    return told if problem else {**score_known(model, truth), **told}


def score_known(model: Any, truth: npt.NDArray[Any]) -> dict[str, float]:
    """All scores that a truth allows, over the nodes of which it is known: memberships, or labels only."""
    known = known_nodes(truth)
    if truth.ndim == 2 and truth.shape[1] == model.memberships_.shape[1]:
        return score_memberships(model.memberships_[known], truth[known])
    labels = truth.argmax(axis=1) if truth.ndim == 2 else truth
    return score_labels(model.labels_[known], labels[known])


def known_nodes(truth: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where the truth is neither NaN nor None nor an empty text."""
    if truth.ndim == 2:
        return np.asarray(np.isfinite(truth.astype(float)).all(axis=1))
    return np.asarray(pd.notna(truth) & (truth.astype(object) != ""), dtype=bool)


def _check_truth(truth: npt.ArrayLike, answers: Answers) -> npt.NDArray[Any]:
    truth = np.asarray(truth)
    if truth.ndim not in (1, 2) or len(truth) != answers.plan.n_nodes:
        raise ModelError(
            f"the truth has shape {truth.shape}, but there are {answers.plan.n_nodes} nodes; "
            "give one label, or one row of memberships, per node"
        )
    if known_nodes(truth).sum() < 2:
        raise ModelError(f"the truth of {known_nodes(truth).sum()} nodes is known; at least 2 are needed for a score")
    if truth.ndim == 2:
        rows = truth[known_nodes(truth)].astype(float)
        if (rows < 0).any() or (np.abs(rows.sum(axis=1) - 1) > 1e-3).any():
            raise ModelError("the truth has rows that are no memberships; they must be ≥ 0 and sum to 1")
    return truth
