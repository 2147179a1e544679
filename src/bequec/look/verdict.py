"""One line on how far to trust the result, from what the answers themselves show."""

from typing import Literal, NamedTuple

import numpy as np

from bequec.ask.answers import Answers
from bequec.learn.bequec import BeQuec
from bequec.learn.interactions import normal_equations

# Calibrated on planted graphs: with a gap of 1.5 memberships are right but for small errors, below 1.15 the
# weakest cluster is mostly noise.
CLEAR_GAP, VISIBLE_GAP = 1.5, 1.15

Level = Literal["strong", "fair", "weak"]


class Verdict(NamedTuple):
    """How far to trust the result, why, and what to do."""

    level: Level
    sentence: str
    gap: float
    explained: float


def judge(model: BeQuec, answers: Answers) -> Verdict:
    """Judge a fitted model by the gap after the K-th singular value and by what it explains of the answers."""
    gap, explained = singular_value_gap(model), explained_share(model, answers)
    K = model.n_clusters
    why = (
        f"the {_ordinal(K)} direction stands {gap:.2f} times above the next one, which is noise, and the model "
        f"explains {100 * explained:.0f} % of the variation in the answers"
        if np.isfinite(gap)
        else f"the model explains {100 * explained:.0f} % of the variation in the answers"
    )
    if answers.share_answered < 0.5:
        return Verdict(
            "weak" if gap < VISIBLE_GAP else "fair",
            f"Preliminary: only {100 * answers.share_answered:.0f} % of the asked pairs are answered; {why}.",
            gap,
            explained,
        )
    if gap >= CLEAR_GAP:
        return Verdict("strong", f"Trustworthy: {why}.", gap, explained)
    if gap >= VISIBLE_GAP:
        return Verdict(
            "fair",
            f"Usable with care: {why}; weakly tied items may be misplaced, more answers would help.",
            gap,
            explained,
        )
    return Verdict(
        "weak",
        f"Do not rely on this yet: {why}; ask more pairs, get several answers a pair, or try fewer clusters.",
        gap,
        explained,
    )


def singular_value_gap(model: BeQuec) -> float:
    """σ_K / σ_{K+1} of the first window; infinite where nothing follows."""
    values = model.singular_values_
    if len(values) <= model.n_clusters or values[model.n_clusters] <= 1e-12 * values[0]:
        return float("inf")
    return float(values[model.n_clusters - 1] / values[model.n_clusters])


def explained_share(model: BeQuec, answers: Answers) -> float:
    """1 − Σ W (a − p)² / Σ W (a − ā)² over answered pairs, a = A / W: 0 for a constant guess, 1 if all is explained."""
    memberships = model.memberships_[answers.plan.order]
    H, with_yes = normal_equations(answers, memberships)
    b = model.interactions_.ravel()
    yes = answers.yes
    squares = float((yes.data**2 / answers.total_at_yes).sum())
    residual = squares - 2 * float(b @ with_yes.ravel()) + float(b @ H @ b)
    n_answers = 2 * answers.n_answers + (
        answers.plan.sizes[answers.plan.asked.diagonal()].sum() if answers.diagonal else 0
    )
    variation = squares - yes.sum() ** 2 / n_answers
    return float(1 - residual / variation) if variation > 0 else 0.0


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
