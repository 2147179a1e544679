"""Methods side by side: how right each is, and how long it takes."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from bequec.look.plots.style import COLOURS, GREY, INK, label, new_figure


def plot_comparison(table: pd.DataFrame, score: str = "ACC") -> Figure:
    """Each method as a point: its score against its seconds, ours in colour; failed ones are named in the title.

    Scores of several runs have bars of one standard error.
    """
    figure, axes = new_figure(5.6, 3.8)
    done = table[table[score].notna()] if score in table else table[:0]
    seconds = np.maximum(done["seconds"].to_numpy(dtype=float), 1e-3)
    scores = done[score].to_numpy(dtype=float) if len(done) else np.empty(0)
    ours = done["method"].str.startswith("bequec").to_numpy(dtype=bool)
    axes.scatter(seconds, scores, s=36, color=np.where(ours, COLOURS[0], GREY), zorder=3)
    if f"{score}_sem" in done:
        axes.errorbar(seconds, scores, yerr=done[f"{score}_sem"], fmt="none", ecolor=GREY, elinewidth=0.8)
    axes.set_xscale("log")
    for at, (_, row) in enumerate(done.iloc[np.argsort(scores)].iterrows()):
        above = at % 2 == 0  # neighbours in score tend to lie close together
        axes.annotate(
            row["method"],
            (max(row["seconds"], 1e-3), row[score]),
            xytext=(4, 5 if above else -11),
            textcoords="offset points",
            fontsize=7,
            color=INK,
        )
    failed = table.loc[~table.index.isin(done.index), "method"].tolist()
    axes.margins(x=0.2, y=0.12)
    label(axes, x="seconds", y=score, title=f"failed: {', '.join(failed)}" if failed else "")
    return figure
