"""Built-in tables: generators, worked examples of the papers, loaders for public data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from anoncore.base.errors import DataError
from anoncore.datasets.adult import ADULT
from anoncore.datasets.catalog import Table, Taxonomy
from anoncore.datasets.census import CENSUS
from anoncore.datasets.measurements import HEART, MUSK
from anoncore.datasets.papers import PAPER_TABLES
from anoncore.datasets.rothko_synthetic import ROTHKO_SYNTHETIC
from anoncore.datasets.wide import WIDE

__all__ = ["Table", "Taxonomy", "table", "tables"]

_TABLES: Mapping[str, Table] = MappingProxyType(
    {entry.name: entry for entry in (CENSUS, ROTHKO_SYNTHETIC, WIDE, ADULT, HEART, MUSK, *PAPER_TABLES)}
)


def tables() -> Mapping[str, Table]:
    """All built-in tables by name, in the order in which they are offered; the census-like table is the first."""
    return _TABLES


def table(name: str) -> Table:
    """The built-in table of that name; DataError if there is none."""
    if name not in _TABLES:
        raise DataError(f"There is no built-in table '{name}'; there are {', '.join(_TABLES)}.")
    return _TABLES[name]
