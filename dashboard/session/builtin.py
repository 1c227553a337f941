"""The built-in tables with their suggested tags, each loaded once for all visitors."""

from __future__ import annotations

from collections.abc import Collection

from anoncore import Hierarchy, datasets
from anoncore.base.memory import CELL_BYTES, require_memory
from dashboard.session.loaded_table import LoadedTable, Tags, untagged
from dashboard.tasks.waiting import memo

MOST = 6
_tables = memo(MOST)


def table(name: str, n_rows: int | None = None) -> LoadedTable:
    """A built-in table with its suggested tags, a generated one with `n_rows` rows.

    Raises DataError where it cannot be had, such as a download without a network.
    """
    digest = f"builtin:{name}" if n_rows is None else f"builtin:{name}:{n_rows}"
    return _tables.get((digest,), lambda: _load(name, n_rows, digest))


def _load(name: str, n_rows: int | None, digest: str) -> LoadedTable:
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
        hierarchies=hierarchies(name),
        sensitive_values={column: tuple(values) for column, values in entry.sensitive_values.items()},
    )
    return LoadedTable(digest, entry.title, frame, digest, (entry.description, entry.source), name, suggested)


def hierarchies(name: str) -> dict[str, Hierarchy]:
    """The taxonomies that come with a built-in table, by attribute."""
    return {column: Hierarchy.from_nested(nested) for column, nested in datasets.table(name).taxonomies.items()}


def keep(digests: Collection[str]) -> None:
    """Let go of all but the tables of these digests."""
    _tables.drop(lambda key: key[0] not in digests)
