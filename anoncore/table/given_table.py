"""The table as it was given: columns as pandas sees them, and published tables of the same kind as the table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from anoncore.base.errors import DataError
from anoncore.base.pandas_versions import TEXT, own_copy
from anoncore.base.sql import identifier, literal
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Int32, Int64, record

KINDS = "a pandas or Polars DataFrame, a Polars LazyFrame, an Arrow table or a DuckDB relation"
"""The kinds of table that every function takes, in words."""

LIBRARIES = ("polars", "duckdb", "_duckdb")
"""Where tables come from whose classes are not imported before someone gives one."""


@record
class Cells:
    """A column that is to be published: its cells, or different cells and which of them each row has."""

    values: pd.Series[Any]
    """The cells, each of them once where `rows` tells which of them a row has."""
    rows: npt.NDArray[np.integer] | None = None
    """The place in `values` of each row's cell, shape (n_rows,); None where `values` has the rows themselves."""

    def series(self) -> pd.Series[Any]:
        """The column with a cell for every row."""
        return self.values if self.rows is None else self.values.take(self.rows).reset_index(drop=True)


class GivenTable(ABC):
    """A table of any kind, with what coding its columns and publishing tables of its kind need of it."""

    columns: tuple[str, ...]
    """The names of the columns, as texts."""
    n_rows: int
    """Number of rows."""

    @abstractmethod
    def column(self, name: str) -> pd.Series[Any]:
        """A column with the pandas type that holds its values exactly."""

    def different_texts(self, name: str) -> tuple[pd.Series[Any], Int32] | None:
        """The different texts of a column and which of them each row has, where that is quicker than reading all."""
        return None

    @abstractmethod
    def frame_of(self, names: Collection[str]) -> pd.DataFrame:
        """Some columns as a pandas DataFrame."""

    @property
    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """The whole table as a pandas DataFrame."""

    @abstractmethod
    def rows(self, rows: Int64) -> GivenTable:
        """Some of the rows, in the given order."""

    @abstractmethod
    def same_kind(self, published: Iterable[tuple[str, Cells]], kept: Collection[str] = ()) -> Any:
        """A table made of this one, as the kind of this one; the columns `kept` hold its values and keep their type.

        The columns are taken one after the other, so that none has to be there in two forms for long.
        """


def given_table(table: Any) -> GivenTable:
    """A table of any of the kinds that are taken.

    A table that is not computed yet is computed once; one that was taken already stays as it is. Raises DataError for
    what is no such table, for one without rows or columns, and where columns share a name.
    """
    if isinstance(table, GivenTable):
        return table
    if isinstance(table, pd.DataFrame):
        _check_names([str(column) for column in table.columns])
        given: GivenTable = _PandasTable.of(table)
    else:
        given = _arrow_table(table)
    if given.n_rows == 0:
        raise DataError("The table has column names but no rows.")
    return given


def is_table(value: Any) -> bool:
    """Whether something comes from a library whose tables are taken."""
    return isinstance(value, pd.DataFrame | pa.Table) or type(value).__module__.partition(".")[0] in LIBRARIES


def as_pandas(table: Any) -> pd.DataFrame:
    """A table of any kind as a pandas DataFrame, itself where it is one; with or without rows."""
    if isinstance(table, pd.DataFrame):
        return table
    return _arrow_table(table).frame


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise DataError("The table has no columns.")
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise DataError(f"Columns share a name: {listing(twice)}; give every column its own.")


class _PandasTable(GivenTable):
    """A pandas DataFrame, whose row labels mean nothing, or some rows of one.

    Rows are copied when somebody looks at them first: a part of a table is mostly read by its codes alone.
    """

    def __init__(self, frame: pd.DataFrame, rows: Int64 | None = None) -> None:
        self._frame_and_rows = frame, rows
        self.columns = tuple(frame.columns)
        self.n_rows = len(frame) if rows is None else len(rows)

    @classmethod
    def of(cls, frame: pd.DataFrame) -> _PandasTable:
        own = own_copy(frame)
        own.columns = pd.Index([str(column) for column in frame.columns])
        return cls(own)

    @property
    def frame(self) -> pd.DataFrame:
        frame, rows = self._frame_and_rows
        if rows is not None:
            frame = frame.iloc[rows]
            # One assignment, as other threads may look meanwhile.
            self._frame_and_rows = frame, None
        return frame

    def column(self, name: str) -> pd.Series[Any]:
        return self.frame[name]

    def frame_of(self, names: Collection[str]) -> pd.DataFrame:
        return self.frame[list(names)]

    def rows(self, rows: Int64) -> GivenTable:
        return _PandasTable(self.frame, rows)

    def same_kind(self, published: Iterable[tuple[str, Cells]], kept: Collection[str] = ()) -> pd.DataFrame:
        return pd.DataFrame({name: cells.series() for name, cells in published})


