"""Files of TOML that an office writes, such as its policy: read whole, with one sentence for what is wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from anoncore.base.errors import ParameterError
from anoncore.base.showing import printable
from anoncore.base.texts import quoted

LONGEST = 100_000
"""Characters of the longest file that is read."""
MOST_DOTS = 200
"""Dots in a line: a key of many thousand parts would take the reader of TOML minutes."""


def read_text(file: Path, what: str) -> bytes:
    """The content of a file, cut after what is too long; `what` it is, such as `policy`.

    Raises ParameterError for a file that cannot be read.
    """
    try:
        with file.open("rb") as opened:
            return opened.read(LONGEST + 1)
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise ParameterError(f"The {what} {quoted(file.name)} cannot be read: {reason}.") from None


def toml_values(text: str | bytes, what: str) -> dict[str, Any]:
    """The values in a text of TOML, in UTF-8 where it is bytes; `what` it is, such as `policy`.

    Raises ParameterError for a text that is too long or no TOML.
    """
    if len(text) > LONGEST:
        raise ParameterError(f"The {what} is longer than {LONGEST:,} characters, which none is.")
    try:
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise ParameterError(f"The {what} is not UTF-8 text.") from None
    if any(line.count(".") > MOST_DOTS for line in text.split("\n")):
        raise ParameterError(f"The {what} has a line with more than {MOST_DOTS} dots, which none has.")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParameterError(printable(f"The {what} is not valid TOML: {error}.")) from None
