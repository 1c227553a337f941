"""Tables that are read piece by piece: Parquet, CSV, a folder of such files, or a table of a database file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import DataError
from anoncore.base.faults import reading, writing
from anoncore.base.sql import chosen_table, identifier, literal
from anoncore.base.texts import listing
from anoncore.kernels.grouping import count_numbers
from anoncore.sources.headers import column_names
from anoncore.sources.inference import DecimalMark, TextRules
from anoncore.sources.notes import Notes
from anoncore.sources.numerals import DateOrder
from anoncore.sources.parquet import PANDAS_ROW_LABELS, table_column
from anoncore.sources.reader import notice_ending
from anoncore.sources.table_files import DATABASES, is_parquet, table_files
from anoncore.sources.text_spool import spool_text

SQLITE_BATCH_ROWS = 50_000


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
    quoted = identifier(table)
    columns = [str(row[1]) for row in database.execute(f"PRAGMA table_info({quoted})")]
    names = [identifier(name) for name in columns]
    types = [_type(database, quoted, name) for name in names]
    texts = [f"CAST({name} AS TEXT)" if kind == pa.string() else name for name, kind in zip(names, types, strict=True)]
    schema = pa.schema(list(zip(columns, types, strict=True)))
    cursor = database.execute(f"SELECT {', '.join(texts)} FROM {quoted}")
    with pq.ParquetWriter(target, schema) as writer:
        while rows := cursor.fetchmany(SQLITE_BATCH_ROWS):
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


WHOLE_NUMBERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
NARROW = 1 << 22
"""Range of whole numbers up to which they are counted in a table of that size, in half of DuckDB's time."""
BATCH_ROWS = 131_072
SCANS = (1, 4, 16)
"""In how many scans combinations of values are counted, tried in turn until their share fits into memory."""


