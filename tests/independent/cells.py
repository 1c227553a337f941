"""What a published cell says, read from its text alone: ranges, sets, nodes of a hierarchy and single values."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from .tables import Paths

MISSING = "(missing)"
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
DAY = r"\d{4}-\d\d-\d\d"


def members(text: str) -> list[str]:
    """The members of a set, which stand in quotes where a comma, a brace or a quote of their own would mislead."""
    found = re.findall(r'("(?:[^"]|"")*"|[^,"]*)(?:, |\}$)', text[1:])
    return [one[1:-1].replace('""', '"') if one.startswith('"') else one for one in found]


def bounds(text: str) -> tuple[str, str] | None:
    """The ends of a range such as 20-29, or -5 to 3 where a minus would mislead; None for a text that is none."""
    one = re.fullmatch(rf"({DAY}|{NUMBER})", text)
    found = re.fullmatch(rf"({DAY}|{NUMBER}) to ({DAY}|{NUMBER})", text) or re.fullmatch(
        rf"({NUMBER})-({NUMBER})", text
    )
    return (one[1], one[1]) if one else (found[1], found[2]) if found else None


def as_number(text: str) -> float:
    return float(date.fromisoformat(text).toordinal()) if re.fullmatch(DAY, text) else float(text)


def fits_range(text: str, value: float | None) -> bool:
    """Whether a number (a day by its ordinal) or a missing one fits a cell of numbers."""
    shown = text.removesuffix(f" or {MISSING}")
    if value is None:
        return text == MISSING or shown != text
    ends = bounds(shown)
    assert ends is not None or text == MISSING, text
    return ends is not None and as_number(ends[0]) <= value <= as_number(ends[1])


def fits_set(text: str, value: Any) -> bool:
    """Whether a category or a missing one is the single value or in the set that a cell shows."""
    shown = MISSING if value is None else value
    return text == shown or (text.startswith("{") and text.endswith("}") and shown in members(text))


def fits_node(text: str, value: Any, paths: Paths) -> bool:
    """Whether a cell shows a value itself or a node above it; a missing one has the top alone above it."""
    if value is None:
        return text in (MISSING, next(iter(paths.values()))[-1])
    return text in (value, *paths[value])
