"""One file gives one table and one release, in memory, on disk and on Spark."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anoncore import DataError, Microdata
from anoncore.algorithms import RothkoTree
from anoncore.engines.column_coding import CountedTable
from anoncore.engines.large_run import anonymize_table
from anoncore.engines.spool import Tags, profile_of
from anoncore.requirements import KAnonymity
from anoncore.sources import delimited, read_table, text_spool
from anoncore.sources.large_table import LargeTable
from anoncore.table.domain import Domain
from tests.sources.test_sources_binary import PARQUET_COLUMNS
from tests.sources.test_sources_values import DATES, KEPT_AS_TEXT, NUMBERS, RESEMBLING

from .large_tables import expected, published

ROWS = 60
OTHERS = (
    ("1", "", "3"),
    ("true", "FALSE", "", "True"),
    ("1.5", "inf", "-Infinity", "1e999"),
    ("2024-05-31", "", "1899-12-31 14:30", "0001-01-01T00:00:00.5"),
    ("2024-05-31T12:00:00+02:00", "2024-05-31T12:00:00Z"),
    ("Private", "?", "NA", "", "n/a", "?"),
    *(("1", text, "2") for text in ("?", "NA", "None", "NaN", "null")),
    ("Bachelors", "None"),
    ("DE", "NA", "US", "FR"),
    ("Ann", "NA", "Bob", "Cy"),
    ("?", "?"),
    ("", "NA", ""),
    (" a", "a ", "a", "b c"),
    ('say "hi"', "two\nlines", "x,y;z"),
    ("9007199254740993", "None", ""),
)
"""Columns of tests/sources/test_sources_values.py that stand alone there."""
COLUMNS = [
    *(cells for cells, _, _ in (*NUMBERS, *DATES)),
    *(cells for cells, _ in KEPT_AS_TEXT if max(map(len, cells)) < 100),
    *RESEMBLING,
    *OTHERS,
]


def table_of(columns: Mapping[str, tuple[str, ...]], separator: str = ",") -> bytes:
    """Every column over and over, down to the last row."""
    cells = {name: [column[row % len(column)] for row in range(ROWS)] for name, column in columns.items()}
    return pd.DataFrame(cells).to_csv(index=False, sep=separator).encode()


def named(columns: list[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {f"column {number}": column for number, column in enumerate(columns)}


PEOPLE = "name,âge,town\n" + "".join(
    f"N{row},{20 + row % 9},{('Zürich', 'Genève', 'Köln')[row % 3]}\n" for row in range(40)
)
NAMES = "имя,возраст\n" + "".join(f"{('Анна', 'Иван', 'Мария')[row % 3]},{30 + row % 4}\n" for row in range(30))
LINES = [("name", "age", "town"), ("Ann", "39", "a b"), ("Bob", "50", '"x;y,z"'), ("Cy", "7", '"say ""hi"""')] * 1
TEXTS: dict[str, bytes] = {
    "commas": table_of(named(COLUMNS)),
    "semicolons": table_of(
        named([*COLUMNS, ("1.234,5", "2,25", "7"), ("1,234", "2,500"), ("1,234,567", "2,500")]), ";"
    ),
    **{
        f"separator {separator!r}, lines end in {end!r}": end.join(separator.join(line) for line in LINES).encode()
        for separator in (",", ";", "\t", "|")
        for end in ("\n", "\r\n", "\r")
    },
    "declared separator": b"sep=;\r\na;b,c\r\n1;2\r\n",
    "marks in values": b"id;note\n1;a, b, c\n2;d, e\n3;f\n",
    "names of two lines": '"a ""name""\n of two lines",b\n"x,\n""y""",ä–日本😀\n'.encode(),
    "long row": ("a,b\n" + "x" * 100_000 + ",1\ny,2\n").encode(),
    "blank lines": b"\n  \n\na,b\n\n1,2\n   \n3,4\n\n\n",
    "packed": gzip.compress(b"age,sex\n39,M\n50,F\n", mtime=0),
    **{encoding: PEOPLE.encode(encoding) for encoding in ("utf-8-sig", "utf-16", "utf-32", "cp1252")},
    "cp1251": NAMES.encode("cp1251"),
    "no names": b",age,column 1,\n1,39,x,\n2,50,y,\n",
    "upper and lower case": b"a,A,`b,Name\n1,x,2,y\n2,z,3,w\n",
    "row labels": b"__index_level_0__,b\n1,x\n2,y\n",
    "names with spaces": b" a ,\tb\n1,2\n",
    "one column": b"age\n1\n2\n",
    "empty rows": b"a,b\n1,2\n,\n,\n3,\n",
    "missing in every column": b"a,b\n,NA\n,\n",
    "300 columns": (",".join(f"c{i}" for i in range(300)) + "\n" + ",".join(map(str, range(300)))).encode(),
}
"""The awkward files of tests/sources/test_sources_text.py."""

