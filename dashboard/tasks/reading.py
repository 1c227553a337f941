"""Reading the files of visitors: apart from this program, within limits, and without keeping others waiting.

Every file is read in a process of its own (`anoncore.sources.apart`). One file of each visitor is read at a time and a
few in all, and what each may take of the memory is counted while it is read; no lock is held meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from anoncore import DataError
from anoncore.base.memory import free_memory
from anoncore.sources import TableSource
from anoncore.sources.apart import (
    WITH_SHEETS,
    Limits,
    answer_apart,
    read_table_apart,
    table_sheets_apart,
    usual_limits,
)
from dashboard.serving import quotas, settings

MOST_AT_ONCE = 3
"""Files that are read at a time."""
WAIT_SECONDS = 120.0
LEAST_BYTES = 256 << 20
"""Memory without which no file is read: the process that reads takes about half of it before it begins."""
ALONE = 0.5
"""The share of the free memory that a table may take at least where one visitor has the machine."""
MakeRoom = Callable[[], object] | None

_changed = threading.Condition()
_reading: dict[object, tuple[str, int]] = {}
"""The owner of each reading that is on its way, and the bytes that it may take."""


def table(
    content: bytes, name: str, most_bytes: int, owner: str, make_room: MakeRoom = None, sheet: str | None = None
) -> TableSource:
    """Read a visitor's file as a table.

    Parameters
    ----------
    content, name : bytes and str
        The file and what it is called.
    most_bytes : int
        The largest file that is taken.
    owner : str
        The workspace for which it is read.
    make_room : function, optional
        Lets go of what nobody looks at; called where little memory is left.
    sheet : str, optional
        The sheet of a workbook.

    Raises
    ------
    DataError
        For a file that cannot be read, takes too much, or has to wait too long.
    """
    with turn(len(content), owner, make_room, _for_a_table()) as limits:
        source = read_table_apart(content, name, sheet=sheet, max_bytes=most_bytes, limits=limits)
    if settings.current().quotas.memory_megabytes and quotas.free_for_tables() <= 0:
        raise DataError(quotas.full())
    return source


def table_at(path: Path, most_bytes: int, owner: str, make_room: MakeRoom = None) -> TableSource:
    """Read a file by its path, as `table` does."""
    try:
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        reason = f": {error.strerror.lower()}" if error.strerror else ""
        raise DataError(f"'{path.name}' cannot be opened{reason}.") from None
    return table(content, path.name, most_bytes, owner, make_room)


def sheets(content: bytes, name: str, most_bytes: int, owner: str, make_room: MakeRoom = None) -> tuple[str, ...]:
    """The sheets of a visitor's workbook; none for another file. Parameters and errors are those of `table`."""
    if not content.startswith(WITH_SHEETS):
        return ()
    with turn(len(content), owner, make_room, _for_a_table()) as limits:
        return table_sheets_apart(content, name, max_bytes=most_bytes, limits=limits)


def answer(
    function: str,
    content: bytes,
    name: str,
    owner: str,
    make_room: MakeRoom = None,
    about: Mapping[str, Any] | None = None,
    least: Limits | None = None,
) -> Any:
    """What a function ("module:name") answers about a visitor's file that is no table; errors are those of `table`.

    It may take what a file of its size is worth, and `least` where that is more.
    """
    with turn(len(content), owner, make_room, least) as limits:
        return answer_apart(function, content, name, about, limits)


def _for_a_table() -> Limits | None:
    """The least that reading a table may take, however small its file; None where a quota shares out the memory.

    Parquet holds a cell in a few bits where a column has few values, so a table may take a hundred times its file.
    """
    if settings.current().quotas.memory_megabytes:
        return None
    n_bytes = int(ALONE * free_memory())
    return Limits(n_bytes, 0.0, 0.0, n_bytes)


@contextmanager
def turn(n_bytes: int, owner: str, make_room: MakeRoom, least: Limits | None = None) -> Iterator[Limits]:
    """What a file of so many bytes may take, kept for it inside this block; waits until it is its owner's turn."""
    limits, key = usual_limits(n_bytes).or_more(least), object()
    has_quota = bool(settings.current().quotas.memory_megabytes)
    if has_quota and make_room is not None and quotas.free_for_tables() < LEAST_BYTES:
        make_room()
        quotas.give_back()
    with _changed:

        def may_begin() -> bool:
            return len(_reading) < MOST_AT_ONCE and all(one != owner for one, _ in _reading.values())

        if not _changed.wait_for(may_begin, WAIT_SECONDS):
            raise DataError("Others are loading tables at the moment; try again in a minute.")
        if has_quota:
            free = quotas.free_for_tables() - sum(taken for _, taken in _reading.values())
            if free < LEAST_BYTES:
                raise DataError(quotas.full())
            limits = replace(limits, memory=min(limits.memory, free), result=min(limits.result, free))
        _reading[key] = owner, limits.memory
    try:
        yield limits
    finally:
        with _changed:
            del _reading[key]
            _changed.notify_all()
