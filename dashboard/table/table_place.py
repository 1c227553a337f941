"""A table by the path or the address that a visitor wrote, where the program may read it for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from anoncore import DataError
from anoncore.base.progress import Progress
from anoncore.recipes.source import Source
from anoncore.sources.addresses import is_database, shown_address
from anoncore.sources.table_files import table_files
from dashboard.serving import settings
from dashboard.session import browser
from dashboard.table import held_files

_SERVER, _FILE = "tables-of-server", "tables-of-file"


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

    @contextmanager
    def brought_here(self, workspace: Path | None = None, progress: Progress | None = None) -> Iterator[Source]:
        """The source as it may be read until the block ends: fetched from its address, or held where others may be.

        Raises DataError for a table that is not there, and for one that may not be read any more.
        """
        with self.source.brought_here(workspace, progress) as here:
            if not isinstance(self.place, Path) or not _is_guarded():
                yield here
                return
            with held_files.held(self.place) as path:
                yield here.replace(path=str(path))

    @property
    def stem(self) -> str:
        """A name for files about it."""
        return self.table or self.name.split(".")[0] or "table"

    @property
    def folder(self) -> Path:
        """Where files about it lie unless something else is said: beside it, or in the user's own folder."""
        return self.place.parent if isinstance(self.place, Path) else Path.home()


def _is_guarded() -> bool:
    """Whether paths are named by those who may read certain folders only, on a machine that can hold them to it."""
    return settings.current().has_sign_in and held_files.can_hold()


def known_tables(path: Path | str) -> tuple[str, ...]:
    """The tables of a database, none for other tables. Raises DataError for what is no table that can be read.

    A server is asked again when another address was named in between.
    """
    if isinstance(path, str):
        if not is_database(path):
            return ()
        from anoncore.sources.postgresql import known_tables as tables_of

        held = browser.get(_SERVER)
        if held is None or held[0] != path:
            held = (path, tables_of(path))
            browser.put(_SERVER, held)
        of_server: tuple[str, ...] = held[1]
        return of_server
    if not path.exists():
        raise DataError(f"There is no file and no folder '{path}' on this machine.")
    if not _is_guarded():
        return _tables_of_file(path)
    identity = held_files.identity(path)
    known = browser.get(_FILE)
    # A page asks again whenever it is drawn, and holding a database may copy it.
    if known is None or known[0] != (path, identity) or path.is_dir():
        with held_files.held(path) as name:
            known = ((path, identity), _tables_of_file(name))
        browser.put(_FILE, known)
    of_file: tuple[str, ...] = known[1]
    return of_file


def _tables_of_file(path: Path) -> tuple[str, ...]:
    # DuckDB is loaded only for tables that need it.
    from anoncore.sources.large_table import database_tables

    found = database_tables(path)
    if not found:
        table_files(path)
    return found
