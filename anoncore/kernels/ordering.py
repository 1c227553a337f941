"""Rows sorted by integer keys, digit by digit: linear in rows, where comparing them would take their logarithm more."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int64
from anoncore.kernels.compiler import kernel

DIGIT_BITS = 11
"""Bits of a digit: its 2,048 counters stay in the fastest memory."""


@kernel
def stable_order(keys: Int64, bits: int, order: Int64) -> Int64:
    """The rows of `order` sorted by `keys[row]`, equal ones kept as they stand; keys are 0 to 2 ** bits - 1."""
    n = order.shape[0]
    now, following = order.copy(), np.empty_like(order)
    begin = np.empty((1 << DIGIT_BITS) + 1, np.int64)
    for shift in range(0, bits, DIGIT_BITS):
        mask = (1 << min(DIGIT_BITS, bits - shift)) - 1
        begin[:] = 0
        for row in range(n):
            begin[((keys[row] >> shift) & mask) + 1] += 1
        for digit in range(mask + 1):
            begin[digit + 1] += begin[digit]
        for place in range(n):
            digit = (keys[now[place]] >> shift) & mask
            following[begin[digit]] = now[place]
            begin[digit] += 1
        now, following = following, now
    return now
