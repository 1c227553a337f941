"""How much memory is free, and what does not fit into it."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anoncore.base.errors import DataError

CELL_BYTES, TEXT_FACTOR = 40, 8
"""Memory that a table takes while it is read: per cell of a typed table, and per byte of a text file."""
RUN_CELL_BYTES = 120
"""Memory per cell that a run takes until its release is written and certified."""
UNKNOWN_MEMORY = 4 << 30
MEMORY_GROUP = Path("/sys/fs/cgroup")
MEMORY_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
"""Where Linux says how much memory a container may take and takes, by both versions of its control groups."""


def require_memory(needed: float, what: str, advice: str = "take a sample of its rows, or fewer columns") -> None:
    """Raise DataError for a table that needs more bytes than are free; `what` names it at the start of the sentence."""
    free = free_memory()
    if needed > free:
        raise DataError(f"{what} needs about {_size(needed)} of memory, but only {_size(free)} are free; {advice}.")


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.1f} MB"


def free_memory() -> int:
    """Bytes of memory that can be had without swapping: on this machine, in this container, by this process."""
    return min(_free_on_machine(), _free_in_container(), _free_in_process(), _free_below_limit())


_limit = 0
_kept = threading.local()


def limit_process(n_bytes: int) -> None:
    """Let `free_memory` count only what is left of so many bytes for this process; 0 lifts the limit."""
    global _limit
    _limit = n_bytes


@contextmanager
def kept_free(n_bytes: int) -> Iterator[None]:
    """Inside this block, count so many bytes less as free for this thread."""
    _kept.n_bytes = n_bytes
    try:
        yield
    finally:
        _kept.n_bytes = 0


def _free_below_limit() -> int:
    taken = resident_memory() if _limit else None
    return sys.maxsize if taken is None else max(_limit - taken - getattr(_kept, "n_bytes", 0), 0)


def _free_in_container() -> int:
    """Memory below the limit, pages of files that can be dropped counted as free."""
    for limit, used, stale in MEMORY_FILES:
        try:
            most, taken = (int((MEMORY_GROUP / name).read_text("ascii")) for name in (limit, used))
            lines = (MEMORY_GROUP / used).with_name("memory.stat").read_text("ascii").splitlines()
        except (OSError, ValueError):  # no container, or one without a limit
            continue
        dropped = sum(int(line.split()[1]) for line in lines if line.split()[0] == stale)
        return max(most - max(taken - dropped, 0), 0)
    return sys.maxsize


def _free_on_machine() -> int:
    """Memory of the machine that programs can take without swapping, what files fill for now counted as free."""
    import psutil

    try:
        return int(psutil.virtual_memory().available)
    except OSError:  # a system that hides its memory
        return UNKNOWN_MEMORY


def _free_in_process() -> int:
    """Memory below the limit of the process's addresses (`ulimit -v`), which not every system has."""
    import psutil

    if not hasattr(psutil, "RLIMIT_AS"):
        return sys.maxsize
    try:
        process = psutil.Process()
        limit, _ = process.rlimit(psutil.RLIMIT_AS)
        return sys.maxsize if limit == psutil.RLIM_INFINITY else max(limit - process.memory_info().vms, 0)
    except (OSError, psutil.Error):  # a system that hides its processes
        return sys.maxsize


def give_back() -> None:
    """Give memory back to the system that libraries keep once it was used, where they can be told to."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError, TypeError):  # a system with another library of C
        ctypes.CDLL(None).malloc_trim(0)


def resident_memory() -> int | None:
    """Bytes of memory that this process takes; None where the system does not say."""
    import psutil

    try:
        return int(psutil.Process().memory_info().rss)
    except (OSError, psutil.Error):
        return None
