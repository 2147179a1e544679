"""The mask as text, for terminals."""

import numpy as np

from bequec.ask.answers import Answers, FloatArray
from bequec.plan.query_plan import QueryPlan

SHADES = " ░▒▓█"


def draw_mask(plan: QueryPlan, answers: Answers | None = None, *, most: int = 40) -> str:
    """The mask as text: two characters a block; beyond ``most`` groups, several groups share a character."""
    shade = np.where(plan.asked, 0.25 + 0.75 * block_progress(plan, answers), 0.0)
    if plan.n_groups > most:
        cell = np.arange(plan.n_groups) * most // plan.n_groups
        coarse = np.zeros((most, most))
        np.maximum.at(coarse, (cell[:, None], cell[None, :]), shade)
        shade = coarse
    levels = np.ceil(shade * (len(SHADES) - 1)).astype(int)
    lines = ["".join(SHADES[level] * 2 if level else "· " for level in row).rstrip() for row in levels]
    if 1 < plan.n_groups <= most and plan.group_names is not None:
        names = [name[:14] for name in plan.group_names]
        lines = [f"{name:>{max(map(len, names))}} {line}" for name, line in zip(names, lines, strict=True)]
    return "\n".join(lines)


def block_progress(plan: QueryPlan, answers: Answers | None) -> FloatArray:
    """(L, L): the answered share of each block; one everywhere while there are no answers to show."""
    if answers is None:
        return np.ones(plan.asked.shape)
    l, m = plan.blocks.T
    n_pairs = np.ones(plan.asked.shape)
    n_pairs[l, m] = n_pairs[m, l] = np.maximum(plan.pairs_per_block, 1)
    return np.asarray(answers.answered_pairs / n_pairs)
