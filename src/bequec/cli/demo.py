"""bequec demo: the whole journey on 900 images: handwritten digits, offline, or the paper's dogs."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from bequec.cli.choices import Material as Choice
from bequec.cli.say import progress_bar, say, say_table
from bequec.core.errors import StudyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from bequec.plan.query_plan import QueryPlan

N_CLUSTERS, N_GROUPS, ERROR_RATE = 5, 15, 0.1
DIGITS = ("zero", "one", "two", "three", "four")


def demo(
    study: Annotated[Path, typer.Option(help="The folder to keep the study in.")] = Path("demo"),
    data: Annotated[
        Choice, typer.Option(help="digits (simulated people), or dogs (the paper's photos and people).")
    ] = ("digits"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
) -> None:
    """Sort 900 images from a fifth of the questions: digits, asked to simulated people who err, or dogs.

    Example: bequec demo --study demo
    """
    from bequec.evaluate.scores import score_labels
    from bequec.learn.bequec import BeQuec
    from bequec.look.terminal import draw_mask
    from bequec.plan.groups import pairs_among
    from bequec.study.folder import Study
    from bequec.study.results import write_results

    shown = MATERIALS[data](study, seed)
    plan = shown.plan
    opened = Study.create(study, plan, shown.items, N_CLUSTERS)
    say(f"1 plan   {plan.n_nodes} images of {shown.what}: do two of them show the same {shown.kind}?")
    n_all = pairs_among(plan.n_nodes)
    say(f"         {plan.n_pairs:,} of {n_all:,} pairs to ask ({100 * plan.share_asked:.1f} %), {N_GROUPS} groups:")
    say("\n".join(" " * 9 + line for line in draw_mask(plan).splitlines()))

    filled = study / "answers-of-people.csv"
    shown.people.to_csv(filled, index=False)
    opened.add_answers([filled])
    say(f"2 ask    {shown.who} gave {len(shown.people):,} answers, {100 * _share_wrong(shown):.0f} % of them wrong")

    answers = opened.answers()
    with progress_bar() as show:
        model = BeQuec(N_CLUSTERS, random_state=seed, n_jobs=-1).fit(answers, progress=show)
    model.save(opened.path("model.npz"))
    scores = score_labels(model.labels_, shown.labels)
    right = f"{100 * scores['ACC']:.1f} %"
    say(f"3 learn  {N_CLUSTERS} clusters: {right} of the images are with their {shown.kind} (NMI {scores['NMI']:.3f})")

    rows = [
        [
            f"cluster {k + 1}",
            *(str(int(((model.labels_ == k) & (shown.labels == d)).sum())) for d in range(N_CLUSTERS)),
        ]
        for k in range(N_CLUSTERS)
    ]
    say_table(["", *shown.names], rows)
    verdict = write_results(opened, model, answers, scores)
    say(f"4 look   {verdict.sentence}")
    say(f"         open {opened.path('report.html').resolve()}")


class Material(NamedTuple):
    """What a demo is about: its plan, its items, people's answers, and the truth."""

    what: str
    kind: str
    who: str
    plan: "QueryPlan"
    items: "pd.DataFrame"
    people: "pd.DataFrame"
    labels: "npt.NDArray[np.int64]"
    names: tuple[str, ...]


def _digits(study: Path, seed: int) -> Material:
    from bequec.datasets.digits import load_digits
    from bequec.plan.planning import plan_queries
    from bequec.simulate.people import simulate_people

    digits = load_digits(N_CLUSTERS)
    _clear_earlier_demo(study)
    items = _write_images(study, digits.images)
    plan = plan_queries(names=items["name"].tolist(), n_clusters=N_CLUSTERS, n_groups=N_GROUPS, random_state=seed)
    people = simulate_people(digits.labels, plan, error_rate=ERROR_RATE, random_state=seed)
    who = f"{people['worker'].nunique()} simulated people"
    return Material("the digits 0 – 4", "digit", who, plan, items, people, digits.labels, DIGITS)


def _dogs(study: Path, seed: int) -> Material:
    import pandas as pd

    from bequec.datasets.dogs import BREEDS, load_dogs
    from bequec.study.items import relative_to_study

    del seed  # people have answered already
    with progress_bar() as show:
        dogs = load_dogs(photos=True, progress=show)
    _clear_earlier_demo(study)  # only now that there is something to put into it
    names = [image.name for image in dogs.images]
    items = pd.DataFrame({"name": names, "image": [relative_to_study(image, study) for image in dogs.images]})
    people = dogs.answers.to_table()[["left", "right", "label"]]
    return Material("dogs", "breed", "642 people", dogs.answers.plan, items, people, dogs.labels, BREEDS)


MATERIALS: dict[str, Callable[[Path, int], Material]] = {"digits": _digits, "dogs": _dogs}


def _share_wrong(shown: Material) -> float:
    """How many answers contradict the truth."""
    label_of = dict(zip(shown.items["name"], shown.labels, strict=True))
    same = shown.people["left"].map(label_of) == shown.people["right"].map(label_of)
    said_same = shown.people["label"].isin(["same", 1, 1.0])
    return float((same != said_same).mean())


def _clear_earlier_demo(study: Path) -> None:
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