class LargeTable:
    """A table behind DuckDB, which keeps to `memory` bytes and spills into `workspace`.

    `names` are its columns, named as `read_table` names them (row labels stored by pandas are left out), `n_rows` its
    rows. Text files, whose values have the types that `read_table` gives them, and SQLite are written once to Parquet
    in `workspace`. `notes` are sentences about how texts were read, None for files whose columns have types. Raises
    DataError for a path that is no such table.
    """

    def __init__(
        self,
        path: Path,
        workspace: Path,
        table: str | None = None,
        encoding: str | None = None,
        missing: Collection[str] = (),
        memory: int = 256_000_000,
        decimal: DecimalMark | None = None,
        dates: DateOrder | None = None,
    ) -> None:
        rules = TextRules(missing=tuple(missing), decimal=decimal, dates=dates)
        self.name = path.name
        self.notes: tuple[str, ...] | None = None
        self._connection = connected_duckdb(
            memory_limit=f"{memory}B", threads=str(os.cpu_count() or 1), temp_directory=str(workspace / "spill")
        )
        try:
            with reading(self.name):
                self._relation, names = self._opened(Path(os.path.abspath(path)), workspace, table, encoding, rules)
                columns = self._connection.execute(f"DESCRIBE SELECT * FROM {self._relation}").fetchall()
                counted = self._connection.execute(f"SELECT count(*) FROM {self._relation}").fetchall()
        except BaseException:
            self.close()
            raise
        # DuckDB changes names that differ in upper and lower case alone, and adds columns for folders like year=2020.
        added = [None if column[0] == PANDAS_ROW_LABELS else str(column[0]) for column in columns[len(names) :]]
        kept = {name: column for name, column in zip([*names, *added], columns, strict=True) if name is not None}
        self.names = tuple(kept)
        self._in_sql = {name: identifier(str(column[0])) for name, column in kept.items()}
        self._whole = {name for name, column in kept.items() if str(column[1]) in WHOLE_NUMBERS}
        self.n_rows = int(counted[0][0])
        if self.n_rows == 0:
            self.close()
            raise DataError(f"'{self.name}' holds column names but no rows; load a table with at least one row.")

    def _opened(
        self, path: Path, workspace: Path, table: str | None, encoding: str | None, rules: TextRules
    ) -> tuple[str, Sequence[str | None]]:
        """What stands behind FROM in SQL, and what its first columns are called, None for one that is left out."""
        if not path.exists():
            raise DataError(f"There is no file '{path}'.")
        spooled = Path(os.path.abspath(workspace)) / "source.parquet"
        if _is_sqlite(path):
            spool_sqlite(path, table, spooled)
            return self._parquet([spooled]), ()
        if path.suffix.lower() in DATABASES:
            tables = _attached(self._connection, path)
            _refuse_view(self._connection, table, path.name, list(tables))
            return tables[chosen_table(list(tables), table, path.name)], ()
        if table is not None:
            raise DataError(f"source.table is for a database, and '{self.name}' is none.")
        files = table_files(path)
        if is_parquet(files[0]):
            return self._parquet(files), _parquet_names(files[0], self.name)
        notes = Notes()
        names = spool_text(files, self.name, spooled, encoding, rules, notes)
        if path.is_file():
            notice_ending(self.name, "csv", notes)
        self.notes = notes.sentences()
        return self._parquet([spooled]), names

    def _parquet(self, files: Sequence[Path]) -> str:
        """Parquet files in SQL, which DuckDB may read from now on, and nothing else."""
        listed = ", ".join(map(literal, files))
        _shut(self._connection, listed)
        return f"read_parquet([{listed}])"

    def about(self, names: Sequence[str]) -> int:
        """An estimate of the number of combinations of values of some columns, within some hundredths."""
        together = ", ".join(self._in_sql[name] for name in names)
        with reading(self.name):
            query = f"SELECT approx_count_distinct(hash({together})) FROM {self._relation}"
            return int(self._connection.execute(query).fetchall()[0][0])

    def joint(self, names: Sequence[str], most: int | None = None) -> pa.Table:
        """The combinations of values of some columns and how often each occurs: `value_0`, `value_1`, … and `rows`.

        Where there are more than `most`, at least so many are given and the others may be left out.

        Millions of them may not fit into the memory that DuckDB keeps to, so that they are then counted in several
        scans, each for a share of them.
        """
        titles = [f"value_{place}" for place in range(len(names))]
        titled = ", ".join(f"{self._in_sql[name]} AS {title}" for name, title in zip(names, titles, strict=True))
        combined, limit = ", ".join(titles), "" if most is None else f"LIMIT {most}"

        def counted(share: int, scans: int) -> pa.Table:
            where = f"WHERE hash({combined}) % {scans} = {share}" if scans > 1 else ""
            found = f"SELECT {combined}, count(*) AS rows FROM (SELECT {titled} FROM {self._relation})"
            return cursor.sql(f"{found} {where} GROUP BY {combined} {limit}").to_arrow_table()

        with reading(self.name), self._connection.cursor() as cursor:
            _without_progress_bar(cursor)
            if len(names) == 1 and (narrow := self._narrow(names[0])) is not None:
                return narrow
            for scans in SCANS[:-1]:
                with suppress(duckdb.OutOfMemoryException):
                    return pa.concat_tables([counted(share, scans) for share in range(scans)])
            return pa.concat_tables([counted(share, SCANS[-1]) for share in range(SCANS[-1])])

    def _narrow(self, name: str) -> pa.Table | None:
        """The values of a column of whole numbers in a narrow range, ascending, and their rows; None of any other."""
        if name not in self._whole:
            return None
        bounds = f"SELECT min({self._in_sql[name]}), max({self._in_sql[name]}) FROM {self._relation}"
        with self._connection.cursor() as cursor:
            low, high = cursor.execute(bounds).fetchall()[0]
        if low is None or high - low >= NARROW:
            return None
        counts, missing = np.zeros(high - low + 1, np.int64), 0
        for batch in self.batches([name]):
            column = batch.column(0)
            missing += column.null_count
            known = column.drop_null() if column.null_count else column
            numbers = known.cast(pa.int64()).to_numpy()
            count_numbers(numbers, low, counts)
        places = np.flatnonzero(counts)
        values, rows = [pa.array(places + low).cast(column.type)], counts[places]
        if missing:
            values, rows = [*values, pa.nulls(1, column.type)], np.append(rows, missing)
        return pa.table({"value_0": pa.concat_arrays(values), "rows": rows})

    def some_rows(self, names: Sequence[str], n: int) -> pa.Table:
        """So many rows of some columns, or all where there are fewer, drawn at random with equal chances."""
        with reading(self.name):
            sample = f"USING SAMPLE reservoir({n} ROWS) REPEATABLE (0)"
            return self._connection.sql(f"{self._rows_of(names)} {sample}").to_arrow_table()

    def batches(self, names: Collection[str]) -> Iterator[pa.RecordBatch]:
        """All rows of some columns, in the table's order; several threads may read at a time."""
        with reading(self.name), self._connection.cursor() as cursor:
            _without_progress_bar(cursor)
            for batch in cursor.sql(self._rows_of(names)).to_arrow_reader(BATCH_ROWS):
                yield batch.rename_columns(list(names))

    def frame(self) -> pd.DataFrame:
        """The whole table in memory, with the types that a loaded Parquet file has."""
        notes = Notes()
        with reading(self.name):
            found = self._connection.sql(self._rows_of(self.names)).to_arrow_table().rename_columns(list(self.names))
        return pd.DataFrame({name: table_column(name, found.column(name), notes) for name in self.names})

    def _rows_of(self, names: Collection[str]) -> str:
        return f"SELECT {', '.join(self._in_sql[name] for name in names)} FROM {self._relation}"

    def sorted(self, rows: pa.RecordBatchReader, workspace: Path) -> Iterator[pa.RecordBatch]:
        """Rows from elsewhere, sorted by all columns; what does not fit in memory is spilled."""
        # A cursor of its own: several threads may sort at a time.
        with writing(workspace), self._connection.cursor() as cursor:
            _without_progress_bar(cursor)
            cursor.register("anoncore_rows", rows)
            for batch in cursor.sql("SELECT * FROM anoncore_rows ORDER BY ALL").to_arrow_reader(BATCH_ROWS):
                yield batch.rename_columns(rows.schema.names)

    def close(self) -> None:
        """Let go of the files."""
        self._connection.close()


