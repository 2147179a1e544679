"""The mask: which blocks are asked and how far they are answered."""

import numpy as np
from matplotlib.figure import Figure

from bequec.ask.answers import Answers
from bequec.look.plots.style import COLOURS, INK, label, new_figure
from bequec.look.terminal import block_progress
from bequec.plan.query_plan import QueryPlan

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
    label(axes, title=f"{plan.n_pairs:,} pairs asked, {100 * plan.share_asked:.1f} % of all")
    return figure
