"""How far rounding may carry a computed number, comparisons with a limit that allow for it, and sums that avoid it.

All slack is relative to the limit, so that no verdict depends on the unit in which a number is written. A limit of 0
has no slack: levels are computed so that they are exactly 0 where they should be (sums of counts are whole numbers, and
numbers are subtracted before they are rounded). Whole levels such as a number of rows need none and are not changed by
it, because a share of 1e-12 is less than one row of any table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba.extending import register_jitable

from anoncore.kernels.compiler import inner_kernel

F = TypeVar("F", bound=Callable[..., Any])

ROUNDING = 1e-12
"""Share of a limit by which a level may miss it.

A double holds a number to 1.1e-16 of its size. The level of a group is a sum of terms of one sign, or of differences
that are taken exactly, so it errs by a few hundred times that at most, also for millions of rows. Two different levels
of a table lie much farther apart: they are ratios of counts.
"""
ACCUMULATED = 1e-9
"""Share of a limit by which a number may miss it that an iteration or a long chain of products gives.

Beliefs of an adversary who reads many groups are such numbers; their iterations stop at a change of 1e-12.
"""
SAFE = 2.0**62
"""Products whose doubles are below this are whole numbers of 64 bits, and so is their difference."""
HALF = 32
WORD = 2.0**64


def _in_both(function: F) -> F:
    """Let Python call a function as it is, also with arrays, and kernels compile it into their own code."""
    jitable: F = register_jitable(function)
    return jitable


@_in_both
def reaches(level: Any, limit: Any, rounding: float = ROUNDING) -> Any:
    """Whether a level is the limit or above it."""
    return level >= limit - rounding * abs(limit)


@_in_both
def stays_within(level: Any, limit: Any, rounding: float = ROUNDING) -> Any:
    """Whether a level is the limit or below it."""
    return level <= limit + rounding * abs(limit)


@_in_both
def lies_below(level: Any, limit: Any, rounding: float = ROUNDING) -> Any:
    """Whether a level is below the limit, by more than rounding could have moved it."""
    return level < limit - rounding * abs(limit)


@_in_both
def lies_above(level: Any, limit: Any, rounding: float = ROUNDING) -> Any:
    """Whether a level is above the limit, by more than rounding could have moved it."""
    return level > limit + rounding * abs(limit)


@inner_kernel
def fits_word(a: int, b: int) -> bool:
    """Whether the product of two counts, and so any product of smaller ones, is a whole number of 64 bits."""
    return bool(np.float64(a) * np.float64(b) < SAFE)


@inner_kernel
def product_difference(a: int, b: int, c: int, d: int, fits: bool) -> float:
    """|a * b - c * d| of counts of 0 or more: the difference of whole numbers is taken before it becomes a double.

    The counts of a few billion rows times the rows of a table of as many do not fit a whole number of 64 bits.
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


@inner_kernel
def squared_deviations(counts: Any, high: Any, low: Any) -> tuple[int, float]:
    """Rows of a group with a known number, and the sum of their squared deviations from the mean.

    `counts` int64 (n_values,) are the rows with each value; `high`, `low` float (n_values,) are each number as the sum
    of two doubles, so that neighbours which one double cannot tell apart still differ, `high` NaN for a missing value.
    """
    # Every number is taken relative to the first one of the group. Equal numbers then give exactly 0, and numbers that
    # agree in most of their digits keep the digits in which they differ.
    first, known, total = -1, 0, 0.0
    for value in range(len(counts)):
        if counts[value] > 0 and not np.isnan(high[value]):
            if first < 0:
                first = value
            known += counts[value]
            total += counts[value] * ((high[value] - high[first]) + (low[value] - low[first]))
    if known == 0:
        return 0, 0.0
    mean, squares = total / known, 0.0
    for value in range(len(counts)):
        if counts[value] > 0 and not np.isnan(high[value]):
            squares += counts[value] * ((high[value] - high[first]) + (low[value] - low[first]) - mean) ** 2
    return known, squares
