"""Rows of published tables, read some at a time: of tables in memory, and of the files of a large release."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import DataError
from anoncore.publishing.certification.entries import File
from anoncore.release.reading.published_table import PublishedTable

UNIT_ROWS = 1 << 21
"""Row groups of at most so many rows are read together; one row group that has more is read alone."""
STEP = 1 << 20


class Rows(Protocol):
    """Rows of a published table that are read some at a time, wherever they lie."""

    @property
    def name(self) -> str:
        """What they are called in a sentence."""

    @property
    def names(self) -> list[str]:
        """The names of the columns in their order."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    def units(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of the rows, so many at a time that they fit into memory."""


@dataclass(frozen=True, eq=False)
class TableRows:
    """The rows of a table in memory."""

    table: PublishedTable

    @property
    def name(self) -> str:
        """What they are called in a sentence."""
        return self.table.name

    @property
    def names(self) -> list[str]:
        """The names of the columns in their order."""
        return list(self.table.columns)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows

    def units(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of all rows, coded as they are."""
        coded = []
        for name in names:
            column = self.table.columns[name]
            texts = pa.array(column.texts, pa.large_string())
            coded.append(pa.DictionaryArray.from_arrays(pa.array(column.codes), texts))
        # A table without columns has no rows in Arrow.
        yield pa.table(coded or [pa.nulls(self.n_rows)], names=list(names) or [""])


@dataclass(frozen=True, eq=False)
class PartFile:
    """A file by its name and where its content lies."""

    name: str
    source: Path | bytes

    @cached_property
    def entry(self) -> File:
        """The file as a certificate names it. Raises DataError for a file that cannot be read."""
        if isinstance(self.source, bytes):
            return File(name=self.name, bytes=len(self.source), sha256=hashlib.sha256(self.source).hexdigest())
        found, size = hashlib.sha256(), 0
        try:
            with self.source.open("rb") as file:
                while content := file.read(STEP):
                    found.update(content)
                    size += len(content)
        except OSError as error:
            raise self._unreadable(error) from None
        return File(name=self.name, bytes=size, sha256=found.hexdigest())

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

    def units(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """The rows of some columns, a few row groups at a time; texts are dictionary-coded. Raises DataError."""
        file = self.read(lambda: coded_file(opened(self.source), self.schema))
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        for numbers in _together(sizes):
            read = self.read(lambda numbers=numbers: file.read_row_groups(numbers, list(names), use_threads=False))
            yield read.unify_dictionaries().combine_chunks()

    def read(self, read: Any) -> Any:
        """What a function reads of the file. Raises DataError where it cannot."""
        try:
            return read()
        except OSError as error:
            raise self._unreadable(error) from None
        except Exception:
            # Parsers raise nearly anything on a file that is cut short or changed.
            raise DataError(f"'{self.name}' is damaged or is no part of a release: it cannot be read.") from None

    def _unreadable(self, error: OSError) -> DataError:
        reason = (error.strerror or "it is damaged or no part of a release").lower()
        return DataError(f"'{self.name}' cannot be read: {reason}.")


def opened(source: bytes | Path) -> pa.NativeFile:
    """The content of a file that lies in memory or on disk."""
    return pa.BufferReader(source) if isinstance(source, bytes) else pa.OSFile(str(source), "rb")


def coded_file(content: pa.NativeFile, schema: pa.Schema) -> pq.ParquetFile:
    """A Parquet file of such columns, whose texts are read as codes: every distinct text is made once."""
    texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    return pq.ParquetFile(content, read_dictionary=texts, pre_buffer=False)


def _together(sizes: Sequence[int]) -> Iterator[list[int]]:
    """The numbers of row groups that are read at a time."""
    numbers: list[int] = []
    rows = 0
    for number, size in enumerate(sizes):
        if numbers and rows + size > UNIT_ROWS:
            yield numbers
            numbers, rows = [], 0
        numbers.append(number)
        rows += size
    if numbers:
        yield numbers


def array_of(table: pa.Table, name: str) -> pa.Array:
    """A column of a unit as one array."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
