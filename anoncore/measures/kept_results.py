"""What measures gave of one release, so that one result serves all who ask for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from anoncore.release.release import Release

Cache = Callable[..., Any]
"""`cache(name, function, *arguments)` gives `function(release, *arguments)`, so that one result serves many numbers."""


class KeptResults:
    """A cache of the results of one release, which works each of them out when it is asked for first."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._results: dict[tuple[Hashable, ...], Any] = {}

    def __call__(self, name: str, function: Callable[..., Any], *arguments: Hashable) -> Any:
        """The result of `function(release, *arguments)`, which `name` and the arguments tell from others."""
        key = (name, *arguments)
        if key not in self._results:
            self._results[key] = function(self._release, *arguments)
        return self._results[key]
