"""Parquet files: columns keep the types that the file declares, brought down to numbers, dates and text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anoncore.base.errors import DataError
from anoncore.base.memory import CELL_BYTES, require_memory
from anoncore.base.pandas_versions import TEXT
from anoncore.base.typed_values import check_years
from anoncore.kernels.arrays import Floats
from anoncore.sources import numerals
from anoncore.sources.headers import column_names, require_few_columns
from anoncore.sources.inference import too_big, zone_dropped
from anoncore.sources.notes import Notes, shown
from anoncore.sources.values import empty_rows, note_empty_rows, without_infinities

LARGEST_CELLS = 500_000_000
GROUP_ROWS = 1 << 20
"""Rows of a row group in the files that are written."""
EXPANSION = 3
"""Memory that a byte of a value takes while the table is made."""
FEWER = "take fewer rows or columns"
PANDAS_ROW_LABELS = "__index_level_0__"
CODED_TEXT = pa.dictionary(pa.int32(), pa.string())
"""How texts are handed to whoever writes a file."""


def read_parquet(data: bytes, table: str, notes: Notes, unpacked_limit: int) -> pd.DataFrame:
    """Read a Parquet file.

    Texts stay as they are, also "?" and "NA", and numbers written as text stay text (noted): the file has its own types
    and its own mark for missing. Whole numbers with missing values become float64 if that is exact, else text; True and
    False become two texts; times with a zone become UTC; infinities become missing. Raises DataError when the file is
    damaged or too large, has no rows, or has a column of lists, records or bytes that are not text.
    """
    try:
        return _table(data, table, notes, unpacked_limit)
    except DataError:
        raise
    except Exception:
        # The parser raises nearly anything on a file that is cut short or changed, also when values are taken out.
        raise _damaged(table) from None


def _table(data: bytes, table: str, notes: Notes, unpacked_limit: int) -> pd.DataFrame:
    parsed = _parse(data, table, unpacked_limit)
    if PANDAS_ROW_LABELS in parsed.column_names:
        parsed = parsed.drop_columns([PANDAS_ROW_LABELS])
        notes.say("Row labels stored by pandas were left out.")
    if parsed.num_columns == 0:
        raise DataError(f"{shown(table)} has no columns.")
    if parsed.num_rows == 0:
        raise DataError(f"{shown(table)} holds column names but no rows; load a file with at least one row.")
    names = column_names(parsed.column_names, table, notes)
    frame = pd.DataFrame(
        {name: table_column(name, column, notes) for name, column in zip(names, parsed.columns, strict=True)}
    )
    note_empty_rows(empty_rows(frame), notes)
    return frame


def _parse(data: bytes, table: str, unpacked_limit: int) -> pa.Table:
    if not data.endswith(b"PAR1"):
        raise _damaged(table)
    require_few_columns(pq.read_metadata(pa.BufferReader(data)).num_columns, table)
    for column in pq.read_schema(pa.BufferReader(data)):
        check_type(column)
    parsed = read_within(data, table, unpacked_limit)
    parsed.validate(full=True)
    return parsed


def read_within(data: bytes, table: str, limit: int) -> pa.Table:
    """The table, read in batches that stop where its values grow beyond the limit or the memory that is free.

    What a file says of its size counts a text once that a dictionary, or a common beginning, repeats in every row.
    Texts come as dictionaries. Raises DataError for too large a table, and what Arrow raises for a damaged one.
    """
    file = pq.ParquetFile(pa.BufferReader(data))
    _check_size(file.metadata, table, limit)
    deltas = _delta_columns(file)
    texts = [field.name for field in file.schema_arrow if _is_variable(field.type) and field.name not in deltas]
    kept = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
    # So few rows that a batch stays below the limit, even if every row repeats all bytes of its column. Every batch has
    # dictionaries of its own, which are put together in the end: a whole row group at once takes a third of the time.
    rows = max(1, min(GROUP_ROWS, limit // max([1, *deltas.values()])))
    batches, size = [], 0
    for batch in kept.iter_batches(batch_size=rows):
        size += sum(_text_bytes(column) for column in batch.columns)
        if size > limit:
            raise DataError(f"{shown(table)} unpacks to more than {limit / 2**20:,.0f} MB; {FEWER}.")
        require_memory(EXPANSION * size, shown(table))
        batches.append(batch)
    return pa.Table.from_batches(batches, kept.schema_arrow).unify_dictionaries()


def _is_variable(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind))


def _delta_columns(file: Any) -> dict[str, int]:
    """Columns of texts written by what they share with the one before, which alone are longer in a batch than in the
    file, with the bytes of their largest chunk.
    """
    metadata, found = file.metadata, dict[str, int]()
    for group in range(metadata.num_row_groups):
        # What is said of a damaged column must be met here first: asked for it below, Arrow would end the process.
        next(file.iter_batches(batch_size=1, row_groups=[group]), None)
        for place in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(place)
            if "DELTA_BYTE_ARRAY" in chunk.encodings:
                name = chunk.path_in_schema
                found[name] = max(found.get(name, 0), chunk.total_uncompressed_size)
    return found


def _text_bytes(column: pa.Array) -> int:
    """Bytes of a batch's column when every row has its own value."""
    if not pa.types.is_dictionary(column.type) or not _is_variable(column.type.value_type):
        return int(column.nbytes)
    rows = np.bincount(column.indices.drop_null(), minlength=len(column.dictionary))
    return int(rows @ np.asarray(pc.binary_length(column.dictionary).fill_null(0), dtype=np.int64))


