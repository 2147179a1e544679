"""bequec ask: questions out, answers in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bequec.cli.choices import Outside
from bequec.cli.say import progress_bar, say, say_json, warn
from bequec.core.errors import StudyError

if TYPE_CHECKING:
    from bequec.ask.add_to_record import Added
    from bequec.study.folder import Study

MOST_FILES_LISTED = 10
TABLES = (".csv", ".tsv", ".parquet")


def ask(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    sheets: Annotated[int | None, typer.Option(min=1, help="Write question sheets with this many pairs each.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="With --sheets: also what is out on earlier sheets, if they were lost.")
    ] = False,
    answers: Annotated[
        list[Path] | None,
        typer.Option(help="Read answers or sorts (sheet, item, pile) from this file, or all tables in this folder."),
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(help="Ask a graph: a list of edges; planned pairs that it lacks are a no.")
    ] = None,
    outside: Annotated[
        Outside | None,
        typer.Option(
            help="Pairs that the plan does not ask, and sorted items that it does not know: "
            "error (for answers) or drop (for a graph)."
        ),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Let new answers correct earlier ones.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order of questions.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Say it for programs.")] = False,
) -> None:
    """Write question sheets, or read answers; as often as you like.

    Example: bequec ask dogs --sheets 120, then bequec ask dogs --answers monday.csv
    """
    from bequec.study.folder import Study

    if sum(option is not None for option in (sheets, answers or None, graph)) != 1:
        raise typer.BadParameter("give one of --sheets, --answers or --graph")
    if again and sheets is None:
        raise typer.BadParameter("--again goes with --sheets")
    outside = outside or ("error" if graph is None else "drop")
    opened = Study.open(study)
    if sheets is not None:
        _write_sheets(opened, sheets, seed, again=again, json=json)
        return
    sources = [graph] if graph is not None else _files(answers or [])
    with progress_bar() as show:
        added = opened.add_answers(
            sources,
            unlisted="unanswered" if graph is None else "no",
            outside=outside,
            replace=replace,
            progress=show,
        )
    _say_what_came(opened, added, json=json)


def _say_what_came(opened: "Study", added: "list[Added]", *, json: bool) -> None:
    """What came of each file, and what the study holds now."""
    study = opened.folder
    total = opened.answers() if opened.has_answers() else None
    sorts = opened.sorts()
    n_answers, n_answered = (int(total.n_answers), total.n_answered_pairs) if total else (0, 0)
    if json:
        files = [{**one._asdict(), "source": str(one.source)} for one in added]
        n_sorted = 0 if sorts is None else sorts.n_screens()
        counts = {"n_answers": n_answers, "n_answered_pairs": n_answered, "n_sorted_sheets": n_sorted}
        say_json({"study": str(study), "files": files, **counts})
        return
    for one in added[:MOST_FILES_LISTED]:
        say(f"{one.source}: {_what_came(one)}")
    if len(added) > MOST_FILES_LISTED:
        say(f"… and {len(added) - MOST_FILES_LISTED} more files, {sum(one.n_added for one in added):,} new rows in all")
    share = n_answered / opened.plan.n_pairs
    say(
        f"{study}: {n_answers:,} answers to {n_answered:,} of {opened.plan.n_pairs:,} pairs "
        f"({100 * share:.1f} % of the pairs)" + (f", {sorts.n_screens():,} sheets sorted" if sorts else "")
    )
    say(f"next: bequec learn {study}" if share > 0.99 else f"next: bequec status {study}")


def _what_came(one: "Added") -> str:
    parts = {
        "without a label or pile": one.n_empty,
        "known before": one.n_known,
        "not in the plan, dropped": one.n_dropped,
        "changed": one.n_changed,
    }
    said = [f"{count:,} {what}" for what, count in parts.items() if count]
    return ", ".join([f"{one.n_added:,} new rows" if one.n_added else "nothing new", *said])


def _write_sheets(study: "Study", questions_each: int, seed: int, *, again: bool, json: bool) -> None:
    import numpy as np

    dealt = study.deal(questions_each, np.random.default_rng(seed), again=again)
    folder = study.path("sheets")
    if json:
        say_json({"study": str(study.folder), "folder": str(folder), **dealt._asdict()})
        return
    one = dealt.first_sheet == dealt.last_sheet
    where = f"sheet {dealt.first_sheet}" if one else f"sheets {dealt.first_sheet} – {dealt.last_sheet}"
    say(
        f"{dealt.n_questions:,} questions on {where} of up to {questions_each} → {folder}"
        + (f"; {dealt.n_again:,} of them went out before" if dealt.n_again else "")
    )
    say("fill in the column label with same, different or unsure")
    say(f"next: {study.ask_command}")


def _files(paths: list[Path]) -> list[Path]:
    """The files themselves, and the tables of each folder; what else is in a folder is named."""
    found = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
        tables = [p for p in inside if p.suffix.lower() in TABLES]
        if not tables:
            raise StudyError(f"{path} holds no table ({', '.join(TABLES)}); give a file or a folder of filled sheets")
        others = [p.name for p in inside if p not in set(tables)]
        if others:
            listed = ", ".join(others[:MOST_FILES_LISTED]) + (" …" if len(others) > MOST_FILES_LISTED else "")
            warn(f"not read: {listed}; save {'it' if len(others) == 1 else 'them'} as CSV UTF-8")
        found += tables
    return found
