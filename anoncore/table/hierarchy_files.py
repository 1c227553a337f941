"""Hierarchies out of files in the form of ARX: one line per value, without a header."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from anoncore.base.errors import DataError
from anoncore.base.texts import quoted
from anoncore.table.hierarchy import Hierarchy


def read_hierarchy(source: str | Path | bytes, name: str | None = None) -> Hierarchy:
    """A hierarchy from a UTF-8 file: each line a value, then its generalizations up to the top.

    Fields are separated by semicolons or commas, whichever the first line has more of. `source` is a path or the bytes;
    `name` is what messages call the file. Raises DataError for a file that is no hierarchy.
    """
    label = name or (Path(source).name if isinstance(source, str | Path) else "hierarchy")
    content = source if isinstance(source, bytes) else _load(Path(source), label)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{quoted(label)} is not UTF-8 text; save the hierarchy as CSV in UTF-8.") from None
    first = text.partition("\n")[0]
    separator = ";" if first.count(";") >= max(first.count(","), 1) else ","
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True) if line]
    except csv.Error as error:
        raise DataError(f"{quoted(label)} cannot be read as CSV: {error}.") from None
    if not lines:
        raise DataError(f"{quoted(label)} is empty; a hierarchy has one line per value.")
    try:
        return Hierarchy.from_table(lines)
    except DataError as error:
        raise DataError(f"{quoted(label)}: {error}") from None


def _load(path: Path, label: str) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        reason = ((error.strerror if isinstance(error, OSError) else None) or "it cannot be opened").lower()
        raise DataError(f"The hierarchy {quoted(label)} cannot be read: {reason}.") from None
