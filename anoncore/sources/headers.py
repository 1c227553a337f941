"""Names of columns: text, without surrounding spaces, each used once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time

from anoncore.base.errors import DataError
from anoncore.sources.notes import Notes, listed, shown


def column_names(raw: Sequence[object], table: str, notes: Notes) -> list[str]:
    """Clean the names of the header; an empty name becomes `column 3` (counted from 1) with a note.

    Raises DataError when two columns have the same name after surrounding spaces are gone.
    """
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
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
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
