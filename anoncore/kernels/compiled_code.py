"""Where compiled kernels are kept on disk: one folder per user and per state of the sources that a kernel is made of.

numba keeps compiled code beside the source and compares it with the function's own file only. Code that was inlined
from another file would stay as it was after that file changed, and every clone or container would compile anew. Here
the name of the folder is a digest of the function's file and of all kernels that this file imports, directly or not.
A change leads to another folder for whatever is made of the changed file, so that stale code is never found; whatever
is not is found again, also by another clone or a newer version, wherever it lies.

The compiler holds Python's lock for seconds, so that a process that answers people must not compile. It says so by
`compile_elsewhere`, and whatever it needs that no folder has yet is asked of whom it named.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numba
from numba.core.caching import FunctionCache, _CacheLocator
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import trigger_event
from numba.core.registry import cpu_target
from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FORGOTTEN_AFTER_DAYS = 30
"""Compiled code that nobody has loaded for so long is removed when other code is compiled for the first time."""


KERNELS = Path(__file__).parent
IMPORTED = re.compile(rb"^[ \t]*from anoncore\.kernels\.(\w+) import", re.MULTILINE)
"""How kernels are imported wherever functions are compiled; tests/kernels/test_compiled_code.py makes sure of it."""


@cache
def content_of(source: Path) -> bytes:
    """The bytes of a file, read once in each process."""
    return source.read_bytes()


def sources_of(sources: Iterable[Path]) -> set[Path]:
    """These files, and all kernels' files that they import, directly or not."""
    needed, waiting = set(), list(sources)
    while waiting:
        source = waiting.pop()
        if source not in needed:
            needed.add(source)
            waiting += [KERNELS / f"{name.decode()}.py" for name in IMPORTED.findall(content_of(source))]
    return needed


def digest_of(sources: Iterable[Path]) -> str:
    """A name for the present state of these files and the kernels that they import: 16 hexadecimal digits."""
    digest = sha256()
    for source in sorted(sources_of(sources), key=lambda source: (source.name, content_of(source))):
        digest.update(source.name.encode() + b"\0" + content_of(source) + b"\0")
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
def folder_of(*sources: Path) -> Path:
    """The folder that this process reads the compiled code of these files from and writes it to.

    Where the user's cache cannot be written, it is a new temporary folder that only this user can read: compiled code
    is loaded without further checks, so it must never come from a place that others can write to. The processes that
    this one starts share it.
    """
    digest = digest_of(sources)
    try:
        return prepared(root(), digest)
    except OSError:
        os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="anoncore-compiled-")
        return prepared(root(), digest)


def folder_of_all() -> Path:
    """The folder that stands for the present state of all kernels."""
    return folder_of(*KERNELS.glob("*.py"))


@cache
def made(folder: str) -> None:
    """Make a folder, once in each process."""
    os.makedirs(folder, exist_ok=True)


class CompiledCode(_CacheLocator):  # type: ignore[misc]
    """Tells numba where the compiled code of one function lies and which state of its source it belongs to."""

    def __init__(self, function: Any, source: str) -> None:
        self._line = function.__code__.co_firstlineno
        self._source = Path(source)
        # Two files of one name in different packages must not share compiled code.
        self._folder = folder_of(self._source) / function.__module__.rpartition(".")[0]

    @classmethod
    def from_function(cls, function: Any, source: str) -> CompiledCode:
        """The place of a function's compiled code; numba calls this once for each function."""
        locator = cls(function, source)
        made(locator.get_cache_path())
        return locator

    def get_cache_path(self) -> str:
        """The folder of the function's compiled code."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """What tells states of the source apart within the folder: nothing does, the folder is of one state."""
        return self._folder.parent.name

    def get_disambiguator(self) -> str:
        """What tells functions of one name in one file apart: their line."""
        return str(self._line)


class Wanted(NamedTuple):
    """What is to be compiled: a function by its module and name, for arguments of these types.

    `arguments` is None for the level of a requirement, whose types are always the same.
    """

    module: str
    name: str
    arguments: tuple[Any, ...] | None


class KeptCode(FunctionCache):  # type: ignore[misc]
    """The compiled code of one function on disk, which several processes may write at a time."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        # Two processes that compile one function for different types choose the same number for their files, so that
        # one would find the code of the other under its own types. A name that nobody else chooses prevents that.
        pattern = self._cache_file._data_name_pattern
        self._cache_file._data_name_pattern = pattern.replace("{number:d}", f"{{number:d}}-{uuid4().hex[:12]}")

    def has(self, signature: Any, target: Any) -> bool:
        """Whether the code for a signature is there to be loaded."""
        with self._guard_against_spurious_io_errors():
            key = self._index_key(signature, target.codegen())
            name = self._cache_file._load_index().get(key)
            return name is not None and os.path.exists(self._cache_file._data_path(name))
        return False

    def save_overload(self, signature: Any, data: Any) -> None:
        """Write the code for a signature; whoever ends this process waits until it is written."""
        with _writing:
            super().save_overload(signature, data)