def _arrow_table(table: Any) -> _ArrowTable:
    # Only those who give other tables than pandas' wait for this import.
    import narwhals as nw

    if isinstance(table, pa.Table):
        _check_names(table.column_names)
    native = nw.from_native(table, pass_through=True)
    kind = getattr(native, "implementation", None)
    if kind is None or not (kind.is_polars() or kind.is_pyarrow() or kind.is_duckdb()):
        raise DataError(
            f"A table is given as {KINDS}, not as {type(table).__name__}; make one with pandas.DataFrame, for instance."
        )
    if not isinstance(native, nw.LazyFrame):
        return _ArrowTable(native.clone(), native.schema, None, False)
    try:
        schema = native.collect_schema()
        frame = native.collect("pyarrow" if kind.is_duckdb() else "polars")
    except Exception as error:  # a query fails in as many ways as its engine has
        raise DataError(f"The table cannot be computed ({error}); mend its query first.") from None
    return _ArrowTable(frame, schema, table if kind.is_duckdb() else None, isinstance(native, nw.LazyFrame))


class _ArrowTable(GivenTable):
    """A table whose columns are Arrow arrays or turn into them without a Python object per cell."""

    def __init__(self, table: Any, schema: Any, relation: Any, is_lazy: bool) -> None:
        self._table, self._schema, self._is_lazy, self._relation = table, schema, is_lazy, relation
        self._sql_types = (
            None if relation is None else dict(zip(relation.columns, map(str, relation.types), strict=True))
        )
        self.columns = tuple(table.columns)
        self.n_rows = len(table)
        _check_names(self.columns)

    @cached_property
    def frame(self) -> pd.DataFrame:
        return self.frame_of(self.columns)

    def column(self, name: str) -> pd.Series[Any]:
        dtype = type(self._schema[name]).__name__
        if dtype == "Object":
            raise DataError(f"'{name}' holds Python objects; turn them into text first.")
        cells = self._cells(name)
        if not pa.types.is_dictionary(cells.type):
            return _as_pandas(cells)
        # The categories of Polars are sorted by their text: their numbers depend on what else the process has read.
        return _categories(cells, is_ordered=dtype == "Enum", is_sorted=self._is_polars and dtype == "Categorical")

    def different_texts(self, name: str) -> tuple[pd.Series[Any], Int32] | None:
        cells = self._cells(name)
        if not _is_text(cells.type):
            return None
        # Arrow numbers equal texts without copying them, so that only different ones become Python's.
        encoded = cells.dictionary_encode().unify_dictionaries()
        texts = encoded.chunk(0).dictionary.cast(pa.large_string())
        missing = pa.nulls(min(encoded.null_count, 1), pa.large_string())
        rows = np.concatenate([chunk.indices.fill_null(len(texts)).to_numpy() for chunk in encoded.chunks])
        return _as_pandas(pa.chunked_array([texts, missing])), rows

    def _cells(self, name: str) -> pa.ChunkedArray:
        if self._is_polars and type(self._schema[name]).__name__ == "String":
            # The newest form of texts in Arrow is that of Polars, which is read where it lies.
            return pa.chunked_array([self._table[name].to_native().to_arrow(compat_level=_newest_form())])
        return _arrow_cells(self._table[name])

    @property
    def _is_polars(self) -> bool:
        return bool(self._table.implementation.is_polars())

    def frame_of(self, names: Collection[str]) -> pd.DataFrame:
        return pd.DataFrame({name: self.column(name) for name in names}, columns=pd.Index(list(names)))

    def rows(self, rows: Int64) -> GivenTable:
        part = _ArrowTable(self._table[rows, :], self._schema, None, self._is_lazy)
        part._sql_types, part._relation = self._sql_types, self._relation
        return part

    def __getstate__(self) -> dict[str, Any]:
        # A connection stays in its process.
        return {**self.__dict__, "_relation": None}

    def same_kind(self, published: Iterable[tuple[str, Cells]], kept: Collection[str] = ()) -> Any:
        columns = (
            (name, _as_arrow(cells.values, _arrow_cells(self._table[name][:0]).type if name in kept else None), cells)
            for name, cells in published
        )
        if self._is_polars:
            frame = _polars_frame(columns, {name: kind for name, kind in self._schema.items() if name in kept})
            return frame.lazy() if self._is_lazy else frame
        table = pa.table(
            {
                name: values if cells.rows is None else values.take(pa.array(cells.rows))
                for name, values, cells in columns
            }
        )
        if self._sql_types is None:
            return table
        sql_types = {name: kind for name, kind in self._sql_types.items() if name in kept}
        return _of_connection(self._relation, table).project(_columns(table, sql_types))


def _arrow_cells(column: Any) -> pa.ChunkedArray:
    """A narwhals column as Arrow; without copies but for the texts of Polars."""
    try:
        cells = column.to_arrow()
    except pa.ArrowInvalid:
        raise DataError(
            f"'{column.name}' has the type {column.dtype}, which Arrow does not know; turn it into another first."
        ) from None
    return cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])


def _newest_form() -> Any:
    import polars

    return polars.CompatLevel.newest()


