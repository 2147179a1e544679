"""Where data files come from: ``$BEQUEC_DATA``, then the user's cache, then their public home, checked by SHA-256."""

import hashlib
import os
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from bequec.core.errors import DataError
from bequec.core.progress import Progress

# Where each folder of the registry was published. The licences are not stated there: download, never redistribute.
_DOGS = "https://raw.githubusercontent.com/shahanaibrahimosu/mixed-membership-graph-clustering/master/datasets"
HOMES = {
    "dogs/images": f"{_DOGS}/images_single_label_class5",
    "dogs": _DOGS,
    "coauthors": "https://www.cs.utexas.edu/~xmao/coauthorship",
}
DOWNLOADS_AT_ONCE = 8


def find_file(name: str) -> Path:
    """The path of a data file such as ``dogs/annotation_data_batch1.mat``, downloaded if it is nowhere here."""
    found = _find_here(name)
    if found is not None:
        _warn_of_another(found, name)
        return found
    given = os.environ.get("BEQUEC_DATA")
    if name not in registry():
        place = Path(given) if given else cache_folder()
        raise DataError(f"{name} is not here and has no public address; put it into {place / name}")
    return _download(name, looked_in=given)


def find_files(names: Sequence[str], progress: Progress | None = None) -> list[Path]:
    """The paths of many data files; what is missing is announced in one line and downloaded several at a time."""
    missing = [name for name in names if _find_here(name) is None]
    if not missing:
        return [find_file(name) for name in names]
    import pooch

    logger = pooch.get_logger()
    logger.info("Downloading %d files, %s to %s, into %s", len(missing), missing[0], missing[-1], cache_folder())
    pool = ThreadPoolExecutor(DOWNLOADS_AT_ONCE)
    logger.disabled = True  # not a line for each
    try:
        found: list[Path] = []
        for path in pool.map(find_file, names):
            found.append(path)
            if progress is not None:
                progress("downloading", len(found), len(names))
        return found
    finally:
        pool.shutdown(cancel_futures=True)  # after a failure the rest would fail, too
        logger.disabled = False


def _find_here(name: str) -> Path | None:
    """Where a file is on this machine, if it is."""
    given = os.environ.get("BEQUEC_DATA")
    if given and (Path(given) / name).is_file():
        return Path(given) / name
    cached = cache_folder() / name
    return cached if cached.is_file() else None


@cache
def _warn_of_another(path: Path, name: str) -> None:
    """Say once that a file is not the published one: it may be cut off, or the user's own."""
    published = registry().get(name, "").removeprefix("sha256:")
    if published and hashlib.sha256(path.read_bytes()).hexdigest() != published:
        warnings.warn(f"{path} differs from the published {name}; results are of this file", stacklevel=4)


def cache_folder() -> Path:
    """The user's cache of bequec's data files."""
    import pooch

    return Path(pooch.os_cache("bequec"))


@cache
def registry() -> dict[str, str]:
    """The SHA-256 of every data file with a public address."""
    lines = files("bequec.datasets").joinpath("registry.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines)


def _download(name: str, looked_in: str | None) -> Path:
    """Fetch one file into the cache; an error says all that was tried and what to do by hand."""
    import pooch

    folder, _, file = name.rpartition("/")
    address = f"{HOMES[folder]}/{file}"
    try:
        found: Any = pooch.retrieve(address, registry()[name], fname=file, path=cache_folder() / folder)
    except Exception as reason:  # whatever the network, the server or the hash say
        where = f"in BEQUEC_DATA={looked_in}" if looked_in else "in BEQUEC_DATA, which is not set"
        raise DataError(
            f"{name} is neither {where}, nor in {cache_folder()}, and cannot be downloaded from {address} "
            f"({type(reason).__name__}: {str(reason)[:120]}); get the file by hand, put it into a folder as {name}, "
            "and set BEQUEC_DATA to that folder"
        ) from reason
    return Path(found)
