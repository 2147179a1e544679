"""The paper's crowdclustering data: 900 dog photos and what people said about 76,950 pairs of them."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from bequec.ask.answers import Answers
from bequec.ask.graph import ask_graph
from bequec.core.errors import DataError
from bequec.core.progress import Progress
from bequec.datasets.files import find_files
from bequec.plan.patterns import diagonal_blocks
from bequec.plan.query_plan import QueryPlan

BREEDS = ("Pug", "Ibizan Hound", "Pomeranian", "Norfolk Terrier", "Newfoundland")
N_DOGS, N_GROUPS = 900, 15
BATCHES = tuple(f"annotation_data_batch{batch}.mat" for batch in (1, 2, 3))
TRUTH = "single_label_class_5_ground_truth.mat"


class Dogs(NamedTuple):
    """People's answers, each photo's breed (an index into ``BREEDS``), and the photos' files where they were asked."""

    answers: Answers
    labels: npt.NDArray[np.int64]
    images: list[Path]


def load_dogs(
    folder: str | os.PathLike[str] | None = None, *, photos: bool = False, progress: Progress | None = None
) -> Dogs:
    """Read the dog data from ``folder``, ``$BEQUEC_DATA/dogs``, the user's cache, or its public home.

    The asked pairs are the diagonal pattern on 15 groups of 60 consecutive photos; elsewhere the stored zeros mean
    "not asked". With ``photos`` the 900 photos are looked for (and if need be downloaded), too. How far a download is
    is told to ``progress(what, done, total)``.
    """
    names = [f"image_{number}.jpg" for number in range(1, N_DOGS + 1)]
    wanted = [*BATCHES, TRUTH, *(f"images/{name}" for name in names if photos)]
    if folder is None:
        found = find_files([f"dogs/{name}" for name in wanted], progress)
    else:
        found = [_in_folder(Path(folder), name) for name in wanted]
    *batches, truth = found[: len(BATCHES) + 1]
    images = found[len(BATCHES) + 1 :]
    graph = sum(_matrix(batch, "G", (N_DOGS, N_DOGS)).astype(float) for batch in batches)
    labels = _matrix(truth, "ground_truth", (N_DOGS, 1)).ravel().astype(np.int64) - 1
    group_of = np.arange(N_DOGS) // (N_DOGS // N_GROUPS)
    plan = QueryPlan(group_of, diagonal_blocks(N_GROUPS), names)
    return Dogs(ask_graph(graph, plan), labels, images)


def _matrix(path: Path, name: str, shape: tuple[int, int]) -> npt.NDArray[Any]:
    try:
        matrix = np.asarray(loadmat(path)[name])
    except (MatReadError, ValueError, TypeError, LookupError, NotImplementedError, OSError) as reason:
        raise DataError(f"{path} is not the published MATLAB file ({reason}); download it again") from reason
    if matrix.shape not in (shape, shape[::-1]):
        raise DataError(f"{path} holds {name} of shape {matrix.shape} instead of {shape}; download it again")
    return matrix


def _in_folder(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise DataError(f"{folder} lacks {name}; put the paper's public data there")
    return folder / name
