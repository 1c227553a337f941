"""Counting pairs of vectors of class-value frequencies whose join stays below k rows."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats
from anoncore.kernels.compiler import kernel


@kernel
def add_value(pairs: Floats) -> Floats:
    """Pairs of vectors of one more value, float (k, k, k).

    `pairs[j, s, t]` counts the pairs (a, b) of vectors of whole numbers from 1 with sum(a) = s, sum(b) = t and product
    sum(a b) = j, all below k.
    """
    k = pairs.shape[0]
    more = np.zeros_like(pairs)
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
