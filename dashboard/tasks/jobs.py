"""Work in the background: a thread writes progress to a plain object, the page polls it.

A worker never touches the page. Cancelling sets a flag that the next progress report turns into CancelledError; the
visitor need not wait for it, because the result of a cancelled job is thrown away. Visitors take turns.
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
from dashboard.markdown import reason
from dashboard.serving import audit, quotas
from dashboard.tasks import warmup
from dashboard.tasks.job_queue import JobQueue, Ticket
from dashboard.tasks.quiet_log import failure_text

Status = Literal["running", "done", "failed", "cancelled"]
Report = Callable[[float, str], None]

MAX_WORKERS = 2
"""Jobs that compute at a time in the whole process; others wait for their turn."""
MOST_WORKERS = 6
"""The same where people wait who compute nothing, behind jobs of others that cannot pause."""
MAX_WAITING = 64
SLICE_SECONDS = 2.0
"""What a job that can pause computes before it lets waiting ones go first."""
NICENESS = 10
"""How far jobs stand back when a page is to be drawn (Unix: 0 not at all, 19 most)."""

URGENT_NICENESS = 2
"""The same for jobs that a visitor waits for."""

_logger = logging.getLogger(__name__)
_queue = JobQueue(MAX_WORKERS, SLICE_SECONDS, MOST_WORKERS)
_urgent = JobQueue(MAX_WORKERS, SLICE_SECONDS, MOST_WORKERS)
_running: dict[Job, threading.Thread] = {}
_running_lock = threading.Lock()


class Job:
    """One piece of background work. Read `status`, `fraction`, `text`, `value`, `error`, `seconds` at any time.

    `error` is a sentence for people. `value` is what the work returned.
    """

    def __init__(self, title: str = "") -> None:
        self.title = title
        self.status: Status = "running"
        self.fraction = 0.0
        self.ticket: Ticket | None = None
        self.queue = _queue
        self.can_pause = False
        self._said = ""
        self._held = 0.0
        self.value: Any = None
        self.error = ""
        self.seconds = 0.0
        self._ended = threading.Event()
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        """Whether the work is still wanted and not finished."""
        return self.status == "running"

    @property
    def waits_for_compiler(self) -> bool:
        """Whether its thread waits for something to be compiled, or a thread that some job started."""
        waiting = warmup.waiting()
        with _running_lock:
            if self not in _running or not waiting or not self.running:
                return False
            return _running[self].ident in waiting or bool(waiting - {thread.ident for thread in _running.values()})

    @property
    def text(self) -> str:
        """What the work does or waits for, or its place in the queue."""
        if self.waits_for_compiler:
            return warmup.TEXT
        place = self.queue.place(self.ticket) if self.ticket is not None else 0
        if place == 0:
            return self._said
        waits = f"waiting for a free processor, place {place} in the queue"
        return f"{self._said} ({waits})" if self._said else waits[0].upper() + waits[1:]

    def report(self, fraction: float, text: str) -> None:
        """Say how far the work is, 0 to 1; a job that can pause may have to wait here.

        Raises CancelledError after `cancel`.
        """
        self.fraction, self._said = min(max(float(fraction), 0.0), 1.0), text
        if self.can_pause and self.ticket is not None:
            begin = time.perf_counter()
            self.queue.pause(self.ticket)
            self._held += time.perf_counter() - begin
        if self.status == "cancelled":
            raise CancelledError("The work was cancelled.")

    def cancel(self) -> None:
        """Stop wanting the result; the thread ends at its next report, and a waiting job leaves the queue."""
        self._end("cancelled")
        if self.ticket is not None and not (self.ticket.has_begun and self.ticket.has_turn):
            self.queue.leave(self.ticket)
            if not self.ticket.has_begun:
                _forget(self)

    def wait(self, seconds: float) -> bool:
        """Wait until the work ended, at most so long; returns whether it ended."""
        return self._ended.wait(seconds)

    def run(self, work: Callable[[Report], Any]) -> None:
        """Do the work in this thread; every error becomes a sentence."""
        start = time.perf_counter()
        try:
            self.report(0.0, "Starting")
            self.value = work(self.report)
            self.seconds = time.perf_counter() - start - self._held
            self._end("done")
        except CancelledError:
            self._end("cancelled")
        except Exception as error:
            self._end("failed", sentence_of(error))

    def _end(self, status: Status, error: str = "") -> None:
        with self._lock:
            if self.status == "running":
                self.status, self.error = status, error
                audit.count("jobs", status)
            if self.status == "cancelled":
                self.value = None
        self._ended.set()


def cancel_all(seconds: float) -> bool:
    """Cancel every job and wait until their threads have cleared up behind themselves, at most so long.

    Returns whether all have ended.
    """
    with _running_lock:
        left = dict(_running)
    for job in left:
        job.cancel()
    end = time.monotonic() + seconds
    for thread in left.values():
        if thread.ident is not None:
            thread.join(max(end - time.monotonic(), 0.0))
    return not any(thread.is_alive() for thread in left.values())


def load() -> tuple[int, int]:
    """How many jobs run, and how many wait for their turn."""
    with _running_lock:
        n_jobs = len(_running)
    waiting = _queue.waiting() + _urgent.waiting()
    return max(n_jobs - waiting, 0), waiting


def sentence_of(error: Exception) -> str:
    """What went wrong in the background, as a sentence for people; a fault of the program goes into the log as well."""
    if isinstance(error, AnonymizationError):
        return reason(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this; use fewer rows or fewer attributes."
    _logger.error("A background job failed: %s", failure_text(error))
    return f"Something went wrong inside the program ({type(error).__name__}: {error})."


def start(
    work: Callable[[Report], Any], title: str = "", owner: str = "", can_pause: bool = False, urgent: bool = False
) -> Job:
    """Run `work(report)` in a thread of its own when its turn comes, and return its job at once.

    Turns are handed out fairly among owners (ids of workspaces). `can_pause`: the work may be held at its reports, for
    which it must hold no lock. `urgent`: a visitor waits for it, so it has a line of its own beside that of the long
    work, and it takes a second at most or can pause. Too many waiting jobs, in all or of this owner, fail at once.
    """
    job = Job(title)
    job.queue = _urgent if urgent else _queue
    refusal = quotas.job_refusal(job.queue.waiting(owner))
    if not refusal and job.queue.waiting() >= MAX_WAITING:
        refusal = "Too much is being computed at the moment; try again in a minute."
    if refusal:
        job.status, job.error = "failed", refusal
        audit.count("refused", "job")
        return job
    job.can_pause = can_pause
    niceness = URGENT_NICENESS if urgent else NICENESS
    thread = threading.Thread(target=_work, args=(job, work, niceness), name=f"job {title}", daemon=True)
    job.ticket = Ticket(owner, thread.start, can_pause)
    with _running_lock:
        _running[job] = thread
    job.queue.enter(job.ticket)
    return job


def _work(job: Job, work: Callable[[Report], Any], niceness: int) -> None:
    try:
        _stand_back(niceness)
        job.run(work)
    finally:
        _forget(job)
        if job.ticket is not None:
            job.queue.leave(job.ticket)


def _forget(job: Job) -> None:
    with _running_lock:
        _running.pop(job, None)


def _stand_back(niceness: int) -> None:
    """Let the threads that draw pages go before this one and those it starts; only Linux knows threads apart."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
