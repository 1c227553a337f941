"""Folders that are removed when they are needed no longer, also where the program ends in the middle of its work."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

_lock = threading.Lock()
_open: set[Path] = set()


@contextmanager
def removed_at_end(folder: Path) -> Iterator[Path]:
    """Remove a folder, with all that is in it, at the end of the block or by `remove_all`, whichever comes first."""
    with _lock:
        _open.add(folder)
    try:
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)
        with _lock:
            _open.discard(folder)


@contextmanager
def temporary_directory(parent: Path | None = None) -> Iterator[Path]:
    """A new folder that only this user can read, in the system's folder for such or in `parent`."""
    with removed_at_end(Path(tempfile.mkdtemp(prefix="anoncore-", dir=parent))) as folder:
        yield folder


@contextmanager
def nothing_removed() -> Iterator[None]:
    """Inside this block `remove_all` waits, so that no folder vanishes between two steps that belong together."""
    with _lock:
        yield


def remove_all() -> None:
    """Remove every such folder now; the work that uses them must not go on."""
    with _lock:
        for folder in _open:
            rmtree(folder, ignore_errors=True)
