"""Tables that are read piece by piece: Parquet, CSV, a folder of such files, or a table of a database file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa

from anoncore.domain import listing
from anoncore.engines.faults import reading, writing
from anoncore.engines.sqlite_table import chosen_table, spool_sqlite
from anoncore.errors import DataError
from anoncore.recipe_source import DATABASES
from anoncore.sources.notes import Notes
from anoncore.sources.parquet import PANDAS_ROW_LABELS, table_column
from anoncore.sources.values import MISSING

PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
BATCH_ROWS = 131_072
MISSING_TEXTS = (*MISSING, "?", "NA")
"""Cells of text files that mean missing, besides those that a recipe lists."""


class LargeTable:
    """A table behind DuckDB, which keeps to `memory` bytes and spills into `workspace`.

    `names` are its columns (row labels stored by pandas are left out), `n_rows` its rows. CSV and SQLite are written
    once to Parquet in `workspace`. Raises DataError for a path that is no such table.
    """

    def __init__(
        self,
        path: Path,
        workspace: Path,
        table: str | None = None,
        encoding: str | None = None,
        missing: Collection[str] = (),
        memory: int = 256_000_000,
    ) -> None:
        self.name = path.name
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": f"{memory}B",
                "threads": str(os.cpu_count() or 1),
                "temp_directory": str(workspace / "spill"),
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
            },
        )
        try:
            with reading(self.name):
                self._relation = self._opened(path, workspace, table, encoding, missing)
                columns = self._connection.execute(f"DESCRIBE SELECT * FROM {self._relation}").fetchall()
                counted = self._connection.execute(f"SELECT count(*) FROM {self._relation}").fetchall()
        except BaseException:
            self.close()
            raise
        self.names = tuple(str(column[0]) for column in columns if column[0] != PANDAS_ROW_LABELS)
        self.n_rows = int(counted[0][0])
        if self.n_rows == 0:
            self.close()
            raise DataError(f"'{self.name}' holds column names but no rows; load a table with at least one row.")

    def _opened(
        self, path: Path, workspace: Path, table: str | None, encoding: str | None, missing: Collection[str]
    ) -> str:
        if not path.exists():
            raise DataError(f"There is no file '{path}'.")
        if _starts_with(path, b"SQLite format 3\0"):
            spooled = workspace / "source.parquet"
            spool_sqlite(path, table, spooled)
            return f"read_parquet({_quoted(spooled)})"
        if path.suffix.lower() in DATABASES:
            return self._attached(path, table)
        if table is not None:
            raise DataError(f"source.table is for a database, and '{self.name}' is none.")
        files = table_files(path)
        if files[0].suffix.lower() in PARQUET:
            return f"read_parquet([{', '.join(map(_quoted, files))}])"
        spooled = workspace / "source.parquet"
        texts = [*MISSING_TEXTS, *missing]
        options = f"nullstr = [{', '.join(map(_quoted, texts))}], sample_size = 200000"
        options += f", encoding = {_quoted(encoding)}" if encoding else ""
        source = f"read_csv([{', '.join(map(_quoted, files))}], {options})"
        self._connection.execute(f"COPY (SELECT * FROM {source}) TO {_quoted(spooled)} (FORMAT parquet)")
        return f"read_parquet({_quoted(spooled)})"

    def _attached(self, path: Path, table: str | None) -> str:
        self._connection.execute(f"ATTACH {_quoted(path)} AS source (READ_ONLY)")
        query = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' ORDER BY 1"
        known = [str(row[0]) for row in self._connection.execute(query).fetchall()]
        return f"source.{identifier(chosen_table(known, table, path.name))}"

    def counted(self, name: str, most: int) -> pa.Table:
        """Distinct values of a column and how often each occurs, columns `value` and `rows`.

        Raises DataError for more than `most` values.
        """
        column = identifier(name)
        query = f"SELECT {column} AS value, count(*) AS rows FROM {self._relation} GROUP BY 1 LIMIT {most + 1}"
        with reading(self.name):
            found = self._connection.sql(query).to_arrow_table()
        if found.num_rows > most:
            raise DataError(
                f"'{name}' has more than {most:,} different values; round them, or tag the column as insensitive."
            )
        return found

    def batches(self, names: Collection[str]) -> Iterator[pa.RecordBatch]:
        """All rows of some columns, in the table's order."""
        query = f"SELECT {', '.join(map(identifier, names))} FROM {self._relation}"
        with reading(self.name):
            yield from self._connection.sql(query).to_arrow_reader(BATCH_ROWS)

    def frame(self) -> pd.DataFrame:
        """The whole table in memory, with the types that a loaded Parquet file has."""
        notes = Notes()
        with reading(self.name):
            query = f"SELECT {', '.join(map(identifier, self.names))} FROM {self._relation}"
            found = self._connection.sql(query).to_arrow_table()
        return pd.DataFrame({name: table_column(name, found.column(name), notes) for name in self.names})

    def sorted(self, rows: pa.RecordBatchReader, workspace: Path) -> Iterator[pa.RecordBatch]:
        """Rows from elsewhere, sorted by all columns; what does not fit in memory is spilled."""
        # A cursor of its own: several threads may sort at a time.
        with writing(workspace), self._connection.cursor() as cursor:
            yield from cursor.sql("SELECT * FROM rows ORDER BY ALL").to_arrow_reader(BATCH_ROWS)

    def close(self) -> None:
        """Let go of the files."""
        self._connection.close()


def identifier(name: str) -> str:
    """A column or table name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _quoted(text: object) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def table_files(path: Path) -> list[Path]:
    """The files of a table, one or those of a folder. Raises DataError for what is no table, or mixes two kinds."""
    if path.suffix.lower() in DATABASES:
        return [path]
    if not path.is_dir():
        if not path.name.lower().endswith((*PARQUET, *TEXT)):
            raise DataError(
                f"'{path.name}' is no table that can be read piece by piece; use Parquet, CSV, a folder of such files, "
                "or a DuckDB or SQLite database."
            )
        return [path]
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith((".", "_")))
    for endings in (PARQUET, TEXT):
        found = [file for file in files if file.name.lower().endswith(endings)]
        if found and len(found) < len(files):
            others = [file.name for file in files if file not in found]
            raise DataError(f"The folder '{path.name}' mixes {found[0].name!r} with {listing(others)}; keep one kind.")
        if found:
            return found
    raise DataError(f"The folder '{path.name}' holds no Parquet and no CSV files.")


def _starts_with(path: Path, magic: bytes) -> bool:
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(len(magic)) == magic
