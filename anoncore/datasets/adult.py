"""The Adult ("Census Income") data set, records without missing values."""

from __future__ import annotations

import pandas as pd

from anoncore.datasets.description import described
from anoncore.datasets.public import fetch, load_public, select_columns, stripped_text


def load_adult() -> pd.DataFrame:
    """Adult: 45,222 rows, 15 columns, no missing value.

    Returns
    -------
    DataFrame
        A file on this machine has the rows of the training part first. A download from OpenML is brought to the same
        names, values and cleaning, but keeps its own order of rows.

    Raises
    ------
    DataError
        If there is neither a file nor a download.
    """
    return load_public("adult", _download)


def _download() -> pd.DataFrame:
    description = described("adult")
    numbers = [column for column, kind in description.kinds.items() if kind == "numeric"]
    frame = fetch("adult", 2).rename(columns={"class": "salary-class"})
    frame = select_columns(frame, tuple(description.roles), "OpenML's data set adult")
    texts = {column: stripped_text(frame[column]) for column in description.roles if column not in numbers}
    # The test part of the original data writes a full stop after the class.
    texts["salary-class"] = texts["salary-class"].str.rstrip(".")
    return frame.assign(**texts).dropna().astype(dict.fromkeys(numbers, "int64"))
