"""How much of a run's time went into compiling, which happens once per machine and says nothing about the method."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from numba.core import event

P = ParamSpec("P")
T = TypeVar("T")


class CompileTime:
    """Time during which at least one thread of a piece of work compiled, loaded compiled code, or waited for either.

    Examples
    --------
    >>> from anoncore.base.compile_time import recorded
    >>> with recorded() as compiling:
    ...     total = 1 + 1
    >>> compiling.seconds
    0.0
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._busy = 0
        self._since = 0.0

    def begin(self) -> None:
        """A thread begins to compile; threads that compile beside each other count once."""
        with self._lock:
            if self._busy == 0:
                self._since = perf_counter()
            self._busy += 1

    def end(self) -> None:
        """A thread has compiled what it needs."""
        with self._lock:
            self._busy -= 1
            if self._busy == 0:
                self.seconds += perf_counter() - self._since


_recording: ContextVar[CompileTime | None] = ContextVar("compile_time", default=None)


class _Listener(event.Listener):  # type: ignore[misc]
    """Starts and stops the clock when a thread enters or leaves numba's compiler, which also looks up its cache."""

    def on_start(self, _event: object) -> None:
        found = _recording.get()
        if found is not None:
            found.begin()

    def on_end(self, _event: object) -> None:
        found = _recording.get()
        if found is not None:
            found.end()


event.register("numba:compiler_lock", _Listener())


@contextmanager
def recorded() -> Iterator[CompileTime]:
    """Record the compiling of what is done inside, in this thread and in those of a `Pool` that it uses.

    Yields
    ------
    CompileTime
        Whose `seconds` grow meanwhile.
    """
    found = CompileTime()
    token = _recording.set(found)
    try:
        yield found
    finally:
        _recording.reset(token)


class Pool(ThreadPoolExecutor):
    """A pool of threads whose tasks belong to the work that submits them, so that its compiling is told as well."""

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Schedule a task in the context of the caller."""
        run: Callable[..., Any] = copy_context().run
        return super().submit(run, function, *args, **kwargs)
