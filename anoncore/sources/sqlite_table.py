"""A table of an SQLite file, written to Parquet piece by piece."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import DataError
from anoncore.base.texts import listing

BATCH_ROWS = 50_000


def spool_sqlite(path: Path, table: str | None, target: Path) -> None:
    """Write a table of an SQLite file to Parquet (`table` None: the only one there is).

    SQLite types cells, not columns: a column of whole numbers becomes int64, one of numbers float64, any other text.
    Raises DataError for a table that is not there or has bytes in it.
    """
    try:
        with closing(_opened(path)) as database:
            _spool(database, chosen_table(_known(database), table, path.name), target)
    except sqlite3.Error as error:
        raise DataError(f"'{path.name}' cannot be read: {error}.") from None


def sqlite_tables(path: Path) -> list[str]:
    """The tables of an SQLite file. Raises DataError for a file that is none."""
    try:
        with closing(_opened(path)) as database:
            return _known(database)
    except sqlite3.Error as error:
        raise DataError(f"'{path.name}' cannot be read: {error}.") from None


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _spool(database: sqlite3.Connection, table: str, target: Path) -> None:
    quoted = '"' + table.replace('"', '""') + '"'
    columns = [str(row[1]) for row in database.execute(f"PRAGMA table_info({quoted})")]
    names = ['"' + name.replace('"', '""') + '"' for name in columns]
    types = [_type(database, quoted, name) for name in names]
    texts = [f"CAST({name} AS TEXT)" if kind == pa.string() else name for name, kind in zip(names, types, strict=True)]
    schema = pa.schema(list(zip(columns, types, strict=True)))
    cursor = database.execute(f"SELECT {', '.join(texts)} FROM {quoted}")
    with pq.ParquetWriter(target, schema) as writer:
        while rows := cursor.fetchmany(BATCH_ROWS):
            arrays = [pa.array(cells, kind) for cells, kind in zip(zip(*rows, strict=True), types, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))


def _type(database: sqlite3.Connection, table: str, column: str) -> pa.DataType:
    found = {str(row[0]) for row in database.execute(f"SELECT DISTINCT typeof({column}) FROM {table}")} - {"null"}
    if "blob" in found:
        raise DataError(f"Column {column} holds bytes; every cell has to hold one value: leave the column out.")
    if found == {"integer"}:
        return pa.int64()
    return pa.float64() if found and found <= {"integer", "real"} else pa.string()


def _known(database: sqlite3.Connection) -> list[str]:
    """The tables; views are SQL of whoever made the file, which need never end."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
    return [str(row[0]) for row in database.execute(query)]


def chosen_table(known: list[str], table: str | None, database: str) -> str:
    """The table of a database to read; DataError if it is not there, or none is named and there are several."""
    if not known:
        raise DataError(f"'{database}' has no tables.")
    if table is None and len(known) > 1:
        raise DataError(f"'{database}' has the tables {listing(known)}; name one as table in [source], or with --name.")
    if table is not None and table not in known:
        raise DataError(f"'{database}' has no table '{table}'; it has {listing(known)}.")
    return table or known[0]
