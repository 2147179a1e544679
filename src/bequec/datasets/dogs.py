"""The paper's crowdclustering data: 900 dog photos and what people said about 76,950 pairs of them."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.io import loadmat

from bequec.ask.answers import Answers
from bequec.ask.graph import ask_graph
from bequec.errors import DataError
from bequec.plan.patterns import diagonal_blocks
from bequec.plan.query_plan import QueryPlan

BREEDS = ("Pug", "Ibizan Hound", "Pomeranian", "Norfolk Terrier", "Newfoundland")
N_DOGS, N_GROUPS = 900, 15


class Dogs(NamedTuple):
    """People's answers, each photo's breed (an index into ``BREEDS``), and the photos' files."""

    answers: Answers
    labels: npt.NDArray[np.int64]
    images: list[Path]


def load_dogs(folder: str | os.PathLike[str] | None = None) -> Dogs:
    """Read the dog data from ``folder``, or from ``$BEQUEC_DATA/dogs``.

    The asked pairs are the diagonal pattern on 15 groups of 60 consecutive photos; elsewhere the stored zeros
    mean "not asked".
    """
    if folder is None:
        root = os.environ.get("BEQUEC_DATA")
        if not root:
            raise DataError("the dog data is not here: set BEQUEC_DATA to the folder that holds dogs/")
        folder = Path(root) / "dogs"
    folder = Path(folder)
    batches = [folder / f"annotation_data_batch{batch}.mat" for batch in (1, 2, 3)]
    truth_file = folder / "single_label_class_5_ground_truth.mat"
    missing = [path.name for path in [*batches, truth_file] if not path.is_file()]
    if missing:
        raise DataError(f"{folder} lacks {', '.join(missing)}; put the paper's public data there")
    graph = sum(loadmat(path)["G"].astype(float) for path in batches)
    labels = loadmat(truth_file)["ground_truth"].ravel().astype(np.int64) - 1
    images = [folder / "images" / f"image_{number}.jpg" for number in range(1, N_DOGS + 1)]
    group_of = np.arange(N_DOGS) // (N_DOGS // N_GROUPS)
    plan = QueryPlan(group_of, diagonal_blocks(N_GROUPS), [image.name for image in images])
    return Dogs(ask_graph(graph, plan), labels, images)
