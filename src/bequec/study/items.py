"""What a study is about: a folder of images, a table of items, or a number."""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from bequec.core.errors import StudyError

if TYPE_CHECKING:
    import pandas as pd

IMAGE_ENDINGS = {".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff"}


def read_items(source: str, study_folder: Path) -> "pd.DataFrame":
    """One row per item: its name and whatever else is known; images relative to the study's folder."""
    import pandas as pd

    from bequec.plan.planning import MOST_NODES

    path = Path(source)
    if path.is_dir():
        return _images(path, study_folder)
    if path.is_file():
        return _table(path, study_folder)
    if source.isdecimal():
        if int(source) > MOST_NODES:
            raise StudyError(f"{source} items are more than fits in memory here (at most {MOST_NODES:,})")
        return pd.DataFrame({"name": [str(number) for number in range(int(source))]})
    raise StudyError(f"{source!r} is neither a folder of images, nor a table of items, nor a number; check the path")


def _images(folder: Path, study_folder: Path) -> "pd.DataFrame":
    import pandas as pd

    found = sorted(
        (path for path in folder.rglob("*") if _is_image(path, folder)),
        key=lambda path: _natural(path.relative_to(folder).as_posix()),
    )
    if not found:
        raise StudyError(f"{folder} holds no image ({', '.join(sorted(IMAGE_ENDINGS))}); give a folder that does")
    names = [path.relative_to(folder).as_posix() for path in found]
    return pd.DataFrame({"name": names, "image": [relative_to_study(path, study_folder) for path in found]})


def relative_to_study(image: Path, study_folder: Path) -> str:
    """The image as seen from the study's folder, so that both can be moved together."""
    return Path(os.path.relpath(image.resolve(), study_folder.resolve())).as_posix()


def _is_image(path: Path, folder: Path) -> bool:
    """An image file, not a hidden one (macOS leaves such beside every photo), with a name that can be written."""
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    if hidden or path.suffix.lower() not in IMAGE_ENDINGS or not path.is_file():
        return False
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as reason:
        raise StudyError(f"the file name {path.name!r} is not valid UTF-8; rename it") from reason
    return True


def _table(path: Path, study_folder: Path) -> "pd.DataFrame":
    from bequec.core.tables import read_table

    items = read_table(path)
    items.columns = [str(column).strip() for column in items.columns]
    if items.empty:
        raise StudyError(f"{path} lists no item; it needs a header line and one row per item")
    if "name" not in items:
        first = next(
            (column for column in ("id", "item", "image", "path", "file") if column in items), items.columns[0]
        )
        items.insert(0, "name", items[first])
        warnings.warn(f"{path} has no column name: items are called by their {first!r}", stacklevel=2)
    if "image" in items:
        items["image"] = [relative_to_study(path.parent / image, study_folder) for image in items["image"]]
    items["name"] = items["name"].astype(str).str.strip()
    empty = items.index[items["name"] == ""]
    if len(empty):
        raise StudyError(f"{path}, row {empty[0] + 1}: the name is empty; give every item a name")
    return items


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Sorts image_2 before image_10."""
    import re

    return [(0, int(part)) if part.isdecimal() else (1, part.lower()) for part in re.split(r"(\d+)", name) if part]
