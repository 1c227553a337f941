"""A table by the path or the address that a visitor wrote, where the program may read it for them.

Where visitors may use some folders only, a path that was checked is opened afterwards, and whoever may write to a
folder could put a link in its place meanwhile. So every file is opened from its folder on, name by name, and no link is
followed on the way. Readers get a name in a folder of ours that leads to what was opened, and read it whatever becomes
of its own name.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from errno import EMFILE, ENFILE
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from anoncore import DataError
from anoncore.base.progress import Progress
from anoncore.base.temporary import temporary_directory
from anoncore.recipes.source import Source
from anoncore.sources.addresses import is_database, shown_address
from anoncore.sources.table_files import DATABASES, table_files
from dashboard.serving import settings
from dashboard.serving.own_machine import whole_inside
from dashboard.session import browser

DESCRIPTORS = Path(f"/proc/{os.getpid()}/fd")
"""Where Linux has a name for every open file of this program."""
BESIDE = (".wal", "-wal", "-journal")
"""What ends the names of files that belong to a database and lie beside it."""
SQLITE = b"SQLite format 3\0"


def can_hold() -> bool:
    """Whether this machine has names for open files: Linux does."""
    return os.open in os.supports_dir_fd and os.scandir in os.supports_fd and DESCRIPTORS.is_dir()


@contextmanager
def held(path: Path) -> Iterator[Path]:
    """A table, a file or a folder of files, under a name that leads to what it is now until the block ends.

    The name ends as its own does, and lies in the system's folder for temporary files, where nobody else can exchange
    it. SQLite follows links to the name of a file before it opens it, so that its databases are copied there from the
    open file. Raises DataError for what lies outside the folders that may be used, or is neither file nor folder.
    """
    with ExitStack() as opened, temporary_directory() as folder:
        descriptor = _opened(path, opened)
        name = folder / path.name
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            _hold_folder(descriptor, path, name, opened)
        else:
            _hold_file(descriptor, name)
            if path.suffix.lower() in DATABASES or _is_sqlite(descriptor):
                for ending in BESIDE:
                    beside = path.with_name(path.name + ending)
                    if beside.is_file():
                        _hold_file(_opened(beside, opened), folder / beside.name)
                if _is_sqlite(descriptor):
                    _copy(folder)
        yield name


def identity(path: Path) -> tuple[int, ...]:
    """What tells a file from others and from itself after a change."""
    with ExitStack() as opened:
        found = os.fstat(_opened(path, opened))
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _opened(path: Path, opened: ExitStack) -> int:
    """A descriptor of what a path leads to below a folder that may be used, until `opened` is closed.

    Links are followed once, here; on the way from the folder to what they led to, none is followed any more.
    """
    whole, root = whole_inside(path)
    with ExitStack() as way:
        here = _open(str(root), path, None, way)
        for part in whole.relative_to(root).parts:
            here = _open(part, path, here, way)
        kept = os.dup(here)
    opened.callback(os.close, kept)
    return kept


def _open(name: str, path: Path, folder: int | None, opened: ExitStack) -> int:
    """A descriptor of a file or folder in an open folder. Raises DataError for a link and for anything else."""
    try:
        # Whoever opens a pipe for reading waits until somebody writes, unless told not to.
        found = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno in (EMFILE, ENFILE):
            raise DataError(
                f"'{path.name}' has more files than this server may hold open at a time; join them to fewer ones, or "
                "let the server open more (LimitNOFILE)."
            ) from None
        reason = error.strerror.lower() if error.strerror else "it is not there"
        raise DataError(f"'{path}' cannot be opened where it lay when it was named: {reason}.") from None
    opened.callback(os.close, found)
    if not (stat.S_ISREG(kind := os.fstat(found).st_mode) or stat.S_ISDIR(kind)):
        raise DataError(f"'{path}' is neither a file nor a folder; name a table.")
    return found


def _hold_folder(descriptor: int, path: Path, name: Path, opened: ExitStack) -> None:
    """Hold what readers take of a folder: its files and those of its folders, and files that links in it lead to."""
    name.mkdir()
    with os.scandir(descriptor) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        own, is_read = path / entry.name, not entry.name.startswith((".", "_"))
        if entry.is_symlink():
            if is_read and own.is_file():
                _hold_file(_opened(own, opened), name / entry.name)
        elif entry.is_dir(follow_symlinks=False):
            with ExitStack() as way:
                _hold_folder(_open(entry.name, own, descriptor, way), own, name / entry.name, opened)
        elif is_read and entry.is_file(follow_symlinks=False):
            _hold_file(_open(entry.name, own, descriptor, opened), name / entry.name)


def _hold_file(descriptor: int, name: Path) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise DataError(f"'{name.name}' is no file any more; name the table again.")
    name.symlink_to(DESCRIPTORS / str(descriptor))


def _is_sqlite(descriptor: int) -> bool:
    return os.pread(descriptor, len(SQLITE), 0) == SQLITE


def _copy(folder: Path) -> None:
    """Put the files themselves where names lead to them."""
    for name in list(folder.iterdir()):
        copied = name.with_name(f".{name.name}")
        with name.open("rb") as source, copied.open("xb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        copied.replace(name)


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
            with held(self.place) as path:
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
    return settings.current().has_sign_in and can_hold()


def known_tables(path: Path | str) -> tuple[str, ...]:
    """The tables of a database, none for other tables. Raises DataError for what is no table that can be read.

    A server is asked again when another address was named in between.
    """
    if isinstance(path, str):
        if not is_database(path):
            return ()
        from anoncore.sources.postgresql import known_tables as tables_of

        asked = browser.get(_SERVER)
        if asked is None or asked[0] != path:
            asked = (path, tables_of(path))
            browser.put(_SERVER, asked)
        of_server: tuple[str, ...] = asked[1]
        return of_server
    if not path.exists():
        raise DataError(f"There is no file and no folder '{path}' on this machine.")
    if not _is_guarded():
        return _tables_of_file(path)
    its_identity = identity(path)
    known = browser.get(_FILE)
    # A page asks again whenever it is drawn, and holding a database may copy it.
    if known is None or known[0] != (path, its_identity) or path.is_dir():
        with held(path) as name:
            known = ((path, its_identity), _tables_of_file(name))
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
