"""Plain values as TOML text, which `tomllib` reads back as the same values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import tomli_w

from anoncore.base.errors import DataError
from anoncore.base.texts import quoted

SURROGATE = re.compile("[\ud800-\udfff]")
LINE_LENGTH = 100
LONGEST_BITS = 4096
"""Whole numbers of more bits are not written as digits by Python itself beyond some length."""


def plain(value: Any, key: str) -> Any:
    """The value as dicts, lists, texts, numbers, truth values and dates only; numpy and pandas scalars become Python's.

    Raises DataError that names `key` for anything else, such as a missing value.
    """
    if isinstance(value, Mapping):
        return {str(name): plain(item, f"{key}.{name}") for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, key) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item, key) for item in value), key=lambda item: (type(item).__name__, item))
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime(warn=False)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str) and not SURROGATE.search(value):
        return str(value)
    missing = value is pd.NaT or (isinstance(value, float) and math.isnan(value))
    too_long = isinstance(value, int) and value.bit_length() > LONGEST_BITS
    if isinstance(value, bool | int | float | date) and not missing and not too_long:
        return value
    raise DataError(f"{key}: {quoted(value)} cannot be written down; use texts, numbers, true or false, or dates.")


def dumps(values: Mapping[str, Any]) -> str:
    """Plain values (see `plain`) as TOML 1.0; an array stands on one line where it is short."""
    return _short_arrays_on_one_line(tomli_w.dumps(values))


def _short_arrays_on_one_line(text: str) -> str:
    """Join the lines of each array that then fits into a line; tomli-w writes every item on a line of its own.

    No text in the TOML goes over several lines, so a line that ends with a bracket opens an array, and a line that
    begins with one closes the array opened last.
    """
    lines: list[str] = []
    opened: list[int] = []
    for line in text.split("\n"):
        lines.append(line)
        if line.startswith("["):  # the name of a table
            continue
        if line.lstrip(" ").startswith("]"):
            first = opened.pop()
            items = [item.strip(" ").removesuffix(",") for item in lines[first + 1 : -1]]
            joined = lines[first] + ", ".join(items) + line.lstrip(" ")
            if len(joined) <= LINE_LENGTH and not any(item.endswith("[") for item in items):
                lines[first:] = [joined]
        if lines[-1].endswith("["):
            opened.append(len(lines) - 1)
    return "\n".join(lines)
