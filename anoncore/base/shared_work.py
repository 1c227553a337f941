"""The cache: what one caller has worked out others take, in runs that share work or for as long as an object lives."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from anoncore.base.errors import CancelledError

T = TypeVar("T")
Key = tuple[Hashable, ...]

MOST_KEPT = 64
"""Results that are kept for others, those that were asked for last."""


class Memo:
    """Values by key, each made by the caller who asks for it first, while others who ask wait.

    Parameters
    ----------
    most : int
        How many values are kept, those that were asked for last.
    kept_errors : tuple of type of Exception
        What `make` raises of these is raised to every caller of the key. After another error, and where making was
        cancelled, whoever waits or asks next makes the value.
    wait : callable
        Given the future of a value that another thread makes, it returns when that is done, or raises.
    """

    def __init__(
        self,
        most: int = MOST_KEPT,
        kept_errors: tuple[type[Exception], ...] = (),
        wait: Callable[[Future[Any]], object] = Future.exception,
    ) -> None:
        self._lock, self._most, self._kept_errors, self._wait = threading.Lock(), most, kept_errors, wait
        # A future holds its value in a tuple, or None where making it ended without one.
        self._futures: OrderedDict[Key, Future[tuple[Any] | None]] = OrderedDict()

    def get(self, key: Key, make: Callable[[], T]) -> T:
        """The value of the key, made now unless it is there or being made."""
        own: Future[tuple[Any] | None] = Future()
        while True:
            with self._lock:
                future = self._futures.setdefault(key, own)
                self._futures.move_to_end(key)
                while len(self._futures) > self._most:
                    self._futures.popitem(last=False)
            if future is own:
                break
            self._wait(future)
            outcome = future.result()
            if outcome is not None:
                result: T = outcome[0]
                return result
        try:
            result = make()
        except BaseException as error:
            if isinstance(error, self._kept_errors) and not isinstance(error, CancelledError):
                own.set_exception(error)
                raise
            with self._lock:
                if self._futures.get(key) is own:
                    del self._futures[key]
            own.set_result(None)
            raise
        own.set_result((result,))
        return result

    def peek(self, key: Key) -> Any:
        """The value of the key; None where it is not made, and where making it failed."""
        with self._lock:
            future = self._futures.get(key)
        return None if future is None else _value(future)

    def drop(self, is_unwanted: Callable[[Key], bool]) -> list[Any]:
        """Remove and return every value whose key is unwanted, None for those that are not made."""
        with self._lock:
            return [_value(self._futures.pop(key)) for key in list(self._futures) if is_unwanted(key)]


def _value(future: Future[tuple[Any] | None]) -> Any:
    if not future.done() or future.exception() is not None:
        return None
    outcome = future.result()
    return None if outcome is None else outcome[0]


Cache = Callable[..., Any]
"""`cache(name, function, *arguments)` gives `function(release, *arguments)`, so that one result serves many numbers."""
MOST_RESULTS = 512
"""Results of one release that are kept."""


def kept_results(release: object, cache: Cache | None = None) -> Cache:
    """The cache that is given, or a new one that works each result of the release out when it is asked for first."""
    if cache is not None:
        return cache
    memo = Memo(MOST_RESULTS)
    return lambda name, function, *arguments: memo.get((name, *arguments), lambda: function(release, *arguments))


_KEPT: WeakKeyDictionary[Any, dict[str, Memo]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def cached(owner: object, what: str, key: Key, make: Callable[[], T], most: int = MOST_KEPT) -> T:
    """What `make` gives, worked out once for each key and kept for as long as the owner lives.

    Of results of one kind (`what`) the latest `most` are kept. The key must name everything that the result depends on
    besides the owner, and the result must not hold the owner.
    """
    with _LOCK:
        memo = _KEPT.setdefault(owner, {}).setdefault(what, Memo(most))
    return memo.get(key, make)


def forget(owner: object, but: Collection[str] = ()) -> None:
    """Let go of what `cached` keeps for an owner, but for these kinds; whoever asks for the rest works it out anew."""
    with _LOCK:
        for what in set(_KEPT.get(owner, ())) - set(but):
            del _KEPT[owner][what]


_CURRENT: ContextVar[Memo | None] = ContextVar("shared work", default=None)


@contextmanager
def sharing(work: Memo) -> Iterator[None]:
    """Let the runs that this thread makes inside the block share their work with all others that are given `work`."""
    token = _CURRENT.set(work)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def digest(*arrays: npt.NDArray[Any]) -> str:
    """A text that differs where the arrays do, for a key."""
    hashed = hashlib.blake2b(digest_size=16)
    for array in arrays:
        hashed.update(f"{array.dtype.str}{array.shape}".encode())
        hashed.update(np.ascontiguousarray(array).data)
    return hashed.hexdigest()


def shared(table: object, key: Key, make: Callable[[], T]) -> T:
    """What `make` gives; where work is shared, it is worked out once for all runs with this key on the table.

    The key must name everything that the result depends on besides the table, and nobody may change the result.
    """
    work = _CURRENT.get()
    if work is None:
        return make()
    # The table is held together with its result: as long as it is, no other table can have the same id.
    result: T = work.get((id(table), *key), lambda: (table, make()))[1]
    return result
