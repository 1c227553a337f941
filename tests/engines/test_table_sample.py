"""A simple random sample of a table on disk, whatever the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, DataError
from anoncore.engines.table_sample import TableSample, sample_table
from anoncore.sources.large_table import LargeTable, database_tables

from .large_tables import people


def sampled(path: Path, size: int, seed: int = 0, table: str | None = None) -> TableSample:
    opened = LargeTable(path, path.parent, table=table)
    try:
        return sample_table(opened, size, seed)
    finally:
        opened.close()


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_sample_holds_rows_of_the_table_once_each(tmp_path, ending):
    frame = people(1_000)
    path = tmp_path / f"people.{ending}"
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    found = sampled(path, 300)
    assert (len(found.frame), found.n_rows) == (300, 1_000)
    places = found.frame["who"].str.removeprefix("who-").astype(int)
    assert places.is_unique
    assert places.is_monotonic_increasing
    pd.testing.assert_series_equal(
        found.frame["debt"], frame["debt"].iloc[places].reset_index(drop=True), check_dtype=False
    )
    assert sampled(path, 300).digest == found.digest
    assert sampled(path, 300, seed=1).digest != found.digest


@pytest.mark.slow
def test_every_row_is_drawn_as_often(tmp_path):
    pd.DataFrame({"x": np.arange(40)}).to_parquet(tmp_path / "in.parquet")
    counts = np.zeros(40)
    table = LargeTable(tmp_path / "in.parquet", tmp_path)
    for seed in range(200):
        counts[sample_table(table, 10, seed).frame["x"]] += 1
    table.close()
    # 200 draws with a share of 1/4: mean 50, standard deviation 6.1
    assert abs(counts - 50).max() < 25
    assert counts.sum() == 2_000


def test_a_small_table_is_taken_whole(tmp_path):
    frame = people(120)
    frame.to_parquet(tmp_path / "people.parquet")
    found = sampled(tmp_path / "people.parquet", 10_000)
    assert found.frame["who"].tolist() == frame["who"].tolist()


def test_databases_say_what_tables_they_have(tmp_path):
    frame = people(50).drop(columns="since")
    with closing(sqlite3.connect(tmp_path / "people.sqlite")) as database:
        frame.to_sql("people", database, index=False)
        database.execute("CREATE TABLE other (x)")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.sql("CREATE TABLE everybody AS SELECT * FROM frame")
    frame.to_parquet(tmp_path / "people.parquet")
    assert database_tables(tmp_path / "people.sqlite") == ("other", "people")
    assert database_tables(tmp_path / "people.duckdb") == ("everybody",)
    assert database_tables(tmp_path / "people.parquet") == ()
    assert database_tables(tmp_path) == ()
    assert len(sampled(tmp_path / "people.sqlite", 20, table="people").frame) == 20
    (tmp_path / "cut.db").write_bytes(b"SQLite format 3\0" + bytes(10))
    (tmp_path / "noise.duckdb").write_bytes(b"noise")
    for name in ("cut.db", "noise.duckdb"):
        with pytest.raises(DataError, match=f"'{name}' cannot be read: "):
            database_tables(tmp_path / name)


def test_a_sample_can_be_stopped(tmp_path):
    people(50).to_parquet(tmp_path / "people.parquet")
    table = LargeTable(tmp_path / "people.parquet", tmp_path)

    def stop(share: float, text: str) -> None:
        assert text == "50 of 50 rows read"
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        sample_table(table, 10, progress=stop)
    table.close()