FOR_SPARK = [
    ("1,234", "950"),
    ("1,234,567.5", "0.5"),
    ("1", "?", "2"),
    ("01234", "98765"),
    ("9007199254740993", ""),
    ("1.5", "inf", "-Infinity", "1e999"),
    ("2024-05-31", "", "1899-12-31 14:30", "0001-01-01T00:00:00.5"),
    ("2024-05-31T12:00:00+02:00", "2024-05-31T12:00:00Z"),
    ("true", "FALSE", "", "True"),
    ("Private", "?", "NA", "", "n/a", "?"),
    ("DE", "NA", "US", "FR"),
    ("Bachelors", "None"),
    ("", "NA", ""),
    ('say "hi"', "two\nlines", "x,y;z", " a"),
]
"""Every Spark job takes a second or more, so that it reads a column of every kind and not all of them."""
ODD_NAMES = '"two\nlines",,a.b,`c,naïve,\n' + "1,x,2,y,café,\n3,z,,,Zoë,\n,,,,,\n" * 9
SPARK = {
    "commas": table_of(named(FOR_SPARK)),
    "odd names": ODD_NAMES.encode("cp1252"),
}

MODEL = RothkoTree((KAnonymity(k=2),), memory_rows=20)


def written(folder: Path, data: bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def told(domain: Domain) -> tuple[object, ...]:
    return domain.kind, [(type(value), value) for value in domain.values], domain.has_missing, list(domain.texts)


def in_memory(path: Path, missing: tuple[str, ...] = ()) -> Microdata:
    frame = read_table(path, missing=missing).frame
    return Microdata(frame, dict.fromkeys(frame.columns, "quasi-identifier"))


def check_domains(data: Microdata, table: CountedTable) -> None:
    roles = dict.fromkeys(data.attributes, "quasi-identifier")
    assert table.names == data.attributes
    assert table.n_rows == data.n_rows
    profile, _ = profile_of(table, Tags(roles=roles), MODEL, lambda _: None)
    for name in data.attributes:
        assert told(profile.domain[name]) == told(data.domain[name]), name


def check_on_disk(path: Path, workspace: Path, missing: tuple[str, ...] = ()) -> None:
    """Names, types, values, missing cells and notes on disk are those in memory."""
    source = read_table(path, missing=missing)
    table = LargeTable(path, workspace, missing=missing)
    try:
        pd.testing.assert_frame_equal(table.frame(), source.frame)
        if table.notes is not None:
            assert table.notes == source.notes
        check_domains(in_memory(path, missing), table)
    finally:
        table.close()


def check_release(path: Path, folder: Path) -> None:
    """The release on disk is the one in memory."""
    data = in_memory(path)
    roles = dict.fromkeys(data.attributes, "quasi-identifier")
    anonymize_table(lambda workspace: LargeTable(path, workspace), Tags(roles=roles), MODEL, folder / "out")
    assert published(folder / "out") == expected(MODEL.anonymize(data))


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_file_is_on_disk_what_it_is_in_memory(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, TEXTS[name])
    check_on_disk(path, tmp_path)
    if read_table(path).frame.shape[0] > 1 and "long" not in name:
        check_release(path, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(PARQUET_COLUMNS)))
