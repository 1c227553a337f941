"""Descriptions of built-in tables: what a right one gives, and the sentence that a wrong one gets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from anoncore.base.errors import DataError
from anoncore.datasets import data_files, description
from anoncore.datasets.description import described, listed, read_description, read_hierarchy, read_rows

RIGHT = """
title = "People"
description = "Three people."
source = "Made up."
groups = [0, 0, 1]
[roles]
name = "identifier"
zip = "quasi-identifier"
age = "quasi-identifier"
illness = "sensitive"
[kinds]
zip = "ordinal"
age = "numeric"
[orders]
zip = ["01", "02"]
[sensitive_values]
illness = ["flu"]
[hierarchies]
illness = "illness.csv"
[hierarchies.zip.taxonomy]
"0*" = ["01", "02"]
"""
ROWS = 'name,zip,age,illness\nAnn,01,30,flu\n,02,41,"gout, acute"\nCem,01,25,flu\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with one table, taken for that of the built-in tables."""
    (tmp_path / "tables.toml").write_text('tables = ["mine/people"]', "utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "people.toml").write_text(RIGHT, "utf-8")
    (tmp_path / "mine" / "people.csv").write_text(ROWS, "utf-8")
    (tmp_path / "mine" / "illness.csv").write_text('flu,lungs,illness\n"gout, acute",joints,illness\n', "utf-8")
    monkeypatch.setattr(description, "tables_folder", lambda: tmp_path)
    for kept in (listed, described):
        kept.cache_clear()
    yield tmp_path
    for kept in (listed, described):
        kept.cache_clear()


def test_a_right_description_is_read_whole(folder: Path) -> None:
    found = described("people")
    assert (found.name, found.title, found.external, found.groups) == ("people", "People", False, (0, 0, 1))
    assert list(found.roles) == ["name", "zip", "age", "illness"]
    assert found.orders == {"zip": ("01", "02")}
    assert found.sensitive_values == {"illness": ("flu",)}
    assert found.taxonomies == {
        "illness": {"illness": {"lungs": ["flu"], "joints": ["gout, acute"]}},
        "zip": {"0*": ["01", "02"]},
    }


def test_rows_have_numbers_texts_and_missing_cells(folder: Path) -> None:
    expected = pd.DataFrame(
        {
            "name": ["Ann", None, "Cem"],
            "zip": ["01", "02", "01"],
            "age": [30, 41, 25],
            "illness": ["flu", "gout, acute", "flu"],
        }
    )
    pd.testing.assert_frame_equal(read_rows("people"), expected)
    (folder / "mine" / "people.csv").write_text(ROWS.replace("41", "40.5"), "utf-8")
    assert read_rows("people")["age"].tolist() == [30.0, 40.5, 25.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("groups", "group", "there is no key 'group'; the keys are title, description"),
        ('title = "People"', "", "the key 'title' is missing or empty"),
        ('"Made up."', "3", "'source' must be a text"),
        ("groups = [0, 0, 1]", "groups = [0, 0, -1]", "'groups' must be a list of whole numbers from 0"),
        ("groups = [0, 0, 1]", 'external = "yes"', "'external' must be true or false"),
        ('zip = "quasi-identifier"', "zip = 1", "'roles.zip' must be a text"),
        ('zip = "quasi-identifier"', 'zip = "key"', "Table 'people': 'zip' has the role 'key'; use one of identifier,"),
        ('age = "numeric"', 'age = "real"', "Table 'people': 'age' has the kind 'real'; use one of numeric,"),
        ('age = "numeric"', 'size = "numeric"', "Table 'people': 'size' is described but has no role; give it one"),
        ('["flu"]', "[]", "'sensitive_values.illness' must be a list of texts or numbers, and not empty"),
        ('zip = ["01", "02"]', 'zip = ["01", "01"]', "'orders.zip' has a value twice"),
        ('zip = ["01", "02"]', "zip = 1", "'orders.zip' must be a list of texts or numbers"),
        ("[hierarchies.zip.taxonomy]", "[hierarchies.zip.tree]", "'hierarchies.zip' must be the path of a CSV file or"),
        ('"0*" = ["01", "02"]', "", "'hierarchies.zip.taxonomy' must be a table of groups, and not empty"),
        ('"0*" = ["01", "02"]', '"0*" = "01"', "'hierarchies.zip.taxonomy.0*' must be a list of texts or numbers"),
        ("[orders]", "[orders", "it cannot be read as TOML: "),
    ],
)
def test_a_wrong_description_is_named_with_its_key(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "mine" / "people.toml"
    assert RIGHT.count(old) == 1
    path.write_text(RIGHT.replace(old, new), "utf-8")
    start = f"The file '{path}' of the built-in tables is wrong: "
    with pytest.raises(DataError, match=f"^{re.escape(start + message)}"):
        read_description(path)


def test_columns_that_must_be_tables_are(folder: Path) -> None:
    path = folder / "mine" / "people.toml"
    path.write_text('title = "T"\ndescription = "d"\nsource = "s"\nroles = ["age"]\n', "utf-8")
    with pytest.raises(DataError, match="'roles' must be a table with one entry per column"):
        read_description(path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ROWS.replace("zip", "city"),
            "its columns are name, city, age, illness; described are name, zip, age, illness",
        ),
        (ROWS.replace("41", "old"), "'old' is not a number"),
        (ROWS.replace("Ann,", ""), "line 2 has 3 cells, the first line has 4"),
        ("", "it is empty"),
        ('"', "it cannot be read as CSV: "),
    ],
)
def test_wrong_rows_are_refused(folder: Path, rows: str, message: str) -> None:
    (folder / "mine" / "people.csv").write_text(rows, "utf-8")
    with pytest.raises(DataError, match=rf"people\.csv' of the built-in tables is wrong: {message}"):
        read_rows("people")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("flu,lungs\nflu,throat\n", "the value 'flu' has two lines"),
        ("flu\n", "the value 'flu' needs at least one group"),
        ("flu,\n", "the value 'flu' needs at least one group, and no cell may be empty"),
    ],
)
def test_a_wrong_hierarchy_file_is_refused(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "illness.csv"
    path.write_text(lines, "utf-8")
    with pytest.raises(DataError, match=message):
        read_hierarchy(path)


def test_a_list_of_tables_that_is_none_is_refused(folder: Path) -> None:
    (folder / "tables.toml").write_text('tables = "census"', "utf-8")
    with pytest.raises(DataError, match=r"'tables' must be a list of paths without \.toml"):
        listed()


def test_an_installation_without_the_tables_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "FOLDERS", (tmp_path / "data", tmp_path / "datasets"))
    data_files.tables_folder.cache_clear()
    with pytest.raises(DataError, match=r"tables are missing: there is no '.*data'\. Install anoncore again\."):
        data_files.tables_folder()
    data_files.tables_folder.cache_clear()


def test_every_file_of_the_folder_belongs_to_a_table() -> None:
    folder = data_files.tables_folder()
    described_files = {path for path in folder.rglob("*.toml") if path.parent.name in ("generated", "papers", "public")}
    assert described_files == set(listed().values())
    worked = set(folder.glob("papers/*.csv"))
    assert worked == {path.with_suffix(".csv") for path in listed().values() if path.parent.name == "papers"}
