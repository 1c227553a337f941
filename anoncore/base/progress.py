"""How work that takes long reports what it has done."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""Called with the share done (0 to 1) and what is being done; may raise CancelledError to stop the work."""


def silent(fraction: float, text: str) -> None:
    """Progress that nobody watches: takes the report and does nothing."""


def part_of(progress: Progress, low: float, high: float) -> Progress:
    """Progress of one part of the work, whose 0 to 1 becomes `low` to `high` of the whole."""
    return lambda share, text: progress(low + (high - low) * share, text)
