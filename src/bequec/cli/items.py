"""What a study is about: a folder of images, a table of items, or a number."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bequec.errors import StudyError

if TYPE_CHECKING:
    import pandas as pd

IMAGE_ENDINGS = {".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff"}


def read_items(source: str, study_folder: Path) -> "pd.DataFrame":
    """One row per item: its name and whatever else is known; images relative to the study's folder."""
    import pandas as pd

    path = Path(source)
    if path.is_dir():
        return _images(path, study_folder)
    if path.is_file():
        return _table(path)
    if source.isdecimal():
        return pd.DataFrame({"name": [str(number) for number in range(int(source))]})
    raise StudyError(f"{source!r} is neither a folder of images, nor a table of items, nor a number; check the path")


def _images(folder: Path, study_folder: Path) -> "pd.DataFrame":
    import pandas as pd

    found = sorted(
        (path for path in folder.rglob("*") if path.suffix.lower() in IMAGE_ENDINGS and path.is_file()),
        key=lambda path: _natural(path.relative_to(folder).as_posix()),
    )
    if not found:
        raise StudyError(f"{folder} holds no image ({', '.join(sorted(IMAGE_ENDINGS))}); give a folder that does")
    names = [path.relative_to(folder).as_posix() for path in found]
    # Relative, so that a study and its images can be moved together; not possible across Windows drives.
    images = [Path(os.path.relpath(path.resolve(), study_folder.resolve())).as_posix() for path in found]
    return pd.DataFrame({"name": names, "image": images})


def _table(path: Path) -> "pd.DataFrame":
    from bequec.ask.tables import read_table

    items = read_table(path)
    items.columns = [str(column).strip() for column in items.columns]
    if items.empty:
        raise StudyError(f"{path} lists no item; it needs a header line and one row per item")
    if "name" not in items:
        items = items.rename(columns={items.columns[0]: "name"})
    items["name"] = items["name"].astype(str).str.strip()
    empty = items.index[items["name"] == ""]
    if len(empty):
        raise StudyError(f"{path}, row {empty[0] + 1}: the name is empty; give every item a name")
    return items


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Sorts image_2 before image_10."""
    import re

    return [(0, int(part)) if part.isdecimal() else (1, part.lower()) for part in re.split(r"(\d+)", name) if part]
