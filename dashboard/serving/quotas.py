"""What the process, a table and a person may take at most, each refused with a sentence; and memory that is given back.

Streamlit collects all garbage after every run of the page, during which no other visitor's page is answered. What was
loaded once and stays costs it 0.15 s each time; set aside, a hundredth of that.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from streamlit import runtime

from anoncore import DataError
from anoncore.base import memory
from dashboard.serving import access, settings


def set_aside() -> None:
    """Collect all garbage, also what became garbage since it was set aside, and set aside what is left."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Collect all garbage and return freed memory to the system; glibc would keep it for later."""
    set_aside()
    memory.give_back()


FOR_WORK = 0.2
"""The share of the memory that no table may take, so that methods can still run on those that are loaded."""
UPLOAD_FACTOR = 2
"""An upload lies in memory once when it has come, and a second time for a moment while it is taken in."""
UPLOADS_AT_ONCE = 8
"""How many files of one person may be on their way at a time."""
PER_PERSON = 2
"""How many of the largest files one person's uploads may take together."""
WAIT_SECONDS = 120.0
_turn = threading.Lock()
_uploads = threading.Lock()
_on_the_way: list[Upload] = []


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
            give_back()
        if free_for_tables() <= 0:
            raise DataError(full())
        with memory.kept_free(_kept_for_work()):
            yield
    finally:
        _turn.release()


def free_for_tables() -> int:
    """Bytes that tables may still take."""
    return memory.free_memory() - _kept_for_work()


def _kept_for_work() -> int:
    return int(FOR_WORK * (settings.current().quotas.memory_megabytes << 20))


def full() -> str:
    """That no more tables fit into memory, in a sentence."""
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


@dataclass(eq=False)
class Upload:
    """An upload that is on its way: whose it is, and how many bytes of it have come."""

    owner: str
    received: int = 0


def upload_refusal(owner: str, n_bytes: int | None) -> tuple[int, str]:
    """Why an upload of so many bytes (None: it does not say) may not begin, with the status of the answer; empty if it
    may.

    What others have announced and not sent counts for nothing: whoever announces much and sends nothing would keep
    everybody else from loading. Where one person's files take as much as one may have, the oldest make room.
    """
    with _uploads:
        own = [upload for upload in _on_the_way if upload.owner == owner]
    if len(own) >= UPLOADS_AT_ONCE:
        return 429, f"{len(own)} of your files are being loaded; wait until one of them is there."
    if n_bytes is None:
        return 411, "This server takes only uploads that say how long they are."
    most = PER_PERSON * (settings.current().server.upload_megabytes << 20)
    if not _make_room(owner, most - n_bytes - sum(upload.received for upload in own)):
        return 413, f"Your files would take more than the {most >> 20:,} MB that one person's may take here."
    return 507, full_refusal(n_bytes)


def full_refusal(n_more: int = 0) -> str:
    """Why so many bytes cannot be taken in besides all that are on their way; empty if they can."""
    if not settings.current().quotas.memory_megabytes:
        return ""
    with _uploads:
        needed = UPLOAD_FACTOR * (n_more + sum(upload.received for upload in _on_the_way))
    return full() if needed > free_for_tables() else ""


def _make_room(owner: str, room: int) -> bool:
    """Let go of a person's oldest uploaded files until all take at most so many bytes; whether they do.

    A table that was loaded is in the workspace, and its file is needed no more.
    """
    if not runtime.exists():
        return room >= 0
    manager: Any = runtime.get_instance().uploaded_file_mgr
    sessions = [owner.removeprefix("session ")] if owner.startswith("session ") else access.sessions_of(owner)
    held = [
        (session, file.file_id, len(file.data))
        for session in sessions
        for file in list(manager.file_storage.get(session, {}).values())
    ]
    taken = sum(n_bytes for _, _, n_bytes in held)
    for session, file_id, n_bytes in held:
        if taken <= room:
            break
        manager.remove_file(session, file_id)
        taken -= n_bytes
    return taken <= room


@contextmanager
def upload(owner: str) -> Iterator[Upload]:
    """Count an upload that is on its way, by what has come of it."""
    found = Upload(owner)
    with _uploads:
        _on_the_way.append(found)
    try:
        yield found
    finally:
        with _uploads:
            _on_the_way.remove(found)