def test_a_parquet_file_is_on_disk_what_it_is_in_memory(tmp_path: Path, place: int) -> None:
    array = PARQUET_COLUMNS[place][0]
    table = pa.table({" x ": array, "X": array, "row": list(range(len(array)))})
    pq.write_table(table, tmp_path / "table.parquet")
    check_on_disk(tmp_path / "table.parquet", tmp_path)
    check_release(tmp_path / "table.parquet", tmp_path)


def test_what_means_missing_in_a_recipe_does_so_everywhere(tmp_path: Path) -> None:
    check_on_disk(written(tmp_path, b"x,y\n1,a\nN,None\n2,N\n"), tmp_path, missing=("N", "None"))


def test_the_content_of_a_file_decides_not_its_name(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", None]}), tmp_path / "table.csv")
    check_on_disk(tmp_path / "table.csv", tmp_path)
    check_on_disk(written(tmp_path, b"a,b\n1,x\n2,\n", "table.parquet"), tmp_path)
    check_on_disk(written(tmp_path, b"a,b\n1,x\n2,\n", "table.dat"), tmp_path)


WRONG = [
    b"",
    b"\n \n",
    b"a,b",
    b"a,b,a\n1,2,3\n",
    b"a,b,c\n1,2,3\n1,2\n",
    b'a,b\n1,"x\n2,y\n',
    b'a,b\n1,2\n"3,x\n4,y',
    b"<!DOCTYPE html><html>\n",
    b'[{"a": 1}]',
    "a,b\né,1\nü".encode()[:-1],
    "a,b\n1,2\n".encode("utf-16-le"),
    bytes(range(256)) * 4,
    b"%PDF-1.7\n",
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9],
    gzip.compress(gzip.compress(b"a,b\n1,2\n", mtime=0), mtime=0),
]
"""What is no table, from tests/sources/test_sources_text.py."""


@pytest.mark.parametrize("data", WRONG)
def test_what_is_no_table_is_refused_in_the_same_words(tmp_path: Path, data: bytes) -> None:
    path = written(tmp_path, data)
    with pytest.raises(DataError) as in_memory_said:
        read_table(path)
    with pytest.raises(DataError) as on_disk_said:
        LargeTable(path, tmp_path)
    assert str(on_disk_said.value) == str(in_memory_said.value)


