"""Files that are made to take much are read, or refused in a sentence; full-sized ones are measured by `bombs`."""

from __future__ import annotations

import os

import pytest

from anoncore.base.errors import DataError
from anoncore.sources import excel, read_table
from anoncore.sources.headers import MOST_COLUMNS
from tests.security import bombs

SIZE = float(os.environ.get("BOMBS", "0.0005"))
"""Share of the full size."""


@pytest.mark.slow
@pytest.mark.parametrize("name", list(bombs.TABLES))
def test_a_bomb_is_read_or_refused_in_a_sentence(name: str) -> None:
    content = bombs.TABLES[name](SIZE)
    said, columns = "", 1
    try:
        columns = read_table(content, bombs.named(name), max_bytes=200 << 20).frame.shape[1]
    except DataError as error:
        said = str(error)
    assert said == "" or said.endswith(".")
    assert len(said) < 500
    assert 0 < columns <= MOST_COLUMNS


@pytest.mark.parametrize("content", [bombs.wide(MOST_COLUMNS + 1), bombs.parquet(MOST_COLUMNS + 1, 1)])
def test_a_table_of_too_many_columns_says_how_many_may_be(content: bytes) -> None:
    with pytest.raises(DataError, match="has 10,001 columns, and tables of at most 10,000 are read"):
        read_table(content, "wide.csv")


def test_a_wide_sheet_says_so_too() -> None:
    sheet = bombs.sheet(f"<row>{'<c><v>1</v></c>' * (MOST_COLUMNS + 1)}</row>" * 2)
    with pytest.raises(DataError, match="has 10,001 columns, and tables of at most 10,000 are read"):
        read_table(bombs.workbook(xl__worksheets__sheet1=sheet), "wide.xlsx")


def test_no_more_than_the_longest_header_is_taken_in() -> None:
    with pytest.raises(DataError, match="take more than 4,194,304 characters"):
        read_table(bombs.wide(1_000_000), "wide.csv")
    with pytest.raises(DataError, match="cannot be read as column names"):
        read_table(b'"' + b"a\n" * 3_000_000 + b'",b\n1,2\n', "quoted.csv")
    with pytest.raises(DataError, match="begins with more than 1 MB of blank lines"):
        read_table(b"\n" * 3_000_000 + b"a\n1\n", "blank.csv")
    assert read_table(b"\n" * 100_000 + b"a,b\n1,2\n", "blank.csv").frame.shape == (1, 2)


def test_memory_is_asked_for_by_rows_and_columns_before_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr("anoncore.sources.delimited.require_memory", lambda needed, _what: asked.append(needed))
    read_table(bombs.wide(50, rows=200), "a.csv")
    read_table(b"a\n" + b"1\n" * 1_000, "one.csv")
    read_table(b'a,b\n"' + b"\n" * 5_000 + b'",2\n', "lines in a cell.csv")
    assert 200 * 50 * 40 <= asked[0] < 210 * 50 * 40
    assert 1_000 * 40 <= asked[1] < 1_010 * 40
    assert asked[2] < 10 * 2 * 40


@pytest.mark.parametrize("name", ["styles, formats", "content types", "relations", "properties", "a theme"])
def test_what_a_workbook_says_of_itself_is_limited(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "LARGEST_AROUND", 50_000)
    with pytest.raises(DataError, match="of its formats and properties"):
        read_table(bombs.TABLES[name](0.01), "book.xlsx")
    assert read_table(bombs.workbook(), "book.xlsx").frame.shape == (1, 1)
