"""Methods on the same answers, side by side: scores, seconds and peak memory."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bequec.ask.answers import Answers
from bequec.core.errors import ModelError
from bequec.core.progress import Progress
from bequec.evaluate.measured import Measured
from bequec.evaluate.methods import Maker, Method, chosen_methods, cluster_items
from bequec.evaluate.scores import SCORES, score_labels, score_memberships
from bequec.learn.inputs import as_answers


def compare(
    answers: Any,
    truth: npt.ArrayLike,
    *,
    methods: str | Iterable[Method] | Mapping[str, Method] | None = None,
    n_clusters: int | None = None,
    features: npt.ArrayLike | Callable[[], npt.ArrayLike] | None = None,
    n_runs: int = 1,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Fit every method to the same answers and score it against the truth.

    Parameters
    ----------
    answers : Answers, or whatever ``fit`` takes
    truth : (n_nodes, K) true memberships, or (n_nodes,) labels
        A label of None, NaN or "" is unknown; such nodes are learned, but not scored.
    methods : names and estimators, or a mapping from names to them, optional
        All of ``bequec.look.METHODS`` by default. An estimator is fitted to Answers and has ``labels_``, and
        ``memberships_`` where these are to be scored. It is cloned, and the clone gets this call's ``n_clusters`` and
        ``random_state`` where it has such parameters, so that all methods have the same task. To keep its own, give in
        a mapping a function ``(n_clusters, seed) -> estimator`` that sets them itself.
    n_clusters : int, optional
        How many clusters to look for; by default as many as the truth has.
    features : (n_nodes, n_features) array, or a function that gives it, optional
        The items themselves, e.g. ``load_pixels(images)``: adds "kmeans-items", what is reached without any answer.
    n_runs : int
        How often each method is fitted, with the seeds ``random_state``, ``random_state + 1``, ….
    random_state : int, optional
    progress : callable, optional
        Called as ``progress(what, done, total)``.

    Returns
    -------
    DataFrame
        One row per method: its scores, ``seconds``, ``peak_mb`` (what the process grew by), ``problem``, empty unless
        it failed, and ``warning``, empty unless the method has doubts about its result, as when it stopped before it
        was settled. With several runs, scores and seconds are means over those that did not fail, each score has its
        standard error beside it (``ACC_sem``), and ``peak_mb`` is the largest.

    Examples
    --------
    >>> from bequec import plan_queries
    >>> from bequec.simulate import simulate_clusters
    >>> planted = simulate_clusters(plan_queries(200, 3, n_groups=3, random_state=0), 3, random_state=0)
    >>> table = compare(planted.answers, planted.memberships, methods=["bequec-paper", "spacl"], random_state=0)
    >>> table[["method", "ACC"]].to_dict("list")
    {'method': ['bequec-paper', 'spacl'], 'ACC': [1.0, 1.0]}

    An estimator of one's own beside a method by name, each with three seeds:

    >>> from bequec.baselines import SPACL
    >>> mine = {"mine": SPACL(3, n_neighbors=5), "spacl": "spacl"}
    >>> table = compare(planted.answers, planted.memberships, methods=mine, n_runs=3, random_state=0)
    >>> table[["method", "ACC", "ACC_sem"]].to_dict("list")
    {'method': ['mine', 'spacl'], 'ACC': [1.0, 1.0], 'ACC_sem': [0.0, 0.0]}
    """
    makers = chosen_methods(methods, has_features=features is not None)
    if n_runs < 1:
        raise ModelError(f"n_runs={n_runs} must be at least 1")
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
    for number, (name, make) in enumerate(makers.items()):
        given, runs = features if make is cluster_items else answers, []
        for run in range(n_runs):
            if progress is not None:
                progress("comparing methods", number * n_runs + run, len(makers) * n_runs)
            seed = None if random_state is None else random_state + run
            runs.append(measure(make, given, truth, n_clusters, seed))
        rows.append({"method": name, **(runs[0] if n_runs == 1 else _summary(runs))})
    if progress is not None:
        progress("comparing methods", len(makers) * n_runs, len(makers) * n_runs)
    scores = [name for score in SCORES for name in (score, f"{score}_sem") if any(name in row for row in rows)]
    return pd.DataFrame(rows, columns=["method", *scores, "seconds", "peak_mb", "problem", "warning"])


def measure(make: Maker, given: Any, truth: npt.NDArray[Any], n_clusters: int, seed: int | None) -> dict[str, Any]:
    """One method's scores, seconds and peak memory; a method that fails says why and spares the others."""
    scores: dict[str, float] = {}
    problem = ""
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always", UserWarning)
        try:
            with Measured() as work:
                model = make(n_clusters, seed).fit(given() if callable(given) else given)
            scores = score_known(model, truth)
        except Exception as reason:  # whatever it is, it is this method's
            problem = str(reason) or type(reason).__name__
    warning = "; ".join(dict.fromkeys(str(doubt.message) for doubt in doubts))
    return {**scores, "seconds": work.seconds, "peak_mb": work.peak_mb, "problem": problem, "warning": warning}


def _summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Means over the runs that did not fail, with the scores' standard errors; every problem and warning once."""
    finished = pd.DataFrame([run for run in runs if not run["problem"]])
    problems, told = ([run[what] for run in runs if run[what]] for what in ("problem", "warning"))
    problem = "; ".join(dict.fromkeys(problems))
    if problems and len(problems) < len(runs):
        problem = f"{len(problems)} of {len(runs)} runs failed: {problem}"
    summary: dict[str, Any] = {}
    for score in (name for name in SCORES if name in finished):
        summary |= {score: float(finished[score].mean()), f"{score}_sem": float(finished[score].sem())}
    return {
        **summary,
        "seconds": float(np.mean([run["seconds"] for run in runs if len(finished) == 0 or not run["problem"]])),
        "peak_mb": max(run["peak_mb"] for run in runs),
        "problem": problem,
        "warning": "; ".join(dict.fromkeys(told)),
    }


def score_known(model: Any, truth: npt.NDArray[Any]) -> dict[str, float]:
    """All scores that a truth allows, over the nodes of which it is known: memberships, or labels only."""
    known = known_nodes(truth)
    memberships = getattr(model, "memberships_", None)
    if truth.ndim == 2 and memberships is not None and truth.shape[1] == memberships.shape[1]:
        return score_memberships(memberships[known], truth[known])
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
