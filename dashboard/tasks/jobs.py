"""Work in the background: a thread writes progress to a plain object, the page polls it.

A worker never touches the page. Cancelling sets a flag that the next progress report turns into CancelledError; the
visitor need not wait for it, because the result of a cancelled job is thrown away.

There are a few places to compute, handed out in turn to visitors, not to jobs: somebody who starts ten jobs waits
behind their own jobs only. A job that can pause gives its place back after a while when others wait, so that a sweep of
minutes does not hold up a run of a second. Where all places are held by jobs that cannot, whoever computes nothing yet
gets one more: the processors are then shared by the system.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from anoncore import AnonymizationError, CancelledError
from anoncore.base import memory
from dashboard.markdown import reason
from dashboard.serving import audit, settings
from dashboard.tasks import warmup
from dashboard.tasks.quiet_log import failure_text

Status = Literal["running", "done", "failed", "cancelled"]
Report = Callable[[float, str], None]

MAX_WORKERS = 2
"""Jobs that compute at a time in the whole process; others wait for their turn."""
MOST_WORKERS = 6
"""The same where people wait who compute nothing, behind jobs of others that cannot pause."""
MAX_WAITING = 64
FOR_A_JOB = 0.05
"""The share of the memory that must be free when a computation begins."""
SLICE_SECONDS = 2.0
"""What a job that can pause computes before it lets waiting ones go first."""
NICENESS = 10
"""How far jobs stand back when a page is to be drawn (Unix: 0 not at all, 19 most)."""

URGENT_NICENESS = 2
"""The same for jobs that a visitor waits for."""


class Ticket:
    """One job's claim to a place. `owner` tells visitors apart; `can_pause`: it gives its place back when it pauses."""

    def __init__(self, owner: str, begin: Callable[[], None], can_pause: bool = False) -> None:
        self.owner, self.can_pause = owner, can_pause
        self.begin = begin
        self.has_begun = False
        self.has_turn = False
        self.left = False
        self.since = 0.0


class JobQueue:
    """At most `places` tickets have their turn at a time; the others wait, each owner in a line of their own.

    Up to `most` have it where those that have it cannot pause and belong to others.
    """

    def __init__(self, places: int, slice_seconds: float, most: int = 0) -> None:
        self.places, self.slice_seconds, self.most = places, slice_seconds, max(places, most)
        self._changed = threading.Condition()
        self._lines: OrderedDict[str, deque[Ticket]] = OrderedDict()
        self._running: set[Ticket] = set()

    def enter(self, ticket: Ticket) -> None:
        """Wait for a turn; `begin` is called, perhaps at once, when the first one comes."""
        with self._changed:
            self._line_up(ticket)
            begun = self._hand_out()
        for one in begun:
            one.begin()

    def leave(self, ticket: Ticket) -> None:
        """Give the place, or the claim to one, back; leaving twice does nothing."""
        with self._changed:
            if ticket.left:
                return
            ticket.left = True
            if ticket.has_turn:
                self._take_back(ticket)
            else:
                self._drop(ticket)
            begun = self._hand_out()
        for one in begun:
            one.begin()

    def pause(self, ticket: Ticket) -> None:
        """After its share of time let others go first, if any wait; returns with a turn, or once the ticket left.

        A job with several threads may call it from all of them.
        """
        begun: list[Ticket] = []
        with self._changed:
            is_due = ticket.has_turn and time.monotonic() - ticket.since >= self.slice_seconds
            if is_due and self._lines:
                self._take_back(ticket)
                # The place goes to those who wait; only then does this ticket line up behind them.
                begun = self._hand_out()
                self._line_up(ticket)
                begun += self._hand_out()
        for one in begun:
            one.begin()
        with self._changed:
            self._changed.wait_for(lambda: ticket.has_turn or ticket.left)

    def place(self, ticket: Ticket) -> int:
        """How many turns are handed out until this ticket has one, itself included; 0 if it does not wait."""
        with self._changed:
            lines = [list(line) for line in self._lines.values()]
        before = 0
        while any(lines):
            for line in lines:
                if line:
                    before += 1
                    if line.pop(0) is ticket:
                        return before
        return 0

    def waiting(self, owner: str | None = None) -> int:
        """How many tickets wait, of one owner or of all."""
        with self._changed:
            return sum(len(line) for name, line in self._lines.items() if owner in (None, name))

    def _line_up(self, ticket: Ticket) -> None:
        self._lines.setdefault(ticket.owner, deque()).append(ticket)

    def _drop(self, ticket: Ticket) -> None:
        line = self._lines.get(ticket.owner)
        if line is not None and ticket in line:
            line.remove(ticket)
            if not line:
                del self._lines[ticket.owner]

    def _take_back(self, ticket: Ticket) -> None:
        ticket.has_turn = False
        self._running.discard(ticket)

    def _next_owner(self) -> str | None:
        """Whose turn it is: the first in line, or one who has no turn while nobody else can give theirs back."""
        if len(self._running) < self.places:
            return next(iter(self._lines), None)
        if len(self._running) >= self.most or any(ticket.can_pause for ticket in self._running):
            return None
        served = {ticket.owner for ticket in self._running}
        return next((owner for owner in self._lines if owner not in served), None)

    def _hand_out(self) -> list[Ticket]:
        """Give free places to the heads of the lines; each owner served goes behind the others."""
        begun: list[Ticket] = []
        while (owner := self._next_owner()) is not None:
            line = self._lines.pop(owner)
            ticket = line.popleft()
            if line:
                self._lines[owner] = line
            ticket.has_turn, ticket.since = True, time.monotonic()
            self._running.add(ticket)
            if not ticket.has_begun:
                ticket.has_begun = True
                begun.append(ticket)
        self._changed.notify_all()
        return begun


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
    refusal = _refusal(job.queue, owner)
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


def _refusal(queue: JobQueue, owner: str) -> str:
    """Why an owner may not begin another computation; empty if they may."""
    found, n_jobs = settings.current().quotas, queue.waiting(owner)
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
    return "Too much is being computed at the moment; try again in a minute." if queue.waiting() >= MAX_WAITING else ""


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
