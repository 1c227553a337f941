"""Values of a large table as codes: the domain from the distinct values, then the codes of batch after batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Int32, Int64, record
from anoncore.kernels.grouping import look_up
from anoncore.sources.notes import Notes
from anoncore.sources.parquet import table_column
from anoncore.table.coding import encode
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import Hierarchy

LOOKUP_RANGE = 1 << 24
"""Whole numbers in a range up to this are coded by a table of that size."""


class CountedTable(Protocol):
    """A table somewhere, known by its columns and by how often values and combinations of values occur."""

    names: tuple[str, ...]
    n_rows: int

    def about(self, names: Sequence[str]) -> int:
        """An estimate of the number of combinations of some columns."""

    def joint(self, names: Sequence[str], most: int | None = None) -> pa.Table:
        """The combinations of values of some columns and how often each occurs, the columns in order and `rows`; those
        beyond `most` may be left out.
        """

    def some_rows(self, names: Sequence[str], n: int) -> pa.Table:
        """About so many rows of some columns, drawn at random."""


@record
class CodedColumn:
    """The domain of a column, rows per code (size,), and what turns its values into codes."""

    domain: Domain
    counts: Int64
    coder: Coder


def distinct_values(table: CountedTable, name: str, most: int) -> pa.Table:
    """The distinct values of a column, and `rows` with each. Raises DataError for more than `most` values."""
    counted = table.joint([name], most + 1)
    if counted.num_rows > most:
        raise DataError(
            f"'{name}' has more than {most:,} different values; round them, or drop the role of the column, which "
            "leaves it out."
        )
    return counted


def distinct_series(name: str, counted: pa.Table) -> pd.Series[Any]:
    """The values of `distinct_values`, one by one, with the types that a loaded file would have."""
    return table_column(name, counted.column(0), Notes())


def code_column(
    name: str,
    counted: pa.Table,
    kind: Kind | None = None,
    order: Sequence[Any] | None = None,
    hierarchy: Hierarchy | None = None,
) -> CodedColumn:
    """Code a column by its distinct values, as `Microdata` codes the whole one; NULL and NaN are missing."""
    codes, domain = encode(distinct_series(name, counted), name, kind, order, hierarchy)
    rows = counted.column("rows").to_numpy()
    counts = np.bincount(codes, weights=rows, minlength=len(domain)).astype(np.int64)
    return CodedColumn(domain, counts, Coder(counted.column(0).combine_chunks(), codes))


class Coder:
    """Looks codes up: `coder(values)` int32 (n,) of an Arrow array whose values are among the known ones."""

    def __init__(self, values: pa.Array, codes: Int32) -> None:
        missing = np.asarray(pc.is_null(values, nan_is_null=True))
        self._missing = np.int32(codes[missing][0] if missing.any() else -1)
        self._known, self._codes = _compared(values.filter(pa.array(~missing))), codes[~missing]
        self._lookup: Int32 | None = None
        if len(self._known) and pa.types.is_integer(values.type) and not pa.types.is_uint64(values.type):
            numbers = self._known.cast(pa.int64()).to_numpy()
            self._first, last = int(numbers.min()), int(numbers.max())
            if last - self._first < LOOKUP_RANGE:
                self._lookup = np.zeros(last - self._first + 1, dtype=np.int32)
                self._lookup[numbers - self._first] = self._codes

    def __call__(self, values: pa.Array) -> Int32:
        """The codes of a batch of values, int32 (n,)."""
        if self._lookup is not None:
            filled = values.fill_null(self._first) if values.null_count else values
            codes = np.empty(len(values), np.int32)
            look_up(filled.cast(pa.int64()).to_numpy(), self._first, self._lookup, codes)
            if values.null_count:
                codes[np.asarray(values.is_null())] = self._missing
            return codes
        if pa.types.is_dictionary(values.type):
            places, codes = values.indices, self(values.dictionary)
        else:
            places, codes = pc.index_in(_compared(values), value_set=self._known), self._codes
        return np.append(codes, self._missing)[places.fill_null(len(codes)).to_numpy(zero_copy_only=False)]


def _compared(values: pa.Array) -> pa.Array:
    """The values as they are compared: -0.0 is 0.0, and a dictionary is what it stands for."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return pc.add(values, 0.0) if pa.types.is_floating(values.type) else values
