"""Memberships on the simplex: a histogram for two clusters, a triangle for three, a polygon for more."""

import numpy as np
from matplotlib.figure import Figure

from bequec.core.arrays import FloatArray
from bequec.look.plots.style import INK, colour, label, new_figure

MOST_POINTS = 3000  # more only hide each other, and make the picture's file large


def plot_simplex(memberships: FloatArray, names: list[str] | None = None) -> Figure:
    """Each node between the corners of its clusters, in the colour of its largest membership."""
    n_nodes, n_clusters = memberships.shape
    names = names or [f"cluster {k + 1}" for k in range(n_clusters)]
    if n_clusters == 2:
        return _plot_two(memberships, names)
    figure, axes = new_figure(4.6, 4.4)
    corners = polygon_corners(n_clusters)
    axes.fill(*corners.T, facecolor="none", edgecolor=INK, linewidth=0.8)
    shown = memberships[_evenly(n_nodes)]
    x, y = (shown @ corners).T
    axes.scatter(
        x, y, s=9, c=[colour(k) for k in shown.argmax(axis=1)], alpha=0.55, linewidths=0, rasterized=n_nodes > 1500
    )
    for k, corner in enumerate(corners):
        side = "center" if abs(corner[0]) < 0.2 else "left" if corner[0] > 0 else "right"
        axes.annotate(names[k], corner * 1.07, ha=side, va="center", fontsize=9, color=colour(k), fontweight="bold")
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.22, 0.12)
    label(axes, title=_how_many(len(shown), n_nodes))
    return figure


def polygon_corners(n_corners: int) -> FloatArray:
    """The corners of a regular polygon of radius one, the first on top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(n_corners) / n_corners
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _plot_two(memberships: FloatArray, names: list[str]) -> Figure:
    figure, axes = new_figure(4.6, 2.6)
    heights, edges = np.histogram(memberships[:, 0], bins=40, range=(0, 1))
    middles = (edges[:-1] + edges[1:]) / 2
    axes.bar(middles, heights, width=1 / 42, color=[colour(0) if x >= 0.5 else colour(1) for x in middles])
    label(axes, x=f"membership in {names[0]} (the rest: {names[1]})", y="nodes")
    return figure


def _evenly(n_nodes: int) -> FloatArray:
    return np.unique(np.linspace(0, n_nodes - 1, min(n_nodes, MOST_POINTS)).astype(int))


def _how_many(n_shown: int, n_nodes: int) -> str:
    return f"{n_nodes} nodes" if n_shown == n_nodes else f"{n_shown} of {n_nodes} nodes, evenly chosen"
