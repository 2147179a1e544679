"""One line on how far to trust the result, from what the answers themselves show."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.errors import ModelError
from bequec.learn.bequec import BeQuec
from bequec.learn.estimator import check_is_fitted
from bequec.learn.interactions import normal_equations
from bequec.learn.stitch.settings import STITCH

COLLECT = "collect the remaining answers (bequec status)"


@dataclass(frozen=True)
class Thresholds:
    """Where a verdict changes; how each was calibrated is in decision record 19."""

    reliable_gap: float = 1.4
    """With σ_K / σ_{K+1} above it in every window, at least nine labels in ten are right."""
    visible_gap: float = 1.15
    """Below it a window shows its weakest cluster no better than noise."""
    suggestion_factor: float = 1.5
    """Another number of clusters is suggested where its singular values drop so many times more than after K."""
    small_error: float = 0.25
    """Expected relative error of the memberships above which the result is no longer strong."""
    large_error: float = 0.5
    """Expected relative error above which the result is weak."""
    large_error_unseen: float = 0.3
    """The same where no window shows all clusters, as error bars are those of the found solution."""
    pure: float = 0.95
    """Membership from which on an item looks pure; without any, memberships and interactions cannot be told apart."""
    empty_cluster: float = 0.05
    """A cluster with less than this share of an average cluster's membership is called empty."""
    few_answered: float = 0.5
    """Share of the asked pairs below which the result is no longer strong."""
    hardly_answered: float = 0.2
    """Share of the asked pairs below which the result is weak."""
    nearly_all_answered: float = 0.9
    """Share of the asked pairs below which the remedy is to collect answers before more pairs are asked."""


THRESHOLDS = Thresholds()

Level = Literal["strong", "fair", "weak"]
OPENINGS = {"strong": "Trustworthy", "fair": "Usable with care", "weak": "Do not rely on this yet"}


class Verdict(NamedTuple):
    """How far to trust the result, in one sentence; the smallest gap and the explained share behind it."""

    level: Level
    sentence: str
    gap: float
    explained: float


def judge(model: BeQuec, answers: Answers) -> Verdict:
    """Judge a fitted model by whether every window shows all clusters, or by the posterior's own error bars."""
    check_is_fitted(model, before="judging it")
    if len(model.memberships_) != answers.plan.n_nodes:
        raise ModelError(
            f"the model has {len(model.memberships_)} nodes, the answers {answers.plan.n_nodes}; "
            "judge a model by the answers that it was fitted to"
        )
    gap = float(model.gaps_.min())
    explained = explained_share(model, answers)
    doubts = _doubts(model, answers, gap)
    level: Level = "weak" if any(is_serious for is_serious, _ in doubts) else "fair" if doubts else "strong"
    if hasattr(model, "memberships_std_"):
        shown = f"memberships are known to about {max(1, round(100 * _relative_error(model)))} %"
    else:
        shown = f"every window shows all {model.n_clusters} clusters ({gap:.1f} times above the noise)"
    fits = f"the model explains {max(0, round(100 * explained))} % of the variation in the answers"
    reasons = [text for _, text in doubts] or [shown, fits]
    return Verdict(level, f"{OPENINGS[level]}: {'; '.join(reasons)}.", gap, explained)


