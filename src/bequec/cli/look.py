"""bequec look: the report, the pictures, and a verdict."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bequec.cli.choices import Picture
from bequec.cli.say import say, say_json, say_table, warn
from bequec.core.errors import StudyError

if TYPE_CHECKING:
    from bequec.ask.answers import Answers
    from bequec.learn.bequec import BeQuec


def look(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    truth: Annotated[
        Path | None, typer.Option(help="A table with columns name and label, to score the result against.")
    ] = None,
    pictures: Annotated[Picture, typer.Option(help="The pictures' format.")] = "svg",
    json: Annotated[bool, typer.Option("--json", help="Say it for programs.")] = False,
) -> None:
    """Write report.html, pictures and memberships.csv, and say how far to trust the result.

    Example: bequec look dogs
    """
    from bequec.study.folder import Study
    from bequec.study.results import write_results

    opened = Study.open(study)
    model, answers = opened.model(), opened.answers()
    if len(model.memberships_) != answers.plan.n_nodes:
        raise StudyError(f"the model of {study} is not of its plan; learn again with `bequec learn {study}`")
    if opened.model_is_older_than_answers():
        warn(f"answers came in after the model was learned; `bequec learn {study}` takes them in")
    scores = {} if truth is None else _score(model, answers, truth)
    verdict = write_results(opened, model, answers, scores, pictures)
    if json:
        told = {"report": str(opened.path("report.html")), "level": verdict.level, "verdict": verdict.sentence}
        say_json({**told, "gap": verdict.gap, "explained": verdict.explained, **scores})
        return
    if scores:
        say_table(["score", "value"], [[name, f"{value:.4f}"] for name, value in scores.items()])
    say(verdict.sentence)
    say(f"→ {opened.path('report.html')}, {opened.path('memberships.csv')}, {opened.path('pictures')}")


def _score(model: "BeQuec", answers: "Answers", truth: Path) -> dict[str, float]:
    from bequec.evaluate.compare import score_known
    from bequec.study.truth import read_truth

    return score_known(model, read_truth(truth, answers.plan))
