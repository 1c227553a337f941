"""A table of people: roles, kinds and orders of its attributes, and every value as an integer code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import is_missing, listing, quoted
from anoncore.kernels.arrays import Codes
from anoncore.table.coding import content_order, content_words, encode, guess_kind
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import Hierarchy

__all__ = ["Codes", "Microdata", "Role", "SensitiveValues", "content_order", "guess_kind"]


T = TypeVar("T")


class Role(StrEnum):
    """What an attribute tells about a person."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


@dataclass(frozen=True, eq=False)
class SensitiveValues:
    """A sensitive attribute as requirements see it.

    `codes` int32 (n,) count values 0..size-1. Where only some values need protection they are one value, code 0, and
    every other row counts as a value of its own: those rows share code `unique` (-1: every value is protected).
    """

    attribute: str
    codes: Codes
    size: int
    unique: int
    labels: tuple[str, ...]

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows of the whole table with each value, int64 (size,)."""
        return np.bincount(self.codes, minlength=self.size)


class Microdata:
    """A table with tagged attributes, coded once.

    Parameters: `frame` (one row per person, never changed), `roles` per column (those left out are insensitive),
    `kinds` ("numeric", "ordinal", "nominal"; guessed from the column if left out), `orders` (value order of an ordinal
    or nominal attribute), `hierarchies`, `sensitive_values` (only these need protection, as one value).

    `codes[name]` is int32 (n_rows,) with missing as its own last code, `domain[name]` the values. Identifiers have
    neither: no measure may read them. Raises DataError for a table or tag that cannot be used.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        roles: Mapping[str, Role | str] | None = None,
        kinds: Mapping[str, Kind | str] | None = None,
        orders: Mapping[str, Sequence[Any]] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        sensitive_values: Mapping[str, Collection[Any]] | None = None,
    ) -> None:
        _check_frame(frame)
        self.frame = frame.copy(deep=False)
        columns = [str(column) for column in frame.columns]
        self.frame.columns = pd.Index(columns)
        tagged = {name: _role(name, role) for name, role in _by_column("roles", roles, columns).items()}
        given_kinds = {name: _kind(name, kind) for name, kind in _by_column("kinds", kinds, columns).items()}
        given_orders = _by_column("orders", orders, columns)
        self.roles: dict[str, Role] = {name: tagged.get(name, Role.INSENSITIVE) for name in columns}
        self.hierarchies: dict[str, Hierarchy] = _by_column("hierarchies", hierarchies, columns)
        for name, hierarchy in self.hierarchies.items():
            if not isinstance(hierarchy, Hierarchy):
                raise DataError(
                    f"The hierarchy of '{name}' is a {type(hierarchy).__name__}; make it a Hierarchy first."
                )
        self.codes: dict[str, Codes] = {}
        self.domain: dict[str, Domain] = {}
        for name in self.attributes:
            self.codes[name], self.domain[name] = encode(
                self.frame[name], name, given_kinds.get(name), given_orders.get(name), self.hierarchies.get(name)
            )
        self.sensitive_values: dict[str, tuple[Any, ...]] = {
            name: self._protected(name, values)
            for name, values in _by_column("sensitive_values", sensitive_values, columns).items()
        }

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute that may be published: all but the identifiers, in column order."""
        return tuple(name for name, role in self.roles.items() if role is not Role.IDENTIFIER)

    def _with_role(self, wanted: Role) -> tuple[str, ...]:
        return tuple(name for name, role in self.roles.items() if role is wanted)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Attributes that are never published."""
        return self._with_role(Role.IDENTIFIER)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Attributes that an adversary may know."""
        return self._with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Attributes that an adversary must not learn."""
        return self._with_role(Role.SENSITIVE)

    @property
    def insensitive(self) -> tuple[str, ...]:
        """Attributes that are published as they are."""
        return self._with_role(Role.INSENSITIVE)

    def require_quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers; DataError if none is tagged."""
        if not self.quasi_identifiers:
            raise DataError(
                "No attribute is tagged as quasi-identifier; tag those that an adversary may know, such as age or sex."
            )
        return self.quasi_identifiers

    def require_sensitive(self, attribute: str | None = None) -> tuple[str, ...]:
        """The named attribute, or every sensitive one; DataError if there is none."""
        if attribute is not None:
            if attribute not in self.codes:
                raise DataError(
                    f"There is no attribute '{attribute}' to protect; the table has {listing(self.attributes)}."
                )
            return (attribute,)
        if not self.sensitive:
            raise DataError(
                "No attribute is tagged as sensitive; tag the one that must not be learned, such as a diagnosis."
            )
        return self.sensitive

    def sensitive_view(self, attribute: str, codes: Codes | None = None) -> SensitiveValues:
        """The attribute as requirements count it (`codes`: other codes of the same domain, such as published ones)."""
        domain = self.domain[attribute]
        codes = self.codes[attribute] if codes is None else codes
        protected = self.sensitive_values.get(attribute)
        if protected is None:
            return SensitiveValues(attribute, codes, len(domain), -1, tuple(domain.texts))
        recode = np.ones(len(domain), dtype=np.int32)
        recode[[domain.code_of(value) for value in protected]] = 0
        label = "{" + ", ".join(domain.text(domain.code_of(value)) for value in protected) + "}"
        return SensitiveValues(attribute, recode[codes], 2, 1, (label, "any other value"))

    def with_quasi_identifiers(self, names: Collection[str]) -> Microdata:
        """The same coded table in which an adversary knows only `names`; what he knew besides counts as insensitive."""
        view = copy(self)
        for cached in ("canonical_order", "content_words"):
            view.__dict__.pop(cached, None)
        view.roles = {
            name: Role.QUASI_IDENTIFIER
            if name in names
            else (Role.INSENSITIVE if role is Role.QUASI_IDENTIFIER else role)
            for name, role in self.roles.items()
        }
        return view

    @cached_property
    def canonical_order(self) -> npt.NDArray[np.int64]:
        """Rows sorted by content, quasi-identifiers first: the same for every order of the input rows.

        Rows that stand in either order are equal in every published attribute.
        """
        return content_order(*self._content())

    @cached_property
    def content_words(self) -> npt.NDArray[np.int64]:
        """Every row's published content as integers that compare like it, int64 (n_words, n_rows)."""
        return content_words(*self._content())

    def _content(self) -> tuple[list[Codes], list[int]]:
        names = [*self.quasi_identifiers, *self.sensitive, *self.insensitive]
        return [self.codes[name] for name in names], [len(self.domain[name]) for name in names]

    def _protected(self, name: str, values: Collection[Any]) -> tuple[Any, ...]:
        if name not in self.domain:
            raise DataError(f"sensitive_values names '{name}', which is an identifier and never published.")
        if isinstance(values, str) or not values:
            raise DataError(f"sensitive_values of '{name}' must be a set of values, such as {{'HIV', 'cancer'}}.")
        wanted = {None if is_missing(value) else value for value in values}
        known = [value for value in self.domain[name] if value in wanted]
        unknown = wanted.difference(known)
        if unknown:
            raise DataError(
                f"sensitive_values of '{name}' names {listing(sorted(unknown, key=str))}, which do not occur; "
                f"the attribute has {listing(self.domain[name].values)}."
            )
        return tuple(known)