def _without_progress_bar(connection: duckdb.DuckDBPyConnection) -> None:
    """Let DuckDB draw no progress bar: what runs is told by ours."""
    try:
        connection.execute("SET enable_progress_bar = false")
    except duckdb.InvalidInputException:
        # In notebooks DuckDB draws by ipywidgets. Where these are not installed it draws nothing, and refuses the
        # setting.
        return


def _parquet_names(file: Path, table: str) -> list[str | None]:
    """What the columns of a Parquet file are called, None for row labels that pandas stored."""
    stored = pq.read_schema(file).names
    names = iter(column_names([name for name in stored if name != PANDAS_ROW_LABELS], table, Notes()))
    return [None if name == PANDAS_ROW_LABELS else next(names) for name in stored]


def database_tables(path: Path) -> tuple[str, ...]:
    """The tables of a database file by name; none for what is no database. Raises DataError where it cannot be read."""
    with reading(path.name):
        if _is_sqlite(path):
            return tuple(sqlite_tables(path))
        if path.is_dir() or path.suffix.lower() not in DATABASES:
            return ()
        with closing(connected_duckdb()) as connection:
            return tuple(_attached(connection, path))


def connected_duckdb(**settings: str) -> duckdb.DuckDBPyConnection:
    """A database in memory that draws no progress bar and loads no extension: a file could ask for one."""
    connection = duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false", **settings}
    )
    _without_progress_bar(connection)
    return connection


def _shut(connection: duckdb.DuckDBPyConnection, listed: str = "") -> None:
    """Let DuckDB open nothing from now on but the files of an SQL list and its own temporary ones.

    A database brings SQL of its own: a view of it may read any file that the program may read. What is attached already
    stays open, and nobody can take this back while the connection lives.
    """
    connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")


def _attached(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, str]:
    """Attach a database, and give its tables: what each is called, and what stands for it in SQL.

    Tables of its main schema are called by their name, others as `schema.table`. In SQL the schema is always named, as
    a table without one can be another schema's view.
    """
    connection.execute(f"ATTACH {literal(path)} AS source (READ_ONLY)")
    _shut(connection)
    query = (
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' "
        "ORDER BY schema_name <> 'main', schema_name, table_name"
    )
    return {
        name if schema == "main" else f"{schema}.{name}": f"source.{identifier(schema)}.{identifier(name)}"
        for schema, name in connection.execute(query).fetchall()
    }


def _refuse_view(
    connection: duckdb.DuckDBPyConnection, table: str | None, database: str, tables: Sequence[str]
) -> None:
    """Raise DataError for the name of a view, whose SQL could read files that are not the database's."""
    query = "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal"
    found = connection.execute(query).fetchall()
    views = {name if schema == "main" else f"{schema}.{name}" for schema, name in found}
    if table in views:
        there = f"; it has the tables {listing(tables)}" if tables else ""
        raise DataError(
            f"'{table}' is a view of '{database}', and a view may read other files than the database. Only tables are "
            f"read: make one of it with CREATE TABLE ... AS FROM {identifier(table or '')}{there}."
        )


def _is_sqlite(path: Path) -> bool:
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
