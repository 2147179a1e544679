"""Measured error beside the shape of the bound."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from bequec.evaluate.theory_curves import ErrorPoint
from bequec.look.plots.style import COLOURS, INK, label


def plot_error_curves(against_nodes: Sequence[ErrorPoint], against_groups: Sequence[ErrorPoint]) -> Figure:
    """Left: error against N at a fixed L, with the bound's slope N^(−1/2). Right: against L at a fixed N.

    The bound is known up to a constant, so it is drawn through the first point.
    """
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    for at, (points, name) in enumerate(((against_nodes, "n_nodes"), (against_groups, "n_groups"))):
        axes = figure.add_subplot(1, 2, at + 1)
        x = [getattr(point, name) for point in points]
        first = points[0]
        if name == "n_nodes":
            shape = [first.subspace_error * (first.n_nodes / point.n_nodes) ** 0.5 for point in points]
        else:
            shape = [first.subspace_error * 10 ** (point.log10_bound - first.log10_bound) for point in points]
        axes.plot(x, [point.subspace_error for point in points], "o-", color=COLOURS[0], label="measured")
        axes.plot(x, shape, "--", color=COLOURS[1], label="the bound's shape")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(x, [f"{value:,}" for value in x])
        if name == "n_nodes":  # less than a power of ten: there would be no tick
            measured = [point.subspace_error for point in points]
            axes.set_yticks(measured, [f"{value:.2g}" for value in measured])
        axes.minorticks_off()
        axes.tick_params(colors=INK, labelsize=8, length=2)
        axes.legend(fontsize=8, frameon=False, labelcolor=INK)
        fixed = f"L = {first.n_groups}" if name == "n_nodes" else f"N = {first.n_nodes:,}"
        label(axes, x="nodes N" if name == "n_nodes" else "groups L", y="‖Û − UO‖" if at == 0 else "", title=fixed)
    return figure
