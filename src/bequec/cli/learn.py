"""bequec learn: answers to memberships."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bequec.cli.choices import Refine, Unsure
from bequec.cli.say import progress_bar, say, say_json, say_table


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
    answers = opened.answers(unsure=unsure)
    check_writable(opened.folder)
    limits: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "time_limit": time_limit}  # defaults are the library's
    with progress_bar() as show:
        model = BeQuec(
            opened.n_clusters if clusters is None else clusters,
            refine=None if refine == "none" else refine,
            random_state=seed,
            n_jobs=jobs,
            **{name: value for name, value in limits.items() if value is not None},
        ).fit(answers, progress=show)
    opened.remember(unsure=unsure)
    model.save(opened.path("model.npz"))
    sizes = [int((model.labels_ == k).sum()) for k in range(model.n_clusters)]
    if json:
        say_json({"study": str(study), "n_nodes": answers.plan.n_nodes, "cluster_sizes": sizes})
        return
    rows = [
        [str(k + 1), str(size), f"{model.memberships_[:, k].sum():.1f}", f"{model.interactions_[k, k]:.2f}"]
        for k, size in enumerate(sizes)
    ]
    say_table(["cluster", "items", "total membership", "yes inside"], rows)
    say(f"{answers.plan.n_nodes} items, {model.n_clusters} clusters → {opened.path('model.npz')}")
    say(f"next: bequec look {study}")
