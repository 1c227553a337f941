"""The texts that tools write for several values at once, taken apart: ranges, sets, bounds, masked characters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from anoncore.base.texts import MISSING_TEXT

EVERYTHING_TEXTS = frozenset({"*", "?", "any", "all", "[*]", "{*}", "suppressed"})
"""What tools write, in any case, for a cell that says nothing."""
OPENING, CLOSING = "[](", ")[]"
OPEN_LOW, OPEN_HIGH = "](", ")["
RANGE_MARKS = (" to ", "..", "…", " - ", "–", "—", "-", ":")
"""What stands between the ends of a range, what is least likely to be part of a value first."""
SET_MARKS = ("|", ";", ",", "/")
LIST_MARKS = (", ", ";", ",")
LONGEST_REGION = 200
"""Characters up to which a text can be a range or a masked value. Sets may be longer: they are taken apart in one go,
while a range is looked for at every mark."""
AT_LEAST = (
    (">=", "≥", "=>"),
    ("+", "and over", "and older", "and above", "or more", "or over", "or older", "or above"),
)
AT_MOST = (("<=", "≤", "=<", "up to"), ("and under", "and younger", "and below", "or less", "or under", "or younger"))
ABOVE = ((">", "over", "above"), ())
BELOW = (("<", "under", "below"), ())
"""What stands before and after the end of a range that has only one."""
OR_MISSING = f" or {MISSING_TEXT}"


@dataclass(frozen=True)
class Everything:
    """A cell that allows every value."""


@dataclass(frozen=True)
class OneOf:
    """A cell that allows the values of some texts, or some values themselves."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Span:
    """A cell that allows what lies between two ends; None is no end. `missing`: or a missing value."""

    low: str | None
    high: str | None
    low_open: bool = False
    high_open: bool = False
    missing: bool = False


@dataclass(frozen=True)
class Masked:
    """A cell that allows the texts of its length that have its characters where it has no star."""

    pattern: str

    def fits(self, text: str) -> bool:
        """Whether a text is one of them."""
        return len(text) == len(self.pattern) and all(
            mark in ("*", letter) for mark, letter in zip(self.pattern, text, strict=True)
        )


Region = Everything | OneOf | Span | Masked


def regions_in(cell: Any) -> Iterator[Region]:
    """Every way to read a cell as a region of several values, the likeliest first; nothing for a plain value."""
    if isinstance(cell, pd.Interval):
        yield Span(str(cell.left), str(cell.right), not cell.closed_left, not cell.closed_right)
    elif isinstance(cell, frozenset | set | list | tuple):
        yield OneOf(tuple(cell))
    elif isinstance(cell, str):
        yield from _regions_in_text(cell)


def _regions_in_text(given: str) -> Iterator[Region]:
    text = given.strip()
    if not text or text.casefold() in EVERYTHING_TEXTS or set(text) == {"*"}:
        yield Everything()
        return
    parts = set_parts(text)
    if parts is not None:
        yield OneOf(tuple(parts))
        yield from (OneOf(split) for split in _split(text[1:-1], LIST_MARKS))
    is_short = len(text) <= LONGEST_REGION
    yield from _bracketed(text, is_short)
    if is_short:
        yield from _spans(text)
    yield from (OneOf(split) for split in _split(text, SET_MARKS))
    if is_short and "*" in text:
        yield Masked(text)


def _bracketed(text: str, is_short: bool) -> Iterator[Region]:
    """Intervals such as [20, 30) or ]20; 30], where the text is short, and sets in other brackets."""
    if len(text) < 2 or text[0] not in OPENING or text[-1] not in CLOSING:
        return
    inner = text[1:-1]
    for mark in (*LIST_MARKS, *RANGE_MARKS) if is_short else ():
        for low, high in _halves(inner, mark):
            yield Span(_end(low), _end(high), text[0] in OPEN_LOW, text[-1] in OPEN_HIGH)
    if text[0] + text[-1] in ("[]", "()"):
        yield from (OneOf(split) for split in _split(inner, LIST_MARKS))


def _end(text: str) -> str | None:
    """One end of an interval; None where it has none, as in (-∞, 20]."""
    return None if text.casefold().lstrip("+-") in ("inf", "infinity", "∞", "") else text


def _spans(text: str) -> Iterator[Span]:
    missing = text.endswith(OR_MISSING)
    text = text.removesuffix(OR_MISSING)
    if missing:
        yield Span(text, text, missing=True)
    for mark in RANGE_MARKS:
        for low, high in _halves(text, mark):
            yield Span(low, high, missing=missing)
    for marks, is_low, is_open in (
        (AT_LEAST, True, False),
        (AT_MOST, False, False),
        (ABOVE, True, True),
        (BELOW, False, True),
    ):
        end = _without_mark(text, *marks)
        if end:
            yield Span(end, None, low_open=is_open) if is_low else Span(None, end, high_open=is_open)


def _without_mark(text: str, before: tuple[str, ...], after: tuple[str, ...]) -> str:
    """What remains of a text without the mark that it begins or else ends with; empty where it has none."""
    for mark in before:
        if text.startswith(mark) and len(text) > len(mark):
            return text.removeprefix(mark).strip()
    for mark in after:
        if text.endswith(mark):
            return text.removesuffix(mark).strip()
    return ""


def _halves(text: str, mark: str) -> Iterator[tuple[str, str]]:
    """Every way to cut a text in two at a mark, none of them empty."""
    at = text.find(mark, 1)
    while at >= 0:
        low, high = text[:at].strip(), text[at + len(mark) :].strip()
        if low and high:
            yield low, high
        at = text.find(mark, at + 1)


def _split(text: str, marks: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The parts of a text between marks of one kind, for each kind that is in it."""
    for mark in marks:
        if mark in text:
            yield tuple(part.strip() for part in text.split(mark) if part.strip())


def set_parts(text: str) -> list[str] | None:
    """The texts of the values of a set such as `{flu, "a, b"}`, without their quotes; None for anything else."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    members, current, quoted, rest = [], "", False, text[1:-1]
    position = 0
    while position < len(rest):
        character = rest[position]
        if character == '"' and quoted and rest[position + 1 : position + 2] == '"':
            current, position = current + '"', position + 1
        elif character == '"':
            quoted = not quoted
        elif character == "," and not quoted and rest[position + 1 : position + 2] == " ":
            members.append(current)
            current, position = "", position + 1
        else:
            current += character
        position += 1
    return [*members, current]
