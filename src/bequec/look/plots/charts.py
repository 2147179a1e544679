"""Singular values, memberships as a heat map, and how clusters interact."""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from bequec.core.arrays import FloatArray
from bequec.look.plots.style import COLOURS, GREY, INK, colour, label, new_figure

MOST_ROWS = 400  # of the heat map: more are finer than a pixel


def plot_singular_values(singular_values: FloatArray, n_clusters: int) -> Figure:
    """The singular values of the first window: the K kept ones and a few of the noise behind them."""
    figure, axes = new_figure(4.6, 2.8)
    at = np.arange(1, len(singular_values) + 1)
    axes.bar(at, singular_values, color=[COLOURS[0] if k <= n_clusters else GREY for k in at], width=0.7)
    axes.axvline(n_clusters + 0.5, color=INK, linewidth=0.8, linestyle=":")
    axes.set_xticks(at)
    label(axes, x=f"singular value ({n_clusters} kept, the rest is noise)", y="size")
    return figure


def plot_heat_map(memberships: FloatArray) -> Figure:
    """Nodes (rows, sorted by cluster and purity) by clusters (columns); of large graphs a row is a mean of several."""
    figure, axes = new_figure(4.6, 4.2)
    order = np.lexsort((-memberships.max(axis=1), memberships.argmax(axis=1)))
    rows = memberships[order]
    if len(rows) > MOST_ROWS:
        starts = np.arange(MOST_ROWS) * len(rows) // MOST_ROWS
        sizes = np.diff(np.append(starts, len(rows)))
        rows = np.add.reduceat(rows, starts, axis=0) / sizes[:, None]
    blues = LinearSegmentedColormap.from_list("membership", ["#f2f5f9", COLOURS[0], "#06263f"])
    axes.imshow(rows, aspect="auto", cmap=blues, vmin=0, vmax=1, interpolation="nearest")
    axes.set_xticks(range(memberships.shape[1]), [str(k + 1) for k in range(memberships.shape[1])])
    for k, tick in enumerate(axes.get_xticklabels()):
        tick.set_color(colour(k))
    axes.set_yticks([])
    label(axes, x="cluster", y=f"{len(memberships)} nodes, sorted")
    return figure


def plot_interactions(interactions: FloatArray) -> Figure:
    """How probable a yes is between and within clusters."""
    size = 1.6 + 0.42 * len(interactions)
    figure, axes = new_figure(min(size, 6.5), min(size, 6.5))
    blues = LinearSegmentedColormap.from_list("yes", ["#f2f5f9", COLOURS[0]])
    largest = max(float(interactions.max()), 1e-12)
    axes.imshow(interactions, cmap=blues, vmin=0, vmax=largest)
    ticks = [str(k + 1) for k in range(len(interactions))]
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_yticks(range(len(ticks)), ticks)
    if len(interactions) <= 12:
        for (row, column), value in np.ndenumerate(interactions):
            shade = "white" if value > 0.6 * largest else "#222222"
            text = f"{value:.2f}" if largest > 0.1 else f"{value:.1g}"
            axes.text(column, row, text, ha="center", va="center", fontsize=7, color=shade)
    label(axes, x="cluster", y="cluster")
    return figure
