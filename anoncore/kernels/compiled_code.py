"""Where compiled kernels are kept on disk: one folder per user and per state of the kernels' sources.

numba keeps compiled code beside the source and compares it with the function's own file only. Code that was inlined
from another file would stay as it was after that file changed, and every clone, container or upgrade would compile
anew. Here the name of the folder is a digest of all kernel sources instead. A change of any kernel leads to another
folder, so that stale code is never found; two clones of the same sources share one folder, wherever they lie.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import numba
from numba.core.caching import _CacheLocator
from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Iterator

FORGOTTEN_AFTER_DAYS = 30
"""Compiled code that nobody has loaded for so long is removed when other code is compiled for the first time."""


def digest_of(folder: Path) -> str:
    """A name for the present state of a folder's Python files: 16 hexadecimal digits of their names and contents."""
    digest = sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def root() -> Path:
    """The folder that holds all compiled code of this user: NUMBA_CACHE_DIR where it is set, else the user's cache."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    return Path(given) / "anoncore" if given else user_cache_path("anoncore", appauthor=False) / "compiled"


def forget_old(folder: Path, now: float) -> None:
    """Remove the subfolders of `folder` that were last used more than FORGOTTEN_AFTER_DAYS days before `now`."""
    for compiled in folder.iterdir():
        with suppress(OSError):
            if now - compiled.stat().st_mtime > FORGOTTEN_AFTER_DAYS * 86_400:
                rmtree(compiled)


def prepared(folder: Path, digest: str) -> Path:
    """The subfolder for a digest, made and marked as used now. Raises OSError where it cannot be written."""
    compiled = folder / digest
    is_new = not compiled.is_dir()
    compiled.mkdir(parents=True, exist_ok=True)
    os.utime(compiled)
    with tempfile.TemporaryFile(dir=compiled):
        pass
    if is_new:
        forget_old(folder, time.time())
    return compiled


@cache
def folder_of_this_process() -> Path:
    """The folder that this process reads compiled code from and writes it to.

    Where the user's cache cannot be written, it is a new temporary folder that only this user can read: compiled code
    is loaded without further checks, so it must never come from a place that others can write to.
    """
    digest = digest_of(Path(__file__).parent)
    try:
        return prepared(root(), digest)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="anoncore-compiled-"))


class CompiledCode(_CacheLocator):  # type: ignore[misc]
    """Tells numba where the compiled code of one function lies and which state of its source it belongs to."""

    def __init__(self, function: Any, source: str) -> None:
        self._line = function.__code__.co_firstlineno
        self._source = Path(source)
        # Two files of one name in different packages must not share compiled code.
        self._folder = folder_of_this_process() / function.__module__.rpartition(".")[0]

    @classmethod
    def from_function(cls, function: Any, source: str) -> CompiledCode:
        """The place of a function's compiled code; numba calls this once for each function."""
        locator = cls(function, source)
        locator.ensure_cache_path()
        return locator

    def get_cache_path(self) -> str:
        """The folder of the function's compiled code."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """A digest of the function's own file, for functions that are defined outside the folder of the kernels."""
        return sha256(self._source.read_bytes()).hexdigest()

    def get_disambiguator(self) -> str:
        """What tells functions of one name in one file apart: their line."""
        return str(self._line)


@contextmanager
def kept_here() -> Iterator[None]:
    """Functions that numba wraps inside this block keep their compiled code in the shared folder."""
    before = numba.config.CACHE_LOCATOR_CLASSES
    numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{CompiledCode.__name__}"
    try:
        yield
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = before
