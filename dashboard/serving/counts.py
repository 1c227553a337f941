"""How often something happened since the server started, for a monitor."""

from __future__ import annotations

import threading
from collections import Counter

_counts: Counter[tuple[str, str]] = Counter()
_lock = threading.Lock()


def count(name: str, kind: str) -> None:
    """Count one more of something, of a kind."""
    with _lock:
        _counts[name, kind] += 1


def counted() -> dict[tuple[str, str], int]:
    """How often each thing happened, by its name and kind."""
    with _lock:
        return dict(_counts)
