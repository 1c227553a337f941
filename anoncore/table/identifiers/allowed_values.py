"""What the rule lets stand of a value: the year of a date, three digits of a ZIP code, an age to 89."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from anoncore.base.texts import value_text
from anoncore.table.identifiers.kinds import MOST_YEARS, OLDEST_TOLD

_YEAR = re.compile(r"(?<!\d)((?:1[89]|20)\d\d)(?!\d)|^((?:1[89]|20)\d\d)\d{4}$")
_ZIP = re.compile(r"(\d{3})(?:\d\d(?:-?\d{4})?|[*xX]{0,2})")
_LENGTHS = (3, 5, 9)
"""Digits that a ZIP code may have."""
_ONE_AGE = re.compile(r"(\d{1,3})(?:[.,]\d+)?(?: ?(?:y|years?|jahre?|ans|años|anni|anos|jaar))?", re.IGNORECASE)
_AGES = re.compile(r"[^\d+<>≥≤]*(\d{1,3})\D+(\d{1,3})[^\d+]*")


def year_of(value: Any) -> int | None:
    """The year of a date, or the first year of four digits in a text; None where there is none."""
    if isinstance(value, date):
        return value.year
    found = _YEAR.search(value_text(value))
    return None if found is None else int(found[1] or found[2])


def first_three_digits(text: str, is_number: bool) -> str | None:
    """The first three digits of a ZIP code of five or nine digits, or of one that is cut already; None of another.

    Numbers have lost the zeros in front.
    """
    if is_number and text.isdigit():
        text = text.zfill(next((length for length in _LENGTHS if len(text) <= length), 0))
    found = _ZIP.fullmatch(text)
    return None if found is None else found[1]


def is_above_89(text: str) -> bool:
    """Whether a text is an age above 89, or a group with such an age that has an end: not 90+, nor the wider 85+."""
    single = _ONE_AGE.fullmatch(text)
    if single is not None:
        return OLDEST_TOLD < int(single[1]) <= MOST_YEARS
    several = _AGES.fullmatch(text)
    return several is not None and OLDEST_TOLD < int(several[2]) - text.endswith((")", "[")) <= MOST_YEARS
