"""bequec demo: the whole journey on 900 handwritten digits, offline."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bequec.cli.say import progress_bar, say, say_table
from bequec.errors import StudyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

N_CLUSTERS, N_GROUPS, ERROR_RATE = 5, 15, 0.1
NAMES = ("zero", "one", "two", "three", "four")


def demo(
    study: Annotated[Path, typer.Option(help="The folder to keep the study in.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
) -> None:
    """Sort 900 images of digits from a fifth of the questions, asked to simulated people who err.

    Example: bequec demo --study demo
    """
    from bequec.cli.look import write_results
    from bequec.datasets.digits import load_digits
    from bequec.learn.bequec import BeQuec
    from bequec.look.scores import score_labels
    from bequec.look.terminal import draw_mask
    from bequec.plan.planning import plan_queries
    from bequec.simulate.people import simulate_people
    from bequec.study import Study

    _make_room(study)
    digits = load_digits(N_CLUSTERS)
    items = _write_images(study, digits.images)
    plan = plan_queries(names=items["name"].tolist(), n_clusters=N_CLUSTERS, n_groups=N_GROUPS, random_state=seed)
    opened = Study.create(study, plan, items, N_CLUSTERS)
    say(f"1 plan   {plan.n_nodes} images of the digits 0 – 4: do two of them show the same digit?")
    n_all = plan.n_nodes * (plan.n_nodes - 1) // 2
    say(f"         {plan.n_pairs:,} of {n_all:,} pairs to ask ({100 * plan.share_asked:.1f} %), {N_GROUPS} groups:")
    say("\n".join(" " * 9 + line for line in draw_mask(plan).splitlines()))

    people = simulate_people(digits.labels, plan, error_rate=ERROR_RATE, random_state=seed)
    filled = study / "answers-of-simulated-people.csv"
    people.to_csv(filled, index=False)
    opened.add_answers([filled])
    n_people = people["worker"].nunique()
    say(f"2 ask    {n_people} simulated people gave {len(people):,} answers, {100 * ERROR_RATE:.0f} % of them wrong")

    answers = opened.answers()
    with progress_bar() as show:
        model = BeQuec(N_CLUSTERS, random_state=seed, callback=show).fit(answers)
    model.save(opened.path("model.npz"))
    scores = score_labels(model.labels_, digits.labels)
    right = f"{100 * scores['ACC']:.1f} %"
    say(f"3 learn  {N_CLUSTERS} clusters: {right} of the images are with their digit (NMI {scores['NMI']:.3f})")

    rows = [
        [
            f"cluster {k + 1}",
            *(str(int(((model.labels_ == k) & (digits.labels == d)).sum())) for d in range(N_CLUSTERS)),
        ]
        for k in range(N_CLUSTERS)
    ]
    say_table(["", *NAMES], rows)
    verdict = write_results(opened, model, answers, scores)
    say(f"4 look   {verdict.sentence}")
    say(f"         open {opened.path('report.html').resolve()}")


def _make_room(study: Path) -> None:
    """Remove an earlier demo; refuse any other folder."""
    import shutil

    # Written before anything else, so that a demo that was stopped half-way can be run again.
    mark = study / ".bequec-demo"
    if study.exists() and any(study.iterdir()):
        if not mark.exists():
            raise StudyError(f"{study} exists and is not an earlier demo; choose another folder with --study")
        shutil.rmtree(study)
    study.mkdir(parents=True, exist_ok=True)
    mark.touch()


def _write_images(study: Path, images: "npt.NDArray[np.uint8]") -> "pd.DataFrame":
    """The digits as small PNG files, dark on light, and the table of items."""
    import pandas as pd
    from PIL import Image

    folder = study / "images"
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"digit-{number:03d}.png" for number in range(1, len(images) + 1)]
    for name, image in zip(names, images, strict=True):
        Image.fromarray(255 - image).resize((64, 64), Image.Resampling.BICUBIC).save(folder / name)
    return pd.DataFrame({"name": names, "image": [f"images/{name}" for name in names]})
