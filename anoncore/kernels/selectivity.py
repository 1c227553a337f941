"""Counting pairs of vectors of class-value frequencies whose join stays below k rows.

Two classes of different fragments, with a_v and b_v rows of class value v, join to the sum over v of a_v b_v rows. The
numbers of such pairs, by sums of the vectors, are built up value by value.

- `pairs` float (k, k, k): entry j, s, t counts the pairs (a, b) of vectors of whole numbers from 1 with sum(a) = s,
  sum(b) = t and sum of a_v b_v = j, all below k. Floats, because the counts may exceed 64 bits.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats
from anoncore.kernels.compiler import kernel


@kernel
def add_value(pairs: Floats) -> Floats:
    """The pairs of vectors of one more value, float (k, k, k)."""
    k = len(pairs)
    more = np.zeros_like(pairs)
    # All numbers are at least 1, so neither sum of a vector exceeds j: where j stays below k, s and t do as well.
    for j in range(k):
        for s in range(j + 1):
            for t in range(j + 1):
                count = pairs[j, s, t]
                if count == 0.0:
                    continue
                for a in range(1, k - j):
                    for b in range(1, (k - 1 - j) // a + 1):
                        more[j + a * b, s + a, t + b] += count
    return more


@kernel
def two_values(k: int) -> Floats:
    """The pairs of vectors of two values with product below k, by their sums, float (k, k)."""
    pairs = np.zeros((k, k))
    for a in range(1, k):
        for b in range(1, (k - 1) // a + 1):
            left = k - 1 - a * b
            for c in range(1, left + 1):
                for d in range(1, left // c + 1):
                    pairs[a + c, b + d] += 1.0
    return pairs