_writing = threading.RLock()
_here = threading.local()
_elsewhere: Callable[[Wanted], None] | None = None


def compile_elsewhere(ask: Callable[[Wanted], None] | None) -> None:
    """From now on call `ask` before this process compiles anything for a caller from Python; None: never again.

    `ask` may let the code be compiled by another process and return when it is there to be loaded. If it is not there
    then, this process compiles it.
    """
    global _elsewhere
    _elsewhere = ask


@contextmanager
def nothing_half_written() -> Iterator[None]:
    """Inside this block no code is being written, so that the process may end."""
    with _writing:
        yield


@contextmanager
def asking_nobody() -> Iterator[None]:
    """Inside this block this thread compiles whatever it needs itself."""
    before, _here.compiles = getattr(_here, "compiles", False), True
    try:
        yield
    finally:
        _here.compiles = before


def ask_first(wanted: Wanted, is_there: Callable[[], bool]) -> None:
    """Before loading or compiling: where the code is not there, let it be compiled elsewhere."""
    if _elsewhere is not None and not getattr(_here, "compiles", False) and not is_there():
        # Whoever counts the time that the compiler takes counts this as well.
        with trigger_event("numba:compiler_lock"):
            _elsewhere(wanted)


@contextmanager
def kept_here() -> Iterator[None]:
    """Functions that numba wraps inside this block keep their compiled code in the shared folder."""
    before = numba.config.CACHE_LOCATOR_CLASSES
    numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{CompiledCode.__name__}"
    try:
        yield
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = before


def keep(function: Any, dispatcher: Any) -> None:
    """Let a function that numba has wrapped keep its compiled code in the shared folder, and ask before it compiles."""
    with kept_here():
        kept = dispatcher._cache = KeptCode(function)
    compile_or_load = dispatcher.compile

    def compile(signature: Any) -> Any:
        arguments = tuple(getattr(signature, "args", signature))
        wanted = Wanted(function.__module__, function.__qualname__, arguments)
        is_there = lambda: arguments in dispatcher.overloads or kept.has(signature, dispatcher.targetctx)  # noqa: E731
        ask_first(wanted, is_there)
        # What the function itself calls belongs to it.
        with asking_nobody():
            return compile_or_load(signature)

    dispatcher.compile = compile


def load_compiler() -> None:
    """Import what loading compiled code needs, which numba does at the first call otherwise.

    Numba's lists of what it can compile break where two threads read them in at a time; a call of a kernel does it too.
    """
    with global_compiler_lock:
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()


def compile_for(function: Any, arguments: tuple[Any, ...] | None) -> None:
    """Compile a kernel for arguments of these types, or the level of a requirement (None), without asking anybody."""
    with asking_nobody():
        if arguments is None:
            _ = function.address
        else:
            function.compile(arguments)


def kept_level(function: Any, signature: Any) -> Any:
    """A function compiled for callers from C, its code kept in the shared folder and asked for before it compiles."""
    compiled: Any = CFunc(function, (signature.args, signature.return_type), {}, {})
    with kept_here():
        kept = compiled._cache = KeptCode(function)
    wanted = Wanted(function.__module__, function.__qualname__, None)
    ask_first(wanted, lambda: kept.has(compiled._sig, compiled._targetdescr.target_context))
    with asking_nobody():
        compiled.compile()
    return compiled
