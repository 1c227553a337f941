"""Two public tables of measurements: Musk (166 features of molecules) and Heart (patients of a heart clinic)."""

from __future__ import annotations

import pandas as pd

from anoncore.base.errors import DataError
from anoncore.datasets.description import described
from anoncore.datasets.public import fetch, load_public, select_columns, stripped_text

_MUSK_CLASSES = {"1": "musk", "0": "non-musk", "musk": "musk", "non-musk": "non-musk"}


def load_musk() -> pd.DataFrame:
    """Musk, version 1 then version 2: 7,074 rows, two identifiers, 166 integer features, class `musk` or `non-musk`.

    Returns
    -------
    DataFrame
        The columns molecule_name, conformation_name, f1 to f166 and class.

    Raises
    ------
    DataError
        If there is neither a file nor a download.
    """
    return load_public("musk", _download_musk)


def load_heart() -> pd.DataFrame:
    """Heart: 1,025 rows, 14 numeric columns; many rows occur several times.

    Returns
    -------
    DataFrame
        A download has only the 303 rows from which the file with 1,025 rows was made, because OpenML has no others.

    Raises
    ------
    DataError
        If there is neither a file nor a download.
    """
    return load_public("heart", _download_heart)


def _download_musk() -> pd.DataFrame:
    frame = pd.concat([_musk_part("clean1"), _musk_part("musk")], ignore_index=True)
    for column in ("molecule_name", "conformation_name"):
        frame[column] = stripped_text(frame[column])
    return frame


def _musk_part(name: str) -> pd.DataFrame:
    """One version of Musk from OpenML with the column names and values of the file."""
    description = described("musk")
    features = [column for column, kind in description.kinds.items() if kind == "numeric"]
    frame = fetch(name, 1).rename(columns=str.lower)
    frame = select_columns(frame, tuple(description.roles), f"OpenML's data set {name}")
    written = stripped_text(frame["class"]).str.lower().str.replace(r"\.0*$", "", regex=True)
    unknown = written[~written.isin(list(_MUSK_CLASSES))]
    if len(unknown):
        raise DataError(f"OpenML's data set {name} has the unknown class '{unknown.iloc[0]}'")
    return frame.astype(dict.fromkeys(features, "int64")).assign(**{"class": written.map(_MUSK_CLASSES)})


def _download_heart() -> pd.DataFrame:
    columns = tuple(described("heart").roles)
    frame = select_columns(fetch("heart-disease", 1), columns, "OpenML's data set heart-disease")
    whole = [column for column in columns if column != "oldpeak"]
    return frame.astype("float64").astype(dict.fromkeys(whole, "int64"))
