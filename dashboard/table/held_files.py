"""Tables below the folders that visitors may use, held open so that no link that is put there later leads out of them.

A path that was checked is opened afterwards, and whoever may write to a folder could put a link in its place meanwhile.
So every file is opened from its folder on, name by name, and no link is followed on the way. Readers get a name in a
folder of ours that leads to what was opened, and read it whatever becomes of its own name.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from errno import EMFILE, ENFILE
from pathlib import Path

from anoncore import DataError
from anoncore.base.temporary import temporary_directory
from anoncore.sources.table_files import DATABASES
from dashboard.serving.own_machine import whole_inside

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
