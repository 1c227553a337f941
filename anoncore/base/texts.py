"""How values are written for people: single values, ranges, missing cells, lists in messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from math import isnan
from typing import Any

import pandas as pd

MISSING_TEXT = "(missing)"
LONGEST_QUOTE = 80
# OWASP, "CSV Injection": = + - @ tab and line ends, their full-width forms, also behind spaces, quotes or unseen marks.
# Apostrophes before them count too, so that no text looks like the guarded form of another one.
FORMULA = re.compile(r"'*[\t\r\n]|[\s\x00-\x20\"'`‘’“”\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]")
MOST_DIGITS = 80
"""No decimal of a Parquet file has more; one with a larger exponent is not written out."""


PEOPLE_WORDS = {
    "people's": "rows'",
    "people": "rows",
    "every person": "every row",
    "everybody": "every row",
    "somebody": "some row",
}
"""What counts people in a sentence, and what counts rows instead."""
_PEOPLE = re.compile(rf"(?<!\w)'[^']*'(?!\w)|\b({'|'.join(PEOPLE_WORDS)})\b", re.IGNORECASE)


def rows_for_people(text: str) -> str:
    """A sentence that counts people, said of rows; names in quotes stay what they are."""

    def said(found: re.Match[str]) -> str:
        word = found[1]
        if word is None:
            return found[0]
        instead = PEOPLE_WORDS[word.lower()]
        return instead[0].upper() + instead[1:] if word[0].isupper() else instead

    return _PEOPLE.sub(said, text)


def is_missing(value: Any) -> bool:
    """Whether a single value stands for a missing cell: None, NaN, NaT, pandas' NA."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def value_text(value: Any) -> str:
    """Text of a single value: dates without an empty time, numbers without a trailing .0 of an integer."""
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat() if value == value.normalize() else value.isoformat(sep=" ")
    if isinstance(value, float):
        return str(int(value)) if float(value).is_integer() and abs(value) < 1e16 else repr(float(value))
    return str(value)


def range_text(low: Any, high: Any) -> str:
    """Text of a closed range: 20-29, or with `to` where a minus sign would be confused with the dash."""
    return joined_range(value_text(low), value_text(high))


def joined_range(first: str, last: str) -> str:
    """Text of a closed range, from those of its ends."""
    if first == last:
        return first
    return f"{first} to {last}" if "-" in first or "-" in last else f"{first}-{last}"


def quoted(value: Any) -> str:
    """A value as it is written in Python, for a message; cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        return "a very long number"
    closing = text[-1] if text[-1:] in ("'", '"') else ""
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…{closing}"


def size_text(n_bytes: float) -> str:
    """Bytes as people read them: `412 bytes`, `15.6 kB`, `200.0 MB`, `1.25 GB`."""
    if n_bytes >= 1e9:
        return f"{n_bytes / 1e9:,.2f} GB"
    if n_bytes >= 1e6:
        return f"{n_bytes / 1e6:,.1f} MB"
    return f"{n_bytes / 1e3:,.1f} kB" if n_bytes >= 1e3 else f"{n_bytes:,.0f} bytes"


SHOWN_DIGITS = 3
"""Digits of the shares that tables and pages show: tenths of a percentage point."""


def share_text(share: float) -> str:
    """A share in percent with one decimal; rounding makes neither all nor nothing of it.

    NaN was not measured, which is not 0.
    """
    if isnan(share):
        return "not measured"
    # What is all or nothing but for the rounding of a sum is all or nothing.
    if round(share, 9) in (0, 1):
        return f"{share:.0%}".removeprefix("-")
    text = f"{share:.1%}"
    return {"0.0%": "less than 0.1%", "-0.0%": "about 0%", "100.0%": "more than 99.9%"}.get(text, text)


def shown_difference(share: float, other: float) -> float:
    """The difference of two shares as `share_text` tells them, so that it agrees with both beside which it stands."""
    return round(round(share, SHOWN_DIGITS) - round(other, SHOWN_DIGITS), SHOWN_DIGITS)


def no_such(what: str, name: object, names: Sequence[str]) -> str:
    """A sentence for a name that does not exist: the one that is probably meant, and all that there are."""
    close = nearest(name, names)
    meant = "there is" if close is None else f"did you mean {quoted(close)}? There is"
    return f"There is no {what} {quoted(name)}; {meant} {listing(names, 40) or 'none'}."


def did_you_mean(name: object, names: Sequence[str]) -> str:
    """A question that ends a message about a name that does not exist: which is probably meant; empty where none is."""
    close = nearest(name, names)
    return "" if close is None else f" Did you mean {quoted(close)}?"


def nearest(name: object, names: Sequence[str]) -> str | None:
    """The name that is spelled most like one that does not exist, whatever its letters' case; None where none is."""
    spellings = {known.lower(): known for known in names}
    close = get_close_matches(str(name).lower(), spellings, n=1)
    return spellings[close[0]] if close else None


def listing(values: Sequence[Any], limit: int = 8) -> str:
    """A short list of values for a message."""
    shown = ", ".join(quoted(value_text(value)) for value in values[:limit])
    return shown if len(values) <= limit else f"{shown} and {len(values) - limit} more"


def plural(word: str, number: int = 2) -> str:
    """The word for so many: bucket, buckets; equivalence class, equivalence classes; person, people."""
    if number == 1:
        return word
    return "people" if word == "person" else word + ("es" if word.endswith("s") else "s")


def counted(number: int, word: str) -> str:
    """A number of things in words: 1 class, 2 classes; 1 person, 2,000 people."""
    return f"{number:,} {plural(word, number)}"
