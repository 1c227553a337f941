"""Reading Parquet files and Excel workbooks, whole, odd and damaged."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.errors import DataError
from anoncore.base.pandas_versions import TEXT
from anoncore.sources import TableSource, read_table, table_sheets

Sheets = dict[str, list[list[Any]]]


def parquet(columns: dict[str, Any] | pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), file, **options)
    return file.getvalue()


def excel(rows: list[list[Any]] | Sheets) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, cells in (rows if isinstance(rows, dict) else {"People": rows}).items():
        sheet = book.create_sheet(title)
        for row in cells:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def said(table: TableSource, *words: str) -> bool:
    return any(all(word in note for word in words) for note in table.notes)


def values(series: pd.Series) -> list[object]:
    return [None if pd.isna(value) else value for value in series]


def refused(data: bytes, *words: str, **options: Any) -> None:
    with pytest.raises(DataError) as caught:
        read_table(data, "t.bin", **options)
    for word in words:
        assert word in str(caught.value)


PARQUET_COLUMNS = [
    (pa.array([1, 2], pa.int8()), [1, 2], "int64", ""),
    (pa.array([1, None]), [1.0, None], "float64", ""),
    (pa.array([2**53 + 1, None]), [str(2**53 + 1), None], TEXT, "too long"),
    (pa.array([-(2**53) - 1, None]), [str(-(2**53) - 1), None], TEXT, "too long"),
    (pa.array([2**63 - 1, -(2**63)]), [2**63 - 1, -(2**63)], "int64", ""),
    (pa.array([2**63, 1], pa.uint64()), [str(2**63), "1"], TEXT, "too long"),
    (pa.array([0.5, 2], pa.float32()), [0.5, 2.0], "float64", ""),
    (pa.array([0.5, float("inf"), float("nan")]), [0.5, None, None], "float64", "Infinite"),
    (pa.array([Decimal("1.25"), None]), [1.25, None], "float64", "Decimal numbers"),
    (pa.array([True, None, False]), ["True", None, "False"], TEXT, ""),
    (pa.array(["a", None, "?", "NA", " b"]), ["a", None, "?", "NA", " b"], TEXT, ""),
    (pa.array(["1", "02"]), ["1", "02"], TEXT, "Numbers that the file declares as text"),
    (pa.array(["x", None, "x"]).dictionary_encode(), ["x", None, "x"], TEXT, ""),
    (pa.array([3, 3, None]).dictionary_encode(), [3.0, 3.0, None], "float64", ""),
    (pa.array([None, None]), [None, None], TEXT, "Without any value"),
    (pa.array([None, None], pa.int32()), [None, None], TEXT, "Without any value"),
    (pa.array([b"ab", None]), ["ab", None], TEXT, "UTF-8"),
    (pa.array([date(2024, 5, 31), None]), [pd.Timestamp("2024-05-31"), None], "datetime64[s]", ""),
    (pa.array([time(14, 30), None]), ["14:30:00.000000", None], TEXT, ""),
    (
        pa.array([datetime(2024, 5, 31, 12, tzinfo=timezone.utc), None], pa.timestamp("us", "Europe/Berlin")),  # noqa: UP017
        [pd.Timestamp("2024-05-31 12:00"), None],
        "datetime64[us]",
        "UTC",
    ),
]


@pytest.mark.parametrize(("array", "expected", "dtype", "note"), PARQUET_COLUMNS)
def test_parquet_types(array: pa.Array, expected: list[object], dtype: object, note: str) -> None:
    table = read_table(parquet({"x": array, "row": list(range(len(array)))}), "t.parquet")
    assert table.format == "parquet"
    assert values(table.frame["x"]) == expected
    assert table.frame["x"].dtype == dtype
    assert said(table, note, "'x'") if note else table.notes == ()


def test_parquet_with_several_row_groups() -> None:
    frame = pd.DataFrame({"a": range(5000), "b": [f"v{i % 7}" for i in range(5000)]})
    table = read_table(parquet(pa.Table.from_pandas(frame), row_group_size=700))
    pd.testing.assert_frame_equal(table.frame, frame.astype({"b": TEXT}))


def test_parquet_row_labels_of_pandas_are_left_out() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=[5, 9])
    table = read_table(parquet(pa.Table.from_pandas(frame)))
    assert table.frame.columns.tolist() == ["a"]
    assert said(table, "Row labels")


def test_parquet_that_is_no_table_of_single_values() -> None:
    refused(parquet({"x": [[1], [2, 3]]}), "'x' holds lists")
    refused(parquet({"x": [{"a": 1}]}), "'x' holds records")
    refused(parquet({"x": [b"\xff\xfe"]}), "'x' holds bytes")
    refused(parquet({"x": pa.array([], pa.int64())}), "no rows")
    refused(parquet(pa.table([[1], [2]], names=["a", " a"])), "more than one column named 'a'")
    refused(parquet(pa.table([[1], [2]], names=["a", "a"])), "more than one column named 'a'")
    refused(b"PAR1", "incomplete or damaged")
    refused(b"PAREabcdPARE", "encrypted")


def test_parquet_that_unpacks_to_too_much() -> None:
    data = parquet({"x": ["y" * 1_000_000 + str(i) for i in range(20)]}, compression="zstd", use_dictionary=False)
    assert len(data) < 500_000
    refused(data, "more than can be loaded", max_bytes=len(data))


def test_excel_types() -> None:
    cells = [
        ["age", "name", "joined", "active", "share", 2019, None, "code"],
        [39, "Ann", datetime(2024, 5, 31), True, 0.25, 1, None, "007"],
        [50, " Bob", datetime(2023, 1, 2, 14, 30), False, 1, 2, None, "012"],
        [None, "#N/A", None, None, None, 3, None, "x"],
    ]
    table = read_table(excel(cells), "t.xlsx")
    assert table.format == "excel"
    assert table.frame.columns.tolist() == ["age", "name", "joined", "active", "share", "2019", "code"]
    assert values(table.frame["age"]) == [39.0, 50.0, None]
    assert values(table.frame["name"]) == ["Ann", "Bob", None]
    assert values(table.frame["joined"]) == [pd.Timestamp("2024-05-31"), pd.Timestamp("2023-01-02 14:30"), None]
    assert values(table.frame["active"]) == ["True", "False", None]
    assert values(table.frame["share"]) == [0.25, 1.0, None]
    assert values(table.frame["2019"]) == [1, 2, 3]
    assert values(table.frame["code"]) == ["007", "012", "x"]


def test_excel_sheets() -> None:
    data = excel({"First": [["a"], [1]], "Second": [["b"], [2]], "Empty": [], "Header": [["c"]]})
    table = read_table(data)
    assert table.frame.to_dict("list") == {"a": [1]}
    assert said(table, "Sheet 'First' was read", "'First', 'Second', 'Empty' and 'Header'", "Name another sheet")
    assert table_sheets(data) == ("First", "Second", "Empty", "Header")
    for sheet in ("Second", 1):
        other = read_table(data, sheet=sheet)
        assert other.frame.to_dict("list") == {"b": [2]}
        assert not said(other, "Name another sheet")
    refused(data, "no sheet 'Third'", "'Second'", sheet="Third")
    refused(data, "no sheet '7'", sheet=7)
    refused(data, "no sheet '-1'", sheet=-1)
    refused(data, "'Empty'", "is empty", sheet="Empty")
    refused(data, "'Header'", "no rows", sheet="Header")


def test_files_without_sheets_and_damaged_workbooks() -> None:
    assert table_sheets(b"a,b\n1,2\n", "people.csv") == ()
    assert table_sheets(parquet({"a": [1]})) == ()
    for content, message in (
        (excel([["a"], [1]])[:900], "incomplete or damaged"),
        (b"PK\x03\x04 this is no workbook", "incomplete or damaged"),
    ):
        with pytest.raises(DataError, match=f"'people.xlsx' is {message}"):
            table_sheets(content, "people.xlsx")
    with pytest.raises(DataError, match=r"larger than 0\.0 MB"):
        table_sheets(excel([["a"], [1]]), max_bytes=100)


def test_excel_rows_before_and_after_the_table() -> None:
    table = read_table(excel([[], [None, None], ["a", "b"], [1, None], [None, None], [2, "x"], [None], ["", ""]]))
    assert [values(table.frame[name]) for name in "ab"] == [[1.0, None, 2.0], [None, None, "x"]]
    assert said(table, "1 row holds no value")


def test_excel_value_beside_the_header() -> None:
    table = read_table(excel([["a", "a b"], [1, 2, 3]]))
    assert table.frame.columns.tolist() == ["a", "a b", "column 3"]
    assert said(table, "without a name", "'column 3'")
    refused(excel([["a", "a "], [1, 2]]), "more than one column named 'a'")


def test_excel_numbers_as_text_and_formula_errors() -> None:
    book = openpyxl.Workbook()
    for row in (["x", "y"], ["1", "#DIV/0!"], [" 2 ", 5]):
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    frame = read_table(file.getvalue()).frame
    assert values(frame["x"]) == [1, 2]
    assert values(frame["y"]) == [None, 5.0]


def test_excel_characters_that_xml_cannot_hold() -> None:
    frame = read_table(excel([["x"], ["a_x000D_b"], ["_x005F_x000D_"], ["_xD800_"]])).frame
    assert frame["x"].tolist() == ["a\rb", "_x000D_", "_xD800_"]


def archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return file.getvalue()


def test_archives_that_are_no_workbook() -> None:
    refused(archive(**{"a.csv": b"a,b\n1,2\n"}), "zip archive without an Excel workbook")
    refused(archive(**{"xl/workbook.bin": b""}), ".xlsb")
    refused(archive(**{"xl/workbook.xml": b"<a"}), "incomplete or damaged")
    refused(archive(), "empty zip")


def test_excel_bomb() -> None:
    bomb = archive(**{"xl/workbook.xml": b" " * 50_000_000})
    assert len(bomb) < 100_000
    refused(bomb, "would unpack to more than", max_bytes=len(bomb))


WHOLE: dict[str, Callable[[], bytes]] = {
    "parquet": lambda: parquet(
        {
            "a": list(range(50)),
            "b": [f"text {i}" for i in range(50)],
            "c": pa.array(range(50), pa.timestamp("ms", "UTC")),
        },
        compression="none",
    ),
    "excel": lambda: excel([["a", "b"], *([i, f"text {i}"] for i in range(50))]),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_every_truncation_says_incomplete(kind: str) -> None:
    data = WHOLE[kind]()
    step = max(1, len(data) // 150)
    for length in [*range(8, len(data), step), len(data) - 1]:
        refused(data[:length], "incomplete or damaged")


@pytest.mark.slow
@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=30)
@given(changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=8))
def test_changed_bytes_raise_nothing_else(kind: str, changes: list[tuple[float, int]]) -> None:
    data = bytearray(WHOLE[kind]())
    for place, byte in changes:
        data[int(place * len(data))] = byte
    with suppress(DataError):
        read_table(bytes(data))


@settings(max_examples=20)
@given(start=st.sampled_from([b"PAR1", b"PK\x03\x04", b"\x1f\x8b\x08"]), rest=st.binary(max_size=200))
def test_random_bytes_behind_a_known_start(start: bytes, rest: bytes) -> None:
    with pytest.raises(DataError):
        read_table(start + rest + (b"PAR1" if start == b"PAR1" else b""))


def test_parquet_of_texts_written_by_their_beginnings() -> None:
    texts = [f"street {number:06}" for number in range(3_000)]
    content = io.BytesIO()
    options = {"use_dictionary": False, "column_encoding": {"a.b": "DELTA_BYTE_ARRAY"}}
    pq.write_table(pa.table({"a.b": texts, "n": range(3_000)}), content, row_group_size=1_000, **options)
    frame = read_table(content.getvalue()).frame
    assert list(frame["a.b"]) == texts
    assert list(frame["n"]) == list(range(3_000))
