"""Values of a large table as codes: the domain from the distinct values, then the codes of batch after batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Int32, Int64
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


@dataclass(frozen=True, eq=False)
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
        self._missing = int(codes[missing][0]) if missing.any() else -1
        known, codes = values.filter(pa.array(~missing)), codes[~missing]
        self._texts: dict[Any, int] | None = None
        self._lookup: Int32 | None = None
        numbers = _numbers(known)
        if numbers is None:
            self._texts = dict(zip(known.to_pylist(), codes.tolist(), strict=True))
            return
        order = np.argsort(numbers, kind="stable")
        self._numbers, self._codes = numbers[order], codes[order]
        if numbers.dtype.kind == "i" and len(numbers):
            self._first = int(self._numbers[0])
            if int(self._numbers[-1]) - self._first < LOOKUP_RANGE:
                self._lookup = np.zeros(int(self._numbers[-1]) - self._first + 1, dtype=np.int32)
                self._lookup[self._numbers - self._first] = self._codes

    def __call__(self, values: pa.Array) -> Int32:
        """The code of every value."""
        if self._texts is not None:
            return self._of_texts(values)
        numbers = _numbers(values)
        assert numbers is not None
        if not len(self._numbers):
            return np.full(len(values), self._missing, dtype=np.int32)
        if self._lookup is not None:
            codes = look_up(numbers, self._first, self._lookup)
        else:
            codes = self._codes[np.minimum(np.searchsorted(self._numbers, numbers), len(self._codes) - 1)]
        if self._missing >= 0 and (values.null_count or numbers.dtype.kind == "f"):
            codes[np.asarray(pc.is_null(values, nan_is_null=True))] = self._missing
        return codes

    def _of_texts(self, values: pa.Array) -> Int32:
        assert self._texts is not None
        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        known = [self._texts.get(value, self._missing) for value in values.dictionary.to_pylist()]
        places = values.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        return np.array([*known, self._missing], dtype=np.int32)[places]


def _numbers(values: pa.Array) -> npt.NDArray[Any] | None:
    """Whole numbers, dates and times as int64, fractions as float64, with anything at a null; None for all else."""
    kind = values.type
    if pa.types.is_floating(kind):
        return values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        return values.cast(width).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        filled = values.fill_null(0) if values.null_count else values
        return filled.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return None
