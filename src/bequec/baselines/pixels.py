"""Photos as points: the pixels of image files, scaled to one small size."""

import os
from collections.abc import Sequence

import numpy as np

from bequec.core.arrays import FloatArray
from bequec.core.errors import DataError


def load_pixels(paths: Sequence[str | os.PathLike[str]], side: int = 32) -> FloatArray:
    """(n_images, 3 side²): red, green and blue of every pixel in [0, 1], each image scaled to side × side.

    For ``ItemKMeans``: what clustering reaches without asking anybody.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    rows = []
    for path in paths:
        try:
            with Image.open(path) as image:
                upright = ImageOps.exif_transpose(image).convert("RGB")
                small = upright.resize((side, side), Image.Resampling.BILINEAR, reducing_gap=3.0)
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as reason:
            raise DataError(f"cannot read {os.fspath(path)} as an image: {reason}") from reason
        rows.append(np.asarray(small, dtype=np.float64).ravel() / 255.0)
    if not rows:
        raise DataError("there are no images to read; give at least one path")
    return np.vstack(rows)
