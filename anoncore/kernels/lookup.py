"""Codes and counts of whole numbers by a table."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.compiler import kernel


@kernel
def look_up(numbers: Int64, first: int, lookup: Int32) -> Int32:
    """`lookup[number - first]` of every number, 0 for one outside, int32 (n,)."""
    found = np.zeros(numbers.shape[0], np.int32)
    for row in range(numbers.shape[0]):
        place = numbers[row] - first
        if 0 <= place < lookup.shape[0]:
            found[row] = lookup[place]
    return found


@kernel
def count_numbers(numbers: Int64, first: int, counts: Int64) -> None:
    """Add every number to `counts[number - first]`."""
    for row in range(numbers.shape[0]):
        counts[numbers[row] - first] += 1
