"""bequec compare: all methods on one study's answers."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bequec.cli.hints import in_options
from bequec.cli.say import progress_bar, say, say_json, say_table, warn

if TYPE_CHECKING:
    import pandas as pd

    from bequec.evaluate.methods import Maker


def compare(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    truth: Annotated[
        Path, typer.Option(help="The truth: a table with columns name and label, or name and one column per cluster.")
    ],
    methods: Annotated[
        str | None, typer.Option(help="Only these, e.g. bequec,spacl,correlation; kmeans-items where items are images.")
    ] = None,
    clusters: Annotated[int | None, typer.Option("-k", "--clusters", min=2, help="Another number of clusters.")] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Fit with this many seeds: scores are means ± their standard errors.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The first seed of everything random.")] = 0,
    csv: Annotated[Path | None, typer.Option(help="Also write the table as CSV.")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="The picture's file; STUDY/pictures/compare.svg by default.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Say it for programs.")] = False,
) -> None:
    """Fit every method to the same answers: scores, seconds and peak memory side by side.

    Example: bequec compare dogs --truth breeds.csv
    """
    from bequec.baselines import load_pixels
    from bequec.core.files import check_target, whole_file
    from bequec.evaluate.compare import compare as compare_methods
    from bequec.look.plots import check_picture, save_picture
    from bequec.look.plots.comparison import plot_comparison
    from bequec.study.folder import Study
    from bequec.study.truth import read_truth

    opened = Study.open(study)
    images = opened.images
    chosen = _chosen(methods, has_images=images is not None)
    picture = picture or opened.path("pictures") / "compare.svg"
    check_picture(picture)
    for path in filter(None, (csv, picture)):
        check_target(path)
    answers = opened.answers()
    with progress_bar() as show:
        table = compare_methods(
            answers,
            read_truth(truth, answers.plan),
            methods=chosen,
            n_clusters=opened.n_clusters if clusters is None else clusters,
            features=None if images is None else lambda: load_pixels(images),
            n_runs=seeds,
            random_state=seed,
            progress=show,
        )
    if json:
        say_json(table.to_dict("records"))
    else:
        _say(table)
    if csv is not None:
        with whole_file(csv) as temporary:
            table.to_csv(temporary, index=False)
    save_picture(plot_comparison(table), picture)
    if not json:
        say(f"→ {picture}" + (f", {csv}" if csv is not None else ""))


def _chosen(methods: str | None, *, has_images: bool) -> "dict[str, Maker]":
    from bequec.core.errors import ModelError
    from bequec.evaluate.methods import chosen_methods

    try:
        return chosen_methods(methods, has_features=has_images)
    except ModelError as reason:
        raise typer.BadParameter(f"--methods: {reason}") from reason


def _say(table: "pd.DataFrame") -> None:
    numbers = [name for name in table.columns if name not in ("method", "problem", "warning") and "_sem" not in name]
    rows = [
        [row["method"], *(_told(name, row[name], row.get(f"{name}_sem")) for name in numbers)]
        for _, row in table.iterrows()
    ]
    heads = ["method", *numbers]
    if (table["problem"] != "").any():
        heads, rows = (
            [*heads, "why not"],
            [[*row, in_options(why)] for row, why in zip(rows, table["problem"], strict=True)],
        )
    say_table(heads, rows)
    for method, warning in zip(table["method"], table["warning"], strict=True):
        if warning:
            warn(in_options(f"{method}: {warning}"))


def _told(name: str, value: float, error: float | None) -> str:
    """A number; a mean with as many digits as its standard error shows to be meaningful: 0.93 ± .01."""
    if math.isnan(value):
        return "–"
    digits = {"seconds": 2, "peak_mb": 0}.get(name, 4)
    if error is None or math.isnan(error):
        return f"{value:.{digits}f}"
    if error > 0:
        digits = min(4, max(2, math.ceil(-math.log10(error))))
    return f"{value:.{digits}f} ± {error:.{digits}f}".replace("± 0.", "± .")
