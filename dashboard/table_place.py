"""A table by the path or the address that a visitor wrote, where the program may read it for them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from anoncore import DataError
from anoncore.recipes.source import Source
from anoncore.sources.addresses import is_database, shown_address
from anoncore.sources.table_files import table_files
from dashboard import state

_SERVER = "tables-of-server"


@dataclass(frozen=True)
class TablePlace:
    """A table by its path on this machine, or by its address; `table` names one of a database."""

    place: Path | str
    table: str | None = None

    @property
    def name(self) -> str:
        """What the table is called, with nothing that gives rights to it."""
        if isinstance(self.place, Path):
            return self.place.name
        own = PurePosixPath(urlsplit(shown_address(self.place)).path).name
        return self.table or own or shown_address(self.place)

    @property
    def source(self) -> Source:
        """The table as a recipe names it."""
        return Source(path=str(self.place), table=self.table)

    @property
    def stem(self) -> str:
        """A name for files about it."""
        return self.table or self.name.split(".")[0] or "table"

    @property
    def folder(self) -> Path:
        """Where files about it lie unless something else is said: beside it, or in the user's own folder."""
        return self.place.parent if isinstance(self.place, Path) else Path.home()


def known_tables(path: Path | str) -> tuple[str, ...]:
    """The tables of a database, none for other tables. Raises DataError for what is no table that can be read.

    A server is asked again when another address was named in between.
    """
    if isinstance(path, str):
        if not is_database(path):
            return ()
        from anoncore.sources.postgresql import known_tables as tables_of

        held = state.session(_SERVER)
        if held is None or held[0] != path:
            held = (path, tables_of(path))
            state.set_session(_SERVER, held)
        of_server: tuple[str, ...] = held[1]
        return of_server
    if not path.exists():
        raise DataError(f"There is no file and no folder '{path}' on this machine.")
    # DuckDB is loaded only for tables that need it.
    from anoncore.sources.large_table import database_tables

    found = database_tables(path)
    if not found:
        table_files(path)
    return found
