"""A table of people: roles, kinds and orders of its attributes, and every value as an integer code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.domain import Domain, Kind, listing
from anoncore.errors import DataError
from anoncore.hierarchy import Hierarchy

Codes = npt.NDArray[np.int32]


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
        for what, given in (
            ("roles", roles),
            ("kinds", kinds),
            ("orders", orders),
            ("hierarchies", hierarchies),
            ("sensitive_values", sensitive_values),
        ):
            _check_columns(what, given, columns)
        tagged = {name: _role(name, role) for name, role in (roles or {}).items()}
        self.roles: dict[str, Role] = {name: tagged.get(name, Role.INSENSITIVE) for name in columns}
        self.hierarchies: dict[str, Hierarchy] = dict(hierarchies or {})
        self.codes: dict[str, Codes] = {}
        self.domain: dict[str, Domain] = {}
        for name in self.attributes:
            kind = _kind(name, (kinds or {}).get(name))
            self.codes[name], self.domain[name] = _encode(
                self.frame[name], name, kind, (orders or {}).get(name), self.hierarchies.get(name)
            )
        self.sensitive_values: dict[str, tuple[Any, ...]] = {
            name: self._protected(name, values) for name, values in (sensitive_values or {}).items()
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

    @cached_property
    def canonical_order(self) -> npt.NDArray[np.int64]:
        """Rows sorted by content, quasi-identifiers first: the same for every order of the input rows.

        Rows that stand in either order are equal in every published attribute.
        """
        names = [*self.quasi_identifiers, *self.sensitive, *self.insensitive]
        return content_order([self.codes[name] for name in names], [len(self.domain[name]) for name in names])

    def _protected(self, name: str, values: Collection[Any]) -> tuple[Any, ...]:
        if name not in self.domain:
            raise DataError(f"sensitive_values names '{name}', which is an identifier and never published.")
        if isinstance(values, str) or not values:
            raise DataError(f"sensitive_values of '{name}' must be a set of values, such as {{'HIV', 'cancer'}}.")
        known = [value for value in self.domain[name].values if value in set(values)]
        unknown = [value for value in values if value not in set(known)]
        if unknown:
            raise DataError(
                f"sensitive_values of '{name}' names {listing(unknown)}, which do not occur; "
                f"the attribute has {listing(self.domain[name].values)}."
            )
        return tuple(known)


def content_order(columns: Sequence[Codes], sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """Stable order of rows by the given code columns, the first column counting most."""
    words: list[npt.NDArray[np.int64]] = []
    capacity = 1
    for codes, size in zip(columns, sizes, strict=True):
        if words and capacity * size < 2**62:
            words[-1] *= size
            words[-1] += codes
            capacity *= size
        else:
            words.append(codes.astype(np.int64))
            capacity = size
    if len(words) == 1:
        return np.argsort(words[0], kind="stable")
    return np.lexsort(words[::-1])


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
        raise DataError(f"The column name {listing(twice)} occurs more than once; give every column its own name.")


def _check_columns(what: str, given: Mapping[str, Any] | None, columns: list[str]) -> None:
    unknown = [name for name in given or {} if name not in columns]
    if unknown:
        raise DataError(f"{what} names {listing(unknown)}, which the table lacks; it has {listing(columns, 30)}.")


def _role(name: str, role: Role | str) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise DataError(f"The role of '{name}' is {role!r}; use one of {listing([r.value for r in Role])}.") from None


def _kind(name: str, kind: Kind | str | None) -> Kind | None:
    try:
        return None if kind is None else Kind(kind)
    except ValueError:
        raise DataError(f"The kind of '{name}' is {kind!r}; use one of {listing([k.value for k in Kind])}.") from None


def guess_kind(column: pd.Series[Any], ordered: bool = False) -> Kind:
    """Numbers and dates are numeric, ordered categories (or an explicit order) ordinal, all else nominal."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return Kind.ORDINAL if ordered or column.dtype.ordered else Kind.NOMINAL
    if ordered:
        return Kind.ORDINAL
    if pd.api.types.is_bool_dtype(column.dtype):
        return Kind.NOMINAL
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return Kind.NUMERIC
    return Kind.NOMINAL


def _encode(
    column: pd.Series[Any], name: str, kind: Kind | None, order: Sequence[Any] | None, hierarchy: Hierarchy | None
) -> tuple[Codes, Domain]:
    if kind is None:
        kind = guess_kind(column, ordered=order is not None)
    if kind is Kind.NUMERIC:
        if order is not None:
            raise DataError(f"'{name}' is numeric, so its order is that of the numbers; drop its entry in orders.")
        column = _as_numbers(column, name)
    try:
        raw, uniques = pd.factorize(column, use_na_sentinel=True)
    except TypeError as error:
        raise DataError(
            f"'{name}' holds values that cannot be compared ({error}); turn them into text first."
        ) from None
    found = [_plain(value) for value in uniques]
    ordered = _ordered(found, column, name, kind, order, hierarchy)
    rank = {value: code for code, value in enumerate(ordered)}
    recode = np.array([*(rank[value] for value in found), len(ordered)], dtype=np.int32)
    codes = recode[raw]
    domain = Domain(name, kind, tuple(ordered), has_missing=bool((raw == -1).any()))
    if hierarchy is not None:
        domain = Domain(name, kind, domain.values, domain.has_missing, hierarchy.tree(domain))
    return codes, domain


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value


def _as_numbers(column: pd.Series[Any], name: str) -> pd.Series[Any]:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    if not pd.api.types.is_numeric_dtype(column.dtype):
        numbers = pd.to_numeric(column, errors="coerce")
        wrong = column[numbers.isna().to_numpy() & column.notna().to_numpy()]
        if len(wrong):
            raise DataError(
                f"'{name}' is tagged numeric but holds {listing(list(wrong.iloc[:3]))}; tag it nominal or ordinal."
            )
        column = numbers
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(values).any():
        raise DataError(f"'{name}' holds an infinite value; replace it by a number or leave the cell empty.")
    return column


def _ordered(
    found: list[Any],
    column: pd.Series[Any],
    name: str,
    kind: Kind,
    order: Sequence[Any] | None,
    hierarchy: Hierarchy | None,
) -> list[Any]:
    if order is not None:
        wanted = list(order)
        if len(set(wanted)) < len(wanted):
            raise DataError(f"The order of '{name}' lists a value twice.")
        lacking = [value for value in found if value not in set(wanted)]
        if lacking:
            raise DataError(f"The order of '{name}' lacks {listing(lacking)}; list every value of the column.")
        present = set(found)
        return [value for value in wanted if value in present]
    if kind is not Kind.NUMERIC and isinstance(column.dtype, pd.CategoricalDtype):
        present = set(found)
        return [value for value in (_plain(item) for item in column.dtype.categories) if value in present]
    if kind is not Kind.NUMERIC and hierarchy is not None:
        try:
            return hierarchy.order(found)
        except DataError as error:
            raise DataError(f"'{name}': {error}") from None
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=lambda value: (str(type(value)), str(value)))
