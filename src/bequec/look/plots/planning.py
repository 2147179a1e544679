"""Pictures of a plan before anybody is asked: the stitching tree, and what a budget buys."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from bequec.advise.preview import Expectation
from bequec.core.arrays import BoolArray, FloatArray
from bequec.learn.stitch.wide_stitching import tree_ties
from bequec.look.plots.style import COLOURS, INK, LIGHT_GREY, label, new_figure
from bequec.plan.query_plan import QueryPlan

MOST_NAMED_GROUPS = 60


def plot_stitching_tree(plan: QueryPlan, usable: BoolArray) -> Figure:
    """The group graph: asked blocks are thin lines, loops rings; the stitching tree is bold, its centre filled."""
    ties = tree_ties(usable, plan.sizes)
    at = _places(plan.n_groups, ties)
    n_leaves = at[:, 1].max() - at[:, 1].min() + 1
    figure, axes = new_figure(2.5 + 0.9 * at[:, 0].max(), min(16.0, 1.2 + 0.34 * n_leaves))
    for l, m in plan.covered_blocks.tolist():
        if l == m:
            axes.scatter(at[l, 0], at[l, 1], s=190, facecolors="none", edgecolors=LIGHT_GREY, linewidths=1.2, zorder=1)
        else:
            axes.plot(*at[[l, m]].T, color=LIGHT_GREY, linewidth=0.8, zorder=1)
    for known, new in ties:
        axes.plot(*at[[known, new]].T, color=COLOURS[0], linewidth=1.8, zorder=2)
    centre = ties[0][0] if ties else 0
    colours = [COLOURS[1] if l == centre else "#ffffff" for l in range(plan.n_groups)]
    axes.scatter(at[:, 0], at[:, 1], s=60, c=colours, edgecolors=INK, linewidths=0.8, zorder=3)
    if plan.n_groups <= MOST_NAMED_GROUPS:
        for l in range(plan.n_groups):
            # On a white ground, so that no line runs through a name.
            ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6}
            axes.annotate(
                plan.group_name(l)[:18],
                (at[l, 0], at[l, 1]),
                xytext=(6, 7),
                textcoords="offset points",
                va="center",
                fontsize=7,
                color=INK,
                bbox=ground,
                zorder=4,
            )
    axes.set_axis_off()
    axes.margins(x=0.18, y=0.06)
    label(
        axes,
        title=f"{len(ties)} stitches (bold), at most {int(at[:, 0].max())} deep; {len(plan.covered_blocks)} blocks",
    )
    return figure


def plot_budget_accuracy(by_budget: Sequence[Expectation], by_pattern: Sequence[Expectation]) -> Figure:
    """Expected accuracy against pairs: the budget halved and doubled, and the other patterns for the same budget."""
    figure, axes = new_figure(5.4, 3.4)
    known = [one for one in by_budget if one.accuracies]
    pairs, means = [one.n_pairs for one in known], [100 * one.mean for one in known]
    spread = [_bar(one) for one in known]
    axes.errorbar(
        pairs,
        means,
        yerr=np.reshape(spread, (-1, 2)).T,
        color=COLOURS[0],
        marker="o",
        capsize=3,
        linewidth=1.6,
        label=by_pattern[0].name,
    )
    others = [one for one in by_pattern[1:] if one.accuracies]
    for index, one in enumerate(others):
        shift = 1 + 0.035 * (index - (len(others) - 1) / 2)  # beside each other: they cost nearly the same
        axes.errorbar(
            one.n_pairs * shift,
            100 * one.mean,
            yerr=np.reshape(_bar(one), (2, 1)),
            color=COLOURS[2 + index],
            marker="s",
            markersize=5,
            capsize=2,
            linestyle="none",
            label=one.name,
        )
    axes.set_xscale("log")
    axes.set_xticks(pairs, [f"{n:,}" for n in pairs])
    axes.minorticks_off()
    axes.set_ylim(top=100.8)
    axes.grid(axis="y", color=LIGHT_GREY, linewidth=0.4, alpha=0.6)
    axes.legend(fontsize=8, frameon=False, labelcolor=INK, loc="lower right")
    label(axes, x="pairs asked", y="items in the right cluster (%)", title="expected accuracy, ± one run's spread")
    return figure


def _bar(one: Expectation) -> tuple[float, float]:
    """How far one run's accuracy may be below and above the mean, in per cent; never above 100."""
    if len(one.accuracies) < 2:
        return 0.0, 0.0
    return 100 * one.spread, 100 * min(one.spread, 1 - one.mean)


def _places(n_groups: int, ties: list[tuple[int, int]]) -> FloatArray:
    """A tree from left to right: depth across, leaves in lines, every other group midway between those under it."""
    places = np.zeros((n_groups, 2))
    under: dict[int, list[int]] = {}
    for known, new in ties:
        under.setdefault(known, []).append(new)
        places[new, 0] = places[known, 0] + 1
    n_leaves, waiting = 0, [ties[0][0]] if ties else []
    while waiting:
        group = waiting.pop()
        if group not in under:
            places[group, 1] = -n_leaves
            n_leaves += 1
        waiting += reversed(under.get(group, []))
    for known, _ in reversed(ties):  # children come after their parents in ``ties``
        places[known, 1] = (places[under[known][0], 1] + places[under[known][-1], 1]) / 2
    return places
