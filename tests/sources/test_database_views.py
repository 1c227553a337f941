"""A DuckDB file brings SQL of its own: its views may name other files, and nothing of those is ever read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from anoncore import DataError
from anoncore.cli import main
from anoncore.sources.large_table import LargeTable, database_tables


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with a table of people, and with views on a file elsewhere, one by the name of another's table."""
    secret = tmp_path / "elsewhere" / "secret.csv"
    secret.parent.mkdir()
    secret.write_text("password\nopen sesame\n")
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS age FROM range(9) t(i)")
        connection.execute(f"CREATE VIEW spy AS FROM read_csv('{secret}')")
        connection.execute(f"CREATE VIEW answers AS FROM read_csv('{secret}')")
        connection.execute("CREATE SCHEMA more; CREATE TABLE more.answers AS SELECT 42 AS answer")
    return path


def test_a_view_is_refused_with_a_sentence(database, tmp_path, capsys):
    assert database_tables(database) == ("people", "more.answers")
    with pytest.raises(DataError, match=r"'spy' is a view of 'people\.duckdb', and a view may read other files"):
        LargeTable(database, tmp_path, "spy")
    recipe = tmp_path / "people.toml"
    recipe.write_text(
        '[source]\npath = "people.duckdb"\ntable = "spy"\n[roles]\npassword = "quasi-identifier"\n'
        '[algorithm]\nname = "rothko-tree"\nrequirements = [{name = "k-anonymity", k = 1}]\n'
    )
    assert main(["run", str(recipe), "--engine", "disk", "--output", str(tmp_path / "out")]) == 2
    assert "make one of it with CREATE TABLE" in capsys.readouterr().err
    assert not list((tmp_path / "out").glob("*"))


def test_a_table_is_never_taken_for_the_view_of_the_same_name(database, tmp_path):
    with closing(LargeTable(database, tmp_path, "more.answers")) as table:
        assert table.frame().to_dict("list") == {"answer": [42]}
    with pytest.raises(DataError, match="'answers' is a view"):
        LargeTable(database, tmp_path, "answers")


@pytest.mark.parametrize("view", ["spy", "main.answers"])
def test_what_reads_a_view_all_the_same_gets_no_other_file(database, tmp_path, view):
    with closing(LargeTable(database, tmp_path, "people")) as table:
        connection = table._connection
        with pytest.raises(duckdb.PermissionException, match="disabled by configuration"):
            connection.execute(f"SELECT * FROM source.{view}")
        with pytest.raises(duckdb.InvalidInputException):
            connection.execute("SET enable_external_access = true")
        with connection.cursor() as cursor, pytest.raises(duckdb.PermissionException):
            cursor.execute(f"SELECT * FROM read_text('{tmp_path}/elsewhere/secret.csv')")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_other_tables_read_their_own_files_alone(tmp_path, monkeypatch, ending):
    frame = pa.table({"age": list(range(9))}).to_pandas()
    write = {"parquet": frame.to_parquet, "csv": frame.to_csv}[ending]
    (tmp_path / "it's").mkdir()
    (tmp_path / "work").mkdir()
    write(tmp_path / "it's" / f"people.{ending}", index=False)
    (tmp_path / "secret.csv").write_text("password\nopen sesame\n")
    monkeypatch.chdir(tmp_path)
    with closing(LargeTable(Path("it's"), tmp_path / "work")) as table:
        assert table.frame()["age"].tolist() == list(range(9))
        with pytest.raises(duckdb.PermissionException):
            table._connection.execute(f"SELECT * FROM read_text('{tmp_path}/secret.csv')")


def test_rows_that_do_not_fit_in_memory_are_still_sorted_on_disk(database, tmp_path):
    (tmp_path / "work").mkdir()
    rows = pa.table({"x": np.random.default_rng(0).permutation(3_000_000)})
    with closing(LargeTable(database, tmp_path / "work", "people", memory=20_000_000)) as table:
        found = pa.Table.from_batches(table.sorted(rows.to_reader(), tmp_path))
        assert (tmp_path / "work" / "spill").exists()
    assert np.array_equal(found.column("x").to_numpy(), np.arange(3_000_000))
