"""Tables on disk: CSV with commas, semicolons or tabs, and Parquet."""

import csv
import os
import warnings
from pathlib import Path

import pandas as pd

from bequec.core.errors import TableError


def read_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read CSV (also with semicolons or tabs) or Parquet; CSV values stay text, so that no name is changed."""
    path = Path(path)
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        with warnings.catch_warnings():
            # pandas would move or drop fields of rows that are longer than the header.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                path, sep=_separator(path), dtype=str, keep_default_na=False, encoding="utf-8-sig", index_col=False
            )
    except TableError:
        raise
    except pd.errors.EmptyDataError as reason:
        raise TableError(f"{path} is empty; it needs a header line and one row per entry") from reason
    except UnicodeDecodeError as reason:
        raise TableError(f"{path} is not UTF-8 text (byte {reason.start}); save it as 'CSV UTF-8'") from reason
    except (pd.errors.ParserError, pd.errors.ParserWarning) as reason:
        raise TableError(
            f"{path} is not a table: some rows have more fields than the header; "
            "check its separators, quotes and commas at the end of rows"
        ) from reason
    except OSError as reason:
        raise TableError(f"cannot read {path}: {reason.strerror or reason}; check the path") from reason
    except ValueError as reason:  # pyarrow's errors are ValueErrors
        raise TableError(f"{path} is not a Parquet file ({reason})") from reason


def _separator(path: Path) -> str:
    """What separates the header's fields: the most frequent of comma, semicolon and tab.

    Two fields of the same name are refused: pandas would rename the second, and its values would be lost.
    """
    with path.open(encoding="utf-8-sig", newline="") as stream:
        header = stream.readline()
    separator = max(",;\t", key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=separator), [])]
    repeated = [name for at, name in enumerate(names) if name and name in names[:at]]
    if repeated:
        raise TableError(f"{path} has several columns {repeated[0]!r}; keep one, or give them different names")
    return separator
