"""How numbers and dates are written: patterns (RE2 syntax, whole text), what texts show of them, and their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.pandas_versions import moments_of
from anoncore.kernels.arrays import Floats

# A plus sign before many digits is a telephone number, whose plus must not be lost.
INTEGER = r"^(?:-?[0-9]+|\+[0-9]{1,6})$"
FINITE = r"^(?:-|\+)?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
PHONE = r"^\+[0-9]{7,}$"
INFINITE = r"^(?i:[+-]?inf(?:inity)?)$"
LEADING_ZERO = r"^[+-]?0[0-9]"
GROUPED = r"^[+-]?(?:0|[1-9][0-9]{0,2}(?:,[0-9]{3})*)(?:\.[0-9]+)?$"
SURELY_GROUPED = r",[0-9]{3}[,.]"
DECIMAL_COMMA = r"^[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?:,[0-9]+)?$"
CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
ISO_DATE = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ]{CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?$"
TIME_ZONE = r":[0-9.]+(?:Z|[+-][0-9]{2}:?[0-9]{2})$"
SHORT_CLOCK = r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?"
OTHER_DATE = (
    r"^(?:[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2}(?:[0-9]{2})?|[0-9]{4}[./][0-9]{1,2}[./][0-9]{1,2})" + SHORT_CLOCK + "$"
)
TWO_DIGIT_YEAR = r"^[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2}(?:[T ]|$)"
DOTTED_DATE = r"^[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{4}" + SHORT_CLOCK + "$"
DateOrder = Literal["day-month-year", "month-day-year", "year-month-day"]
DATE_ORDERS: Mapping[DateOrder, tuple[str, str]] = MappingProxyType(
    {
        "day-month-year": (r"^([0-9]{2})[./-]([0-9]{2})[./-]([0-9]{4})", r"\3-\2-\1"),
        "month-day-year": (r"^([0-9]{2})[./-]([0-9]{2})[./-]([0-9]{4})", r"\3-\1-\2"),
        "year-month-day": (r"^([0-9]{4})[./]([0-9]{2})[./]([0-9]{2})", r"\1-\2-\3"),
    }
)
"""How dates other than 2024-05-31 begin, with two digits of day and month, and how the same begins in that form."""
BOOLEAN = r"^(?i:true|false)$"
TWO_CAPITALS = "^[A-Z]{2}$"

# Most columns of numbers are written like this; it saves them the slower patterns above.
COMMON_INTEGER = r"^-?(?:0|[1-9][0-9]{0,17})$"
COMMON_FRACTION = r"^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$"
# Every number and every date begins with one of these, so that other texts need no further pattern.
FIRST_CHARACTER = r"^[-+.0-9iI]"

EXACT_IN_FLOAT = 2**53
INT64 = np.iinfo(np.int64)
LONGEST_INT64 = 20
COMMON_LENGTH = 18

Bools = npt.NDArray[np.bool_]


def matches(texts: pa.Array, pattern: str) -> Bools:
    """Which texts match the pattern; texts (n,) -> bool (n,)."""
    found: Bools = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return found


def all_match(texts: pa.Array, pattern: str) -> bool:
    """Whether every text matches the pattern.

    The first text is looked at before: most columns of other texts end there, and Arrow compiles a pattern every time.
    """
    if len(texts) and not LOOKS_SO[pattern](texts[0].as_py()):
        return False
    return bool(matches(texts, pattern).all())


def _begins_as_number(text: str) -> bool:
    return text[:1] in "+-.0123456789"


LOOKS_SO: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        BOOLEAN: lambda text: text[:1] in "tTfF",
        TWO_CAPITALS: lambda text: len(text) == 2 and text.isupper(),
        INFINITE: lambda text: text[:1] in "+-iI",
        GROUPED: _begins_as_number,
        DECIMAL_COMMA: _begins_as_number,
        COMMON_INTEGER: _begins_as_number,
        COMMON_FRACTION: _begins_as_number,
        ISO_DATE: lambda text: text[4:5] == "-",
        OTHER_DATE: lambda text: text[:1].isdigit() and any(mark in text for mark in "./-"),
        DOTTED_DATE: lambda text: "." in text,
    }
)
"""What a text that matches a pattern has at least, told without the pattern."""


def plain_numbers(texts: pa.Array) -> Bools:
    """Which texts are numbers written plainly: digits, a point, an exponent, or infinity."""
    found: Bools = matches(texts, FINITE) & ~matches(texts, PHONE) | matches(texts, INFINITE)
    return found


def ungrouped(texts: pa.Array) -> pa.Array:
    """Numbers without their thousands separators: 1,234.5 becomes 1234.5."""
    return pc.replace_substring(texts, ",", "")


def iso_dates(texts: pa.Array, order: DateOrder) -> pa.Array:
    """Dates in another order as 2024-05-31 is written: 31.5.2024 becomes that; texts in a third order stay."""
    pattern, written = DATE_ORDERS[order]
    return pc.replace_substring_regex(pc.replace_substring_regex(texts, r"\b([0-9])(\b|T)", r"0\1\2"), pattern, written)


def with_point(texts: pa.Array) -> pa.Array:
    """Numbers with a decimal comma as others write them: 1.234,5 becomes 1234.5."""
    return pc.replace_substring(pc.replace_substring(texts, ".", ""), ",", ".")


@dataclass(frozen=True)
class NumberFacts:
    """What texts that are numbers show of the type that they need.

    `leading_zero` is the first text with zeros in front, `whole` says whether all are whole numbers, `low` and `high`
    are bounds of the whole ones (and of 0), `too_long` says whether one of them has more digits than any int64.
    """

    leading_zero: str | None = None
    whole: bool = True
    low: int = 0
    high: int = 0
    too_long: bool = False

    @classmethod
    def of_common(cls, texts: pa.Array, *, whole: bool) -> NumberFacts | None:
        """The facts of texts (n,) if all are written as most numbers are; `whole` says that all before were whole."""
        if whole and all_match(texts, COMMON_INTEGER):
            low, high = _bounds(texts)
            return cls(low=min(low, 0), high=max(high, 0))
        # None of these whole numbers is too long for float64, so that their bounds say nothing more.
        return cls(whole=False) if all_match(texts, COMMON_FRACTION) else None

    @classmethod
    def of(cls, texts: pa.Array) -> NumberFacts:
        """The facts of texts (n,) that are plain numbers."""
        zeros = matches(texts, LEADING_ZERO)
        leading_zero = texts.filter(pa.array(zeros))[0].as_py() if zeros.any() else None
        whole = matches(texts, INTEGER)
        integers = texts.filter(pa.array(whole))
        lengths = pc.utf8_length(integers).to_numpy()
        common = integers.filter(pa.array(lengths <= COMMON_LENGTH))
        bounds = [0, *_bounds(pc.utf8_ltrim(common, "+"))]
        # Python refuses to convert very long digit strings, and no such number fits anyway.
        fitting = integers.filter(pa.array((lengths > COMMON_LENGTH) & (lengths <= LONGEST_INT64)))
        bounds += [int(text) for text in fitting.to_pylist()]
        too_long = bool((lengths > LONGEST_INT64).any())
        return cls(leading_zero, bool(whole.all()), min(bounds), max(bounds), too_long)

    def and_of(self, other: NumberFacts) -> NumberFacts:
        """The facts of these texts and of others that come later in the column."""
        return NumberFacts(
            self.leading_zero or other.leading_zero,
            self.whole and other.whole,
            min(self.low, other.low),
            max(self.high, other.high),
            self.too_long or other.too_long,
        )

    @property
    def is_short(self) -> bool:
        """Whether all are whole numbers of three digits at most, which have no separator of thousands."""
        return self.whole and self.leading_zero is None and not self.too_long and -1000 < self.low <= self.high < 1000

    def is_exact(self, *, as_float: bool) -> bool:
        """Whether the type, int64 or (`as_float`) float64, holds every whole number exactly."""
        low, high = (-EXACT_IN_FLOAT, EXACT_IN_FLOAT) if as_float else (int(INT64.min), int(INT64.max))
        return not self.too_long and low <= self.low and self.high <= high


def _bounds(texts: pa.Array) -> tuple[int, int]:
    if not len(texts):
        return 0, 0
    found = pc.min_max(texts.cast(pa.int64()))
    return found["min"].as_py(), found["max"].as_py()


def whole_numbers(texts: pa.Array) -> pa.Array:
    """The int64 values of texts of whole numbers."""
    return pc.utf8_ltrim(texts, "+").cast(pa.int64())


def fractions(texts: pa.Array) -> Floats:
    """The float64 values of texts of numbers, infinities included; (n,) -> (n,)."""
    try:
        return pc.utf8_ltrim(texts, "+").cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        # Arrow refuses what is beyond float64, such as 1e999, which Python takes as infinite.
        return np.array([float(text) for text in texts.to_pylist()], np.float64)


@dataclass(frozen=True)
class DateFacts:
    """What texts written like 2024-05-31 or 2024-05-31 14:00 show of the type that they need.

    `zoned` and `unzoned` say whether some have a time zone and some have none, `exist` whether a calendar has them
    all, `unit` is the coarsest unit of datetime64 that keeps them all, `low` and `high` are the first and the last.
    """

    zoned: bool = False
    unzoned: bool = False
    exist: bool = True
    unit: str = "us"
    low: pd.Timestamp | None = None
    high: pd.Timestamp | None = None

    @classmethod
    def of(cls, texts: pa.Array) -> DateFacts:
        """The facts of texts (n,) that match ISO_DATE."""
        zoned = matches(texts, TIME_ZONE)
        if zoned.any() and not zoned.all():
            return cls(zoned=True, unzoned=True)
        try:
            found = _parsed(texts, zoned=bool(zoned.all()))
        except ValueError:
            return cls(bool(zoned.all()), not zoned.any(), exist=False)
        return cls(bool(zoned.all()), not zoned.any(), True, found.unit, found.min(), found.max())

    def and_of(self, other: DateFacts) -> DateFacts:
        """The facts of these texts and of others that come later in the column."""
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        return DateFacts(
            self.zoned or other.zoned,
            self.unzoned or other.unzoned,
            self.exist and other.exist,
            "ns" if "ns" in (self.unit, other.unit) else "us",
            min(lows, default=None),
            max(highs, default=None),
        )

    @property
    def holds(self) -> bool:
        """Whether datetime64 holds all of them, either all as they are or all in UTC."""
        if not self.exist or self.zoned == self.unzoned or self.low is None or self.high is None:
            return False
        return self.unit == "us" or (pd.Timestamp.min <= self.low and self.high <= pd.Timestamp.max)


def moments(texts: pa.Array, *, zoned: bool, unit: str) -> pa.Array:
    """The values of texts that match ISO_DATE as timestamps of a unit; those with a time zone in UTC."""
    return pa.array(_parsed(texts, zoned=zoned).as_unit(unit))  # type: ignore[arg-type]


def _parsed(texts: pa.Array, *, zoned: bool) -> pd.DatetimeIndex:
    days = None if zoned else _days(texts)
    if days is not None:
        return days
    found = moments_of(texts.to_pylist(), utc=zoned)
    return found.tz_localize(None) if zoned else found


def _days(texts: pa.Array) -> pd.DatetimeIndex | None:
    """Texts that are all days of a calendar, many times faster than pandas reads them; None for any others."""
    try:
        found = texts.cast(pa.date32()).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
    days: npt.NDArray[np.datetime64] = found.to_numpy(zero_copy_only=False)
    return pd.DatetimeIndex(days) if (days >= np.datetime64("0001-01-01")).all() else None
