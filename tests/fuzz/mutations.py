"""Changes to bytes, texts and nested values, from a slip of the keyboard to another type altogether."""

from __future__ import annotations

import datetime
from typing import Any

from tests.fuzz.case import Case

CELLS = (
    *("", " ", "0", "1", "-1", "7", "00012", "1e3", "1,234", "1.234,5", "1e999", "-inf", "nan", "NA", "None", "?"),
    *("True", "false", "2024-05-31", "2024-02-30", "2024-05-31T14:00:00+02:00", "0001-01-01", "9999-12-31", "31.12.99"),
    *("=1+1", "\t=1", "'\tfoo", "\tfoo", "'=1", "@x", "-2+3", "größe", "日本", "🏔", "(missing)", "*", "{a, b}", "1-2"),
    *('say "x"', "a, b", "a;b", "two\nlines", "\r", "a\x00b", "\x1e", "\u200b=1", "\u202eabc", "_x000D_", "_xD800_"),
    *("99999999999999999999", "9007199254740993", "1_000", "+491701234567", "<b>x</b>", "$x$", "x" * 300, "٣", "１２"),
)
NAMES = (
    "a",
    "b",
    "age",
    "group",
    "group_",
    "",
    " ",
    "a",
    "a.b",
    "=x",
    "'\tx",
    "\tx",
    "0",
    "größe",
    "x" * 80,
    "release",
)
SCALARS: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        2,
        3,
        5,
        -1,
        10**6,
        2**63,
        -(2**70),
        10**400,
        10**5000,
        0.0,
        0.5,
        1.0,
        1.5,
        -0.5,
        1e308,
        1e-320,
    ),
    *(float("nan"), float("inf"), float("-inf"), "", "a", "2", "0.5", "age", "town", "illness", "flu", "ordered"),
    *("x" * 3000, "\x00", "\ud800", b"bytes", datetime.date(2024, 2, 29), datetime.datetime.max, 1 + 2j, object),
)
SNIPPETS = (
    b"\x00",
    b"\xff",
    b'"',
    b"'",
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"=",
    b"-",
    b"9" * 30,
)


def mutated_bytes(case: Case, data: bytes, most: int = 6) -> bytes:
    """Some places cut, doubled, swapped or overwritten; now and then the file ends early."""
    changed = bytearray(data)
    for _ in range(case.random.randint(1, most)):
        if not changed:
            break
        place = case.random.randrange(len(changed))
        stop = min(place + case.random.choice((1, 1, 2, 4, 8, 64)), len(changed))
        kind = case.random.randrange(6)
        if kind == 0:
            changed[place] = case.random.randrange(256)
        elif kind == 1:
            changed[place] ^= 1 << case.random.randrange(8)
        elif kind == 2:
            del changed[place:stop]
        elif kind == 3:
            changed[place:place] = changed[place:stop]
        elif kind == 4:
            changed[place:place] = case.pick(SNIPPETS)
        else:
            changed[place:stop] = bytes(case.pick((0, 255)) for _ in range(stop - place))
    if case.chance(0.1):
        del changed[case.random.randrange(len(changed) + 1) :]
    return bytes(changed)


def mutated_text(case: Case, text: str, most: int = 4) -> str:
    """Some characters, words or lines of a text changed."""
    for _ in range(case.random.randint(1, most)):
        if not text:
            return text
        place = case.random.randrange(len(text))
        stop = min(place + case.random.choice((1, 2, 5, 20)), len(text))
        lines = text.split("\n")
        kind = case.random.randrange(5)
        if kind == 0:
            text = text[:place] + text[stop:]
        elif kind == 1:
            mark = case.pick(("[", "]", "{", "}", '"', "'", "=", ".", "-", "9", "\n", "#", "\x00", "ß"))
            text = text[:place] + mark + text[place:]
        elif kind == 2:
            lines.insert(case.random.randrange(len(lines) + 1), case.pick(lines))
            text = "\n".join(lines)
        elif kind == 3:
            del lines[case.random.randrange(len(lines))]
            text = "\n".join(lines)
        else:
            text = text[:place] + str(case.pick(CELLS)) + text[stop:]
    return text


def scalar(case: Case) -> Any:
    """Any single value, also ones that no field takes."""
    return case.pick(SCALARS)


def nested(case: Case, depth: int = 3) -> Any:
    """A value, or lists and tables of such."""
    kind = case.random.randrange(4 if depth else 2)
    if kind < 2:
        return scalar(case)
    if kind == 2:
        return [nested(case, depth - 1) for _ in range(case.random.randrange(4))]
    return {str(case.pick(NAMES)): nested(case, depth - 1) for _ in range(case.random.randrange(4))}


def mutated_value(case: Case, value: Any) -> Any:
    """A nested value in which one part is replaced, removed, doubled or renamed; the original stays as it is."""
    if isinstance(value, dict) and value and case.chance(0.85):
        changed = dict(value)
        key = case.pick(list(changed))
        kind = case.random.choice((0, 0, 0, 0, 0, 3, 4, 5))
        if kind < 3:
            changed[key] = mutated_value(case, changed[key])
        elif kind == 3:
            del changed[key]
        elif kind == 4:
            changed[str(case.pick(NAMES))] = nested(case)
        else:
            changed[str(case.pick((*NAMES, *value)))] = changed.pop(key)
        return changed
    if isinstance(value, list) and value and case.chance(0.85):
        changed_list = list(value)
        place = case.random.randrange(len(changed_list))
        kind = case.random.randrange(4)
        if kind < 2:
            changed_list[place] = mutated_value(case, changed_list[place])
        elif kind == 2:
            del changed_list[place]
        else:
            changed_list.append(changed_list[place] if case.chance(0.5) else nested(case))
        return changed_list
    return nested(case)