def _storage(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    if not isinstance(cells.type, pa.BaseExtensionType):
        return cells
    return pa.chunked_array([chunk.storage for chunk in cells.chunks], type=cells.type.storage_type)


def _as_pandas(cells: pa.ChunkedArray) -> pd.Series[Any]:
    """Cells as the pandas type that holds them exactly; a missing number makes no fraction of a whole one."""
    cells = _storage(cells)
    kind = cells.type
    if _is_text(kind):
        return _typed(cells.cast(pa.large_string()), TEXT)
    if pa.types.is_decimal(kind):
        return pd.Series(pd.arrays.ArrowExtensionArray(cells))
    if pa.types.is_date(kind):
        return pd.Series(cells.cast(pa.timestamp("s" if pa.types.is_date32(kind) else "ms")).to_pandas())
    if cells.null_count and pa.types.is_boolean(kind):
        return _typed(cells, pd.BooleanDtype())
    if cells.null_count and pa.types.is_integer(kind):
        prefix = "Int" if pa.types.is_signed_integer(kind) else "UInt"
        return _typed(cells, pd.api.types.pandas_dtype(f"{prefix}{kind.bit_width}"))
    return pd.Series(cells.to_pandas())


def _typed(cells: pa.ChunkedArray, dtype: Any) -> pd.Series[Any]:
    return pd.Series(cells.to_pandas(types_mapper=lambda _: dtype))


def _categories(cells: pa.ChunkedArray, is_ordered: bool, is_sorted: bool) -> pd.Series[Any]:
    cells = cells.unify_dictionaries()
    values = cells.chunk(0).dictionary if cells.num_chunks else pa.array([], cells.type.value_type)
    labels = pd.Index(_as_pandas(pa.chunked_array([values])))
    if labels.hasnans or not labels.is_unique:
        return _as_pandas(cells.cast(cells.type.value_type))
    numbers = [chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy() for chunk in cells.chunks]
    codes = np.concatenate([np.empty(0, dtype=np.int64), *numbers])
    found = pd.Categorical.from_codes(codes, labels, ordered=is_ordered or cells.type.ordered)
    if is_sorted:
        found = found.remove_unused_categories()
        found = found.reorder_categories(sorted(found.categories))
    return pd.Series(found)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _as_arrow(column: pd.Series[Any], kind: pa.DataType | None) -> pa.Array | pa.ChunkedArray:
    """A published column as Arrow, of the given type where it holds such values."""
    if kind is not None and pa.types.is_dictionary(kind) and isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy()
        indices = pa.array(codes, mask=codes < 0).cast(kind.index_type)
        labels = pa.array(column.cat.categories, from_pandas=True).cast(kind.value_type)
        return pa.DictionaryArray.from_arrays(indices, labels, ordered=kind.ordered)
    if kind is None or pa.types.is_dictionary(kind) or (_is_text(kind) and pd.api.types.is_numeric_dtype(column.dtype)):
        # Texts that were tagged numeric are published as numbers.
        return pa.array(column, from_pandas=True)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(column, kind.storage_type, from_pandas=True))
    if column.dtype == object:
        return pa.array(column, kind, from_pandas=True)
    return pa.array(column, from_pandas=True).cast(kind)


def _polars_frame(columns: Iterable[tuple[str, Any, Cells]], schema: dict[str, Any]) -> Any:
    """A Polars DataFrame whose categories are of the kind they were; those that no row has are left out of it."""
    import narwhals as nw

    frames = []
    for name, values, cells in columns:
        frame = nw.from_arrow(pa.table({name: values}), backend="polars")
        if name in schema and pa.types.is_dictionary(values.type):
            is_enum = type(schema[name]).__name__ == "Enum"
            wanted = nw.Enum(values.dictionary.to_pylist()) if is_enum else schema[name]
            frame = frame.with_columns(nw.col(name).cast(nw.String).cast(wanted))
        # Rows are looked up by Polars itself, which keeps the text of equal cells once.
        frames.append(frame if cells.rows is None else frame[cells.rows, :])
    return nw.concat(frames, how="horizontal").to_native()


def _of_connection(relation: Any, published: pa.Table) -> Any:
    """A DuckDB relation of the table, of the connection of another relation where that one still reads tables."""
    import duckdb

    if relation is not None:
        with suppress(duckdb.Error):
            return relation.query("given", "SELECT * FROM published")
    return duckdb.from_arrow(published)


def _columns(table: pa.Table, sql_types: dict[str, str]) -> str:
    """The columns of a relation in SQL, with their types."""
    casts = []
    for name in table.column_names:
        column, kind = identifier(name), sql_types.get(name)
        if kind is not None and pa.types.is_dictionary(table.schema.field(name).type):
            labels = table.column(name).combine_chunks().dictionary.to_pylist()
            kind = f"ENUM({', '.join(map(literal, labels))})" if labels else None
        elif kind is not None and _is_text(table.schema.field(name).type) != (kind == "VARCHAR" or kind == "UUID"):
            kind = None
        casts.append(column if kind is None else f"CAST({column} AS {kind}) AS {column}")
    return ", ".join(casts)
