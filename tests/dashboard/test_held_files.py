"""A link that is put in the place of a table, after its path was checked, leads nobody out of the allowed folders."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from anoncore import DataError
from anoncore.recipes.source import load_source
from dashboard.serving import access, own_machine, settings
from dashboard.serving.settings import Rights, Settings, SignIn
from dashboard.session import browser
from dashboard.table import table_place
from dashboard.table.table_place import TablePlace, known_tables

pytestmark = pytest.mark.skipif(not table_place.can_hold(), reason="this machine has no names for open files")

OPEN, SECRET = pd.DataFrame({"age": [21, 22]}), pd.DataFrame({"age": [666, 777]})
NAMES = ["people.csv", "people.parquet", "people.xlsx", "people.duckdb", "people.sqlite", "parts"]


def write(path: Path, frame: pd.DataFrame) -> None:
    """The table as whatever its name says; a folder has a part in a folder of its own."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif path.suffix == ".duckdb":
        with closing(duckdb.connect(str(path))) as database:
            database.register("given", frame)
            database.execute("CREATE TABLE people AS FROM given")
    elif path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as database:
            frame.to_sql("people", database, index=False)
    else:
        (path / "year").mkdir(parents=True)
        frame.to_parquet(path / "year" / "part.parquet")


@pytest.fixture(name="tables")
def allowed_folder_of_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that visitors may read, beside one that they may not."""
    tables, elsewhere = tmp_path / "tables", tmp_path / "elsewhere"
    for folder, frame in ((tables, OPEN), (elsewhere, SECRET)):
        folder.mkdir()
        for name in NAMES:
            write(folder / name, frame)
    sign_in = SignIn(metadata_url="https://sign.example", client_id="it", client_secret="s", cookie_secret="c" * 32)
    rights = Rights(paths=("*",), folders=(str(tables),))
    monkeypatch.setattr(settings, "_used", Settings(sign_in=sign_in, rights=rights))
    monkeypatch.setattr(access, "require", lambda right: None)
    monkeypatch.setattr(access, "may", lambda right: True)
    kept: dict[str, Any] = {}
    monkeypatch.setattr(browser, "get", kept.get)
    monkeypatch.setattr(browser, "put", kept.__setitem__)
    return tables


def swap(path: Path) -> None:
    """Put a link to the table of the same name that lies elsewhere in its place."""
    path.rename(path.with_name(f"former {path.name}"))
    path.symlink_to(path.parents[1] / "elsewhere" / path.name)


def ages(place: TablePlace) -> list[int]:
    """What is read of a table, as the pages do."""
    with place.brought_here() as here:
        return sorted(load_source(here, Path())["age"].tolist())


def checked(path: Path) -> TablePlace:
    """The table as a visitor names it."""
    place = own_machine.whole_place(str(path))
    assert isinstance(place, Path)
    tables = known_tables(place)
    return TablePlace(place, tables[0] if tables else None)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_named_is_read(tables: Path, name: str) -> None:
    if name.endswith("xlsx"):
        assert ages(TablePlace(tables / name)) == [21, 22]
        return
    assert ages(checked(tables / name)) == [21, 22]


@pytest.mark.parametrize("name", NAMES)
def test_a_link_that_is_swapped_in_after_the_check_is_not_followed(tables: Path, name: str) -> None:
    place = TablePlace(tables / name) if name.endswith("xlsx") else checked(tables / name)
    swap(tables / name)
    with pytest.raises(DataError, match="outside the folders that may be used here"):
        ages(place)


@pytest.mark.parametrize("name", NAMES)
def test_a_link_that_is_swapped_in_while_it_is_opened_is_not_followed(
    tables: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hardest moment: links were followed and the place was found inside, and then the file becomes a link."""
    place = TablePlace(tables / name) if name.endswith("xlsx") else checked(tables / name)
    swap_when(lambda opened: opened == name, tables / name, monkeypatch)
    with pytest.raises(DataError, match="cannot be opened where it lay when it was named"):
        ages(place)


