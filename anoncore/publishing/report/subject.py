"""A release as a report sees it: its name, its table's name, and every measure of it computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from anoncore.base.errors import AnonymizationError
from anoncore.measures.criteria import CRITERIA, Cache
from anoncore.release.release import Release


@dataclass(frozen=True, eq=False)
class Subject:
    """One release of a report.

    `label` and `table` are how people call the release and its table, `style` is the number of its colour (default: its
    place in the report). `cache(name, function, *arguments)` may keep
    measures that were computed before.
    """

    label: str
    release: Release
    table: str = ""
    cache: Cache | None = None
    style: int | None = None
    _kept: dict[tuple[Hashable, ...], Any] = field(default_factory=dict, repr=False)

    def measure(self, name: str, function: Callable[..., Any], *arguments: Hashable) -> Any:
        """`function(release, *arguments)`, computed once. Raises what the function raises."""
        if self.cache is not None:
            return self.cache(name, function, *arguments)
        key = (name, *arguments)
        if key not in self._kept:
            self._kept[key] = function(self.release, *arguments)
        return self._kept[key]

    @cached_property
    def attribute(self) -> str | None:
        """The sensitive attribute that the report looks at: the first that is published."""
        return next((name for name in self.release.data.sensitive if name in self.release.attributes), None)

    def numbers(self, attribute: str | None) -> dict[str, float | AnonymizationError]:
        """Every criterion by name: its number, or the error that says why there is none."""
        found: dict[str, float | AnonymizationError] = {}
        for one in CRITERIA.values():
            try:
                found[one.name] = one.evaluate(self.release, attribute, self.measure)
            except AnonymizationError as error:
                found[one.name] = error
        return found
