"""Written tables read back the same, run no formula and are never half-written."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import zipfile
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.errors import DataError, ParameterError
from anoncore.base.pandas_versions import TEXT
from anoncore.base.whole_files import replace_files
from anoncore.publishing.export import parquet_bytes, safe_cells, write_tables
from anoncore.sources import read_table

PEOPLE = pd.DataFrame({"age": [39, 50, 28], "job": ["clerk", None, "a, b"], "pay": [1.5, np.nan, -2.0]})
DANGEROUS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    '"=1',
    "'=1",
    ' "\u00a0-2+3',
    "\ufeff=1",
    "＝1",
]
HARMLESS = ["a=1", "1-2", "a@b", "", " ", "20-29", "{a, -b}", "'", '"a"', "é"]


def written(tables: dict[str, pd.DataFrame] | pd.DataFrame, form: str) -> bytes:
    target = io.BytesIO()
    write_tables(tables if isinstance(tables, dict) else {"release": tables}, target, form)  # type: ignore[arg-type]
    return target.getvalue()


def cells(data: bytes) -> list[list[Any]]:
    sheet = openpyxl.load_workbook(io.BytesIO(data)).worksheets[0]
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


@pytest.mark.parametrize("form", ["csv", "parquet", "excel"])
def test_one_table_reads_back(form: str, tmp_path: Path) -> None:
    path = tmp_path / "release"
    write_tables({"release": PEOPLE}, path, form)  # type: ignore[arg-type]
    expected = PEOPLE.copy()
    if form != "parquet":
        expected["pay"] = expected["pay"].astype(float)
    pd.testing.assert_frame_equal(read_table(path).frame, expected.astype({"job": TEXT}))
    assert written(PEOPLE, form) == path.read_bytes() or form == "excel"
    assert [file.name for file in tmp_path.iterdir()] == ["release"]


def test_row_labels_and_attrs_are_not_published() -> None:
    frame = PEOPLE.set_axis([70001, 70002, 70003])
    frame.attrs["seed"] = "kept secret"
    for form in ("csv", "parquet", "excel"):
        data = written(frame, form)
        assert b"kept secret" not in data
        assert read_table(data).frame.columns.tolist() == ["age", "job", "pay"]
    assert pq.read_schema(io.BytesIO(written(frame, "parquet"))).metadata is None


def test_categories_that_do_not_occur_are_not_published() -> None:
    column = pd.Categorical(["low", "high", None], categories=["low", "high", "withheld-diagnosis"])
    for form in ("csv", "parquet", "excel"):
        data = written(pd.DataFrame({"x": column}), form)
        assert b"withheld" not in data
        assert read_table(data).frame["x"].tolist()[:2] == ["low", "high"]


def test_entries_of_an_arrow_dictionary_that_do_not_occur_are_not_published() -> None:
    coded = pa.DictionaryArray.from_arrays([0, 0, None], ["plain", "secret"])
    frame = pd.DataFrame({"job": pd.Series(coded, dtype=pd.ArrowDtype(coded.type))})
    content = written(frame, "parquet")
    assert b"plain" in content
    assert b"secret" not in content


@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        (pa.timestamp("s"), pa.timestamp("ms")),
        (pa.timestamp("s", "UTC"), pa.timestamp("ms", "UTC")),
        (pa.time32("s"), pa.time32("ms")),
        (pa.date64(), pa.date32()),
        (pa.dictionary(pa.int8(), pa.string()), pa.large_string()),
        (pa.timestamp("ns"), pa.timestamp("ns")),
        (pa.decimal128(5, 2), pa.decimal128(5, 2)),
    ],
    ids=str,
)
def test_a_parquet_file_names_no_type_but_the_one_it_holds(kind: pa.DataType, kept: pa.DataType) -> None:
    content = written(pd.DataFrame({"when": pd.Series([None, None], dtype=pd.ArrowDtype(kind))}), "parquet")
    table = pq.read_table(io.BytesIO(content))
    assert table.schema.field("when").type == kept
    assert parquet_bytes(table) == content


@pytest.mark.parametrize("kind", ["period[M]", "interval"])
def test_parquet_holds_no_type_that_only_pandas_has(kind: str) -> None:
    values: Any = pd.period_range("2020-01", periods=3, freq="M") if kind == "period[M]" else pd.interval_range(0, 3)
    with pytest.raises(DataError, match=r"Column 'when' of table 'release' .* write CSV"):
        written(pd.DataFrame({"when": values}), "parquet")


@pytest.mark.parametrize("dtype", ["timedelta64[us]", "object"])
def test_durations_are_written_alike_and_run_nothing(dtype: str) -> None:
    frame = pd.DataFrame({"wait": pd.Series([timedelta(days=1), timedelta(days=-1), None], dtype=dtype)})
    assert written(frame, "csv").decode().split("\r\n")[1:4] == ["1 days 00:00:00", "'-1 days +00:00:00", '""']
    assert cells(written(frame, "excel"))[1:3] == [["1 days 00:00:00"], ["'-1 days +00:00:00"]]


@pytest.mark.parametrize(("form", "ending"), [("csv", ".csv"), ("parquet", ".parquet")])
def test_several_tables_make_a_reproducible_zip(form: str, ending: str) -> None:
    names = ["quasi/identifiers", "../../etc/passwd", "a", "A", "", "con", "x" * 300, "é ü"]
    tables = {name: pd.DataFrame({"n": [number]}) for number, name in enumerate(names)}
    data = written(tables, form)
    assert data == written(tables, form)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        members = file.infolist()
        assert file.testzip() is None
        assert [read_table(file.read(member)).frame["n"].tolist() for member in members] == [[i] for i in range(8)]
    assert {member.date_time for member in members} == {(1980, 1, 1, 0, 0, 0)}
    assert len({member.filename.lower() for member in members}) == len(names)
    assert [member.filename for member in members][:6] == [
        f"{name}{ending}" for name in ("quasi_identifiers", "_.._etc_passwd", "a", "A_2", "table", "_con")
    ]
    assert all(re.fullmatch(r"[^/\\:]{1,110}", member.filename) for member in members)


def test_excel_sheet_names() -> None:
    names = ["a/b:c*d?[e]\\", "x" * 40, "x" * 35, "History", "'quoted'", "", "X" * 31, "\x01"]
    data = written(dict.fromkeys(names, PEOPLE), "excel")
    titles = openpyxl.load_workbook(io.BytesIO(data)).sheetnames
    assert titles == [
        "a_b_c_d__e__",
        "x" * 31,
        "x" * 27 + " (2)",
        "History_",
        "quoted",
        "Sheet",
        "X" * 27 + " (3)",
        "_",
    ]
    pd.testing.assert_frame_equal(read_table(data, sheet=6).frame, PEOPLE.astype({"job": TEXT}))


@pytest.mark.parametrize("text", DANGEROUS)
@pytest.mark.parametrize("dtype", [TEXT, "object", "category"])
def test_formulas_get_an_apostrophe(text: str, dtype: str) -> None:
    frame = pd.DataFrame({"x": pd.Series([text, "fine", None, text], dtype=dtype)})
    frame.index = pd.Index([0, 0, 1, 1])
    before = frame.copy(deep=True)
    safe = safe_cells(frame)
    assert safe["x"].tolist()[:2] == ["'" + text, "fine"]
    assert safe["x"].isna().tolist() == [False, False, True, False]
    assert safe["x"].dtype == frame["x"].dtype or dtype == "category"
    assert safe.index.tolist() == [0, 0, 1, 1]
    pd.testing.assert_frame_equal(frame, before)


def test_all_else_stays() -> None:
    frame = pd.DataFrame(
        {
            "text": HARMLESS,
            "int": range(-5, 5),
            "float": np.linspace(-1, 1, 10),
            "when": pd.date_range("2024-01-01", periods=10),
            "mixed": pd.Series([-1, -2.5, True, None, "x", date(2024, 1, 1), 7, 8, 9, 10], dtype=object),
        }
    )
    safe = safe_cells(frame)
    pd.testing.assert_frame_equal(safe, frame)
    assert safe is not frame


def test_column_names_are_guarded_and_stay_apart() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["=a", "'=a", 5])
    assert safe_cells(frame).columns.tolist() == ["'=a", "''=a", 5]
    assert written(frame, "csv").splitlines()[0] == b"'=a,''=a,5"
    assert cells(written(frame, "excel"))[0] == ["'=a", "''=a", "5"]


@settings(max_examples=30)
@given(st.lists(st.text(alphabet="=+-@\t\r\n '\"a1", max_size=4), max_size=12))
def test_guard_keeps_texts_apart_and_leaves_no_formula(texts: list[str]) -> None:
    safe = safe_cells(pd.DataFrame({"x": pd.Series(texts, dtype=TEXT)}))["x"].tolist()
    assert len(set(safe)) == len(set(texts))
    assert not any(re.match(r"[=+\-@\t\r\n]|[\s\"]+[=+\-@]", text) for text in safe)


def test_a_text_that_looks_like_an_error_is_kept_wherever_it_stands_again():
    frame = pd.DataFrame(
        {"code": ["#N/A", "#N/A", "#REF!", "#N/A"], "ill": ["flu", "cold", "flu", "gout"], "n": range(4)}
    )
    content = io.BytesIO()
    write_tables({"release": frame}, content, "excel")
    pd.testing.assert_frame_equal(pd.read_excel(content, keep_default_na=False), frame, check_dtype=False)


def test_excel_holds_texts_never_formulas_or_errors() -> None:
    texts = [*DANGEROUS, "#N/A", "#DIV/0!", "plain"]
    data = written(pd.DataFrame({"x": texts}), "excel")
    sheet = openpyxl.load_workbook(io.BytesIO(data)).worksheets[0]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "inlineStr"}
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert b"<f>" not in file.read("xl/worksheets/sheet1.xml")


def test_parquet_keeps_texts_as_they_are() -> None:
    assert read_table(written(pd.DataFrame({"=x": DANGEROUS}), "parquet")).frame["=x"].tolist() == DANGEROUS


def test_excel_values_it_cannot_hold_exactly_are_text() -> None:
    frame = pd.DataFrame(
        {
            "id": [2**53 + 1, 10**15 - 1],
            "inf": [np.inf, 1.0],
            "old": pd.to_datetime(["1850-01-01", "2024-05-31"]),
            "zone": [datetime(2024, 1, 1, tzinfo=timezone.utc)] * 2,  # noqa: UP017
            "obj": pd.Series([pd.Timedelta("1D"), np.bool_(True)], dtype=object),
            "set": pd.Series([pd.NaT, pd.Interval(0, 1)], dtype=object),
        }
    )
    assert cells(written(frame, "excel"))[1:] == [
        [str(2**53 + 1), "inf", "1850-01-01T00:00:00", "2024-01-01T00:00:00+00:00", "1 days 00:00:00", None],
        [10**15 - 1, 1, datetime(2024, 5, 31), "2024-01-01T00:00:00+00:00", True, "(0, 1]"],
    ]


def test_what_a_format_cannot_hold() -> None:
    with pytest.raises(DataError, match=r"1,048,575 rows below the header"):
        written(pd.DataFrame({"x": np.zeros(1_048_576, np.int8)}), "excel")
    with pytest.raises(DataError, match=r"16,384 columns"):
        written(pd.DataFrame(np.zeros((1, 16_385))), "excel")
    with pytest.raises(DataError, match=r"Column 'x' of table 'release' holds a text of 40,000 characters"):
        written(pd.DataFrame({"x": ["a" * 40_000]}), "excel")
    with pytest.raises(DataError, match=r"Column 'x' of table 'release' holds values of several types"):
        written(pd.DataFrame({"x": pd.Series([1, "a"], dtype=object)}), "parquet")
    for form in ("csv", "parquet", "excel"):
        with pytest.raises(DataError, match=r"Column 'x' .* surrogate"):
            written(pd.DataFrame({"x": pd.Series(["a\ud800"], dtype=object)}), form)
        with pytest.raises(DataError, match="same name"):
            written(pd.DataFrame([[1, 2]], columns=[1, "1"]), form)
        with pytest.raises(DataError, match="no table"):
            written({}, form)
    with pytest.raises(ParameterError, match="'ods'"):
        written(PEOPLE, "ods")


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "release.csv"
    write_tables({"a": PEOPLE}, path, "csv")
    before = path.read_bytes()
    with pytest.raises(DataError):
        write_tables({"a": pd.DataFrame({"x": ["a" * 40_000]})}, path, "excel")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anoncore.base.whole_files.os.replace", full)
    with pytest.raises(DataError, match=r"'release\.csv' cannot be written: no space left"):
        write_tables({"a": PEOPLE.head(1)}, path, "csv")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["release.csv"]


def test_missing_folder_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'r\.csv' cannot be written") as caught:
        write_tables({"a": PEOPLE}, tmp_path / "none" / "r.csv", "csv")
    assert str(tmp_path) not in str(caught.value)


CATEGORY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(lambda text: f"v{text}w")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet", "excel"])
@settings(max_examples=20)
@given(rows=st.lists(st.tuples(CATEGORY, st.integers(-(10**14), 10**14)), min_size=1, max_size=8), name=CATEGORY)
def test_any_category_survives(form: str, rows: list[tuple[str, int]], name: str) -> None:
    if form == "csv" and "\0" in name + "".join(text for text, _ in rows):
        return
    frame = pd.DataFrame({name: pd.Series([text for text, _ in rows], dtype=TEXT), "n": [number for _, number in rows]})
    pd.testing.assert_frame_equal(read_table(written(frame, form)).frame, frame)


def test_missing_in_a_single_column_keeps_its_row() -> None:
    frame = pd.DataFrame({"x": pd.Series(["a", None, "b"], dtype=TEXT)})
    for form in ("csv", "parquet", "excel"):
        pd.testing.assert_frame_equal(read_table(written(frame, form)).frame, frame)


def test_files_that_belong_together_are_written_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof, table, key = tmp_path / "proof.json", tmp_path / "table.csv", tmp_path / "new" / "deep" / "key"
    replace_files({key: b"secret", proof: b"old proof", table: b"old table"}, private=[key])
    assert [path.read_bytes() for path in (key, proof, table)] == [b"secret", b"old proof", b"old table"]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600 or sys.platform == "win32"
    before = sorted(tmp_path.rglob("*"))
    other = tmp_path / "other" / "deeper" / "report.html"
    really = os.replace
    for failing in (proof, table, other):

        def full(source: Any, target: Any, failing: Path = failing) -> None:
            if Path(target) == failing and ".old" not in str(source):
                raise OSError(28, "No space left on device")
            really(source, target)

        monkeypatch.setattr("anoncore.base.whole_files.os.replace", full)
        with pytest.raises(DataError, match=f"'{failing.name}' cannot be written: no space left"):
            replace_files({other: b"x", proof: b"new proof", table: b"new table"})
        assert [path.read_bytes() for path in (key, proof, table)] == [b"secret", b"old proof", b"old table"]
        assert sorted(tmp_path.rglob("*")) == before
    monkeypatch.undo()
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="'folder' cannot be written"):
        replace_files({proof: b"new proof", other: b"x", tmp_path / "folder": b"x"})
    assert proof.read_bytes() == b"old proof"
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "folder"])