def _damaged(table: str) -> DataError:
    return DataError(f"{shown(table)} is incomplete or damaged; save it again as Parquet, or load the complete file.")


def _check_size(metadata: Any, table: str, unpacked_limit: int) -> None:
    unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    schema = metadata.schema
    fixed = sum(max(schema.column(place).length or 0, 0) for place in range(metadata.num_columns))
    unpacked = max(unpacked, fixed * metadata.num_rows)
    cells = metadata.num_rows * metadata.num_columns
    if unpacked > unpacked_limit or cells > LARGEST_CELLS:
        raise DataError(
            f"{shown(table)} unpacks to {metadata.num_rows:,} rows of {metadata.num_columns:,} columns, "
            f"more than can be loaded here; {FEWER}."
        )
    require_memory(max(cells * CELL_BYTES, EXPANSION * unpacked), shown(table))


def plain_table(table: pa.Table, schema: pa.Schema | None = None) -> pa.Table:
    """A table whose columns hold their values in one piece each, so that these alone decide how it is written.

    The values get the types of the schema, by default those that they have.
    """
    arrays = []
    for column, field in zip(table.columns, schema or table.schema, strict=True):
        kind = value_type(field.type)
        whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        # Each distinct value is cast once, and not once a row.
        whole = whole.dictionary.cast(kind).take(whole.indices) if isinstance(whole, pa.DictionaryArray) else whole
        arrays.append(whole if kind == whole.type else whole.cast(kind))
    return pa.table(arrays, names=table.column_names)


def coded_table(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table as `plain_table` makes it, but with texts as codes, numbered in the order in which they first come.

    So these too are written by their values alone, without looking up the text of every row.
    """
    fields = [field if is_text(field.type) else None for field in schema]
    rest = [place for place, field in enumerate(fields) if field is None]
    plain = iter(plain_table(table.select(rest), pa.schema([schema.field(place) for place in rest])).columns)
    columns = [next(plain) if field is None else _coded(table.column(place)) for place, field in enumerate(fields)]
    return pa.table(columns, names=schema.names)


def coded_writer(target: Path | BinaryIO | pa.NativeFile, schema: pa.Schema) -> pq.ParquetWriter:
    """What writes tables that `coded_table` makes, without metadata.

    Of texts the file has no smallest and largest one: these take as long as all else, and no reader of ranges such as
    `20-29` skips rows by them.
    """
    kinds = [pa.field(one.name, CODED_TEXT if is_text(one.type) else value_type(one.type)) for one in schema]
    others = [one.name for one in schema if not is_text(one.type)]
    return pq.ParquetWriter(target, pa.schema(kinds), store_schema=False, write_statistics=others or False)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts, in a dictionary or not."""
    return bool(pa.types.is_string(value_type(kind)) or pa.types.is_large_string(value_type(kind)))


def _coded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    # Whoever only reads, as the process does that reads a visitor's file, needs no compiled code.
    from anoncore.kernels.grouping import numbered_by_appearance

    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    coded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    numbers, code_of = numbered_by_appearance(np.ascontiguousarray(codes), len(coded.dictionary))
    texts = coded.dictionary.take(pa.array(code_of)).cast(pa.string())
    mask = numbers < 0 if coded.indices.null_count else None
    return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=mask), texts)


