"""The pictures of a fitted model: what was asked, and what was learned."""

from matplotlib.figure import Figure

from bequec.ask.answers import Answers
from bequec.learn.bequec import BeQuec
from bequec.look.plots.charts import plot_heat_map, plot_interactions, plot_singular_values
from bequec.look.plots.mask import plot_mask
from bequec.look.plots.simplex import plot_simplex


def plot_result(model: BeQuec, answers: Answers) -> dict[str, Figure]:
    """Every picture that the report shows, by name."""
    return {
        "mask": plot_mask(answers.plan, answers),
        "simplex": plot_simplex(model.memberships_),
        "heat_map": plot_heat_map(model.memberships_),
        "interactions": plot_interactions(model.interactions_),
        "singular_values": plot_singular_values(model.singular_values_, model.n_clusters),
    }
