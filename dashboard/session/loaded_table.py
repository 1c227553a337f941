"""A table as a visitor loaded it, and how its attributes are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd

from anoncore import Hierarchy
from anoncore.table.microdata import guess_kind


@dataclass(frozen=True, eq=False)
class Tags:
    """How the attributes of a table are read. `digest` tells two sets of tags apart and is hashable.

    `roles` has the attributes on which somebody decided; all others are left out of every release.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    sensitive_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    unit: str | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that the tags say."""
        parts: list[Any] = [
            sorted(part.items(), key=lambda item: item[0])
            for part in (self.roles, self.kinds, self.orders, self.sensitive_values)
        ]
        parts += [(name, hierarchy_digest(self.hierarchies[name])) for name in sorted(self.hierarchies)]
        return sha256(repr([*parts, self.unit]).encode()).hexdigest()

    def changed(self, part: str, name: str, value: Any) -> Tags:
        """The tags with one entry of `part` (a field name) set, or removed where the value is None."""
        entries = {key: kept for key, kept in getattr(self, part).items() if key != name}
        changes: dict[str, Any] = {part: entries if value is None else {**entries, name: value}}
        return replace(self, **changes)


_HIERARCHY_DIGESTS: WeakKeyDictionary[Hierarchy, str] = WeakKeyDictionary()


def hierarchy_digest(hierarchy: Hierarchy) -> str:
    """SHA-256 of a hierarchy's paths, computed once per hierarchy."""
    known = _HIERARCHY_DIGESTS.get(hierarchy)
    if known is None:
        known = sha256(repr(list(hierarchy.paths.items())).encode()).hexdigest()
        _HIERARCHY_DIGESTS[hierarchy] = known
    return known


def untagged(frame: pd.DataFrame) -> Tags:
    """The tags of a table on which nobody decided: no attribute has a role, kinds are guessed."""
    return Tags(kinds={str(name): guess_kind(column).value for name, column in frame.items()})


@dataclass(frozen=True, eq=False)
class LoadedTable:
    """A table as loaded. `digest` is that of its content; `builtin` the name of a built-in table, None for a file.

    `sheet` is the sheet of the workbook that the table was read from, where it was chosen among several.
    """

    id: str
    name: str
    frame: pd.DataFrame
    digest: str
    notes: tuple[str, ...]
    builtin: str | None
    suggested: Tags
    sheet: str | None = None

    @cached_property
    def n_bytes(self) -> int:
        """Memory of the frame in bytes."""
        return int(self.frame.memory_usage(deep=True).sum())
