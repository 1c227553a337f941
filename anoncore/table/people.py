"""Whose row is whose: a column that says which rows belong to the same person."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Codes, Int64
from anoncore.table.coding import encode


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


def repeated_identifiers(frame: pd.DataFrame, identifiers: Collection[str]) -> dict[str, tuple[int, int]]:
    """The identifiers by which one person may have several rows: different values and rows that have one, per column.

    Left out are columns whose every value is another one, that have a single value, or in which most rows are missing:
    these say nothing about who has several rows.
    """
    repeated = {}
    for name in identifiers:
        known = int(frame[name].notna().sum())
        different = int(frame[name].nunique())
        if 1 < different < known and 2 * known > len(frame):
            repeated[name] = (different, known)
    return repeated