def test_a_workbook_is_read_in_memory_alone(tmp_path: Path) -> None:
    content = io.BytesIO()
    openpyxl.Workbook().save(content)
    for name in ("book.xlsx", "book.csv"):
        with pytest.raises(DataError, match=f"'{name}' is no table that can be read piece by piece"):
            LargeTable(written(tmp_path, content.getvalue(), name), tmp_path)


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of a few dozen rows, and types that are taken from the first of them."""
    monkeypatch.setattr(delimited, "BLOCK_BYTES", (512, 1 << 14, 1 << 20))
    monkeypatch.setattr(text_spool, "SAMPLE_BATCHES", 1)


LATER = [
    (("7", "8"), ("1,000", "2,500")),
    (("7", "8"), ("",)),
    (("7", "8"), ("0.5",)),
    (("7", "8"), ("inf",)),
    (("7", "8"), ("x",)),
    (("7", "8"), ("9007199254740993", "")),
    (("7", "8"), ("007",)),
    (("0.5", "2"), ("9007199254740993",)),
    (("1,000", "2,000"), ("12",)),
    (("1,000", "2,000"), ("1.234,5",)),
    (("",), ("x", "?")),
    (("",), ("7",)),
    (("",), ("2024-05-31",)),
    (("?",), ("x",)),
    (("NA", "DE", "FR"), ("US",)),
    (("NA", "DE", "FR", "US"), ("Ann",)),
    (("None", "1"), ("x",)),
    (("None", "x"), ("1",)),
    (("true", "FALSE"), ("x",)),
    (("true", "FALSE"), ("", "True")),
    (("2024-05-31",), ("2024-05-31 14:00:00.1234567",)),
    (("0001-01-01",), ("2024-05-31 14:00:00.1234567",)),
    (("2024-05-31",), ("2024-02-30",)),
    (("2024-05-31",), ("2024-05-31T10:00Z",)),
    (("2024-05-31T09:00+02:00",), ("2024-05-31T10:00Z",)),
    (("x", "y"), (" x",)),
    (("ab",), ("x" * 5_000,)),
]
"""Cells of the first rows of a column, and of the rows far below, which say more about it."""


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize(("first", "then"), LATER)
def test_a_cell_far_below_decides_as_one_at_the_top_does(
    tmp_path: Path, first: tuple[str, ...], then: tuple[str, ...]
) -> None:
    cells = [*(first[row % len(first)] for row in range(300)), *then, *(first[row % len(first)] for row in range(50))]
    frame = pd.DataFrame({"x": cells, "other": range(len(cells))})
    check_on_disk(written(tmp_path, frame.to_csv(index=False).encode()), tmp_path)


@pytest.mark.usefixtures("short_blocks")
def test_a_column_without_a_name_whose_only_value_stands_far_below(tmp_path: Path) -> None:
    for last in ("", "x"):
        check_on_disk(written(tmp_path, b"a,b,\n" + b"1,2,\n" * 400 + f"1,2,{last}\n".encode()), tmp_path)


POOL = ["1", "2.5", "", "NA", "?", "x", "None", "1,000", "950", "007", "true", "inf", "DE", "US", "2024-01-01", " 7 "]


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from(POOL), min_size=1, max_size=4), min_size=1, max_size=4), st.sampled_from(",;"))
def test_size_never_changes_a_table(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[str]], separator: str
) -> None:
    cells = [cell for part in parts for cell in part * 40]
    frame = pd.DataFrame({"x": cells, "other": ["o"] * len(cells)})
    folder = tmp_path_factory.mktemp("sizes")
    path = written(folder, frame.to_csv(index=False, sep=separator).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK_BYTES", (256, 1 << 20, 1 << 20))
        patch.setattr(text_spool, "SAMPLE_BATCHES", 1)
        check_on_disk(path, folder)


@pytest.mark.usefixtures("short_blocks")
def test_a_row_that_breaks_the_table_is_named_by_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,b\n" + b"1,2\n" * 500 + b"1,2,3\n" + b"1,2\n" * 500)
    for read in (read_table, lambda path: LargeTable(path, tmp_path)):
        with pytest.raises(DataError, match=r"Line 502 of 'table.csv' has 3 values, but the header has 2 columns"):
            read(path)


def test_the_files_of_a_folder_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder, b"a,b\n1,x\n2,\n", "1.csv")
    written(folder, b"b; a\ny;1,000\nNone;3\n", "2.csv")
    (folder / "3.csv.gz").write_bytes(gzip.compress(b"a,b\n7,z\n"))
    table = LargeTable(folder, tmp_path)
    found = table.frame()
    table.close()
    assert found["a"].tolist() == ["1", "2", "1,000", "3", "7"]
    assert [None if pd.isna(cell) else cell for cell in found["b"]] == ["x", None, "y", "None", "z"]
    written(folder, b"a,c\n7,z\n", "4.csv")
    with pytest.raises(DataError, match=r"'4\.csv' has the columns 'a' and 'c', but '1\.csv' has 'a' and 'b'"):
        LargeTable(folder, tmp_path)
