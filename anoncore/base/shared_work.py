"""The cache: what one caller has worked out others take, in runs that share work or for as long as an object lives."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

MOST_KEPT = 64
"""Results that are kept for others, the latest ones."""


class SharedWork:
    """Results that runs share, each worked out by the run that asks for it first; others who ask meanwhile wait.

    The latest `most` are kept. A future of a result holds it in a tuple, or None where the run that began failed or was
    cancelled.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._lock, self._most = threading.Lock(), most
        # A result is held together with its table: as long as it is, no other table can have the same id.
        self._results: OrderedDict[tuple[Hashable, ...], tuple[object, Future[tuple[Any] | None]]] = OrderedDict()

    def take(self, table: object, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """The result of this key for the table; `make` works it out where nobody has yet."""
        name = (id(table), *key)
        own: Future[tuple[Any] | None] = Future()
        while True:
            with self._lock:
                _, future = self._results.setdefault(name, (table, own))
                while len(self._results) > self._most:
                    self._results.popitem(last=False)
            if future is own:
                break
            outcome = future.result()
            if outcome is not None:
                result: T = outcome[0]
                return result
        try:
            result = make()
        except BaseException:
            with self._lock:
                self._results.pop(name, None)
            own.set_result(None)
            raise
        own.set_result((result,))
        return result


_KEPT: WeakKeyDictionary[Any, dict[str, SharedWork]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def cached(owner: object, what: str, key: tuple[Hashable, ...], make: Callable[[], T], most: int = MOST_KEPT) -> T:
    """What `make` gives, worked out once for each key and kept for as long as the owner lives.

    Of results of one kind (`what`) the latest `most` are kept. The key must name everything that the result depends on
    besides the owner, and the result must not hold the owner.
    """
    with _LOCK:
        work = _KEPT.setdefault(owner, {}).setdefault(what, SharedWork(most))
    return work.take(None, key, make)


_CURRENT: ContextVar[SharedWork | None] = ContextVar("shared work", default=None)


@contextmanager
def sharing(work: SharedWork) -> Iterator[None]:
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


def shared(table: object, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """What `make` gives; where work is shared, it is worked out once for all runs with this key on the table.

    The key must name everything that the result depends on besides the table, and nobody may change the result.
    """
    work = _CURRENT.get()
    return make() if work is None else work.take(table, key, make)
