"""Reading text tables: separators, encodings, rows and names."""

from __future__ import annotations

import gzip
import hashlib
import io
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.errors import DataError
from anoncore.base.pandas_versions import TEXT
from anoncore.sources import TableSource, read_table
from tests.shared_data import require

TINY = b"age,sex\n39,M\n50,F\n"
PACKED = gzip.compress(TINY, mtime=0)


def read(text: str | bytes, name: str = "t.csv", **options: object) -> TableSource:
    return read_table(text.encode() if isinstance(text, str) else text, name, **options)  # type: ignore[arg-type]


def said(table: TableSource, *words: str) -> bool:
    return any(all(word in note for word in words) for note in table.notes)


def test_plain_table() -> None:
    table = read(TINY)
    assert table.frame.to_dict("list") == {"age": [39, 50], "sex": ["M", "F"]}
    assert table.frame.dtypes.to_dict() == {"age": np.dtype("int64"), "sex": TEXT}
    assert (table.name, table.format, table.notes) == ("t.csv", "csv", ())
    assert table.digest == hashlib.sha256(TINY).hexdigest()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends(separator: str, line_end: str) -> None:
    rows = [["name", "age", "town"], ["Ann", "39", "a b"], ["Bob", "50", '"x;y,z"'], ["Cy", "7", '"say ""hi"""']]
    table = read(line_end.join(separator.join(row) for row in rows))
    assert table.frame.to_dict("list") == {
        "name": ["Ann", "Bob", "Cy"],
        "age": [39, 50, 7],
        "town": ["a b", "x;y,z", 'say "hi"'],
    }
    assert table.format == ("tsv" if separator == "\t" else "csv")


def test_separator_is_not_fooled_by_marks_in_values() -> None:
    table = read("id;note\n1;a, b, c\n2;d, e\n3;f\n")
    assert table.frame["note"].tolist() == ["a, b, c", "d, e", "f"]
    table = read("id,codes\n1,a|b\n2,c|d;e\n")
    assert table.frame["codes"].tolist() == ["a|b", "c|d;e"]


def test_separator_line_of_excel() -> None:
    table = read("sep=;\r\na;b,c\r\n1;2\r\n")
    assert table.frame.to_dict("list") == {"a": [1], "b,c": [2]}


def test_values_keep_commas_quotes_line_breaks_and_unicode() -> None:
    table = read('"a ""name""\n of two lines",b\n"x,\n""y""",ä–日本😀\n')
    assert table.frame.columns.tolist() == ['a "name"\n of two lines', "b"]
    assert table.frame.iloc[0].tolist() == ['x,\n"y"', "ä–日本😀"]


def test_row_longer_than_a_block_of_the_parser() -> None:
    long = "x" * 3_000_000
    frame = read(f"a,b\n{long},1\ny,2\n").frame
    assert frame["a"].str.len().tolist() == [3_000_000, 1]


def test_blank_lines_are_no_rows() -> None:
    assert read("\n  \n\na,b\n\n1,2\n   \n3,4\n\n\n").frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("name", ["t.csv.gz", "t.gz", "t.csv"])
def test_gzip(name: str) -> None:
    table = read(PACKED, name)
    assert table.frame["age"].tolist() == [39, 50]
    assert table.format == "csv"
    assert table.digest == hashlib.sha256(PACKED).hexdigest()


def test_path_stream_and_bytes_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "people.txt"
    path.write_bytes(TINY)
    with path.open("rb") as stream:
        tables = [read_table(path), read_table(str(path)), read_table(stream), read_table(io.BytesIO(TINY))]
    assert [table.name for table in tables] == ["people.txt", "people.txt", "people.txt", "table"]
    for table in tables:
        pd.testing.assert_frame_equal(table.frame, read(TINY).frame)
        assert table.digest == hashlib.sha256(TINY).hexdigest()


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-8", ()),
        ("utf-8-sig", ()),
        ("utf-16", ()),
        ("utf-32", ()),
        ("cp1252", ("Windows-1252", "not valid UTF-8")),
    ],
)
def test_encodings(encoding: str, words: tuple[str, ...]) -> None:
    table = read("naïve,price\ncafé,5 €\n".encode(encoding))
    assert table.frame.to_dict("list") == {"naïve": ["café"], "price": ["5 €"]}
    assert said(table, *words) if words else table.notes == ()


