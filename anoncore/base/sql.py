"""What databases have in common, DuckDB, SQLite and PostgreSQL alike: names and texts as they stand in SQL, so that
nothing in them ends early, and the table that is meant.
"""

from __future__ import annotations

from collections.abc import Sequence

from anoncore.base.errors import DataError
from anoncore.base.texts import listing


def identifier(name: str) -> str:
    """The name of a schema, table or column."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: object) -> str:
    """A text, or what a path or value reads."""
    return "'" + str(text).replace("'", "''") + "'"


def chosen_table(known: Sequence[str], table: str | None, database: str) -> str:
    """The table of a database to read; DataError if it is not there, or none is named and there are several."""
    if not known:
        raise DataError(f"'{database}' has no tables.")
    if table is None and len(known) > 1:
        raise DataError(
            f"'{database}' has the tables {listing(known, 30)}; name one as table in [source], or with --table."
        )
    if table is not None and table not in known:
        raise DataError(f"'{database}' has no table '{table}'; it has {listing(known, 30)}.")
    return table or known[0]
