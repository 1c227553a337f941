"""Hierarchies out of files in the form of ARX: one line per value, without a header."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from anoncore.base.errors import DataError
from anoncore.base.texts import quoted, value_text
from anoncore.table.hierarchy import Hierarchy

MOST_LEVELS = 1_000
"""Generalizations of one value: a line of millions would take gigabytes."""
QUOTED = re.compile(r'(^|[;,])"(?:[^"]++|"")*+"', re.MULTILINE)
"""A field in quotes, with the separator before it."""
SPECIAL = frozenset(';,"\r\n\ufeff')
"""What may not stand in a field without quotes."""


def read_hierarchy(source: str | Path | bytes, name: str | None = None) -> Hierarchy:
    """A hierarchy from a UTF-8 file: each line a value, then its generalizations up to the top.

    Fields are separated by semicolons or commas, whichever the first line has more of outside of quotes. `source` is a
    path or the bytes; `name` is what messages call the file. Raises DataError for a file that is no hierarchy.
    """
    label = name or (Path(source).name if isinstance(source, str | Path) else "hierarchy")
    content = source if isinstance(source, bytes) else _load(Path(source), label)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{quoted(label)} is not UTF-8 text; save the hierarchy as CSV in UTF-8.") from None
    first = QUOTED.sub(r"\1", text).lstrip("\r\n").partition("\n")[0]
    separator = ";" if first.count(";") >= max(first.count(","), 1) else ","
    if any(line.count(separator) > MOST_LEVELS for line in text.split("\n")):
        raise DataError(f"{quoted(label)} has a line of more than {MOST_LEVELS} levels, which no hierarchy has.")
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


def hierarchy_paths(content: bytes, name: str) -> list[tuple[str, tuple[str, ...]]]:
    """The paths of a hierarchy's values, as `Hierarchy` takes them. Parameters and errors are `read_hierarchy`'s."""
    return list(read_hierarchy(content, name).paths.items())


def hierarchy_text(hierarchy: Hierarchy) -> str:
    """The file that `read_hierarchy` reads back: a line per value with its groups, from level 1 to the top.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy.

    Returns
    -------
    str
        Text for a UTF-8 file, separated by semicolons. Texts that hold a separator, a quote or a line break are quoted.

    Raises
    ------
    DataError
        Where two values with different groups have the same text, such as 1 and "1": a file cannot tell them apart.

    Examples
    --------
    >>> from anoncore import Hierarchy
    >>> from anoncore.table.hierarchy_files import hierarchy_text
    >>> print(hierarchy_text(Hierarchy.by_width([21, 24, 30], 10)), end="")
    21;20-29;*
    24;20-29;*
    30;30-39;*
    """
    lines: dict[str, tuple[str, ...]] = {}
    for value in hierarchy.leaves:
        path = hierarchy.paths[value]
        if lines.setdefault(value_text(value), path) != path:
            raise DataError(
                f"Two values are written {quoted(value_text(value))} and lie in different groups, which a file cannot "
                "tell; put them into the same groups."
            )
    return "".join(";".join(map(_field, (text, *path))) + "\n" for text, path in lines.items())


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if SPECIAL & set(text) or not text else text


def _load(path: Path, label: str) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        reason = ((error.strerror if isinstance(error, OSError) else None) or "it cannot be opened").lower()
        raise DataError(f"The hierarchy {quoted(label)} cannot be read: {reason}.") from None
