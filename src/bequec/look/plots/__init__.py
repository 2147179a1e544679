"""All drawing is here."""

from bequec.look.plots.charts import plot_heat_map, plot_interactions, plot_singular_values
from bequec.look.plots.mask import plot_mask
from bequec.look.plots.planning import plot_budget_accuracy, plot_stitching_tree
from bequec.look.plots.simplex import plot_simplex
from bequec.look.plots.style import check_picture, save_picture

__all__ = [
    "check_picture",
    "plot_budget_accuracy",
    "plot_heat_map",
    "plot_interactions",
    "plot_mask",
    "plot_simplex",
    "plot_singular_values",
    "plot_stitching_tree",
    "save_picture",
]