@pytest.mark.parametrize(
    ("encoding", "title", "rows"),
    [
        ("cp1251", "Windows-1251 (Cyrillic)", ["имя,город", "Анна,Москва", "Иван,Тула"]),
        ("koi8-r", "KOI8-R (Cyrillic)", ["имя,город", "Анна,Москва", "Иван,Новосибирск", "Мария,Тула"]),
        ("cp1253", "Windows-1253 (Greek)", ["όνομα,πόλη", "Γιώργος,Αθήνα", "Μαρία,Θεσσαλονίκη"]),
        ("shift_jis", "Shift JIS (Japanese)", ["名前,町", "田中,東京都", "鈴木,大阪府"]),
        ("gb18030", "GB 18030 (Chinese)", ["姓名,城市", "张伟,北京市", "王芳,上海市"]),
        ("big5", "Big5 (Chinese)", ["姓名,城市", "張偉,臺北市", "王芳,高雄市"]),
        ("euc_kr", "EUC-KR (Korean)", ["이름,도시", "김철수,서울", "이영희,부산"]),
        ("cp1252", "Windows-1252 (Western European)", ["prénom,ville", "Hélène,Besançon", "Zoë,Nîmes"]),
        ("cp1252", "Windows-1252 (Western European)", ["navn,by", "Åse,Ålesund", "Bjørn,Tromsø", "Søren,Århus"]),
    ],
)
def test_letters_tell_the_encoding(encoding: str, title: str, rows: list[str]) -> None:
    table = read("\n".join(rows).encode(encoding))
    first, second = rows[0].split(",")
    assert [",".join(row) for row in table.frame[[first, second]].to_numpy()] == rows[1:]
    assert said(table, f"Read as {title} because the file is not valid UTF-8")


def test_a_few_damaged_letters_are_no_other_script() -> None:
    table = read(b"a,b\n1,x\xff\xff\n2,y\n")
    assert table.frame["b"].tolist() == ["xÿÿ", "y"]
    assert said(table, "Windows-1252")


def test_encoding_given() -> None:
    data = "имя,возраст\nАнна,39\n".encode("cp1251")
    assert read(data, encoding="cp1251").frame.to_dict("list") == {"имя": ["Анна"], "возраст": [39]}
    with pytest.raises(DataError, match="not valid utf-8"):
        read(data, encoding="utf-8")
    with pytest.raises(DataError, match="no text encoding called 'klingon'"):
        read(data, encoding="klingon")


def test_utf8_cut_inside_a_character_is_incomplete() -> None:
    with pytest.raises(DataError, match="incomplete"):
        read("a,b\né,1\nü".encode()[:-1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'t.csv' is empty"),
        ("\n \n\r\n", "'t.csv' is empty"),
        ("a,b", "column names but no rows"),
        ("a,b\n\n", "column names but no rows"),
        ("a,b,a,c,b\n1,2,3,4,5\n", "more than one column named 'a' and 'b'"),
        ("a, a \n1,2\n", "more than one column named 'a'"),
        ("a,b,c\n1,2,3\n1,2\n", "Line 3 of 't.csv' has 2 values, but the header has 3 columns"),
        ("a,b\n1,2\n\n1,2,3\n", "Line 4 of 't.csv' has 3 values"),
        ('a,b\n"x\ny",2\n1\n', "Line 4 of 't.csv' has 1 value,"),
        ("a\n1\n2,3\n", "Line 3 of 't.csv' has 2 values, but the header has 1 column "),
        ("sep=,\na,b\n1\n", "Line 3 of 't.csv' has 1 value"),
        ('a,b\n1,"x\n2,y\n', "quote that opens on line 2 of 't.csv' is never closed"),
        ('a,b\n1,2\n"3,x\n4,y', "quote that opens on line 3 of 't.csv' is never closed"),
        ("<!DOCTYPE html><html>\n", "web page"),
        ('[{"a": 1}, {"a": 2}]', "JSON"),
    ],
)
def test_what_is_no_table(text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "neither text nor"),
        (bytes(range(256)) * 4, "neither text nor"),
        ("a,b\n1,2\n".encode("utf-16-le"), "neither text nor"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".xls"),
        (b"BZh91AY", "bzip2"),
        (b"ARROW1\0\0", "Feather"),
        (PACKED[:-9], "'t.csv' is incomplete or damaged"),
        (gzip.compress(PACKED, mtime=0), "twice"),
        (gzip.compress(b"", mtime=0), "'t.csv' is empty"),
    ],
)
def test_bytes_that_are_no_text(data: bytes, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(data)
    assert message in str(caught.value)


def test_size_limits() -> None:
    with pytest.raises(DataError, match="larger than"):
        read(TINY, max_bytes=len(TINY) - 1)
    with pytest.raises(DataError, match="larger than"):
        read_table(io.BytesIO(TINY), max_bytes=len(TINY) - 1)
    assert len(read(TINY, max_bytes=len(TINY)).frame) == 2
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000)
    with pytest.raises(DataError, match="would unpack to more than"):
        read(bomb, max_bytes=len(bomb))


