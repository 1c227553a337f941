"""What a built-in table is: its data, where it comes from, and how its attributes are meant to be read."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from anoncore.base.errors import DataError
from anoncore.base.showing import Lines, Shown
from anoncore.base.texts import listing

if TYPE_CHECKING:
    import pandas as pd

    from anoncore.table.domain import KindName
    from anoncore.table.microdata import RoleName

ROLES = ("identifier", "quasi-identifier", "sensitive", "insensitive")
KINDS = ("numeric", "ordinal", "nominal")

Taxonomy: TypeAlias = Mapping[str, "Taxonomy | Sequence[object]"]
"""A value hierarchy: every key is an inner node, every list holds values of the table; the root `*` is implied."""


class Loader(Protocol):
    """A function that gives the rows of a table; that of a generated table takes `n_rows` and `seed`."""

    def __call__(self, *args: Any, **options: Any) -> pd.DataFrame:
        """The rows, in a DataFrame that nobody else holds."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is known about a built-in table without its rows; see `Table` for the fields."""

    name: str
    title: str
    description: str
    source: str
    roles: Mapping[str, RoleName]
    kinds: Mapping[str, KindName] = field(default_factory=dict)
    orders: Mapping[str, Sequence[object]] = field(default_factory=dict)
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    sensitive_values: Mapping[str, Sequence[object]] = field(default_factory=dict)
    groups: tuple[int, ...] = ()
    external: bool = False

    def __post_init__(self) -> None:
        self._check_words("role", self.roles, ROLES)
        self._check_words("kind", self.kinds, KINDS)
        for described in (self.kinds, self.orders, self.taxonomies, self.sensitive_values):
            for column in described:
                if column not in self.roles:
                    raise DataError(f"Table '{self.name}': '{column}' is described but has no role; give it one.")

    def _check_words(self, what: str, given: Mapping[str, str], known: Sequence[str]) -> None:
        for column, word in given.items():
            if word not in known:
                raise DataError(
                    f"Table '{self.name}': '{column}' has the {what} '{word}'; use one of {', '.join(known)}."
                )


@dataclass(frozen=True, kw_only=True)
class Table(Shown, Description):
    """One built-in table: its rows, and how its columns are tagged.

    The tags have the form that `Microdata` and a recipe take; `Hierarchy.from_nested` makes a hierarchy of a taxonomy.

    Attributes
    ----------
    name : str
        What `table` and the key `builtin` of a recipe call it.
    title, description, source : str
        A short title, what the table is about, and where it comes from, as people read them.
    load : callable
        Gives a fresh DataFrame with one row per person. The loader of a generated table also takes `n_rows` and
        `seed`.
    roles : mapping of str to str
        The role of every column, in the order of the columns: `identifier`, `quasi-identifier`, `sensitive` or
        `insensitive`.
    kinds : mapping of str to str
        `numeric`, `ordinal` or `nominal`, for the columns where it matters.
    orders : mapping of str to sequence
        All values of a column from first to last, for ordinal columns.
    taxonomies : mapping of str to Taxonomy
        The value hierarchy of a column.
    sensitive_values : mapping of str to sequence
        The values of a sensitive column that alone need protection; every value of the columns that are left out.
    groups : tuple of int, shape (n_rows,)
        The group of each row in the anonymization that the paper publishes; empty where there is none.
    external : bool
        Whether the rows come from a file of the user or from a download.

    Raises
    ------
    DataError
        For a role or kind that does not exist, and for a column that is described but has no role.

    Examples
    --------
    >>> from anoncore.datasets import table
    >>> patients = table("slicing-table-1")
    >>> patients.load().shape
    (8, 4)
    >>> patients.roles["disease"]
    'sensitive'
    >>> patients.taxonomies["disease"]["respiratory"]
    ['flu', 'bronchitis']
    """

    load: Loader

    def _headline(self) -> str:
        return f"Table {self.name}: {self.title}"

    def _lines(self) -> Lines:
        columns: dict[str, list[str]] = {}
        for column, role in self.roles.items():
            columns.setdefault(role, []).append(column)
        return [*((role, listing(names)) for role, names in columns.items()), ("source", self.source)]

    @property
    def protecting_roles(self) -> dict[str, RoleName]:
        """The roles without the insensitive ones: to publish a column as it is, whoever publishes it has to decide."""
        return {name: role for name, role in self.roles.items() if role != "insensitive"}

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
