"""Plain values as TOML text, which `tomllib` reads back as the same values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import quoted

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
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
    """Plain values (see `plain`) as TOML 1.0, tables after the values of their own table."""
    lines: list[str] = []
    _write_table(lines, (), values)
    return "\n".join(lines).strip("\n") + "\n"


def _write_table(lines: list[str], path: tuple[str, ...], values: Mapping[str, Any]) -> None:
    tables = {key: value for key, value in values.items() if isinstance(value, Mapping) or _is_table_list(value)}
    for key, value in values.items():
        if key not in tables:
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in tables.items():
        here = (*path, key)
        name = ".".join(_key(part) for part in here)
        for table in [value] if isinstance(value, Mapping) else value:
            only_tables = bool(table) and all(isinstance(item, Mapping) and item for item in table.values())
            if not isinstance(value, Mapping):
                lines.extend(["", f"[[{name}]]"])
            elif not only_tables:
                lines.extend(["", f"[{name}]"])
            _write_table(lines, here, table)


def _is_table_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON's escapes are also TOML's; only the delete character needs one that JSON leaves out.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"{'-' if value < 0 else ''}inf"
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        items = [_value(item) for item in value]
        line = "[" + ", ".join(items) + "]"
        return line if len(line) <= LINE_LENGTH else "[\n" + "".join(f"    {item},\n" for item in items) + "]"
    return str(value)
