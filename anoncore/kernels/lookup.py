"""Codes and counts of whole numbers by a table with one entry per number, from `first` on.

- `numbers` int64 (n_rows,): the value of one column in every row.
- `lookup` int32 (n_numbers,): entry i is the code of the number `first` + i.
- `counts` int64 (n_numbers,): entry i counts the rows with the number `first` + i.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.compiler import kernel


@kernel
def look_up(numbers: Int64, first: int, lookup: Int32) -> Int32:
    """Code of every number, int32 (n_rows,); 0 for one outside of the table."""
    codes = np.zeros(numbers.shape[0], np.int32)
    for row in range(numbers.shape[0]):
        entry = numbers[row] - first
        if 0 <= entry < lookup.shape[0]:
            codes[row] = lookup[entry]
    return codes


@kernel
def count_numbers(numbers: Int64, first: int, counts: Int64) -> None:
    """Add every row to the count of its number; none may lie outside of the table."""
    for row in range(numbers.shape[0]):
        counts[numbers[row] - first] += 1
