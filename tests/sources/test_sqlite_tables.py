"""An SQLite file brings SQL of its own: its views are not read, nor are columns that are computed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from anoncore.base.errors import DataError
from anoncore.sources.large_table import spool_sqlite, sqlite_tables


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "people.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")
        connection.execute("INSERT INTO people VALUES (30)")
        connection.execute(
            "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
        )
        connection.execute("CREATE TABLE long (n INTEGER, text TEXT AS (hex(zeroblob(n))))")
        connection.execute("INSERT INTO long (n) VALUES (100000000)")
        connection.commit()
    return path


def test_a_view_is_no_table(database: Path, tmp_path: Path) -> None:
    assert sqlite_tables(database) == ["long", "people"]
    with pytest.raises(DataError, match="has no table 'endless'; it has 'long', 'people'"):
        spool_sqlite(database, "endless", tmp_path / "out.parquet")


def test_columns_that_sql_of_the_file_computes_are_not_read(database: Path, tmp_path: Path) -> None:
    spool_sqlite(database, "long", tmp_path / "out.parquet")
    assert pq.read_schema(tmp_path / "out.parquet").names == ["n"]
