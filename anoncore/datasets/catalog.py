"""What a built-in table is: its data, where it comes from, and how its attributes are meant to be read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from anoncore.base.errors import DataError

IDENTIFIER = "identifier"
QUASI_IDENTIFIER = "quasi-identifier"
SENSITIVE = "sensitive"
INSENSITIVE = "insensitive"
ROLES = (IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE, INSENSITIVE)

NUMERIC = "numeric"
ORDINAL = "ordinal"
NOMINAL = "nominal"
KINDS = (NUMERIC, ORDINAL, NOMINAL)

Taxonomy: TypeAlias = Mapping[str, "Taxonomy | Sequence[object]"]
"""A value hierarchy: every key is an inner node, every list holds values of the table; the root `*` is implied."""

ColumnValues: TypeAlias = ExtensionArray | NDArray[np.int64]


@dataclass(frozen=True)
class Table:
    """One built-in table.

    `load()` gives a fresh DataFrame with one row per person; generators also take `n_rows` and `seed`.
    `roles` names every column of it. `kinds`, `orders`, `taxonomies` and `sensitive_values` say how a column is to be
    read where that cannot be seen from its values. `external` marks tables that come from a file or a download.

    Raises DataError for a role or kind that does not exist and for a column without a role.
    """

    name: str
    title: str
    description: str
    source: str
    load: Callable[..., pd.DataFrame]
    roles: Mapping[str, str]
    kinds: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Sequence[object]] = field(default_factory=dict)
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    sensitive_values: Mapping[str, Sequence[object]] = field(default_factory=dict)
    external: bool = False

    def __post_init__(self) -> None:
        for column, role in self.roles.items():
            if role not in ROLES:
                raise DataError(
                    f"Table '{self.name}': '{column}' has the role '{role}'; use one of {', '.join(ROLES)}."
                )
        for column, kind in self.kinds.items():
            if kind not in KINDS:
                raise DataError(
                    f"Table '{self.name}': '{column}' has the kind '{kind}'; use one of {', '.join(KINDS)}."
                )
        for described in (self.kinds, self.orders, self.taxonomies, self.sensitive_values):
            for column in described:
                if column not in self.roles:
                    raise DataError(f"Table '{self.name}': '{column}' is described but has no role; give it one.")

    @property
    def generated(self) -> bool:
        """Whether `load` takes `n_rows` and `seed`, so that the table can have any size."""
        return {"n_rows", "seed"} <= set(inspect.signature(self.load).parameters)


def taxonomy_values(taxonomy: Taxonomy) -> Iterator[object]:
    """The values at the bottom of a taxonomy, from left to right."""
    for below in taxonomy.values():
        if isinstance(below, Mapping):
            yield from taxonomy_values(below)
        else:
            yield from below


def check_size(n_rows: int) -> int:
    """`n_rows` as a plain int; DataError unless it is a whole number of at least 1."""
    return _whole_number(n_rows, 1, "number of rows")


def check_seed(seed: int) -> int:
    """`seed` as a plain int; DataError unless it is a whole number of at least 0."""
    return _whole_number(seed, 0, "seed")


def _whole_number(value: int, least: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise DataError(f"A generated table needs a whole {what} of at least {least}; {value!r} was given.")
    return int(value)


def value_column(values: Sequence[object], codes: NDArray[np.int64]) -> ColumnValues:
    """The column that has `values[codes[i]]` in row i: text columns as pandas `str`, whole numbers as int64."""
    if all(isinstance(value, str) for value in values):
        return pd.array([str(value) for value in values], dtype="str").take(codes)
    return np.asarray(values, dtype=np.int64)[codes]
