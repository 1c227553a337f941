"""How numbers and dates are written: patterns (RE2 syntax, whole text) and their values.

Every reader takes the distinct texts of a column and returns one value per text, or None when the column has to stay
text; what is worth knowing goes into the notes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.sources.notes import Notes, shown

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
OTHER_DATE = r"^(?:[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2}(?:[0-9]{2})?|[0-9]{4}[./][0-9]{1,2}[./][0-9]{1,2})$"

EXACT_IN_FLOAT = 2**53
INT64 = np.iinfo(np.int64)

# Of int64, float64, datetime64 or object (texts).
Values = npt.NDArray[Any]


def matches(texts: pa.Array, pattern: str) -> npt.NDArray[np.bool_]:
    """Which texts match the pattern; texts (n,) -> bool (n,)."""
    found: npt.NDArray[np.bool_] = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return found


def plain_numbers(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Which texts are numbers written plainly: digits, a point, an exponent, or infinity."""
    found: npt.NDArray[np.bool_] = matches(texts, FINITE) & ~matches(texts, PHONE) | matches(texts, INFINITE)
    return found


def booleans(texts: pa.Array) -> Values | None:
    """`True` and `False` as two texts when all are one of them in any spelling of case."""
    lowered = pc.utf8_lower(texts)
    if not matches(lowered, "^(?:true|false)$").all():
        return None
    return np.where(matches(lowered, "^true$"), "True", "False").astype(object)


def numbers(texts: pa.Array, column: str, notes: Notes, *, comma_is_decimal: bool) -> Values | None:
    """Numbers as int64 when all are whole, else float64 (infinities included).

    Kept as text, with a note: leading zeros, whole numbers that neither int64 nor (beside fractions) float64 holds
    exactly, and thousands or decimal commas whose meaning is open. `1,234` is 1234 in a file whose separator isn't the
    semicolon; there (`comma_is_decimal`) `1.234,5` is 1234.5.
    """
    if not matches(texts, INFINITE).all() and plain_numbers(texts).all():
        return _plain(texts, column, notes)
    with_comma = matches(texts, ",")
    if not with_comma.any():
        return None
    if matches(texts, GROUPED).all() and (not comma_is_decimal or matches(texts, SURELY_GROUPED).any()):
        notes.about("Commas in numbers were read as thousands separators (1,234 is 1234) in {columns}.", column)
        return _plain(pc.replace_substring(texts, ",", ""), column, notes)
    if not matches(texts, DECIMAL_COMMA).all():
        return None
    if not comma_is_decimal or matches(texts, GROUPED).all():
        notes.about(
            "Numbers with commas are kept as text in {columns}, because the comma may mean decimals or thousands; "
            "write them with a decimal point to have numbers.",
            column,
            f"for example {shown(texts.filter(pa.array(with_comma))[0].as_py())}",
        )
        return None
    notes.about("Commas in numbers were read as decimal marks (1.234,5 is 1234.5) in {columns}.", column)
    return _plain(pc.replace_substring(pc.replace_substring(texts, ".", ""), ",", "."), column, notes)


def _plain(texts: pa.Array, column: str, notes: Notes) -> Values | None:
    zero = matches(texts, LEADING_ZERO)
    if zero.any():
        example = shown(texts.filter(pa.array(zero))[0].as_py())
        notes.about("Kept as text because of leading zeros: {columns}.", column, f"for example {example}")
        return None
    whole = matches(texts, INTEGER)
    # Python refuses to convert very long digit strings, and no such number fits anyway.
    too_long = bool((whole & (pc.utf8_length(texts).to_numpy() > 20)).any())
    integers = [] if too_long else [int(text) for text in texts.filter(pa.array(whole)).to_pylist()]
    low, high = (min(integers), max(integers)) if integers else (0, 0)
    limit = (INT64.min, INT64.max) if whole.all() else (-EXACT_IN_FLOAT, EXACT_IN_FLOAT)
    if too_long or low < limit[0] or high > limit[1]:
        too_big(column, notes)
        return None
    if whole.all():
        return np.array(integers, dtype=np.int64)
    return np.array([float(text) for text in texts.to_pylist()], dtype=np.float64)


def too_big(column: str, notes: Notes) -> None:
    """Note that a column stays text because its whole numbers would lose digits as numbers."""
    notes.about("Kept as text, because the whole numbers are too long to be held exactly: {columns}.", column)


def dates(texts: pa.Array, column: str, notes: Notes) -> Values | None:
    """Dates and times as datetime64 when all are written as 2024-05-31 or 2024-05-31 14:00; zones become UTC."""
    if not matches(texts, ISO_DATE).all():
        if matches(texts, OTHER_DATE).all():
            notes.about(
                "Dates are kept as text in {columns}, because the order of day and month is not certain; "
                "write them as 2024-05-31 to have dates.",
                column,
                f"for example {shown(texts[0].as_py())}",
            )
        return None
    zoned = matches(texts, TIME_ZONE)
    try:
        if zoned.any() and not zoned.all():
            raise ValueError
        found = pd.DatetimeIndex(pd.to_datetime(texts.to_pylist(), format="ISO8601", utc=bool(zoned.any())))
    except ValueError:
        notes.about("Kept as text, because not every date exists or only some have a time zone: {columns}.", column)
        return None
    if zoned.any():
        zone_dropped(column, notes)
        found = found.tz_localize(None)
    moments: npt.NDArray[np.datetime64] = found.to_numpy()
    return moments


def zone_dropped(column: str, notes: Notes) -> None:
    """Note that times with a zone are now UTC."""
    notes.about("Times with a time zone were turned into UTC in {columns}.", column)