def _doubts(model: BeQuec, answers: Answers, gap: float) -> list[tuple[bool, str]]:
    """What speaks against the result: (is it serious?, why and what to do)."""
    K = model.n_clusters
    n_empty = int((model.memberships_.sum(axis=0) < THRESHOLDS.empty_cluster * len(model.memberships_) / K).sum())
    if answers.share_yes in (0.0, 1.0) or K - n_empty < 2:
        return [(True, _nothing_to_tell_apart(answers))]
    doubts = []
    share = answers.share_answered
    if share < THRESHOLDS.few_answered:
        doubts.append(
            (
                share < THRESHOLDS.hardly_answered,
                f"only {100 * share:.0f} % of the asked pairs are answered yet: {COLLECT}",
            )
        )
    has_errors = hasattr(model, "memberships_std_")
    if has_errors and _relative_error(model) > THRESHOLDS.small_error:
        error = _relative_error(model)
        text = f"memberships are off by about {100 * error:.0f} %; more answers would help"
        # Error bars are those of the found solution: where no window shows all clusters, a smaller error is serious.
        unseen = bool((model.gaps_ < THRESHOLDS.visible_gap).all())
        doubts.append((error > (THRESHOLDS.large_error_unseen if unseen else THRESHOLDS.large_error), text))
    purest = float(model.memberships_.max())
    if has_errors and purest < THRESHOLDS.pure:
        text = (
            f"no item looks pure (the largest membership is {100 * purest:.0f} %), so that nothing says how mixed "
            "all of them are: compare items with one another, not with 100 %"
        )
        doubts.append((False, text))
    if gap < (THRESHOLDS.visible_gap if has_errors else THRESHOLDS.reliable_gap):
        n_weak = int((model.gaps_ < THRESHOLDS.reliable_gap).sum())
        text = (
            f"{n_weak} of {_count(len(model.gaps_), 'window')} hardly {'shows' if n_weak == 1 else 'show'} the "
            f"{_ordinal(K)} cluster ({gap:.2f} times the noise at worst); {_remedy(K, answers)}"
        )
        doubts.append((gap < THRESHOLDS.visible_gap and not has_errors, text))
    if n_empty:
        are = "is" if n_empty == 1 else "are"
        doubts.append((False, f"{n_empty} of the {K} clusters {are} all but empty: try {K - n_empty} clusters"))
    suggested = suggested_n_clusters(model)
    if suggested not in (K, K - n_empty):
        doubts.append((False, f"the singular values suggest {suggested} clusters rather than {K}"))
    return doubts


def _nothing_to_tell_apart(answers: Answers) -> str:
    remedy = "check how the labels were given, or ask about items of which some differ"
    return (
        f"the answers do not tell two clusters apart ({100 * answers.share_yes:.0f} % of them are yes); "
        f"{COLLECT if answers.share_answered < THRESHOLDS.nearly_all_answered else remedy}"
    )


def _remedy(n_clusters: int, answers: Answers) -> str:
    """What can be done in this study about windows that show too little."""
    if answers.share_answered < THRESHOLDS.nearly_all_answered:
        remedy = COLLECT
    elif answers.plan.asked.all():  # there is no pair left to ask
        remedy = "ask other people the same pairs (a column worker tells them apart)"
    else:
        remedy = "ask more pairs, in fewer and larger groups"
    return remedy + (", or try fewer clusters" if n_clusters > 2 else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _relative_error(model: BeQuec) -> float:
    """The expected relative error of the memberships by their own error bars."""
    return float(np.sqrt((model.memberships_std_**2).sum() / (model.memberships_**2).sum()))


def suggested_n_clusters(model: BeQuec) -> int:
    """Where the first window's singular values drop most, if far more clearly than after K; else K."""
    values, K = model.singular_values_, model.n_clusters
    if len(values) <= K:
        return K
    floor = STITCH.hardly_visible * values[0]
    drops = (values[1:-1] + floor) / (values[2:] + floor)  # after the 2nd, 3rd, … value
    best = int(drops.argmax()) + 2
    at_K = float((values[K - 1] + floor) / (values[K] + floor))
    return best if drops.max() > max(THRESHOLDS.reliable_gap, THRESHOLDS.suggestion_factor * at_K) else K


def explained_share(model: BeQuec, answers: Answers) -> float:
    """1 − Σ W (a − p)² / Σ W (a − ā)², a = A / W the mean answer of a pair: 0 for a constant guess, at most 1."""
    H, with_yes = normal_equations(answers, model.memberships_[answers.plan.order])
    b = model.interactions_.ravel()
    squares = float((answers.yes.data**2 / answers.total_at_yes).sum())
    residual = squares - 2 * float(b @ with_yes.ravel()) + float(b @ H @ b)
    n_given = answers.plan.sizes[answers.plan.asked.diagonal()].sum() if answers.diagonal else 0
    variation = squares - answers.yes.sum() ** 2 / (2 * answers.n_answers + n_given)
    return float(1 - residual / variation) if variation > 0 else 0.0


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
