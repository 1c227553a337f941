"""What all generators of tables share: checks of size and seed, and columns made of codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from anoncore.base.errors import DataError
from anoncore.base.pandas_versions import TEXT

ColumnValues: TypeAlias = ExtensionArray | NDArray[np.int64]


def check_size(n_rows: int) -> int:
    """`n_rows` as a plain int; DataError unless it is a whole number of at least 1."""
    return _whole_number(n_rows, 1, "number of rows")


def check_seed(seed: int) -> int:
    """`seed` as a plain int; DataError unless it is a whole number of at least 0."""
    return _whole_number(seed, 0, "seed")


def _whole_number(value: int, least: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise DataError(f"A generated table needs a whole {what} of at least {least}; {value!r} was given.")
    return int(value)


def value_column(values: Sequence[object], codes: NDArray[np.int64]) -> ColumnValues:
    """The column that has `values[codes[i]]` in row i: text columns as pandas `str`, whole numbers as int64."""
    if all(isinstance(value, str) for value in values):
        return pd.array([str(value) for value in values], dtype=TEXT).take(codes)
    return np.asarray(values, dtype=np.int64)[codes]
