"""Tables of a database read back: their rows as a file of this machine, and digests that no order of rows changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import DataError
from anoncore.publishing.certification.entries import Stored
from anoncore.publishing.certification.part_digests import PartDigester, rows_digest
from anoncore.publishing.certification.published_texts import two_spellings, written_twice
from anoncore.release.reading.published_table import PublishedTable, cell_texts

BATCH_ROWS = 131_072


@dataclass(frozen=True, eq=False)
class HeldTable:
    """A table as a database holds it, brought to a file."""

    name: str
    file: Path

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(pq.read_metadata(self.file).num_rows)

    @property
    def columns(self) -> list[str]:
        """The names of the columns in their order."""
        return list(pq.read_schema(self.file).names)

    def entry(self, table: str, workspace: Path) -> Stored:
        """What a certificate says of it; `table` is its name in the release. Rows are sorted on disk."""
        # It imports DuckDB, which takes long; most releases are files.
        from anoncore.sources.large_table import LargeTable

        schema = pq.read_schema(self.file)
        digester = PartDigester(schema)
        with closing(LargeTable(self.file, workspace)) as large, pq.ParquetFile(self.file) as file:
            rows = pa.RecordBatchReader.from_batches(schema, _batches(file))
            for batch in large.sorted(rows, workspace):
                digester.add(pa.table(batch.columns, schema=schema))
        columns = digester.close()
        return Stored(
            table=table,
            name=self.name,
            rows=digester.n_rows,
            types={field.name: str(field.type) for field in schema},
            sha256=rows_digest(schema.names, digester.n_rows, columns),
            column_sha256=columns,
        )

    def published(self, name: str, known: Collection[str]) -> PublishedTable:
        """The table in the texts that are equal in all formats.

        Raises DataError for a known column in which one value is written in two ways.
        """
        read = pq.read_table(self.file)
        for column in known:
            values = read.column(column).unique()
            twice = written_twice(values, cell_texts(values))
            if twice is not None:
                raise DataError(two_spellings(column, *twice))
        return PublishedTable.of(name, read.to_pandas(integer_object_nulls=True, date_as_object=True))


def _batches(file: pq.ParquetFile) -> Iterator[pa.RecordBatch]:
    yield from file.iter_batches(BATCH_ROWS)
