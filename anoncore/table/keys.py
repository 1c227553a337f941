"""Rows numbered by the content of several columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from anoncore.kernels.arrays import Codes, Int64

DENSE = 4
"""Cells of a table of counts per row up to which counting every cell is cheaper than sorting the rows."""
SMALL = 1024
"""Cells that are always counted."""


def occurring_pairs(one: Codes | Int64, other: Codes | Int64, n_one: int, n_other: int) -> tuple[Int64, Int64, Int64]:
    """The pairs of codes that occur in rows, sorted, and the rows of each, int64 (n_pairs,) each.

    `n_one` and `n_other` are above every code. Counting is O(n + number of cells) where these are few, else O(n log n).
    """
    key = one.astype(np.int64) * n_other + other
    if n_one * n_other <= max(DENSE * len(key), SMALL):
        cells = np.bincount(key, minlength=n_one * n_other)
        there = np.flatnonzero(cells)
        rows = cells[there]
    else:
        there, rows = np.unique(key, return_counts=True)
    first, second = np.divmod(there, n_other)
    return first, second, rows


def different_keys(keys: Int64, size: int) -> tuple[Int64, Int64]:
    """The different ones of some keys, ascending, and the place of each key among them, int64 (n_keys,).

    `size` is above every key. Marking costs O(n + size) where there are few more keys than occur, else O(n log n).
    """
    if size > max(DENSE * len(keys), SMALL):
        different, place = np.unique(keys, return_inverse=True)
        return different, place.reshape(-1)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[keys] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[keys]


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
