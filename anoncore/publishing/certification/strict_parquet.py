"""Whether a Parquet file of any size holds its rows and nothing else, in a form that those rows alone decide."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anoncore.publishing.certification.published_rows import coded_file, opened
from anoncore.publishing.certification.text_cells import first_difference
from anoncore.sources.parquet import GROUP_ROWS, plain_table, value_type

MAKER = re.compile(r"parquet-cpp-arrow version \d+\.\d+\.\d+")
SCHEMA = b"ARROW:schema"
SHOWN = 40


def parquet_fault(source: bytes | Path, table: pa.Table | None = None) -> str:
    """What a Parquet file holds besides its rows, or how it is written otherwise; empty where neither is so.

    Its rows are written again, a row group at a time, and every byte has to come out the same: so there is no room for
    metadata, values that no row has, or bytes between its columns. `table` has all rows where they were read already;
    rows that the file does not have are not written as it is. Raises what Arrow raises for a damaged file.
    """
    with opened(source) as content:
        schema = pq.read_schema(content)
        file = coded_file(content, schema)
        metadata = file.metadata
        for key, value in (metadata.metadata or {}).items():
            if key != SCHEMA:
                return f"holds metadata {shown_bytes(key)}: {shown_bytes(value)}"
        for field in schema:
            for key, value in (field.metadata or {}).items():
                return f"holds metadata of the column '{field.name}', {shown_bytes(key)}: {shown_bytes(value)}"
        if not MAKER.fullmatch(metadata.created_by):
            return f"names as its maker {shown_bytes(metadata.created_by.encode())}"
        rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        if any(number != GROUP_ROWS for number in rows[:-1]) or any(not 0 < number <= GROUP_ROWS for number in rows):
            return f"has its rows in groups of other sizes than {GROUP_ROWS:,}"
        with opened(source) as original:
            again = _Compared(original)
            has_no_number = _write_again(file, schema, table, again)
            again.end()
        if has_no_number:
            return "holds numbers that are none (NaN), which no release has and in which anything can be written"
    if again.differs is None:
        return ""
    return (
        f"is not written as this table is: it differs from byte {again.differs:,} on, which leaves room for values "
        "that no row has"
    )


def _write_again(file: pq.ParquetFile, declared: pa.Schema, table: pa.Table | None, target: _Compared) -> bool:
    """Write the rows as long as the bytes are the same; says whether they hold a number that is none."""
    has_no_number = False
    is_described = SCHEMA in (file.metadata.metadata or {})
    schema = pa.schema([pa.field(one.name, value_type(one.type)) for one in declared])
    with pq.ParquetWriter(pa.PythonFile(target, mode="w"), schema, store_schema=is_described) as writer:
        for number in range(file.num_row_groups):
            if target.differs is None:
                begin = number * GROUP_ROWS
                rows = file.read_row_group(number) if table is None else table.slice(begin, GROUP_ROWS)
                rows = plain_table(rows, schema)
                floats = [rows.column(one.name) for one in rows.schema if pa.types.is_floating(one.type)]
                has_no_number |= any(bool(pc.any(pc.is_nan(column)).as_py()) for column in floats)
                writer.write_table(rows)
    return has_no_number


def shown_bytes(content: bytes) -> str:
    """How some bytes begin, for a sentence."""
    return repr(content[:SHOWN].decode("utf-8", errors="backslashreplace"))


class _Compared(io.RawIOBase):
    """A file to write to that keeps nothing: it compares what comes with the content of another file.

    `differs` is the first byte in which they differ, None as long as there is none.
    """

    def __init__(self, original: Any) -> None:
        self.original, self.at = original, 0
        self.differs: int | None = None

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def write(self, content: Any) -> int:
        written = bytes(content)
        if self.differs is None:
            expected = self.original.read(len(written))
            if expected != written:
                self.differs = self.at + first_difference(expected, written)
        self.at += len(written)
        return len(written)

    def end(self) -> None:
        """Compare the ends, too."""
        if self.differs is None and self.original.read(1):
            self.differs = self.at
