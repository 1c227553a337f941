"""Read a table that a stranger gave in a process of its own, which ends where it takes more than the file is worth.

A file can be made so that a parser takes hours or all of the memory, or ends the program, and no check before it knows
every way to do so. Here that ends the process that reads, and the one who asked gets a sentence. Values come back as an
Arrow stream, which is data alone, and nothing is written to a disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import pandas as pd
import psutil
import pyarrow as pa

from anoncore.base.errors import DataError
from anoncore.base.memory import free_memory
from anoncore.base.pandas_versions import frame_of
from anoncore.sources.notes import shown
from anoncore.sources.reader import TableSource, base_name

PROCESS = "anoncore.sources.reading_process"
LOOK_EVERY = 0.05
"""Seconds between two looks at what the process takes."""
MB = 1 << 20
KEPT = ("PATH", "HOME", "LANG", "TZ", "TMP", "TEMP", "TMPDIR", "SYSTEMROOT", "USERPROFILE", "LD_LIBRARY_PATH")
"""Variables of the environment that the process gets; those of a server hold secrets, which it must not know."""
KEPT_KINDS = ("LC_", "PYTHON", "NUMBA_")
"""How the names of further ones begin."""
WITH_SHEETS = (b"PK", b"\x1f\x8b")
"""How files begin that may be a workbook, a packed one included."""


@dataclass(frozen=True)
class Limits:
    """What reading a file may take: bytes of memory, seconds of a processor, seconds by the clock, bytes of result."""

    memory: int
    processor: float
    clock: float
    result: int

    def or_more(self, other: Limits | None) -> Limits:
        """The larger of both, one by one, but no more than the memory that is free."""
        if other is None:
            return self
        memory, result = (min(max(pair), free_memory()) for pair in zip(self.sizes, other.sizes, strict=True))
        return Limits(memory, max(self.processor, other.processor), max(self.clock, other.clock), result)

    @property
    def sizes(self) -> tuple[int, int]:
        """Bytes of memory and of the result."""
        return self.memory, self.result


def usual_limits(n_bytes: int) -> Limits:
    """What a file of so many bytes is worth.

    Tables take at most 16 times the bytes of their file, of which a workbook and a packed text are the fewest; the
    seconds are those of workbooks, which take longest.
    """
    memory = min(768 * MB + 16 * n_bytes, free_memory())
    processor = 8.0 + 5.0 * n_bytes / MB
    return Limits(memory, processor, 20.0 + 12 * processor, memory)


def read_table_apart(
    content: bytes, name: str, *, sheet: str | None = None, max_bytes: int | None = None, limits: Limits | None = None
) -> TableSource:
    r"""Read a table as `read_table` does, in a process that is ended where it takes too much.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        What messages and the result call it.
    sheet : str, optional
        The sheet of a workbook.
    max_bytes : int, optional
        The most bytes that are taken.
    limits : Limits, optional
        What the process may take; by default what a file of that size is worth.

    Returns
    -------
    TableSource
        The table.

    Raises
    ------
    DataError
        For a file that cannot be read as a table, or takes too much.

    Examples
    --------
    >>> from anoncore.sources.apart import read_table_apart
    >>> read_table_apart(b"age,town\n21,Ulm\n44,Bonn\n", "people.csv").frame.shape
    (2, 2)
    """
    found = limits or usual_limits(len(content))
    asked = {"asked": "table", "name": name, "sheet": sheet, "max_bytes": max_bytes}
    with _running(content, name, asked, found) as (answer, stream):
        frame = _frame(stream)
    return TableSource(frame, answer["name"], answer["format"], tuple(answer["notes"]), answer["digest"])


def table_sheets_apart(
    content: bytes, name: str, *, max_bytes: int | None = None, limits: Limits | None = None
) -> tuple[str, ...]:
    """The sheets of a workbook as `table_sheets` finds them, in a process that is ended where it takes too much.

    Parameters are those of `read_table_apart`, and so are the errors.

    Examples
    --------
    >>> from anoncore.sources.apart import table_sheets_apart
    >>> table_sheets_apart(b"no workbook", "people.xlsx")
    ()
    """
    if not content.startswith(WITH_SHEETS):
        return ()
    found = limits or usual_limits(len(content))
    asked = {"asked": "sheets", "name": name, "max_bytes": max_bytes}
    with _running(content, name, asked, found) as (answer, _):
        return tuple(answer["sheets"])


def answer_apart(
    function: str, content: bytes, name: str, about: Mapping[str, Any] | None = None, limits: Limits | None = None
) -> Any:
    """What a function of this program answers about a file, called in a process that is ended where it takes too much.

    Parameters
    ----------
    function : str
        "module:name"; it is called with `content` and what is in `about`.
    content, name : bytes and str
        The file, and what messages call it.
    about : mapping, optional
        Further arguments, by name, as JSON has them.
    limits : Limits, optional
        What the process may take; by default what a file of that size is worth.

    Returns
    -------
    object
        The answer, as JSON has it.

    Raises
    ------
    DataError
        For what the function refuses with an AnonymizationError, and for a file that takes too much.

    Examples
    --------
    >>> from anoncore.sources.apart import answer_apart
    >>> answer_apart("anoncore.sources.reader:table_sheets", b"no workbook", "people.xlsx", {"name": "people.xlsx"})
    []
    """
    asked = {"asked": "answer", "name": name, "function": function, "about": dict(about or {})}
    with _running(content, name, asked, limits or usual_limits(len(content))) as (answer, _):
        return answer["answer"]


class _Watch:
    """Looks at a process until it has ended, and ends it where it takes more than it may; `reason` says what."""

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits) -> None:
        self.reason = ""
        self._process, self._limits = process, limits
        self._is_over = threading.Event()
        threading.Thread(target=self._run, name="watch over a reading", daemon=True).start()

    def end(self) -> None:
        """Stop looking, and end the process."""
        self._is_over.set()
        self._process.kill()
        self._process.wait()

    def exceeded(self, reason: str) -> None:
        """End the process, because it takes too much."""
        self.reason = self.reason or reason
        self._process.kill()

    def _run(self) -> None:
        begin = time.monotonic()
        with suppress(psutil.Error, OSError):
            looked_at = psutil.Process(self._process.pid)
            while not self._is_over.wait(LOOK_EVERY):
                times = looked_at.cpu_times()
                if looked_at.memory_info().rss > self._limits.memory:
                    self.exceeded(f"more than {self._limits.memory / MB:,.0f} MB of memory")
                elif times.user + times.system > self._limits.processor:
                    self.exceeded(f"more than {self._limits.processor:,.0f} seconds")
                elif time.monotonic() - begin > self._limits.clock:
                    self.exceeded(f"more than {self._limits.clock:,.0f} seconds")


class _Bounded:
    """What the process writes, up to as many bytes as its result may have."""

    def __init__(self, stream: IO[bytes], most: int, watch: _Watch) -> None:
        self._stream, self._left, self._most, self._watch = stream, most, most, watch
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """The next bytes, as files give them."""
        found = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(found)
        if self._left < 0:
            self._watch.exceeded(f"more than {self._most / MB:,.0f} MB of memory")
            raise EOFError
        return found

    def close(self) -> None:
        """Nothing: the pipe is closed by whoever opened it."""


@contextmanager
def _running(content: bytes, name: str, asked: dict[str, Any], limits: Limits) -> Iterator[tuple[dict[str, Any], Any]]:
    """The answer of the process, and what follows it. Raises DataError where there is none."""
    # -P: it imports nothing from the folder in which somebody happens to be.
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", PROCESS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        env=_environment(),
    )
    assert process.stdin is not None, "it was started with a pipe"
    assert process.stdout is not None, "it was started with a pipe"
    watch = _Watch(process, limits)
    order = json.dumps({**asked, "bytes": len(content), "limits": asdict(limits)}).encode() + b"\n"
    # It is written beside this thread: a process that has read enough answers before all of it has come.
    threading.Thread(target=_send, args=(process.stdin, order, content), name="give a file", daemon=True).start()
    try:
        stream = _Bounded(process.stdout, limits.result, watch)
        answer = _answer(process.stdout)
        if "problem" in answer:
            raise DataError(answer["problem"])
        yield answer, stream
    except DataError:
        raise
    except (ValueError, OSError, EOFError, KeyError, TypeError, pa.ArrowException):
        advice = "" if asked["asked"] == "answer" else "; take fewer rows or columns, or save it as Parquet"
        raise DataError(_said(base_name(name), watch.reason, advice)) from None
    finally:
        watch.end()
        process.stdout.close()


def _said(name: str, reason: str, advice: str) -> str:
    if reason:
        return f"Reading {shown(name)} takes {reason}, more than a file of its size should{advice}."
    return f"{shown(name)} ended the process that read it: it is damaged, or too large{advice}."


def _answer(stream: IO[bytes]) -> dict[str, Any]:
    answer = json.loads(stream.readline(16 * MB))
    if not isinstance(answer, dict):
        raise TypeError
    return answer


def _send(stream: IO[bytes], order: bytes, content: bytes) -> None:
    # A process that ended early says so by ending; what it did not read any more is of no use.
    with suppress(OSError, ValueError), stream:
        stream.write(order)
        stream.write(content)


def _environment() -> dict[str, str]:
    """What the process finds: this package first, few threads, each of which would take memory, and no secret."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_KINDS)}
    root = str(Path(__file__).parents[2])
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    memory = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
    return {**kept, **threads, **memory, "PYTHONPATH": os.pathsep.join(paths)}


def _frame(stream: Any) -> pd.DataFrame:
    with pa.ipc.open_stream(pa.PythonFile(stream, mode="r")) as reader:
        table = reader.read_all()
    return frame_of(table)