def test_messages_never_show_a_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret-folder"
    secret.mkdir()
    (secret / "bad.csv").write_bytes(b"a,a\n1,2\n")
    for path in (secret / "bad.csv", secret / "none.csv", secret, str(secret / "a\0b")):
        with pytest.raises(DataError) as caught:
            read_table(path)
        assert str(tmp_path) not in str(caught.value)
    with pytest.raises(DataError, match=r"^'c\.csv'"):
        read(b"", name="/srv/private\\uploads/c.csv")
    (secret / "good.csv").write_bytes(TINY)
    assert read_table(secret / "good.csv").name == "good.csv"


def test_unnamed_columns_get_names_and_empty_ones_go() -> None:
    table = read(",age,column 1,\n1,39,x,\n2,50,y,\n")
    assert table.frame.columns.tolist() == ["column 1 (unnamed)", "age", "column 1"]
    assert said(table, "without a name", "'column 1 (unnamed)'")
    assert said(table, "1 column with neither a name nor a value")


def test_names_are_stripped() -> None:
    assert read(" a ,\tb\n1,2\n").frame.columns.tolist() == ["a", "b"]


def test_missing_header_is_noticed() -> None:
    assert said(read("39,State-gov,77516\n50,Private,83311\n"), "'39' and '77516' look like values")
    assert not said(read("name,2019\nx,2\n"), "look like values")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b c\n1 2 3\n4 5 6\n", ("Only one column", "spaces")),
        ("a:b\n1:2\n3:4\n", ("Only one column", "colons")),
        ("age\n1\n2\n", ("Only one column",)),
    ],
)
def test_single_column_is_noticed(text: str, words: tuple[str, ...]) -> None:
    table = read(text)
    assert table.frame.shape == (2, 1)
    assert said(table, *words)


def test_ending_that_lies_is_noticed() -> None:
    assert said(read(TINY, "t.xlsx"), "ends like an Excel workbook", "text (CSV)")
    assert read("a\tb\n1\t2\n", "t.csv").notes == ()


def test_300_columns_and_one_row() -> None:
    names = [f"c{i}" for i in range(300)]
    table = read(",".join(names) + "\n" + ",".join(map(str, range(300))))
    assert table.frame.columns.tolist() == names
    assert table.frame.iloc[0].tolist() == list(range(300))


def test_rows_without_any_value_are_counted() -> None:
    table = read("a,b\n1,2\n,\n,\n3,\n")
    assert len(table.frame) == 4
    assert said(table, "2 rows hold no value")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult.csv", "heart.csv", "heart_cleveland.csv", "census.csv.gz", "musk.csv.gz"])
def test_real_tables_like_pandas(name: str) -> None:
    path = require(name)
    table = read_table(path)
    pd.testing.assert_frame_equal(table.frame, pd.read_csv(path, na_values=["?"], low_memory=False))


@pytest.mark.slow
def test_many_rows_like_pandas() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({f"c{i}": rng.integers(-(10**i), 10**i, 150_000) for i in range(1, 10)})
    frame["text"] = rng.choice(["a", "b,c", 'd"e', "f\ng"], len(frame))
    pd.testing.assert_frame_equal(read(frame.to_csv(index=False)).frame, frame)


@settings(max_examples=30)
@given(st.binary(max_size=300))
def test_random_bytes_raise_nothing_else(data: bytes) -> None:
    with suppress(DataError):
        read(data)


@settings(max_examples=30)
@given(st.text(alphabet='a1,;"\n\r\t |=é.-0?', max_size=60))
def test_random_text_raises_nothing_else(text: str) -> None:
    try:
        table = read(text)
    except DataError:
        pass
    else:
        assert table.frame.columns.is_unique
        assert len(table.frame) > 0
