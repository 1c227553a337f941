"""What requirements and kernels ask of a table, without its rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes, Int64, record
from anoncore.table.domain import Domain
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Microdata, Role, SensitiveValues

MOST_VALUES = 3_000_000
"""Different values of one coded column: each takes about 200 bytes while it is coded."""


@record
class CountedValues(SensitiveValues):
    """A sensitive attribute known by its counts; `recode` (domain size,) is the value that each code counts as."""

    recode: Codes
    rows: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))

    @cached_property
    def counts(self) -> Int64:
        """Rows of the whole table with each value, int64 (size,)."""
        return np.bincount(self.recode, weights=self.rows, minlength=self.size).astype(np.int64)


class TableProfile(Microdata):
    """A table known by roles, domains and the counts of single values: `codes` is empty.

    `roles` has every column that is read, `domains` and `counts` those that are coded. `left_out` are the columns
    without a role.
    """

    def __init__(
        self,
        n_rows: int,
        roles: Mapping[str, Role],
        domains: Mapping[str, Domain],
        counts: Mapping[str, Int64],
        sensitive_values: Mapping[str, Collection[Any]],
        hierarchies: Mapping[str, Hierarchy] | None = None,
        left_out: Collection[str] = (),
    ) -> None:
        self._n_rows, self.counts = n_rows, dict(counts)
        self.roles, self.domain, self.codes = dict(roles), dict(domains), {}
        self.hierarchies = dict(hierarchies or {})
        self.unit, self.people, self.whole = None, None, None
        self.left_out, self.undecided = tuple(left_out), ()
        self.sensitive_values = {name: self._protected(name, values) for name, values in sensitive_values.items()}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._n_rows

    @property
    def people_word(self) -> str:
        """What rows may be called: rows, as nobody looked at whether values of an identifier repeat."""
        return "rows" if self.identifiers else "people"

    @property
    def unit_note(self) -> str:
        """That rows are counted where people may have several, in a sentence; empty without an identifier."""
        if not self.identifiers:
            return ""
        return (
            f"Is each row another person? Whether values of {listing(self.identifiers)} repeat was not looked at, and "
            "rows are counted, not people: only the engine memory counts people by a unit."
        )

    def require_sensitive(self, attribute: str | None = None) -> tuple[str, ...]:
        """The named attribute, or every sensitive one; DataError if there is none."""
        if attribute is not None and attribute in self.domain:
            return (attribute,)
        return super().require_sensitive(attribute)

    def sensitive_view(self, attribute: str, codes: Codes | None = None) -> CountedValues:
        """The attribute as requirements count it; its `codes` are those of the domain, not of rows."""
        every = np.arange(len(self.domain[attribute]), dtype=np.int32)
        view = super().sensitive_view(attribute, every)
        return CountedValues(
            attribute, view.codes, view.size, view.unique, view.labels, view.codes, self.counts[attribute]
        )
