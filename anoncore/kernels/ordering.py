"""Rows sorted by integer keys, digit by digit (radix sort).

Sorting n keys by comparing them costs O(n log n). Placing them by one digit after the other costs O(n) per digit,
because the keys are whole numbers of few digits.

- `keys` int64 (n_rows,): key of every row, 0 to 2 ** bits - 1.
- `order` int64 (n,): the row numbers that are to be sorted, in the order that decides between equal keys.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int64
from anoncore.kernels.compiler import kernel

DIGIT_BITS = 11
"""Bits of a digit: its 2,048 counters stay in the fastest memory."""


@kernel
def stable_order(keys: Int64, bits: int, order: Int64) -> Int64:
    """The rows of `order` sorted by `keys[row]`, equal ones kept as they stand, int64 (n,)."""
    n = order.shape[0]
    now, following = order.copy(), np.empty_like(order)
    begin = np.empty((1 << DIGIT_BITS) + 1, np.int64)
    # The lowest digit first: every pass keeps the order of rows whose digit is equal, so after the pass by a higher
    # digit those are still sorted by the lower ones.
    for shift in range(0, bits, DIGIT_BITS):
        mask = (1 << min(DIGIT_BITS, bits - shift)) - 1
        for digit in range(begin.shape[0]):
            begin[digit] = 0
        for row in range(n):
            begin[((keys[row] >> shift) & mask) + 1] += 1
        for digit in range(mask + 1):
            begin[digit + 1] += begin[digit]
        for i in range(n):
            digit = (keys[now[i]] >> shift) & mask
            following[begin[digit]] = now[i]
            begin[digit] += 1
        now, following = following, now
    return now
