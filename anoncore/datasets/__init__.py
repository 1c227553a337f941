"""Built-in tables: generators, worked examples of the papers, loaders for public data.

Nothing is read before it is asked for: the listing reads the names, and a table reads its own description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib import import_module

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.datasets.catalog import Loader, Table, Taxonomy
from anoncore.datasets.description import described, listed, read_rows

__all__ = ["Table", "Taxonomy", "published_groups", "table", "tables"]

_LOADERS = {
    "census": ("anoncore.datasets.census", "load_census"),
    "rothko-synthetic": ("anoncore.datasets.rothko_synthetic", "load_rothko"),
    "wide": ("anoncore.datasets.wide", "load_wide"),
    "adult": ("anoncore.datasets.adult", "load_adult"),
    "heart": ("anoncore.datasets.measurements", "load_heart"),
    "musk": ("anoncore.datasets.measurements", "load_musk"),
}
"""Module and function that generate or fetch a table; all others have their rows in a file."""


def __dir__() -> list[str]:
    """The public names, without the modules that they come from."""
    return __all__


class _Tables(Mapping[str, Table]):
    """The built-in tables by name, each described when it is first asked for."""

    def __getitem__(self, name: str) -> Table:
        if name not in listed():
            raise KeyError(name)
        return table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(listed())

    def __len__(self) -> int:
        return len(listed())


_TABLES = _Tables()


@checked
def tables() -> Mapping[str, Table]:
    """All built-in tables by name, in the order in which they are offered; the census-like table is the first.

    Returns
    -------
    mapping of str to Table
        It cannot be changed. A table's description is read when the table is looked up, so listing the names is cheap.

    Examples
    --------
    >>> from anoncore.datasets import tables
    >>> list(tables())[:3]
    ['census', 'rothko-synthetic', 'wide']
    >>> [name for name, entry in tables().items() if entry.external]
    ['adult', 'heart', 'musk']
    """
    return _TABLES


@checked
def table(name: str) -> Table:
    """The built-in table of that name.

    Parameters
    ----------
    name : str
        One of the names in `tables()`.

    Returns
    -------
    Table
        The same object at every call; its `load()` gives fresh rows.

    Raises
    ------
    DataError
        If there is no such table; the message lists those that there are.

    Examples
    --------
    >>> from anoncore import Hierarchy, Microdata
    >>> from anoncore.datasets import table
    >>> entry = table("census")
    >>> trees = {column: Hierarchy.from_nested(taxonomy) for column, taxonomy in entry.taxonomies.items()}
    >>> data = Microdata(entry.load(n_rows=1000, seed=7), entry.roles, entry.kinds, entry.orders, trees)
    >>> data.n_rows, data.sensitive
    (1000, ('diagnosis',))
    """
    return _described(name)


@checked
def published_groups(name: str) -> tuple[int, ...]:
    """The group of each row in the anonymization that the paper itself publishes of a worked example.

    Parameters
    ----------
    name : str
        One of the names in `tables()`.

    Returns
    -------
    tuple of int, shape (n_rows,)
        Groups are counted from 0, in the order of the rows of the table.

    Raises
    ------
    DataError
        For a table of which no groups are published; the message lists those that have some.

    Examples
    --------
    >>> from anoncore.datasets import published_groups
    >>> published_groups("foreground-table-1")
    (0, 0, 1, 1, 2, 2)
    """
    groups = described(name).groups
    if not groups:
        having = [other for other in listed() if described(other).groups]
        raise DataError(f"The table '{name}' has no published groups; those that have: {', '.join(having)}.")
    return groups


@cache
def _described(name: str) -> Table:
    return Table(**vars(described(name)), load=_loader(name))


def _loader(name: str) -> Loader:
    if name not in _LOADERS:
        return partial(read_rows, name)
    module, function = _LOADERS[name]
    found: Loader = getattr(import_module(module), function)
    return found
