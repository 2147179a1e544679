"""bequec ask: questions out, answers in."""

from pathlib import Path
from typing import Annotated

import typer

from bequec.cli.say import say
from bequec.errors import StudyError


def ask(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    sheets: Annotated[int | None, typer.Option(help="Write question sheets with this many pairs each.")] = None,
    answers: Annotated[
        list[Path] | None, typer.Option(help="Read answers from this file, or from all tables in this folder.")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(help="Ask a graph: a list of edges; planned pairs that it lacks are a no.")
    ] = None,
    outside: Annotated[str, typer.Option(help="Pairs that the plan does not ask: error or drop.")] = "error",
    seed: Annotated[int, typer.Option(help="Seed of the order of questions.")] = 0,
) -> None:
    """Write question sheets, or read answers; as often as you like.

    Example: bequec ask dogs --sheets 120, then bequec ask dogs --answers monday.csv
    """
    from bequec.study import Study

    if sum(option is not None for option in (sheets, answers or None, graph)) != 1:
        raise typer.BadParameter("give one of --sheets, --answers or --graph")
    if outside not in ("error", "drop"):
        raise typer.BadParameter(f"--outside {outside} is unknown; it is error or drop")
    opened = Study.open(study)
    if sheets is not None:
        _write_sheets(opened, sheets, seed)
        return
    if graph is not None:
        n_added, _ = opened.add_answers(graph, unlisted="no", outside=outside)  # type: ignore[arg-type]
        say(f"{n_added} edges from {graph}; every other planned pair is a no")
    for path in _files(answers or []):
        n_added, n_empty = opened.add_answers(path, outside=outside)  # type: ignore[arg-type]
        say(f"{n_added} answers from {path}" + (f"; {n_empty} rows without a label were left out" if n_empty else ""))
    total = opened.answers()
    say(
        f"{study}: {total.n_answered_pairs:,} of {total.plan.n_pairs:,} pairs answered ({100 * total.share_answered:.1f} %)"
    )
    say(f"next: bequec learn {study}" if total.share_answered > 0.99 else f"next: bequec status {study}")


def _write_sheets(study: "Study", questions_each: int, seed: int) -> None:  # type: ignore[name-defined]  # noqa: F821
    import numpy as np

    from bequec.ask.sheets import unanswered_questions, write_sheets

    questions = unanswered_questions(study.plan, study.answers() if study.has_answers() else None)
    if not len(questions):
        raise StudyError(f"every question of {study.folder} is answered; there is nothing left to ask")
    folder = study.path("sheets")
    n_sheets = write_sheets(folder, study.plan, questions, questions_each, np.random.default_rng(seed))
    say(f"{len(questions):,} questions on {n_sheets} sheets of up to {questions_each} → {folder}")
    say("fill in the column label with same, different or unsure")
    say(f"next: bequec ask {study.folder} --answers {folder}")


def _files(paths: list[Path]) -> list[Path]:
    """The files themselves, and the tables of each folder."""
    found = []
    for path in paths:
        inside = (
            sorted(p for p in path.iterdir() if p.suffix in (".csv", ".tsv", ".parquet")) if path.is_dir() else [path]
        )
        if not inside:
            raise StudyError(f"{path} holds no table (.csv, .tsv, .parquet); give a file or a folder of filled sheets")
        found += inside
    return found
