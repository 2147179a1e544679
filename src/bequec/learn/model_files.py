"""Models on disk: one .npz with a JSON header and plain arrays; no pickles."""

import json
import os
import zipfile
from typing import Any

import numpy as np
import numpy.typing as npt

from bequec.core.errors import ModelError
from bequec.core.files import check_header, whole_file

FORMAT, VERSION = "bequec model", 1


def write_model(path: str | os.PathLike[str], parameters: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Write parameters and learned arrays, whole or not at all."""
    header = json.dumps({"format": FORMAT, "version": VERSION, "parameters": parameters})
    with whole_file(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, header=np.asarray(header), **arrays)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The parameters and the learned arrays of a model file."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = json.loads(str(arrays.pop("header")))
    except OSError as reason:
        raise ModelError(f"cannot read {path}: {reason.strerror or reason}; check the path") from reason
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as reason:
        raise ModelError(f"{path} is not a bequec model ({reason}); give a file that model.save wrote") from reason
    check_header(header, path, kind=FORMAT, version=VERSION, error=ModelError)
    if not isinstance(header.get("parameters"), dict):
        raise ModelError(f"{path} says nothing of its parameters; write the model again")
    return header["parameters"], arrays
