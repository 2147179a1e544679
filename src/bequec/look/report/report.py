"""The report: one HTML file that needs no network."""

import os
from collections.abc import Mapping, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from bequec import __version__
from bequec.ask.answers import Answers
from bequec.core.files import write_text
from bequec.learn.bequec import BeQuec
from bequec.learn.inputs import as_answers
from bequec.look.plots.charts import plot_heat_map, plot_interactions, plot_singular_values
from bequec.look.plots.mask import plot_mask
from bequec.look.plots.simplex import plot_simplex
from bequec.look.plots.style import inline_svg
from bequec.look.report.clusters import describe_clusters, items_in_doubt, unexplained_items
from bequec.look.verdict import judge


def write_report(
    path: str | os.PathLike[str],
    model: BeQuec,
    answers: Answers,
    *,
    title: str = "bequec report",
    images: Sequence[str | os.PathLike[str]] | None = None,
    scores: Mapping[str, float] | None = None,
) -> None:
    """Write the report of a fitted model: what was asked, what was learned, how far to trust it.

    Parameters
    ----------
    path : path of the HTML file
    model : fitted BeQuec
    answers : the Answers, or the graph, that it was fitted to
    title : str
    images : sequence of image files, optional
        One a node, for thumbnails.
    scores : mapping, optional
        Scores against a known truth, by name.
    """
    answers = as_answers(answers)
    verdict = judge(model, answers)
    has_errors = hasattr(model, "memberships_std_")
    environment = Environment(
        loader=PackageLoader("bequec.look.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    page = environment.get_template("report.html").render(
        title=title,
        version=__version__,
        plan=answers.plan,
        answers=answers,
        model=model,
        verdict=verdict,
        clusters=describe_clusters(model, answers.plan, images),
        in_doubt=items_in_doubt(model, answers.plan, images) if has_errors else [],
        unexplained=unexplained_items(model, answers, images) if has_errors else [],
        scores=scores or {},
        n_mixed=int((model.memberships_.max(axis=1) < 0.6).sum()),
        n_unanswered=int((answers.answers_per_node == 0).sum()),
        has_images=images is not None,
        pictures={
            "mask": inline_svg(plot_mask(answers.plan, answers), "mask"),
            "simplex": inline_svg(plot_simplex(model.memberships_), "simplex"),
            "heat_map": inline_svg(plot_heat_map(model.memberships_), "heat_map"),
            "singular_values": inline_svg(
                plot_singular_values(model.singular_values_, model.n_clusters), "singular_values"
            ),
            "interactions": inline_svg(plot_interactions(model.interactions_), "interactions"),
        },
    )
    write_text(path, page)
