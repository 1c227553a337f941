"""Where the numbers or dates of an attribute lie on its axis: subtracted exactly before anything is rounded."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import pandas as pd

from anoncore.kernels.arrays import Floats, Int64, record
from anoncore.kernels.rounding import ROUNDING

EXACT = 2**53
"""Whole numbers below it are doubles, and so are their sums and differences below it."""
MOST_DECIMALS = 22
"""Powers of ten up to this one are doubles."""
LARGEST_ROUNDED = 10**13
"""A decimal with more digits than this one is taken for a short decimal only where it is one exactly."""
TRIED = 16
"""So many numbers are looked at first, before all of an attribute are tested for being short decimals."""
TICKS_OF_DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


@record
class Axis:
    """Numbers in steps of a common unit, float (n,) each: `steps`, and `rest`, what a double of the steps leaves out.

    Whole numbers, dates and decimals are whole steps above the smallest of them, so that neither a shift nor another
    unit changes their steps. Other numbers are themselves, in steps of 1.
    """

    steps: Floats
    rest: Floats
    unit: Fraction


def axis_of_numbers(values: Sequence[Any]) -> Axis:
    """The axis of ascending numbers: whole, decimal or binary ones."""
    if not any(issubclass(kind, float) for kind in set(map(type, values))):
        return _axis_of_exact(values)
    numbers = np.array(values, dtype=np.float64)
    if (numbers == np.rint(numbers)).all():
        return _axis_of_exact([int(number) for number in numbers.tolist()])
    for decimals in range(1, MOST_DECIMALS + 1):
        scale = 10.0**decimals
        if max(abs(numbers[0]), abs(numbers[-1])) * scale >= EXACT:
            break
        if _is_decimal(numbers[:TRIED], scale) and _is_decimal(numbers, scale):
            axis = _axis_of_whole(np.rint(numbers * scale).astype(np.int64))
            return Axis(axis.steps, axis.rest, axis.unit / 10**decimals)
    return Axis(numbers, np.zeros(len(numbers)), Fraction(1))


def axis_of_dates(values: Sequence[pd.Timestamp]) -> Axis:
    """The axis of ascending dates, whose unit is a part of a day."""
    dates = pd.DatetimeIndex(list(values))
    axis = _axis_of_whole(dates.asi8)
    return Axis(axis.steps, axis.rest, axis.unit / TICKS_OF_DAY[dates.unit])


def _is_decimal(numbers: Floats, scale: float) -> bool:
    """Whether all numbers are multiples of 1 / scale, or short decimals that lost their last digits to rounding.

    So 3 * 1e-9 is 3.0000000000000004e-09 in Python. Only so much is made good as changes no difference of two of the
    numbers noticeably.
    """
    whole = np.rint(numbers * scale)
    off = np.abs(whole / scale - numbers)
    if not off.any():
        return True
    if np.abs(whole).max() > LARGEST_ROUNDED:
        return False
    least = np.diff(numbers).min(initial=np.inf)
    return bool((off <= 2 * np.spacing(np.abs(numbers))).all() and off.max() <= ROUNDING / 2 * least)


def _axis_of_exact(values: Sequence[Any]) -> Axis:
    """The axis of numbers that are held exactly: whole numbers of any size, decimals, fractions."""
    fits = not values or (values[0] >= -(2**63) and values[-1] < 2**63)
    if fits and all(issubclass(kind, int) for kind in set(map(type, values))):
        return _axis_of_whole(np.array(values, dtype=np.int64))
    numbers = [Fraction(value) for value in values]
    scale = lcm(*(number.denominator for number in numbers))
    above = [int((number - numbers[0]) * scale) for number in numbers]
    step = gcd(*above) or 1
    whole = [number // step for number in above]
    steps = [float(number) for number in whole]
    rest = [float(number - int(near)) for number, near in zip(whole, steps, strict=True)]
    return Axis(np.array(steps), np.array(rest), Fraction(step, scale))


def _axis_of_whole(numbers: Int64) -> Axis:
    """The axis of ascending integers."""
    if len(numbers) == 0:
        return Axis(np.zeros(0), np.zeros(0), Fraction(1))
    # Unsigned integers hold every difference of two signed ones.
    above = numbers.astype(np.uint64) - numbers[:1].astype(np.uint64)
    step = int(np.gcd.reduce(above)) or 1
    whole = above // np.uint64(step)
    steps = whole.astype(np.float64)
    rest = np.zeros(len(numbers))
    if int(whole[-1]) >= EXACT:
        rest = np.array([float(int(number) - int(near)) for number, near in zip(whole, steps, strict=True)])
    return Axis(steps, rest, Fraction(step))