def write_rows(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    """Write rows as a Parquet file that nothing but they decide: row groups of GROUP_ROWS, no metadata.

    Raises what Arrow raises for a file that cannot be written.
    """
    waiting: list[pa.Table] = []
    with coded_writer(path, schema) as writer:
        for table in tables:
            waiting.append(table)
            while sum(one.num_rows for one in waiting) >= GROUP_ROWS:
                joined = pa.concat_tables(waiting).unify_dictionaries()
                writer.write_table(coded_table(joined.slice(0, GROUP_ROWS), schema))
                waiting = [joined.slice(GROUP_ROWS)]
        rest = [one for one in waiting if one.num_rows]
        if rest:
            writer.write_table(coded_table(pa.concat_tables(rest).unify_dictionaries(), schema))


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values, where a dictionary may hold them."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def check_type(field: pa.Field) -> None:
    """Raise DataError for a column of lists or records."""
    if pa.types.is_nested(field.type):
        kind = "lists" if pa.types.is_list(field.type) or pa.types.is_large_list(field.type) else "records"
        raise DataError(
            f"Column {shown(field.name)} holds {kind}; every cell has to hold one value: "
            "split the column into several, or leave it out."
        )


def table_column(name: str, column: pa.ChunkedArray, notes: Notes) -> pd.Series:
    """One column of a Parquet file as a table holds it, see `read_parquet`."""
    check_type(pa.field(name, column.type))
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
        kind = kind.storage_type
        check_type(pa.field(name, kind))
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = kind.value_type
    if column.null_count == len(column):
        notes.about("Without any value, kept as missing throughout: {columns}.", name)
        return _text(name, pa.nulls(len(column), pa.large_string()))
    if pa.types.is_boolean(kind):
        return _text(name, pc.if_else(column, "True", "False"))
    if pa.types.is_integer(kind):
        return _whole(name, column, notes)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _fractional(name, column, notes)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _moments(name, column, notes)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return _text(name, _decoded(name, column, notes))
    return _strings(name, column, notes)


def _strings(name: str, column: pa.ChunkedArray, notes: Notes) -> pd.Series:
    try:
        texts = column.cast(pa.large_string())
    except pa.ArrowException:
        raise DataError(
            f"Column {shown(name)} has the type {column.type}, which is not supported; save it as text."
        ) from None
    distinct = texts.unique().drop_null()
    if numerals.plain_numbers(distinct).all():
        notes.about("Numbers that the file declares as text stay text: {columns}.", name)
    return _text(name, texts)


def _decoded(name: str, column: pa.ChunkedArray, notes: Notes) -> pa.ChunkedArray:
    try:
        texts = column.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowException:
        raise DataError(
            f"Column {shown(name)} holds bytes that are not text; every cell has to hold one value: leave it out."
        ) from None
    notes.about("Bytes were read as UTF-8 text in {columns}.", name)
    return texts


def _whole(name: str, column: pa.ChunkedArray, notes: Notes) -> pd.Series:
    lowest, highest = (int(bound.as_py()) for bound in pc.min_max(column).values())
    limit = numerals.EXACT_IN_FLOAT if column.null_count else numerals.INT64.max
    if highest > limit or (column.null_count and lowest < -limit):
        too_big(name, notes)
        return _text(name, column.cast(pa.large_string()))
    return pd.Series(column.cast(pa.float64() if column.null_count else pa.int64()).to_numpy(), name=name)


def _fractional(name: str, column: pa.ChunkedArray, notes: Notes) -> pd.Series:
    if pa.types.is_decimal(column.type):
        notes.about("Decimal numbers were read as floating point numbers in {columns}.", name)
    values: Floats = column.cast(pa.float64()).to_numpy()
    return pd.Series(without_infinities(values, name, notes), name=name)


def _moments(name: str, column: pa.ChunkedArray, notes: Notes) -> pd.Series:
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        zone_dropped(name, notes)
    unit = kind.unit if pa.types.is_timestamp(kind) else "s"
    try:
        moments = pd.Series(column.cast(pa.timestamp(unit)).to_numpy(), name=name)
    except pa.ArrowException:
        raise DataError(f"Column {shown(name)} holds dates that cannot be read; save them as text.") from None
    check_years(moments, name)
    return moments


def _text(name: str, texts: pa.ChunkedArray | pa.Array) -> pd.Series:
    return pd.Series(texts.cast(pa.large_string()), name=name, dtype=TEXT)
