"""The difference of two products of counts, exact also where the products are beyond 64 bits.

The counts of a few billion rows times the rows of a table of as many do not fit a whole number of 64 bits.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.compiler import inner_kernel

SAFE = 2.0**62
"""Products whose doubles are below this are whole numbers of 64 bits, and so is their difference."""
HALF = 32
WORD = 2.0**64


@inner_kernel
def fits_word(a: int, b: int) -> bool:
    """Whether the product of two counts, and so any product of smaller ones, is a whole number of 64 bits."""
    return bool(np.float64(a) * np.float64(b) < SAFE)


@inner_kernel
def product_difference(a: int, b: int, c: int, d: int, fits: bool) -> float:
    """|a * b - c * d| of counts of 0 or more: the difference of whole numbers is taken before it becomes a double.

    `fits` says that both products are whole numbers of 64 bits. Loops ask it once, because most tables are that small.
    """
    if fits:
        return float(abs(a * b - c * d))
    high, low = _product(a, b)
    other_high, other_low = _product(c, d)
    if high < other_high or (high == other_high and low < other_low):
        high, other_high = other_high, high
        low, other_low = other_low, low
    above = high - other_high - (np.uint64(1) if low < other_low else np.uint64(0))
    # Unsigned words wrap around, which is what borrowing from the upper word asks for.
    return np.float64(above) * WORD + np.float64(low - other_low)


@inner_kernel
def _product(a: int, b: int) -> tuple[np.uint64, np.uint64]:
    """The upper and the lower 64 bits of the product of two counts, by the products of their halves of 32 bits."""
    half, mask = np.uint64(HALF), np.uint64(0xFFFFFFFF)
    first, second = np.uint64(a), np.uint64(b)
    first_low, first_high = first & mask, first >> half
    second_low, second_high = second & mask, second >> half
    low = first_low * second_low
    middle = first_high * second_low + (low >> half)
    other = first_low * second_high + (middle & mask)
    return first_high * second_high + (middle >> half) + (other >> half), (other << half) | (low & mask)
