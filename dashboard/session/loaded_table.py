"""A table as a visitor loaded it, or as it comes with the program, and how its attributes are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from secrets import token_hex
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd

from anoncore import Hierarchy, datasets
from anoncore.base.memory import CELL_BYTES, require_memory
from anoncore.recipes.prepared_columns import PseudonymKey
from anoncore.table.microdata import guess_kind
from anoncore.table.preparation import DateShift
from anoncore.table.pseudonyms import KEY_BYTES
from dashboard.tasks.redrawing import memo


@dataclass(frozen=True, eq=False)
class Tags:
    """How the attributes of a table are read. `digest` tells two sets of tags apart and is hashable.

    `roles` has the attributes on which somebody decided; all others are left out of every release. `shifted` are
    columns of dates that are shifted by up to `most_days` days per person, and `is_pseudonym` says that pseudonyms of
    the unit are published; both are made by `secret`, so that a table is prepared in the same way whenever it is coded.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    sensitive_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    unit: str | None = None
    shifted: tuple[str, ...] = ()
    most_days: int = 30
    is_pseudonym: bool = False
    secret: str = field(default_factory=lambda: token_hex(KEY_BYTES), repr=False)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that the tags say."""
        parts: list[Any] = [
            sorted(part.items(), key=lambda item: item[0])
            for part in (self.roles, self.kinds, self.orders, self.sensitive_values)
        ]
        parts += [(name, hierarchy_digest(self.hierarchies[name])) for name in sorted(self.hierarchies)]
        if self.is_prepared:
            parts += [self.shifted, self.most_days, self.is_pseudonym, self.secret]
        return sha256(repr([*parts, self.unit]).encode()).hexdigest()

    @property
    def is_prepared(self) -> bool:
        """Whether something is done to columns before they are read."""
        return bool(self.shifted) or self.publishes_pseudonym

    @property
    def publishes_pseudonym(self) -> bool:
        """Whether pseudonyms are published; without a unit there are none."""
        return self.is_pseudonym and self.unit is not None

    @property
    def preparations(self) -> dict[str, Any]:
        """What a recipe says of columns that are prepared, as its arguments."""
        return {
            "dates": {name: DateShift(shift=self.most_days, by=self.unit) for name in self.shifted},
            "pseudonyms": {self.unit: PseudonymKey()} if self.publishes_pseudonym else {},
        }

    def in_recipe(self) -> dict[str, Any]:
        """What a recipe says of how attributes are read, as its arguments, but for hierarchies and secret values."""
        return {
            "roles": self.roles,
            "kinds": {name: str(kind) for name, kind in self.kinds.items()},
            "orders": {name: list(order) for name, order in self.orders.items()},
            "unit": self.unit,
            **self.preparations,
        }

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

    `sheet` is the sheet of the workbook that the table was read from, where it was chosen among several. `drawn_from`
    is the number of rows of the table of which this one is a random sample, None for a whole table.
    """

    id: str
    name: str
    frame: pd.DataFrame
    digest: str
    notes: tuple[str, ...]
    builtin: str | None
    suggested: Tags
    sheet: str | None = None
    drawn_from: int | None = None

    @cached_property
    def n_bytes(self) -> int:
        """Memory of the frame in bytes."""
        return int(self.frame.memory_usage(deep=True).sum())


MOST_BUILTIN = 6
"""Built-in tables that are kept, each loaded once for all visitors."""
_tables = memo(MOST_BUILTIN)


def builtin_table(name: str, n_rows: int | None = None) -> LoadedTable:
    """A built-in table with its suggested tags, a generated one with `n_rows` rows.

    Raises DataError where it cannot be had, such as a download without a network.
    """
    digest = f"builtin:{name}" if n_rows is None else f"builtin:{name}:{n_rows}"
    return _tables.get((digest,), lambda: _load_builtin(name, n_rows, digest))


def _load_builtin(name: str, n_rows: int | None, digest: str) -> LoadedTable:
    entry = datasets.table(name)
    if n_rows is not None:
        require_memory(n_rows * len(entry.roles) * CELL_BYTES, f"A table of {n_rows:,} rows", "ask for fewer rows")
    frame = entry.load() if n_rows is None else entry.load(n_rows=n_rows)
    plain = untagged(frame)
    suggested = Tags(
        # Whoever publishes the table decides what is published as it is.
        roles={name: role for name, role in entry.roles.items() if role != "insensitive"},
        kinds={**plain.kinds, **entry.kinds},
        orders={column: tuple(order) for column, order in entry.orders.items()},
        hierarchies=builtin_hierarchies(name),
        sensitive_values={column: tuple(values) for column, values in entry.sensitive_values.items()},
    )
    return LoadedTable(digest, entry.title, frame, digest, (entry.description, entry.source), name, suggested)


def builtin_hierarchies(name: str) -> dict[str, Hierarchy]:
    """The taxonomies that come with a built-in table, by attribute."""
    return {column: Hierarchy.from_nested(nested) for column, nested in datasets.table(name).taxonomies.items()}


def keep_builtin(digests: Collection[str]) -> None:
    """Let go of all but the tables of these digests."""
    _tables.drop(lambda key: key[0] not in digests)
