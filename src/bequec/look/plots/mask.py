"""The mask: which blocks are asked and how far they are answered, as a picture and in the terminal."""

import numpy as np
from matplotlib.figure import Figure

from bequec.ask.answers import Answers, FloatArray
from bequec.look.plots.style import COLOURS, INK, label, new_figure
from bequec.plan.query_plan import QueryPlan

SHADES = " ░▒▓█"
MOST_NAMED_GROUPS = 24


def plot_mask(plan: QueryPlan, answers: Answers | None = None) -> Figure:
    """The asked blocks, drawn to the groups' sizes; with answers, darker where more pairs are answered."""
    figure, axes = new_figure(4.2, 4.2)
    shade = np.where(plan.asked, 0.15 + 0.85 * block_progress(plan, answers), np.nan)
    edges = plan.starts.astype(float)
    from matplotlib.colors import LinearSegmentedColormap

    blues = LinearSegmentedColormap.from_list("asked", ["#ffffff", COLOURS[0]])
    few = plan.n_groups <= 60
    axes.pcolormesh(edges, edges, shade, cmap=blues, vmin=0, vmax=1, edgecolors=INK if few else "none", linewidth=0.15)
    axes.set_aspect("equal")
    axes.set_xlim(0, plan.n_nodes)
    axes.set_ylim(plan.n_nodes, 0)
    if plan.n_groups <= MOST_NAMED_GROUPS:
        middles = (edges[:-1] + edges[1:]) / 2
        names = [plan.group_name(l) for l in range(plan.n_groups)]
        turn = 90 if max(map(len, names)) > 3 else 0
        axes.set_xticks(middles, names, rotation=turn, fontsize=7, color=INK)
        axes.set_yticks(middles, names, fontsize=7, color=INK)
    label(axes, title=f"{plan.n_pairs:,} of all pairs asked ({100 * plan.share_asked:.1f} %)")
    return figure


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
    n_pairs = np.outer(plan.sizes, plan.sizes).astype(float)
    n_pairs[np.diag_indices_from(n_pairs)] = plan.sizes * (plan.sizes - 1) / 2
    return np.asarray(answers.answered_pairs / np.maximum(n_pairs, 1))
