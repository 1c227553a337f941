"""Whose row is whose: a column that says which rows belong to the same person."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Codes, Int64
from anoncore.table.coding import encode

MOST_ROWS_OF_ONE = 20
"""Rows per value, on average, up to which the values of an identifier may be people; a category has more."""


def people_of(frame: pd.DataFrame, unit: str) -> Codes:
    """The number of each row's person, int32 (n_rows,), in the order of the column's values.

    Raises DataError where the column leaves out whose a row is.
    """
    column = frame[unit]
    missing = int(column.isna().sum())
    if missing:
        rows = "1 row does" if missing == 1 else f"{missing:,} rows do"
        raise DataError(
            f"{rows} not say whose {'it is' if missing == 1 else 'they are'} in '{unit}', so people cannot be counted; "
            "fill the column in or leave these rows out."
        )
    codes, _ = encode(column, unit, None, None, None)
    # A column of categories may have some that no row has; people are those who have one.
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int32)


def distinct_pairs(person: Codes, codes: Codes, size: int) -> Int64:
    """How many different people have each code, int64 (size,)."""
    pairs = np.unique(person.astype(np.int64) * size + codes)
    return np.bincount(pairs % size, minlength=size)


def _has_fractions(column: pd.Series) -> bool:
    return bool(pd.api.types.is_float_dtype(column.dtype) and (column.dropna() % 1 != 0).any())


def repeated_identifiers(frame: pd.DataFrame, identifiers: Collection[str]) -> dict[str, tuple[int, int]]:
    """The identifiers by which one person may have several rows: different values and rows that have one, per column.

    Left out are columns whose every value is another one, or in which most rows are missing: these say nothing about
    who has several rows. So are categories and measurements, which are no names: columns with broken numbers, and those
    with more than 20 rows per value on average.
    """
    repeated = {}
    for name in identifiers:
        known = int(frame[name].notna().sum())
        different = int(frame[name].nunique())
        names_people = different < known <= MOST_ROWS_OF_ONE * different
        if different > 1 and names_people and 2 * known > len(frame) and not _has_fractions(frame[name]):
            repeated[name] = (different, known)
    return repeated
