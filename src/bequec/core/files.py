"""Every file that bequec writes is whole or not there; every text that it reads is UTF-8."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bequec.core.errors import BequecError, StudyError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path that takes the place of ``path`` only if the block succeeds."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    except OSError as reason:  # the temporary file means nothing to anybody: name the one that was wanted
        raise OSError(reason.errno, reason.strerror, str(path)) from reason
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files private; give the mode that a plain open() would.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except OSError as reason:
        if reason.filename != name:
            raise
        raise OSError(reason.errno, reason.strerror, str(path)) from reason
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: Path) -> None:
    """Find out before long work whether a file can be written there."""
    if path.is_dir():
        raise BequecError(f"{path} is a folder; name a file")
    check_writable(next(parent for parent in path.absolute().parents if parent.exists()))


def check_writable(folder: Path) -> None:
    """Find out before long work whether its result can be kept in a folder."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as reason:
        raise StudyError(
            f"{folder} cannot be written to ({reason.strerror}); check its rights and the free space, "
            "or work on a copy of the folder"
        ) from reason


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """One writer of a study at a time: two people may hand in answers at the same moment."""
    check_writable(folder)
    with (folder / ".lock").open("w") as lock:
        try:
            import fcntl
        except ImportError:  # not on this system: then the last writer wins
            yield
            return
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | os.PathLike[str], value: object) -> None:
    """Write a value as compact JSON, whole or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def read_json(path: str | os.PathLike[str], *, kind: str, version: int, error: type[BequecError]) -> Any:
    """Read a JSON file that says ``{"format": kind, "version": ...}``, of this version or an earlier one."""
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as reason:
        raise error(f"cannot read {path}: {reason.strerror}; check the path") from reason
    except ValueError as reason:  # both wrong encodings and wrong JSON
        raise error(f"{path} is not a JSON file ({reason}); was it edited by hand?") from reason
    check_header(value, path, kind=kind, version=version, error=error)
    return value


def check_header(
    header: object, path: str | os.PathLike[str], *, kind: str, version: int, error: type[BequecError]
) -> None:
    """Refuse a file of another kind or of a later version than ``version``, the newest that this release reads."""
    if not isinstance(header, dict) or header.get("format") != kind:
        found = header.get("format") if isinstance(header, dict) else type(header).__name__
        raise error(f"{path} is not a {kind} file (its format is {found!r}); give the right file")
    found = header.get("version")
    if not isinstance(found, int) or not 1 <= found <= version:
        raise error(
            f"{path} has version {found!r} of the {kind} format, this bequec reads up to {version}; "
            "update bequec or write the file again"
        )
