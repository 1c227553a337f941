"""Nested intervals of numbers and dates, from which hierarchies are built."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import groupby
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from anoncore.base.errors import DataError
from anoncore.base.texts import is_missing, quoted, range_text, value_text

MOST_INTERVALS = 1_000_000
Bins = tuple[list[Any], list[int], Callable[[int, int, list[Any]], str]]
"""The distinct values ascending, the number of each one's lowest interval, and a function that gives the text of the
intervals `first` to `last` for the values `inside` them."""


def bins_by_width(values: Iterable[Any], width: float, start: float | None) -> Bins:
    """The intervals from `start + i * width`, computed with the decimals as they are written.

    Without `start` the first one begins at the multiple of the width at or below the smallest value.
    """
    if not (is_finite_number(width) and width > 0):
        raise DataError(f"The width of the intervals must be a positive number, not {width}.")
    if start is not None and not is_finite_number(start):
        raise DataError(f"The intervals must start at a number, not at {quoted(start)}.")
    known = _known(values)
    for number in known:
        if not is_finite_number(number):
            raise DataError(f"Intervals of equal width need finite numbers, not {quoted(value_text(number))}.")
    numbers = sorted(set(known))
    exact, step = [_exact(number) for number in numbers], _exact(width)
    if (exact[-1] - exact[0]) / step > MOST_INTERVALS:
        raise DataError(f"Intervals of width {width:g} would be more than {MOST_INTERVALS:,}; choose a larger width.")
    origin = _exact(start) if start is not None else exact[0] // step * step
    if origin > exact[0]:
        raise DataError(f"The intervals start at {start}, above the smallest value {value_text(numbers[0])}.")
    bins = [int((number - origin) // step) for number in exact]
    # Among whole numbers an interval reads 20-29; otherwise it reads [20, 30), which leaves no gap.
    closed = all(number.denominator == 1 for number in (*exact, step, origin))

    def text(first: int, last: int, inside: list[Any]) -> str:
        low, high = origin + step * first, origin + step * (min(last, bins[-1]) + 1)
        return range_text(int(low), int(high) - 1) if closed else f"[{_edge_text(low)}, {_edge_text(high)})"

    return numbers, bins, text


def bins_by_quantile(values: Iterable[Any], groups: int) -> Bins:
    """At most `groups` intervals that hold about equally many of the given values; equal values share an interval."""
    if groups < 1:
        raise DataError(f"The number of intervals must be at least 1, not {groups}.")
    try:
        rows = sorted(_known(values))
        numbers = sorted(set(rows))
    except TypeError as error:
        raise DataError(
            f"Intervals need values of one kind that have an order, such as numbers or dates ({error}); correct the "
            "values, or choose another hierarchy."
        ) from None
    groups = min(groups, len(rows))
    cuts = sorted({rows[(len(rows) - 1) * cut // groups] for cut in range(1, groups)})
    bins = [bisect_left(cuts, number) for number in numbers]
    return numbers, bins, lambda first, last, inside: range_text(inside[0], inside[-1])


def nested_intervals(bins: Bins, fanout: int) -> dict[Any, list[str]]:
    """The labels of each value from its lowest interval up to the last level at which there are several; each level
    joins `fanout` intervals of the one below.
    """
    numbers, lowest, text = bins
    if fanout < 2:
        raise DataError(f"Each level must join at least 2 intervals of the level below, not {fanout}.")
    levels: list[list[str]] = []
    joined = 1
    while lowest[0] // joined < lowest[-1] // joined:
        labels: list[str] = []
        interval_of = [interval // joined for interval in lowest]
        for interval, indices in groupby(range(len(numbers)), key=interval_of.__getitem__):
            inside = [numbers[index] for index in indices]
            labels += [text(interval * joined, (interval + 1) * joined - 1, inside)] * len(inside)
        levels.append(labels)
        joined *= fanout
    return {number: [labels[place] for labels in levels] for place, number in enumerate(numbers)}


def is_finite_number(value: Any) -> bool:
    """Whether a value is a number of some size; True is none. Whole numbers may be larger than any double."""
    return isinstance(value, Real) and not isinstance(value, bool) and (isinstance(value, Integral) or isfinite(value))


def _known(values: Iterable[Any]) -> list[Any]:
    known = [value.item() if isinstance(value, np.generic) else value for value in values if not is_missing(value)]
    if not known:
        raise DataError("Intervals need at least one value that is not missing.")
    return known


def _exact(number: Any) -> Fraction:
    """The number as it is written in decimals: 0.1 is one tenth, not the nearest double."""
    return Fraction(str(number))


def _edge_text(edge: Fraction) -> str:
    return value_text(int(edge) if edge.denominator == 1 else float(edge))
