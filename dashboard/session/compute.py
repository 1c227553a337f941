"""Measures of runs, each computed once. Keys are run ids, which cannot be guessed; no frame is ever hashed.

    profile = compute.cached("profile", run, privacy.profile)
    loss = compute.cached("loss", run, utility.information_loss)
    later = compute.later("classification", run, utility.classification, "salary-class", "tree")

The function gets the run's release first, then the arguments. Values are shared between reruns: never change them.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from anoncore.base.shared_work import Cache
from dashboard.session.workspace import Run
from dashboard.tasks import jobs
from dashboard.tasks.redrawing import memo, session_id

Key = tuple[Hashable, ...]


class Interest:
    """The keys of work that browser sessions ask for, each on the page that it looks at.

    A session begins a page, asks, and ends the page: what it asked for on the pages before, and on this one no more, it
    does not wait for any longer. Parts of a page that are drawn again alone only ask for more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, set[Key]] = {}
        self._of_page: dict[str, set[Key]] = {}

    def begin(self, session: str) -> None:
        """A session draws a page from its top."""
        with self._lock:
            self._of_page[session] = set()

    def ask(self, session: str, key: Key) -> None:
        """A session waits for what has this key."""
        with self._lock:
            self._waiting.setdefault(session, set()).add(key)
            if session in self._of_page:
                self._of_page[session].add(key)

    def end(self, session: str) -> set[Key]:
        """A page is drawn to its end; the keys for which nobody waits any more."""
        with self._lock:
            asked = self._of_page.pop(session, None)
            if asked is None:
                return set()
            left = self._waiting.get(session, set()) - asked
            self._waiting[session] = asked
            return self._unwanted(left)

    def leave(self, session: str) -> set[Key]:
        """A session has ended; the keys for which nobody waits any more."""
        with self._lock:
            self._of_page.pop(session, None)
            return self._unwanted(self._waiting.pop(session, set()))

    def sessions(self) -> tuple[str, ...]:
        """The sessions that wait for something, or have."""
        with self._lock:
            return tuple(self._waiting)

    def _unwanted(self, keys: set[Key]) -> set[Key]:
        return keys.difference(*self._waiting.values())


MAX_VALUES = 512

T = TypeVar("T")


@dataclass(frozen=True)
class Later:
    """A measure that is computed in the background. `value` is set when done, `error` (a sentence) when failed."""

    status: Literal["running", "done", "failed"]
    progress: float
    text: str
    value: Any = None
    error: str = ""


_values = memo(MAX_VALUES, kept_errors=(Exception,))
_jobs = memo(MAX_VALUES)
_interest = Interest()


def cached(name: str, run: Run, function: Callable[..., T], *arguments: Hashable) -> T:
    """`function(run.release, *arguments)`, computed once per run, name and arguments. Errors are kept as well."""
    return _values.get((run.id, name, *arguments), lambda: function(run.release, *arguments))


def cache_of(run: Run) -> Cache:
    """What `cached` holds of a run, as the library asks for it."""
    return lambda name, function, *arguments: cached(name, run, function, *arguments)


def known(name: str, run: Run, *arguments: Hashable) -> Any:
    """The cached result of that name with these arguments; None where it was never computed, or has failed."""
    return _values.peek((run.id, name, *arguments))


def later(name: str, run: Run, function: Callable[..., Any], *arguments: Hashable, urgent: bool = False) -> Later:
    """Like `cached`, but in the background: the first call starts it, further calls say how far it is.

    What is `urgent` takes a second or few, and waits for no long work (`jobs.start`).

    A function with a parameter `progress` gets the callback (fraction, text). Poll from a keyed fragment with
    `run_every` while the status is running. Once no page asks for it any more, it is stopped (`end_page`).
    """
    key = (run.id, name, *arguments)
    session = session_id()
    if session:
        _interest.ask(session, key)

    def work(report: jobs.Report) -> Any:
        extra = {"progress": report} if "progress" in inspect.signature(function).parameters else {}
        return cached(name, run, lambda release, *rest: function(release, *rest, **extra), *arguments)

    job = _jobs.get(key, lambda: jobs.start(work, name, run.owner, urgent=urgent))
    if job.status == "done":
        return Later("done", 1.0, job.text, value=job.value)
    if job.running:
        return Later("running", job.fraction, job.text)
    return Later("failed", job.fraction, job.text, error=job.error or "The computation was cancelled.")


def begin_page() -> None:
    """Say that the page is drawn from its top, for whom it is drawn."""
    _interest.begin(session_id())


def end_page() -> None:
    """Say that the page is drawn to its end: what it did not ask for, and no other page of anybody, is stopped."""
    _stop(_interest.end(session_id()))


def leave(is_there: Callable[[str], bool]) -> None:
    """Stop what only browser sessions wait for that are not there any more."""
    for session in _interest.sessions():
        if not is_there(session):
            _stop(_interest.leave(session))


def _stop(unwanted: Collection[tuple[Hashable, ...]]) -> None:
    """Cancel these jobs where they run, and forget them: whoever asks again begins anew. What is done stays."""
    for key in unwanted:
        job = _jobs.peek(key)
        if job is not None and job.running:
            _jobs.drop(lambda other, key=key: other == key)  # type: ignore[misc]
            job.cancel()


def kept(name: str, digests: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """`make()`, computed once per name and digests of everything that it reads."""
    return _values.get((name, *digests), make)


def forget(run: Run) -> None:
    """Drop every value of a run and cancel what is still being computed for it."""
    for job in _jobs.drop(lambda key: key[0] == run.id):
        if job is not None:
            job.cancel()
    _values.drop(lambda key: key[0] == run.id)


def forget_table(digest: str) -> None:
    """Drop what `kept` holds of a table by its digest."""
    _values.drop(lambda key: digest in key)
