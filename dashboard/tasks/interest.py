"""Who waits for what: work that no page asks for any more can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Hashable

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
