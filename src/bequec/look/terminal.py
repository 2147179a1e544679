"""The mask, the stitching tree and the budget–accuracy curve as text, for terminals."""

from collections.abc import Sequence

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import BoolArray, FloatArray
from bequec.learn.stitch.wide_stitching import tree_ties
from bequec.plan.mask.sharing import asked_share_of_blocks
from bequec.plan.query_plan import QueryPlan

SHADES = " ░▒▓█"


def draw_mask(
    plan: QueryPlan, answers: Answers | None = None, *, prices: FloatArray | None = None, most: int = 40
) -> str:
    """The mask as text: two characters per block; beyond ``most`` groups, several groups share a character.

    Darker means more pairs asked, or, with answers, answered; with prices, more expensive, and × marks what cannot be
    asked.
    """
    done = asked_share_of_blocks(plan) * block_progress(plan, answers)
    part = done if prices is None else _relative_prices(plan, prices)
    shade = np.where(plan.covered, 0.25 + 0.75 * part, 0.0)
    forbidden = np.zeros(plan.asked.shape, dtype=bool) if prices is None else np.isinf(prices) & ~plan.covered
    if plan.n_groups > most:
        cell = np.arange(plan.n_groups) * most // plan.n_groups
        coarse, barred = np.zeros((most, most)), np.ones((most, most), dtype=bool)
        np.maximum.at(coarse, (cell[:, None], cell[None, :]), shade)
        np.logical_and.at(barred, (cell[:, None], cell[None, :]), forbidden)
        shade, forbidden = coarse, barred
    levels = np.ceil(shade * (len(SHADES) - 1)).astype(int)
    lines = [
        "".join(SHADES[level] * 2 if level else ("× " if barred else "· ") for level, barred in zip(*row, strict=True))
        for row in zip(levels, forbidden, strict=True)
    ]
    lines = [line.rstrip() for line in lines]
    if 1 < plan.n_groups <= most and plan.group_names is not None:
        names = [name[:14] for name in plan.group_names]
        lines = [f"{name:>{max(map(len, names))}} {line}" for name, line in zip(names, lines, strict=True)]
    return "\n".join(lines)


def block_progress(plan: QueryPlan, answers: Answers | None) -> FloatArray:
    """(L, L): the answered share of each block; one everywhere while there are no answers to show."""
    if answers is None:
        return np.ones(plan.asked.shape)
    return np.asarray(answers.answered_pairs / np.maximum(plan.asked_pairs, 1))


def draw_tree(plan: QueryPlan, usable: BoolArray, *, most: int = 60) -> str:
    """The stitching tree as text: from its centre, each group under the one that it is tied to, and through which."""
    ties = tree_ties(usable, plan.sizes)
    root = ties[0][0] if ties else 0
    under: dict[int, list[int]] = {}
    for known, new in ties:
        under.setdefault(known, []).append(new)
    lines = [plan.group_name(root)]

    waiting = [(root, new, "", new == under[root][-1]) for new in reversed(under.get(root, []))]
    while waiting:
        known, group, margin, is_last = waiting.pop()
        through = ", ".join(plan.group_name(int(m)) for m in np.flatnonzero(usable[known] & usable[group])[:3])
        lines.append(f"{margin}{'└─' if is_last else '├─'} {plan.group_name(group)} (through {through})")
        margin += "   " if is_last else "│  "
        waiting += [(group, new, margin, new == under[group][-1]) for new in reversed(under.get(group, []))]
    if len(lines) > most:
        lines = [*lines[:most], f"… and {len(lines) - most} more groups"]
    return "\n".join(lines)


def draw_curve(labels: Sequence[str], values: Sequence[float], *, width: int = 40) -> str:
    """Shares between 0 and 1 as bars; what is not known has none."""
    widest = max(map(len, labels))
    lines = []
    for label, value in zip(labels, values, strict=True):
        bar = "does not fit" if np.isnan(value) else "█" * round(width * value)
        lines.append(f"{label:>{widest}} {bar}" + ("" if np.isnan(value) else f" {100 * value:.1f} %"))
    return "\n".join(lines)


def _relative_prices(plan: QueryPlan, prices: FloatArray) -> FloatArray:
    """(L, L): each asked block's price as a share of the highest asked one."""
    finite = np.where(np.isfinite(prices), prices, 0.0)
    return np.asarray(finite / max(float(finite[plan.covered].max(initial=0.0)), 1e-12))
