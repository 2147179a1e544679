"""bequec learn: answers to memberships."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bequec.cli.choices import Refine, Unsure, Workers
from bequec.cli.say import progress_bar, say, say_json, say_table

if TYPE_CHECKING:
    import pandas as pd

    from bequec.learn.bequec import BeQuec
    from bequec.study.folder import Study

MOST_WORKERS_LISTED = 5


def learn(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    clusters: Annotated[int | None, typer.Option("-k", "--clusters", min=2, help="Another number of clusters.")] = None,
    unsure: Annotated[Unsure, typer.Option(help="What 'unsure' means: unanswered, or half a yes.")] = "unanswered",
    refine: Annotated[
        Refine, typer.Option(help="posterior (most accurate), subspace (faster) or none (the paper's algorithm).")
    ] = "posterior",
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="Seconds after which the posterior returns the best that it has.")
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(min=1, help="Most iterations of each stage of the posterior; 100 by default.")
    ] = None,
    tol: Annotated[
        float | None, typer.Option(min=0, help="The posterior is settled when it moves by less; 0.001 by default.")
    ] = None,
    workers: Annotated[
        Workers,
        typer.Option(help="Where answers say who gave them: weigh them by how reliable each worker is, or not."),
    ] = "weigh",
    without_worker: Annotated[
        list[str] | None, typer.Option(help="Leave out what this worker answered; may be given several times.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads, -1 for all cores; the result does not depend on them.")] = -1,
    json: Annotated[bool, typer.Option("--json", help="Say it for programs.")] = False,
) -> None:
    """Learn how much every item belongs to each cluster.

    Example: bequec learn dogs
    """
    from bequec.core.files import check_writable
    from bequec.learn.bequec import BeQuec
    from bequec.study.folder import Study

    opened = Study.open(study)
    if jobs == 0:
        raise typer.BadParameter("--jobs 0: nobody works; give 1, or -1 for all cores")
    left_out = sorted({name.strip() for name in without_worker or []})
    answers = opened.answers(unsure=unsure, without_workers=left_out)
    check_writable(opened.folder)
    limits: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "time_limit": time_limit}  # defaults are the library's
    with progress_bar() as show:
        model = BeQuec(
            opened.n_clusters if clusters is None else clusters,
            refine=None if refine == "none" else refine,
            random_state=seed,
            n_jobs=jobs,
            workers=workers,
            **{name: value for name, value in limits.items() if value is not None},
        ).fit(answers, progress=show)
    opened.remember(unsure=unsure, without_workers=left_out)
    model.save(opened.path("model.npz"))
    _say_result(opened, model, left_out, json=json)


def _say_result(study: "Study", model: "BeQuec", left_out: list[str], *, json: bool) -> None:
    sizes = [int((model.labels_ == k).sum()) for k in range(model.n_clusters)]
    if json:
        judged = None if model.workers_ is None else model.workers_.to_dict("records")
        told = {"study": str(study.folder), "n_nodes": len(model.labels_), "cluster_sizes": sizes}
        say_json({**told, "workers": judged, "without_workers": left_out})
        return
    rows = [
        [str(k + 1), str(size), f"{model.memberships_[:, k].sum():.1f}", f"{model.interactions_[k, k]:.2f}"]
        for k, size in enumerate(sizes)
    ]
    say_table(["cluster", "items", "total membership", "yes inside"], rows)
    if left_out:
        say(f"without what {', '.join(left_out)} answered")
    if model.workers_ is not None and model.workers_.flagged.any():
        say(_flagged(model.workers_))
    say(f"{len(model.labels_)} items, {model.n_clusters} clusters → {study.path('model.npz')}")
    say(f"next: bequec look {study.folder}")


def _flagged(workers: "pd.DataFrame") -> str:
    """Who answers clearly worse than the others, the worst first, and how to leave them out."""
    flagged = workers[workers.flagged].sort_values("reliability", kind="stable")
    listed = [
        f"{worker} ({n_answers:,.0f} answers, reliability {reliability:.2f})"
        for worker, n_answers, reliability in zip(flagged.worker, flagged.n_answers, flagged.reliability, strict=True)
    ][:MOST_WORKERS_LISTED]
    more = f" and {len(flagged) - len(listed)} more" if len(flagged) > len(listed) else ""
    verb = "answers" if len(flagged) == 1 else "answer"
    return (
        f"{len(flagged)} of {len(workers)} people {verb} as if by chance: {', '.join(listed)}{more}; their answers "
        f"hardly count, leave one out with --without-worker {shlex.quote(str(flagged.worker.iloc[0]))}"
    )