def _check_frame(frame: pd.DataFrame) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"A table is given as a pandas DataFrame, not as {type(frame).__name__}.")
    names = [str(column) for column in frame.columns]
    if not names:
        raise DataError("The table has no columns.")
    if len(frame) == 0:
        raise DataError("The table has column names but no rows.")
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise DataError(f"Columns share a name: {listing(twice)}; give every column its own.")


def _by_column(what: str, given: Mapping[Any, T] | None, columns: list[str]) -> dict[str, T]:
    """What is given per column, by the column's name as text. Raises DataError for columns that the table lacks."""
    named = {str(name): value for name, value in (given or {}).items()}
    unknown = [name for name in named if name not in columns]
    if unknown:
        raise DataError(f"{what} names {listing(unknown)}, which the table lacks; it has {listing(columns, 30)}.")
    return named


def _role(name: str, role: Role | str) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise DataError(
            f"The role of '{name}' is {quoted(role)}; use one of {listing([r.value for r in Role])}."
        ) from None


def _kind(name: str, kind: Kind | str | None) -> Kind | None:
    try:
        return None if kind is None else Kind(kind)
    except ValueError:
        raise DataError(
            f"The kind of '{name}' is {quoted(kind)}; use one of {listing([k.value for k in Kind])}."
        ) from None
