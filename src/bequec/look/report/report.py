"""The report: one HTML file that needs no network."""

import os
from collections.abc import Mapping, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from bequec import __version__
from bequec.ask.answers import Answers
from bequec.core.files import write_text
from bequec.learn.bequec import BeQuec
from bequec.learn.inputs import as_answers
from bequec.look.plots.result import plot_result
from bequec.look.plots.style import inline_svg
from bequec.look.report.clusters import describe_clusters, items_in_doubt, unexplained_items
from bequec.look.verdict import Verdict, judge


def write_report(
    path: str | os.PathLike[str],
    model: BeQuec,
    answers: Answers,
    *,
    title: str = "bequec report",
    images: Sequence[str | os.PathLike[str]] | None = None,
    scores: Mapping[str, float] | None = None,
) -> Verdict:
    """Write the report of a fitted model: what was asked, what was learned, how far to trust it.

    Parameters
    ----------
    path : path of the HTML file
    model : fitted BeQuec
    answers : the Answers, or the graph, that it was fitted to
    title : str
    images : sequence of image files, optional
        One per node, for thumbnails.
    scores : mapping, optional
        Scores against a known truth, by name.

    Returns
    -------
    Verdict
        The verdict that the report opens with.
    """
    answers = as_answers(answers)
    verdict = judge(model, answers)
    pictures = plot_result(model, answers)
    write_page(path, model, answers, verdict, pictures, title=title, images=images, scores=scores)
    return verdict


def write_page(
    path: str | os.PathLike[str],
    model: BeQuec,
    answers: Answers,
    verdict: Verdict,
    pictures: Mapping[str, Figure],
    *,
    title: str,
    images: Sequence[str | os.PathLike[str]] | None = None,
    scores: Mapping[str, float] | None = None,
) -> None:
    """Write the report of what was judged and drawn before; ``pictures`` are those of ``plot_result``."""
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
        pictures={name: inline_svg(picture, name) for name, picture in pictures.items()},
    )
    write_text(path, page)
