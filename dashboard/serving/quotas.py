"""What the process, a table and a person may take at most, each refused with a sentence that says so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anoncore import DataError
from anoncore.base import memory
from dashboard import garbage
from dashboard.serving import settings

FOR_WORK = 0.2
"""The share of the memory that no table may take, so that methods can still run on those that are loaded."""
FOR_A_JOB = 0.05
"""The share of the memory that must be free when a computation begins."""
UPLOAD_FACTOR = 2
"""An upload lies in memory once when it has come, and a second time for a moment while it is taken in."""
WAIT_SECONDS = 120.0
_turn = threading.Lock()
_uploads = threading.Lock()
_on_the_way: dict[int, int] = {}


def start() -> None:
    """Let the checks of memory that the library makes heed the quota of this process."""
    memory.limit_process(settings.current().quotas.memory_megabytes << 20)


@contextmanager
def loading(make_room: Callable[[], object] | None = None) -> Iterator[None]:
    """One table at a time is read, so that no two count on the same free memory.

    `make_room` lets go of what nobody looks at; it is called where little is left. Raises DataError where the memory
    that is kept for work would be touched, or where others take too long.
    """
    if not settings.current().quotas.memory_megabytes:
        yield
        return
    if not _turn.acquire(timeout=WAIT_SECONDS):
        raise DataError("Others are loading large tables at the moment; try again in a minute.")
    try:
        if make_room is not None and free_for_tables() <= 0:
            make_room()
            garbage.give_back()
        if free_for_tables() <= 0:
            raise DataError(_full())
        with memory.kept_free(_kept_for_work()):
            yield
    finally:
        _turn.release()


def free_for_tables() -> int:
    """Bytes that tables may still take."""
    return memory.free_memory() - _kept_for_work()


def _kept_for_work() -> int:
    return int(FOR_WORK * (settings.current().quotas.memory_megabytes << 20))


def _full() -> str:
    most = settings.current().quotas.memory_megabytes
    return (
        f"The tables of all who work here take nearly all of the {most:,} MB of memory that this server may take, so "
        "no other is loaded now; try again when somebody has left."
    )


def require_rows(n_rows: int, what: str) -> None:
    """Raise DataError for a table with more rows than one may have here."""
    most = settings.current().quotas.rows
    if most and n_rows > most:
        raise DataError(
            f"{what} has {n_rows:,} rows, and this server takes tables of at most {most:,}; take a sample of its rows, "
            "or run a recipe on your own machine."
        )


def job_refusal(n_jobs: int) -> str:
    """Why a person with so many computations may not begin another one; empty if they may."""
    found = settings.current().quotas
    if n_jobs >= found.jobs_per_person:
        return (
            f"{n_jobs} of your computations wait for their turn, as many as one person may have here; try again when "
            "some have ended, or cancel one."
        )
    if found.memory_megabytes and memory.free_memory() < FOR_A_JOB * (found.memory_megabytes << 20):
        return (
            f"Less than {FOR_A_JOB:.0%} of the {found.memory_megabytes:,} MB of memory that this server may take is "
            "free, so nothing is computed now; try again when somebody has left, or with a smaller table."
        )
    return ""


def upload_refusal(n_bytes: int | None) -> str:
    """Why an upload of so many bytes (None: it does not say) may not begin; empty if it may."""
    if not settings.current().quotas.memory_megabytes:
        return ""
    if n_bytes is None:
        return "This server takes only uploads that say how long they are."
    with _uploads:
        needed = UPLOAD_FACTOR * (n_bytes + sum(_on_the_way.values()))
    return _full() if needed > free_for_tables() else ""


@contextmanager
def upload(n_bytes: int) -> Iterator[None]:
    """Count an upload that is on its way."""
    key = object()
    with _uploads:
        _on_the_way[id(key)] = n_bytes
    try:
        yield
    finally:
        with _uploads:
            del _on_the_way[id(key)]
