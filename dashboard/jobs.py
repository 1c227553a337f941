"""Work in the background: a thread writes progress to a plain object, the page polls it.

A worker never touches the page. Cancelling sets a flag that the next progress report turns into CancelledError; the
visitor need not wait for it, because the result of a cancelled job is thrown away.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from anoncore import AnonymizationError, CancelledError

Status = Literal["running", "done", "failed", "cancelled"]
Report = Callable[[float, str], None]

MAX_WORKERS = 2
"""Jobs that compute at a time in the whole process; others wait for their turn."""
MAX_WAITING = 32
NICENESS = 10
"""How far jobs stand back when a page is to be drawn (Unix: 0 not at all, 19 most)."""

_logger = logging.getLogger(__name__)
_turn = threading.BoundedSemaphore(MAX_WORKERS)
_count_lock = threading.Lock()
_alive = 0


class Job:
    """One piece of background work. Read `status`, `fraction`, `text`, `value`, `error`, `seconds` at any time.

    `error` is a sentence for people. `value` is what the work returned.
    """

    def __init__(self, title: str = "") -> None:
        self.title = title
        self.status: Status = "running"
        self.fraction = 0.0
        self.text = "Waiting for a free processor"
        self.value: Any = None
        self.error = ""
        self.seconds = 0.0
        self._ended = threading.Event()
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        """Whether the work is still wanted and not finished."""
        return self.status == "running"

    def report(self, fraction: float, text: str) -> None:
        """Say how far the work is, 0 to 1. Raises CancelledError after `cancel`."""
        if self.status == "cancelled":
            raise CancelledError("The work was cancelled.")
        self.fraction, self.text = min(max(float(fraction), 0.0), 1.0), text

    def cancel(self) -> None:
        """Stop wanting the result; the thread ends at its next report."""
        self._end("cancelled")

    def wait(self, seconds: float) -> bool:
        """Wait until the work ended, at most so long; returns whether it ended."""
        return self._ended.wait(seconds)

    def run(self, work: Callable[[Report], Any]) -> None:
        """Do the work in this thread; every error becomes a sentence."""
        start = time.perf_counter()
        try:
            self.report(0.0, "Starting")
            self.value = work(self.report)
            self.seconds = time.perf_counter() - start
            self._end("done")
        except CancelledError:
            self._end("cancelled")
        except AnonymizationError as error:
            self._end("failed", str(error))
        except MemoryError:
            self._end("failed", "There is not enough memory for this; use fewer rows or fewer attributes.")
        except Exception as error:
            _logger.exception("A background job failed")
            self._end("failed", f"Something went wrong inside the program ({type(error).__name__}: {error}).")

    def _end(self, status: Status, error: str = "") -> None:
        with self._lock:
            if self.status == "running":
                self.status, self.error = status, error
            if self.status == "cancelled":
                self.value = None
        self._ended.set()


def start(work: Callable[[Report], Any], title: str = "") -> Job:
    """Run `work(report)` in a thread of its own and return its job at once; too many waiting jobs fail at once."""
    global _alive
    job = Job(title)
    with _count_lock:
        if _alive >= MAX_WORKERS + MAX_WAITING:
            job.status, job.error = "failed", "Too much is being computed at the moment; try again in a minute."
            return job
        _alive += 1
    threading.Thread(target=_work, args=(job, work), name=f"job {title}", daemon=True).start()
    return job


def _work(job: Job, work: Callable[[Report], Any]) -> None:
    global _alive
    try:
        _stand_back()
        with _turn:
            job.run(work)
    finally:
        with _count_lock:
            _alive -= 1


def _stand_back() -> None:
    """Let the threads that draw pages go before this one and those it starts; only Linux knows threads apart."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
