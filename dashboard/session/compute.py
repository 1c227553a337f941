"""Measures of runs, each computed once. Keys are run ids, which cannot be guessed; no frame is ever hashed.

    profile = compute.cached("profile", run, privacy.profile)
    loss = compute.cached("loss", run, utility.information_loss)
    later = compute.later("classification", run, utility.classification, "salary-class", "tree")

The function gets the run's release first, then the arguments. Values are shared between reruns: never change them.
"""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from anoncore import CancelledError
from anoncore.measures.kept_results import Cache
from dashboard.session.workspace import Run
from dashboard.tasks import jobs, waiting

MAX_VALUES = 512
PATIENCE = 0.3
"""Seconds that a page waits for what is being computed for another one before it ends without it."""
TEXT = "What this page needs is being computed already"

T = TypeVar("T")
Key = tuple[Hashable, ...]


@dataclass(frozen=True)
class Later:
    """A measure that is computed in the background. `value` is set when done, `error` (a sentence) when failed."""

    status: Literal["running", "done", "failed"]
    progress: float
    text: str
    value: Any = None
    error: str = ""


class _Values:
    """Values by key, the least recently used of which go."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.lock = threading.Lock()
        self._items: OrderedDict[Key, Any] = OrderedDict()

    def get_or_put(self, key: Key, make: Callable[[], Any]) -> Any:
        """The value of the key; `make` is called under the lock, so it must be quick."""
        with self.lock:
            if key not in self._items:
                self._items[key] = make()
            self._items.move_to_end(key)
            found = self._items[key]
            while len(self._items) > self.most:
                self._items.popitem(last=False)
            return found

    def peek(self, key: Key) -> Any:
        """The value of the key, or None."""
        with self.lock:
            return self._items.get(key)

    def drop(self, run_id: str) -> list[Any]:
        """Remove and return everything of a run."""
        with self.lock:
            keys = [key for key in self._items if key[0] == run_id]
            return [self._items.pop(key) for key in keys]

    def drop_all(self, unwanted: Callable[[Key], bool]) -> None:
        """Remove everything whose key is unwanted."""
        with self.lock:
            for key in [key for key in self._items if unwanted(key)]:
                del self._items[key]


class _Once:
    """A value that the first caller computes while others wait; an error is raised to every caller.

    A page waits for a moment only, as its visitor could go nowhere else meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = False
        self._value: Any = None
        self._error: Exception | None = None

    @property
    def done(self) -> Any:
        """The value where it was made; None before, and where making it failed."""
        return self._value

    def get(self, make: Callable[[], Any]) -> Any:
        """The value, made by the first caller."""
        if not self._lock.acquire(timeout=PATIENCE if waiting.may_end_early() else -1):
            raise waiting.NotReadyError(TEXT, lambda: not self._lock.locked())
        try:
            if not self._done:
                try:
                    self._value = make()
                except CancelledError:
                    # Nobody wants it now; whoever asks next begins anew.
                    raise
                except Exception as error:
                    self._error = error
                self._done = True
        finally:
            self._lock.release()
        if self._error is not None:
            raise self._error
        return self._value


_values = _Values(MAX_VALUES)
_jobs = _Values(MAX_VALUES)


def cached(name: str, run: Run, function: Callable[..., T], *arguments: Hashable) -> T:
    """`function(run.release, *arguments)`, computed once per run, name and arguments. Errors are kept as well."""
    once = _values.get_or_put((run.id, name, *arguments), _Once)
    return once.get(lambda: function(run.release, *arguments))


def cache_of(run: Run) -> Cache:
    """What `cached` holds of a run, as the library asks for it."""
    return lambda name, function, *arguments: cached(name, run, function, *arguments)


def known(name: str, run: Run, *arguments: Hashable) -> Any:
    """What `cached` holds of that name and these arguments; None where it was never asked for, or has failed."""
    once = _values.peek((run.id, name, *arguments))
    return None if once is None else once.done


def later(name: str, run: Run, function: Callable[..., Any], *arguments: Hashable) -> Later:
    """Like `cached`, but in the background: the first call starts it, further calls say how far it is.

    A function with a parameter `progress` gets the callback (fraction, text). Poll from a keyed fragment with
    `run_every` while the status is running.
    """

    def work(report: jobs.Report) -> Any:
        extra = {"progress": report} if "progress" in inspect.signature(function).parameters else {}
        return cached(name, run, lambda release, *rest: function(release, *rest, **extra), *arguments)

    job: jobs.Job = _jobs.get_or_put((run.id, name, *arguments), lambda: jobs.start(work, name, run.owner))
    if job.status == "done":
        return Later("done", 1.0, job.text, value=job.value)
    if job.running:
        return Later("running", job.fraction, job.text)
    return Later("failed", job.fraction, job.text, error=job.error or "The computation was cancelled.")


def kept(name: str, digests: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """`make()`, computed once per name and digests of everything that it reads."""
    once = _values.get_or_put((name, *digests), _Once)
    return once.get(make)


def forget(run: Run) -> None:
    """Drop every value of a run and cancel what is still being computed for it."""
    for job in _jobs.drop(run.id):
        job.cancel()
    _values.drop(run.id)


def forget_table(digest: str) -> None:
    """Drop what `kept` holds of a table by its digest."""
    _values.drop_all(lambda key: digest in key)
