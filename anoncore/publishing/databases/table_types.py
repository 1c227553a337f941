"""Published columns as a database can hold them: a type for each, and a sentence for what cannot be held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.errors import DataError
from anoncore.base.texts import listing

LONGEST_NAME = 63
"""Bytes of a name in PostgreSQL; it cuts off longer ones."""
ADVICE = "change it to numbers, dates or text in the table, and run again"


def held_schema(schema: pa.Schema) -> pa.Schema:
    """The names and types that the columns of a table get in a database. Raises DataError for what it cannot hold."""
    long = [name for name in schema.names if len(name.encode()) > LONGEST_NAME]
    if long:
        raise DataError(
            f"PostgreSQL holds names of at most {LONGEST_NAME} bytes, and {listing(long)} would be cut off; rename."
        )
    return pa.schema([(field.name, _held_type(field)) for field in schema])


def _held_type(field: pa.Field) -> pa.DataType:
    kind = field.type
    if pa.types.is_dictionary(kind):
        return _held_type(field.with_type(kind.value_type))
    if pa.types.is_null(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_boolean(kind):
        return kind
    if pa.types.is_integer(kind):
        width = kind.bit_width * (2 if pa.types.is_unsigned_integer(kind) else 1)
        return pa.int16() if width <= 16 else pa.int32() if width == 32 else pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64() if kind.bit_width == 64 else pa.float32()
    if pa.types.is_date(kind):
        return pa.date32()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    raise DataError(f"'{field.name}' has the type {kind}, which is not written to a database; {ADVICE}.")


def held_batches(batches: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows with the types of a database. Raises DataError for a value that it cannot hold."""
    for batch in batches:
        columns = [_held(batch.column(field.name), field) for field in schema]
        yield from pa.table(columns, schema=schema).to_batches()


def _held(column: pa.Array | pa.ChunkedArray, field: pa.Field) -> pa.Array | pa.ChunkedArray:
    try:
        found = column.cast(field.type)
    except pa.ArrowException:
        sentence = f"'{field.name}' has a value that does not fit the type {field.type} of a database; {ADVICE}."
        raise DataError(sentence) from None
    if pa.types.is_floating(field.type):
        # Two zeros that are equal would stand in no order; with a zero added both are 0.0.
        return pc.add(found, pa.scalar(np.zeros(1, field.type.to_pandas_dtype())[0], field.type))
    if pa.types.is_string(field.type) and pc.any(pc.match_substring(found, "\0")).as_py():
        raise DataError(f"'{field.name}' has a text with the character NUL, which a database does not hold; {ADVICE}.")
    return found
