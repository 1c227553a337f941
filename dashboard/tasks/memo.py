"""Values by what was asked: each is made once while others wait, and those that nobody asked for longest go."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from anoncore import CancelledError
from dashboard.tasks import waiting

PATIENCE = 0.3
"""Seconds that a page waits for what is being computed for another one before it ends without it."""
TEXT = "What this page needs is being computed already"

T = TypeVar("T")
Key = tuple[Hashable, ...]
Errors = tuple[type[Exception], ...]


class _Once:
    """A value that the first caller makes while others wait; an error that is kept is raised to every caller.

    A page waits for a moment only, as its visitor could go nowhere else meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = False
        self._error: Exception | None = None
        self.value: Any = None

    def get(self, make: Callable[[], Any], kept_errors: Errors) -> Any:
        """The value, made by the first caller."""
        if not self._lock.acquire(timeout=PATIENCE if waiting.may_end_early() else -1):
            raise waiting.NotReadyError(TEXT, lambda: not self._lock.locked())
        try:
            if not self._done:
                try:
                    self.value = make()
                except CancelledError:
                    # Nobody wants it now; whoever asks next begins anew.
                    raise
                except kept_errors as error:
                    self._error = error
                self._done = True
        finally:
            self._lock.release()
        if self._error is not None:
            raise self._error
        return self.value


class Memo:
    """At most so many values, with the errors of making them that are of `kept_errors`."""

    def __init__(self, most: int, kept_errors: Errors = ()) -> None:
        self._most, self._kept_errors = most, kept_errors
        self._lock = threading.Lock()
        self._items: OrderedDict[Key, _Once] = OrderedDict()

    def get(self, key: Key, make: Callable[[], T]) -> T:
        """The value of the key, made now unless it is there or being made."""
        with self._lock:
            once = self._items.setdefault(key, _Once())
            self._items.move_to_end(key)
            while len(self._items) > self._most:
                self._items.popitem(last=False)
        value: T = once.get(make, self._kept_errors)
        return value

    def peek(self, key: Key) -> Any:
        """The value of the key; None where it is not made, and where making it failed."""
        with self._lock:
            once = self._items.get(key)
        return None if once is None else once.value

    def drop(self, is_unwanted: Callable[[Key], bool]) -> list[Any]:
        """Remove and return every value whose key is unwanted."""
        with self._lock:
            return [self._items.pop(key).value for key in list(self._items) if is_unwanted(key)]
