"""Where public data comes from: a file on this machine, else scikit-learn's OpenML download and its cache."""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Callable, Sequence
from http.client import HTTPException
from pathlib import Path

import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.extras import imported
from anoncore.base.pandas_versions import TEXT, with_text
from anoncore.datasets.description import described

FOLDER_VARIABLE = "ANONCORE_DATA"


def data_folder() -> Path:
    """The folder named by ANONCORE_DATA, else `../shared/data` beside the repository's top level."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named).expanduser() if named else Path(__file__).resolve().parents[3] / "shared" / "data"


def load_public(name: str, download: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """The described table in name.csv (or name.csv.gz) of the data folder, else what `download` gives.

    The result has exactly the described columns, in that order. Raises DataError if the file cannot be read or lacks a
    column, and if there is neither a file nor a download.
    """
    title, file_name, columns = name.capitalize(), f"{name}.csv", tuple(described(name).roles)
    for path in (data_folder() / file_name, data_folder() / f"{file_name}.gz"):
        if path.is_file():
            return select_columns(_read(path), columns, f"The file {path.name} in {path.parent}")
    try:
        downloaded = download()
    # OSError is every failure of the network and the cache; scikit-learn reports OpenML's own errors as ValueError.
    except (OSError, HTTPException, ValueError, ImportError) as error:
        reason = str(error).rstrip(".")
        raise DataError(
            f"{title} is not on this machine and could not be downloaded: {reason}. "
            f"Put {file_name} into a folder and set {FOLDER_VARIABLE} to it."
        ) from error
    return select_columns(downloaded, columns, f"The download of {title}")


def fetch(name: str, version: int) -> pd.DataFrame:
    """One data set of OpenML as a table, through scikit-learn and its cache; raises what scikit-learn raises."""
    sources = imported("sklearn.datasets", "A table from OpenML")

    with warnings.catch_warnings():
        # A failed try is announced as a warning; the error that follows the last one says the same.
        warnings.filterwarnings("ignore", message="A network error occurred", category=UserWarning)
        fetched = sources.fetch_openml(name=name, version=version, as_frame=True, n_retries=1, delay=0.5)
    frame: pd.DataFrame = fetched.frame
    return frame.rename(columns=lambda column: str(column).strip())


def stripped_text(column: pd.Series) -> pd.Series:
    """A column as text without spaces around the values; `?` and nothing count as missing."""
    text = column.astype(TEXT).str.strip()
    return text.mask(text.isin(["?", ""]) | column.isna())


def select_columns(frame: pd.DataFrame, columns: Sequence[str], origin: str) -> pd.DataFrame:
    """Exactly `columns` of the frame, rows counted from 0; DataError naming `origin` if one is missing."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise DataError(f"{origin} has no column '{missing[0]}'; its columns are {', '.join(map(str, frame.columns))}.")
    return frame[list(columns)].reset_index(drop=True)


def _read(path: Path) -> pd.DataFrame:
    try:
        return with_text(pd.read_csv(path))
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise DataError(f"The file {path} cannot be read as CSV: {error}. Replace or remove it.") from error
