"""Where data files come from: ``$BEQUEC_DATA``, then the user's cache, then their public home, checked by SHA-256."""

import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from bequec.errors import DataError

# Where each folder of the registry was published. The licences are not stated there: download, never redistribute.
_DOGS = "https://raw.githubusercontent.com/shahanaibrahimosu/mixed-membership-graph-clustering/master/datasets"
HOMES = {
    "dogs/images": f"{_DOGS}/images_single_label_class5",
    "dogs": _DOGS,
    "coauthors": "https://www.cs.utexas.edu/~xmao/coauthorship",
}


def find_file(name: str) -> Path:
    """The path of a data file such as ``dogs/annotation_data_batch1.mat``, downloaded if it is nowhere here."""
    given = os.environ.get("BEQUEC_DATA")
    if given and (Path(given) / name).is_file():
        return Path(given) / name
    cached = cache_folder() / name
    if cached.is_file():
        return cached
    if name not in registry():
        place = Path(given) if given else cache_folder()
        raise DataError(f"{name} is not here and has no public address; put it into {place / name}")
    return _download(name, looked_in=given)


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
