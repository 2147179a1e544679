"""Small pictures of the items, inside the page."""

import base64
import io
import os

MOST_PIXELS = 112  # of a thumbnail's width and height


def thumbnail(path: str | os.PathLike[str]) -> str | None:
    """The image as a data address of at most ``MOST_PIXELS`` in width and height; None if it cannot be read."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            upright = ImageOps.exif_transpose(image)  # photos of phones often lie on their side
            small = upright.convert("RGB")
            small.thumbnail((MOST_PIXELS, MOST_PIXELS))
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError):
        return None
    buffer = io.BytesIO()
    small.save(buffer, format="JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