@pytest.mark.parametrize("part", ["year", "part.parquet"])
def test_a_link_in_a_folder_of_parts_that_is_swapped_in_after_it_was_listed_is_not_followed(
    tables: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = checked(tables / "parts")
    year = tables / "parts" / "year"
    swapped = year if part == "year" else year / part

    def exchange() -> None:
        swapped.rename(tables / "former")
        swapped.symlink_to(tables.parent / "elsewhere" / swapped.relative_to(tables))

    swap_when(lambda opened: opened == part, exchange, monkeypatch)
    with pytest.raises(DataError, match="cannot be opened where it lay when it was named"):
        ages(place)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_opened_is_read_whatever_its_name_leads_to_later(tables: Path, name: str) -> None:
    place = TablePlace(tables / name) if name.endswith("xlsx") else checked(tables / name)
    with place.brought_here() as here:
        swap(tables / name)
        assert sorted(load_source(here, Path())["age"].tolist()) == [21, 22]


def test_a_folder_on_the_way_that_becomes_a_link_is_not_followed(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tables / "deep").mkdir()
    write(tables / "deep" / "people.csv", OPEN)
    (tables.parent / "elsewhere" / "deep").mkdir()
    write(tables.parent / "elsewhere" / "deep" / "people.csv", SECRET)
    place = checked(tables / "deep" / "people.csv")
    swap_when(lambda opened: opened == "deep", tables / "deep", monkeypatch)
    with pytest.raises(DataError, match="cannot be opened where it lay when it was named"):
        ages(place)


def test_a_link_that_stays_inside_is_read(tables: Path) -> None:
    (tables / "also.csv").symlink_to(tables / "people.csv")
    assert ages(checked(tables / "also.csv")) == [21, 22]
    (tables / "parts" / "year" / "more.parquet").symlink_to(tables / "people.parquet")
    assert ages(checked(tables / "parts")) == [21, 21, 22, 22]


def test_a_pipe_is_no_table_and_nobody_waits_for_it(tables: Path) -> None:
    os.mkfifo(tables / "pipe.csv")
    with pytest.raises(DataError, match="is neither a file nor a folder"):
        ages(TablePlace(tables / "pipe.csv"))


def test_nothing_stays_open_or_behind(tables: Path) -> None:
    before = set(os.listdir(table_place.DESCRIPTORS))
    with table_place.held(tables / "parts") as name:
        assert name.name == "parts"
        folder = name.parent
    assert not folder.exists()
    assert set(os.listdir(table_place.DESCRIPTORS)) <= before


def test_more_files_than_may_be_open_are_a_sentence(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any, **__: Any) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("dashboard.table.table_place.os.open", exhausted)
    with (
        pytest.raises(DataError, match="more files than this server may hold open"),
        table_place.held(tables / "parts"),
    ):
        pass


def test_a_database_with_what_was_not_merged_yet_is_read_with_it(tables: Path) -> None:
    path = tables / "fresh.duckdb"
    database = duckdb.connect(str(path))
    database.execute("SET checkpoint_threshold = '1GB'")
    database.execute("PRAGMA disable_checkpoint_on_shutdown")
    database.execute("CREATE TABLE people AS SELECT 33 AS age")
    database.close()
    assert path.with_name("fresh.duckdb.wal").exists()
    assert ages(checked(path)) == [33]


def swap_when(when: Callable[[str], bool], what: Path | Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Exchange a file for a link just before a name is opened, once."""
    opened_by = os.open
    waiting = [True]

    def opening(name: Any, flags: int, *more: Any, **named: Any) -> int:
        if waiting and named.get("dir_fd") is not None and when(str(name)):
            waiting.clear()
            swap(what) if isinstance(what, Path) else what()
        return opened_by(name, flags, *more, **named)

    opening_allowed = {*os.supports_dir_fd, opening}
    monkeypatch.setattr(os, "supports_dir_fd", opening_allowed)
    monkeypatch.setattr("dashboard.table.table_place.os.open", opening)
