"""What a study has to look at: report.html, memberships.csv and pictures."""

from collections.abc import Mapping

import pandas as pd

from bequec.ask.answers import Answers
from bequec.core.files import whole_file
from bequec.learn.bequec import BeQuec
from bequec.look.plots.result import plot_result
from bequec.look.plots.style import save_picture
from bequec.look.report.report import write_page
from bequec.look.verdict import Verdict, judge
from bequec.study.folder import Study


def write_results(
    study: Study,
    model: BeQuec,
    answers: Answers,
    scores: Mapping[str, float] | None = None,
    picture_format: str = "svg",
) -> Verdict:
    """Write everything that there is to look at into the study's folder, and say how far to trust it."""
    verdict, pictures = judge(model, answers), plot_result(model, answers)
    with whole_file(study.path("memberships.csv")) as temporary:
        memberships_table(model, answers).to_csv(temporary, index=False, float_format="%.6g")
    title = f"{study.folder.resolve().name}: {answers.plan.n_nodes} items in {model.n_clusters} clusters"
    report = study.path("report.html")
    write_page(report, model, answers, verdict, pictures, title=title, images=study.images, scores=scores)
    for name, picture in pictures.items():
        save_picture(picture, study.path("pictures") / f"{name}.{picture_format}")
    return verdict


def memberships_table(model: BeQuec, answers: Answers) -> pd.DataFrame:
    """One row per item: its name, cluster, memberships with their standard errors, and how often it was answered."""
    columns = {f"cluster {k + 1}": model.memberships_[:, k].round(6) for k in range(model.n_clusters)}
    if hasattr(model, "memberships_std_"):
        columns |= {f"error {k + 1}": model.memberships_std_[:, k].round(6) for k in range(model.n_clusters)}
    names = [answers.plan.name(node) for node in range(answers.plan.n_nodes)]
    return pd.DataFrame({"name": names, "cluster": model.labels_ + 1, **columns, "answers": answers.answers_per_node})
