"""What published tables tell of the table that they were made of, where it is not given: values, but not whose."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.texts import listing
from anoncore.base.typed_values import value_key
from anoncore.kernels.arrays import Bools, Codes
from anoncore.table.domain import Domain
from anoncore.table.given_table import GivenTable
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Microdata, Role

ADVICE = "Give the table that it was made of as `original`; sizes of groups, k, l, t and beliefs can do without."

ASSUMED = (
    "Ranges are as wide as they are written, the domain of an attribute is what the tables mention of it, or what its "
    "hierarchy has, and values that were changed look like true ones. Rows and attributes that were left out do not "
    "count."
)
"""What is taken for true of tables whose original is not given."""


class UnknownCodes(Mapping[str, Codes]):
    """The codes of rows that nobody knows: asking for them raises ReleaseError."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def __getitem__(self, name: str) -> Codes:
        if name not in self._names:
            raise KeyError(name)
        raise ReleaseError(
            f"The release was read without its original, so it is not known which value of '{name}' each person has. "
            f"{ADVICE}"
        )

    def __or__(self, known: Mapping[str, Codes]) -> UnknownCodes:
        """The same together with codes of attributes that the tables do not have, of which no row's is known either."""
        return UnknownCodes([*self._names, *known])

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class PublishedValues(Microdata):
    """What published tables tell of the table that they were made of: its rows, its values and how often they occur.

    `codes` raises ReleaseError, so that every measure that compares with the original says that it cannot.
    """

    def __init__(
        self,
        given: GivenTable,
        roles: Mapping[str, Role],
        domains: Mapping[str, Domain],
        counted: Mapping[str, Codes],
        hierarchies: Mapping[str, Hierarchy],
        sensitive_values: Mapping[str, Any],
        unknown_widths: Mapping[str, str],
        uncounted_cells: Mapping[tuple[str, str], Bools],
        undecided: Sequence[str],
    ) -> None:
        self.given = given
        self.roles = dict(roles)
        self.unit = None
        self.people = None
        self.whole = None
        self.left_out = ()
        self.undecided = tuple(undecided)
        self.hierarchies = dict(hierarchies)
        self.domain = dict(domains)
        self.codes = UnknownCodes(self.attributes)  # type: ignore[assignment]
        self._counted = dict(counted)
        self._unknown_widths = dict(unknown_widths)
        self._uncounted_cells = dict(uncounted_cells)
        self.sensitive_values = {name: self._published(name, values) for name, values in sensitive_values.items()}

    def _published(self, name: str, values: Collection[Any]) -> tuple[Any, ...]:
        """Those values that need protection and are published, as some may have been changed wherever they occurred."""
        if name not in self.domain or isinstance(values, str) or not isinstance(values, Collection):
            return self._protected(name, values)
        known = {value_key(value) for value in self.domain[name]}
        present = [value for value in values if value_key(value) in known]
        if values and not present:
            raise DataError(
                f"None of the values of '{name}' that need protection is published; it has "
                f"{listing(list(self.domain[name]))}. Leave sensitive_values out to judge all of them."
            )
        return self._protected(name, present)

    def counted_codes(self, attribute: str) -> Codes:
        """The published codes of an attribute in some order. Raises ReleaseError where regions are published."""
        self.require_domain(attribute)
        if attribute not in self._counted:
            return self.codes[attribute]
        return self._counted[attribute]

    @property
    def knows_rows(self) -> bool:
        """False: which values belong to one person is not known."""
        return False

    @property
    def unknown_widths(self) -> Mapping[str, str]:
        """The attributes whose cells do not tell what share of the domain they cover, with the reason."""
        return self._unknown_widths

    @property
    def uncounted_cells(self) -> Mapping[tuple[str, str], Bools]:
        """By table and attribute, of which rows the published cell does not tell how many values it allows."""
        return self._uncounted_cells
