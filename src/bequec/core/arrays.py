"""The kinds of arrays that bequec works with."""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
StrArray = npt.NDArray[np.str_]


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, closed for writing."""
    array.flags.writeable = False
    return array
