"""scikit-learn's handwritten digits: small images that need no download."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Digits(NamedTuple):
    """Images (n, 8, 8) with grey values 0 … 255, and which digit each shows."""

    images: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int64]


def load_digits(n_classes: int = 5) -> Digits:
    """The images of the digits 0 … n_classes − 1: 901 of them for five classes.

    Examples
    --------
    >>> len(load_digits().labels)
    901
    """
    from sklearn.datasets import load_digits as bundled_digits

    bunch = bundled_digits(n_class=n_classes)
    return Digits(np.rint(bunch.images * (255 / 16)).astype(np.uint8), bunch.target.astype(np.int64))
