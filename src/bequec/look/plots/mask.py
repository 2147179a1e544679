"""The mask: which blocks are asked and how far they are answered."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.look.plots.style import COLOURS, INK, label, new_figure
from bequec.look.terminal import block_progress
from bequec.plan.mask.sharing import asked_share_of_blocks
from bequec.plan.query_plan import QueryPlan

MOST_NAMED_GROUPS = 32


def plot_mask(plan: QueryPlan, answers: Answers | None = None, prices: FloatArray | None = None) -> Figure:
    """The blocks with asked pairs, drawn to the groups' sizes: darker where more pairs are asked, or answered.

    With prices, every block is as dark as it is expensive, the asked ones have a frame, and what cannot be asked is
    hatched.
    """
    if prices is not None:
        return _plot_prices(plan, prices)
    figure, axes = new_figure(4.2, 4.2)
    part = asked_share_of_blocks(plan) * block_progress(plan, answers)
    shade = np.where(plan.covered, 0.15 + 0.85 * part, np.nan)
    edges = plan.starts.astype(float)
    blues = LinearSegmentedColormap.from_list("asked", ["#ffffff", COLOURS[0]])
    few = plan.n_groups <= 60
    axes.pcolormesh(edges, edges, shade, cmap=blues, vmin=0, vmax=1, edgecolors=INK if few else "none", linewidth=0.15)
    _name_groups(axes, plan)
    label(axes, title=f"{plan.n_pairs:,} pairs asked, {100 * plan.share_asked:.1f} % of all")
    return figure


def _plot_prices(plan: QueryPlan, prices: FloatArray) -> Figure:
    figure, axes = new_figure(5.2, 4.4)
    edges = plan.starts.astype(float)
    ambers = LinearSegmentedColormap.from_list("price", ["#fdf3dc", COLOURS[1], "#7a4b00"])
    shown = np.where(np.isfinite(prices), prices, np.nan)
    mesh = axes.pcolormesh(edges, edges, shown, cmap=ambers, edgecolors="white", linewidth=0.3)
    bar = figure.colorbar(mesh, ax=axes, shrink=0.8)
    bar.set_label("price per pair", color=INK, fontsize=8)
    bar.ax.tick_params(colors=INK, labelsize=7)
    for l, m in np.argwhere(np.isinf(prices)).tolist():
        axes.add_patch(_block(plan, l, m, facecolor="#eceef0", edgecolor="#9aa0a6", hatch="xxx", linewidth=0))
    for l, m in np.argwhere(plan.covered).tolist():
        axes.add_patch(_block(plan, l, m, facecolor="none", edgecolor=COLOURS[0], linewidth=1.6))
    _name_groups(axes, plan)
    n_forbidden = int(np.triu(np.isinf(prices)).sum())
    label(axes, title=f"{len(plan.covered_blocks)} blocks asked (framed), {n_forbidden} cannot be asked (hatched)")
    return figure


def _block(plan: QueryPlan, l: int, m: int, **style: Any) -> Rectangle:
    return Rectangle((plan.starts[m], plan.starts[l]), plan.sizes[m], plan.sizes[l], **style)


def _name_groups(axes: Axes, plan: QueryPlan) -> None:
    axes.set_aspect("equal")
    axes.set_xlim(0, plan.n_nodes)
    axes.set_ylim(plan.n_nodes, 0)
    if plan.n_groups <= MOST_NAMED_GROUPS:
        edges = plan.starts.astype(float)
        middles = (edges[:-1] + edges[1:]) / 2
        names = [plan.group_name(l) for l in range(plan.n_groups)]
        turn = 90 if max(map(len, names)) > 3 else 0
        axes.set_xticks(middles, names, rotation=turn, fontsize=7, color=INK)
        axes.set_yticks(middles, names, fontsize=7, color=INK)
