"""When two values of a column are the same one, and which comes first: one rule for tables, hierarchies and tags."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import MAXYEAR, MINYEAR, date, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Complex, Real
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import is_missing

Key = tuple[int, str, Any]
Entry = TypeVar("Entry")
MISSING, TRUTH, NUMBER, MOMENT, SPAN, TEXT, OTHER = range(7)
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
LONGEST_EXPONENT = 400
"""A decimal with a longer one is not written out as a fraction, which would take that many digits."""
PREFERRED = (bool, int, float, str, pd.Timestamp, pd.Timedelta)
"""Of equal values of several types, the type whose value stands for all of them."""


def value_key(value: Any) -> Key:
    """What a value is, so that two values are the same one exactly where their keys are equal.

    Numbers are equal by size, whatever their type: 1, 1.0, Decimal(1) and numpy's 1 are one number, 0.1 and
    Decimal("0.1") are one, and so are 0.0 and -0.0. True is no number and a text is no number either: True, 1 and "1"
    are three values. A date is the midnight with which it begins; points in time with a time zone are equal by the
    moment, and differ from those without. All kinds of missing cells are one value. Texts are equal by their
    characters, and not normalized. Raises TypeError for a value that cannot be compared, such as a list.
    """
    if isinstance(value, np.generic):
        value = pd.Timestamp(value) if isinstance(value, np.datetime64) else value
        value = pd.Timedelta(value) if isinstance(value, np.timedelta64) else value
        value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return TEXT, "", str.__str__(value)
    if is_missing(value):
        return MISSING, "", None
    if isinstance(value, bool):
        return TRUTH, "", value
    if isinstance(value, Decimal):
        return NUMBER, "", Fraction(value) if value.is_finite() and abs(value.adjusted()) < LONGEST_EXPONENT else value
    if isinstance(value, float):
        # A fraction is the decimal that it is written as, so that it equals a Decimal of that text.
        exact = int(value) if value.is_integer() else Fraction(repr(value)) if isfinite(value) else value
        return NUMBER, "", exact
    if isinstance(value, Real):
        return NUMBER, "", value
    if isinstance(value, date):
        moment = pd.Timestamp(value)
        return MOMENT, "zoned" if moment.tz is not None else "", int(moment.asm8.view("i8")) * NANOSECONDS[moment.unit]
    if isinstance(value, timedelta):
        return SPAN, "", pd.Timedelta(value)
    if isinstance(value, Complex):
        return OTHER, "complex", complex(value)
    if not isinstance(value, Hashable):
        raise TypeError(f"unhashable type: '{type(value).__name__}'")
    hash(value)
    return OTHER, type(value).__qualname__, value


def sorted_values(values: Iterable[Any]) -> list[Any]:
    """Different values sorted: truths, then numbers, dates, durations and texts, each by size; then all others by type.

    The order does not depend on that of the given values.
    """
    keyed = sorted(((value_key(value), value) for value in values), key=lambda pair: (*pair[0][:2], str(pair[1])))
    try:
        return [value for _, value in sorted(keyed, key=lambda pair: pair[0])]
    except TypeError:  # values of some other type that have no order keep that of their texts
        return [value for _, value in keyed]


def preferred(values: Iterable[Any]) -> Any:
    """Of equal values in several forms the one that stands for all of them: an integer before a fraction before others,
    and 0.0 before -0.0.
    """

    def rank(value: Any) -> tuple[int, str, str]:
        place = next((number for number, kind in enumerate(PREFERRED) if type(value) is kind), len(PREFERRED))
        return place, type(value).__qualname__, repr(value).lstrip("-")

    return min(values, key=lambda value: (*rank(value), repr(value).startswith("-0")))


class ValueMapping(Mapping[Any, Entry]):
    """Entries by value, where two values are the same one as `value_key` says: True and 1 have entries of their own.

    It keeps the order of its entries and is never changed. Raises ValueError with the value where one comes twice, and
    TypeError for a value that cannot be compared.
    """

    def __init__(self, entries: Iterable[tuple[Any, Entry]]) -> None:
        self._entries: dict[Key, tuple[Any, Entry]] = {}
        for value, entry in entries:
            key = value_key(value)
            if key in self._entries:
                raise ValueError(value)
            self._entries[key] = value, entry

    def __getitem__(self, value: Any) -> Entry:
        return self._entries[value_key(value)][1]

    def __iter__(self) -> Iterator[Any]:
        return (value for value, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return len(self) == len(other) and all(value in self and self[value] == entry for value, entry in other.items())

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{value!r}: {entry!r}" for value, entry in self._entries.values()) + "}"


def check_years(column: pd.Series[Any], name: str) -> None:
    """Raise DataError for dates of years that a calendar, a file or a chart cannot write."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        return
    for moment in (column.min(), column.max()):
        if not is_missing(moment) and not MINYEAR <= moment.year <= MAXYEAR:
            raise DataError(
                f"'{name}' holds a date in the year {moment.year}, outside {MINYEAR} to {MAXYEAR}; correct it, or save "
                "the dates as text."
            )
