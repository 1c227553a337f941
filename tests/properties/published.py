"""What a reader of published tables sees, in a form that does not depend on row order or group numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd

from anoncore import Release
from anoncore.base.texts import is_missing


def cell(value: Any) -> str:
    """A cell as text; missing cells of all looks are equal."""
    return "missing" if is_missing(value) else repr(value)


def rows(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """The rows of a table as texts."""
    return [tuple(map(cell, row)) for row in table.itertuples(index=False, name=None)]


def content(release: Release) -> Counter[Any]:
    """The published tables; where they are joined by a group column, the multiset of their groups.

    Rows stay in published order, which must be one of content only.
    """
    tables = release.tables()
    joining = {name for table in tables.values() for name in table.columns} - set(release.attributes)
    if not joining:
        return Counter({(name, tuple(rows(table))): 1 for name, table in tables.items()})
    (group,) = joining
    parts: dict[int, list[tuple[str, tuple[str, ...]]]] = {}
    for name, table in tables.items():
        for number, row in zip(table[group], rows(table.drop(columns=group)), strict=True):
            parts.setdefault(number, []).append((name, row))
    return Counter(tuple(part) for part in parts.values())
