"""Rows of published tables, read some at a time: of tables in memory, and of the files of a large release."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import DataError
from anoncore.base.texts import quoted
from anoncore.publishing.certification.entries import File
from anoncore.release.reading.published_table import PublishedTable

UNIT_ROWS = 1 << 21
"""Row groups of at most so many rows are read together; one row group that has more is read alone."""


@dataclass(frozen=True, eq=False)
class PartFile:
    """A file by its name and where its content lies."""

    name: str
    source: Path | bytes

    @cached_property
    def entry(self) -> File:
        """The file as a certificate names it. Raises DataError for a file that cannot be read."""

        def hashed() -> File:
            with BytesIO(self.source) if isinstance(self.source, bytes) else self.source.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                return File(name=self.name, bytes=file.seek(0, SEEK_END), sha256=sha256)

        found: File = self.read(hashed)
        return found

    @property
    def names(self) -> list[str]:
        """The names of the columns in their order."""
        return list(self.schema.names)

    @property
    def path(self) -> Path:
        """Where the file lies that is on this machine's disk."""
        assert isinstance(self.source, Path)
        return self.source

    @property
    def content(self) -> bytes:
        """The whole content, for small files. Raises DataError for a file that cannot be read."""
        return self.source if isinstance(self.source, bytes) else bytes(self.read(self.source.read_bytes))

    @cached_property
    def schema(self) -> pa.Schema:
        """The names and types of the columns. Raises DataError for a file that is no Parquet file."""
        return self.read(lambda: pq.read_schema(opened(self.source)))

    @cached_property
    def n_rows(self) -> int:
        """The number of rows that the file says it has."""
        return int(self.read(lambda: pq.read_metadata(opened(self.source))).num_rows)

    @property
    def is_one_piece(self) -> bool:
        """Whether all rows are read at a time."""
        return self.n_rows <= UNIT_ROWS

    @cached_property
    def whole(self) -> pa.Table:
        """The rows that are read at a time first, which are kept and not read again. Raises DataError."""
        return next(self.units(self.names), self.schema.empty_table())

    def units(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """The rows of some columns, a few row groups at a time; texts are dictionary-coded. Raises DataError."""
        if "whole" in self.__dict__:
            yield self.whole.select(list(names))
            return
        file = self.read(lambda: coded_file(opened(self.source), self.schema))
        for numbers in _together(file.metadata):
            read = self.read(lambda numbers=numbers: file.read_row_groups(numbers, list(names)))
            yield read.unify_dictionaries().combine_chunks()

    def read(self, read: Any) -> Any:
        """What a function reads of the file. Raises DataError where it cannot."""
        try:
            return read()
        except OSError as error:
            reason = (error.strerror or "it is damaged or no part of a release").lower()
            raise DataError(f"{quoted(self.name)} cannot be read: {reason}.") from None
        except Exception:
            # Parsers raise nearly anything on a file that is cut short or changed.
            raise DataError(f"{quoted(self.name)} is damaged or is no part of a release: it cannot be read.") from None


Rows = PublishedTable | PartFile
"""Rows of a published table that are read some at a time, wherever they lie."""


def names_of(rows: Sequence[Rows]) -> list[str]:
    """The columns of a table of which these are the rows."""
    return rows[0].names if rows else []


def file_entries(files: Mapping[str, bytes]) -> list[File]:
    """Files by name as a certificate names them."""
    return [PartFile(name, content).entry for name, content in files.items()]


def opened(source: bytes | Path) -> pa.NativeFile:
    """The content of a file that lies in memory or on disk."""
    return pa.BufferReader(source) if isinstance(source, bytes) else pa.OSFile(str(source), "rb")


def coded_file(content: pa.NativeFile, schema: pa.Schema) -> pq.ParquetFile:
    """A Parquet file of such columns, whose texts are read as codes: every distinct text is made once."""
    texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    return pq.ParquetFile(content, read_dictionary=texts, pre_buffer=False)


def _together(metadata: pq.FileMetaData) -> Iterator[list[int]]:
    """The numbers of row groups that are read at a time."""
    numbers: list[int] = []
    rows = 0
    for number in range(metadata.num_row_groups):
        rows += (size := metadata.row_group(number).num_rows)
        if numbers and rows > UNIT_ROWS:
            yield numbers
            numbers, rows = [], size
        numbers.append(number)
    if numbers:
        yield numbers


def array_of(table: pa.Table, name: str | int) -> pa.Array:
    """A column of a unit as one array."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
