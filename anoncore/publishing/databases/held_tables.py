"""Tables of a database read back into files of this machine: their cells, and digests that no order of rows changes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.publishing.certification.certified_tables import ShownTable
from anoncore.publishing.certification.entries import Stored, Table
from anoncore.publishing.certification.part_digests import PartDigester, rows_digest
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.certification.strict_reading import written_parquet

BATCH_ROWS = 131_072


def stored_entry(held: PartFile, table: str, workspace: Path) -> Stored:
    """What a certificate says of a table of a database; `table` is its name in the release. Rows are sorted on disk."""
    # It imports DuckDB, which takes long; most releases are files.
    from anoncore.sources.large_table import LargeTable

    digester = PartDigester(held.schema)
    with closing(LargeTable(held.path, workspace)) as large, pq.ParquetFile(held.path) as file:
        rows = pa.RecordBatchReader.from_batches(held.schema, file.iter_batches(BATCH_ROWS))
        for batch in large.sorted(rows, workspace):
            digester.add(pa.table(batch.columns, schema=held.schema))
    columns = digester.close()
    return Stored(
        table=table,
        name=held.name,
        rows=digester.n_rows,
        types={field.name: str(field.type) for field in held.schema},
        sha256=rows_digest(held.names, digester.n_rows, columns),
        column_sha256=columns,
    )


def shown_table(held: PartFile, entry: Table) -> ShownTable:
    """A certified table as a database holds it."""
    return ShownTable(entry, written_parquet(f"'{held.name}'", entry.name, pq.read_table(held.path), held.schema))
