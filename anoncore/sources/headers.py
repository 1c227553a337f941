"""Names of columns: text, without surrounding spaces, each used once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, time

from anoncore.base.errors import DataError
from anoncore.sources.notes import Notes, listed, shown

MOST_COLUMNS = 10_000
"""Columns that a table may have: each takes memory and time of its own, however few rows there are."""


def require_few_columns(n_columns: int, table: str) -> None:
    """Raise DataError for a table that is too wide, before its rows are read."""
    if n_columns > MOST_COLUMNS:
        raise DataError(
            f"{shown(table)} has {n_columns:,} columns, and tables of at most {MOST_COLUMNS:,} are read; leave out "
            "columns, or turn the table if its columns are people."
        )


def column_names(raw: Sequence[object], table: str, notes: Notes) -> list[str]:
    """Clean the names of the header; an empty name becomes `column 3` (counted from 1) with a note.

    Raises DataError for more columns than `MOST_COLUMNS`, and when two columns have the same name after surrounding
    spaces are gone.
    """
    require_few_columns(len(raw), table)
    names = [_text(name) for name in raw]
    taken = set(names)
    for position, name in enumerate(names):
        if name:
            continue
        fresh = f"column {position + 1}"
        while fresh in taken:
            fresh += " (unnamed)"
        taken.add(fresh)
        names[position] = fresh
        notes.about("Columns without a name got one: {columns}.", fresh)
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        found = listed([shown(name) for name in repeated])
        raise DataError(f"{shown(table)} has more than one column named {found}; give every column its own name.")
    return names


def notice_numbers(names: Sequence[str], notes: Notes) -> None:
    """Say so when names are numbers (most of them, or one with sign or fraction): the header may be missing."""
    numbers = [name for name in names if _is_number(name)]
    if 2 * len(numbers) > len(names) or any(not name.isdigit() for name in numbers):
        examples = listed([shown(name) for name in numbers])
        notes.say(
            f"The first line was taken as the column names, but {examples} look like values; "
            "if the file has no header line, add one."
        )


def _text(name: object) -> str:
    if name is None:
        return ""
    if isinstance(name, (datetime, date, time)):
        return name.isoformat().removesuffix("T00:00:00")
    return str(name).strip()


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return name.lower().lstrip("+-") not in {"nan", "inf", "infinity"}
