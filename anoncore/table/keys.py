"""Rows numbered by the content of several columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from anoncore.kernels.arrays import Codes, Int64


def dense_key(columns: Iterable[Codes | Int64], n_rows: int) -> Int64:
    """A number per row, int64 (n_rows,), from 0 without gaps; rows that are equal in all columns have the same."""
    key = np.zeros(n_rows, dtype=np.int64)
    capacity = 1
    for column in columns:
        width = int(column.max()) + 1
        # Before the key would outgrow int64, it is numbered anew by the combinations that occur.
        if capacity * width >= 2**62:
            key, uniques = pd.factorize(key)
            capacity = len(uniques)
        key = key * width + column
        capacity *= width
    return pd.factorize(key)[0].astype(np.int64)
