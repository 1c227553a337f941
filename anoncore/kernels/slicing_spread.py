"""Grouping rows into buckets at random so that equal column values fall into different buckets.

- `values` int64 (n_rows, n_columns): the column values of each row, numbered 0..n_values-1 over all columns together.
- `shown` uint64 (n_values, WINDOW / 64): bit b of a value's words says whether the open bucket in slot b shows it.
- Slots 0..WINDOW-1 hold the buckets that are open: `bucket_of` int64 (WINDOW,) is their number (-1: none), `members`
  int64 (WINDOW, size) their rows, `filled` int64 (WINDOW,) how many rows they have.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.compiler import kernel
from anoncore.kernels.sorting import filled_with

WINDOW = 1024
"""Buckets that are open at the same time: every row is compared with all of them, so time grows with the window."""


@kernel
def spread(values: Int64, n_values: int, order: Int64, size: int) -> Int32:
    """Bucket of every row, int32 (n_rows,): `size` rows each, the last may have fewer.

    Rows come in the given order; each goes to the open bucket that already shows the fewest of its column values, of
    several to the first. A full bucket makes room for the next one.
    """
    n_rows, n_columns = values.shape
    n_buckets = (n_rows + size - 1) // size
    shown = np.zeros((n_values, WINDOW // 64), np.uint64)
    members = np.empty((WINDOW, size), np.int64)
    bucket_of = filled_with(WINDOW, -1)
    filled = np.zeros(WINDOW, np.int64)
    opened = min(WINDOW, n_buckets)
    for i in range(opened):
        bucket_of[i] = i
    group = np.empty(n_rows, np.int32)
    for row in order:
        best, fewest, first = -1, n_columns + 1, n_buckets
        for slot in range(WINDOW):
            if bucket_of[slot] < 0:
                continue
            word, bit = slot >> 6, np.uint64(slot & 63)
            alike = 0
            for column in range(n_columns):
                alike += (shown[values[row, column], word] >> bit) & np.uint64(1)
            if alike < fewest or (alike == fewest and bucket_of[slot] < first):
                best, fewest, first = slot, alike, bucket_of[slot]
        group[row] = first
        members[best, filled[best]] = row
        filled[best] += 1
        word, mark = best >> 6, np.uint64(1) << np.uint64(best & 63)
        for column in range(n_columns):
            shown[values[row, column], word] |= mark
        if filled[best] == (size if first < n_buckets - 1 else n_rows - size * (n_buckets - 1)):
            # Only the members' values can have this slot's bit, so only theirs are cleared.
            for member in range(filled[best]):
                for column in range(n_columns):
                    shown[values[members[best, member], column], word] &= ~mark
            filled[best] = 0
            bucket_of[best] = opened if opened < n_buckets else -1
            opened += opened < n_buckets
    return group
