"""Files that are taken in and files that are given out; every protection is also seen to be needed."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tempfile
import tracemalloc
import zipfile

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anoncore import AnonymizationError, DataError, Microdata, Recipe, RecipeError
from anoncore.cli import main
from anoncore.publishing import Certificate, certify, export, verify
from anoncore.publishing.certification.strict_reading import read_strictly
from anoncore.publishing.export import safe_cells, write_tables
from anoncore.sources import excel, parquet, read_table
from anoncore.sources.reader import TableSource
from anoncore.table.hierarchy_files import read_hierarchy
from dashboard.serving import access
from dashboard.table import table_source
from dashboard.tasks import reading
from tests.contracts.source import ROOT

MB = 1 << 20
KEY = "k" * 64


def peak(work) -> tuple[object, int]:
    """What the work gave or raised, and the most memory that Python held meanwhile."""
    tracemalloc.start()
    try:
        result: object = work()
    except AnonymizationError as error:
        result = error
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return result, most


def archive(members: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, member in members.items():
            file.writestr(name, member)
    return content.getvalue()


def workbook(sheet: str, strings: str = "") -> bytes:
    """A workbook of hand-written XML: the rows of its sheet and its shared texts."""
    content = io.BytesIO()
    openpyxl.Workbook().save(content)
    with zipfile.ZipFile(content) as file:
        members = {name: file.read(name) for name in file.namelist()}
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    members["xl/worksheets/sheet1.xml"] = f"<worksheet {space}><sheetData>{sheet}</sheetData></worksheet>".encode()
    if strings:
        members["xl/sharedStrings.xml"] = strings.replace("<sst", f"<sst {space}", 1).encode()
        types = members["[Content_Types].xml"].decode()
        if "sharedStrings" not in types:
            part = (
                '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-'
                'officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
            )
            members["[Content_Types].xml"] = types.replace("</Types>", part).encode()
    return archive(members)


def shared_text(letters: int, cells: int) -> bytes:
    """A workbook that holds one long text once and shows it in every cell."""
    rows = "".join(f'<row><c t="s"><v>{min(row, 1)}</v></c></row>' for row in range(cells + 1))
    return workbook(rows, f"<sst><si><t>note</t></si><si><t>{'x' * letters}</t></si></sst>")


class TestWhatIsTakenIn:
    """A small file cannot take much memory, whatever it unpacks to."""

    def test_a_page_takes_no_more_bytes_than_it_says(self, monkeypatch):
        asked = []
        monkeypatch.setattr(reading, "read_table_apart", lambda *_, **options: asked.append(options) or _stop())
        with pytest.raises(DataError, match="stop"):
            table_source.load_upload(b"a\n1\n", "a.csv")
        assert [one["max_bytes"] for one in asked] == [access.most_upload_bytes()]
        config = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
        assert f"maxUploadSize = {access.most_upload_bytes() // MB}\n" in config

    def test_an_open_file_is_read_to_the_limit_only(self):
        class Endless(io.RawIOBase):
            taken = 0

            def read(self, size=-1):
                assert size >= 0, "all of it"
                Endless.taken += size
                return b"x" * size

        with pytest.raises(DataError, match="is larger than"):
            read_table(Endless(), "endless.csv", max_bytes=MB)
        assert Endless.taken <= MB + 1

    def test_a_gzip_bomb_is_unpacked_to_the_limit_only(self):
        bomb = gzip.compress(b"a\n" + b"1\n" * (25 * MB))
        said, taken = peak(lambda: read_table(bomb, "bomb.csv.gz", max_bytes=len(bomb)))
        assert "would unpack to more than" in str(said)
        assert taken < 3 * 20 * len(bomb) + MB

    def test_a_zip_bomb_is_not_unpacked(self):
        bomb = archive({"xl/workbook.xml": b" " * (100 * MB)})
        said, taken = peak(lambda: read_table(bomb, "bomb.xlsx", max_bytes=MB))
        assert "would unpack to more than" in str(said)
        assert taken < 10 * MB

    def test_a_zip_bomb_that_tells_a_small_size_is_cut_off(self):
        bomb = bytearray(archive({"[Content_Types].xml": b"<a/>", "xl/workbook.xml": b" " * (100 * MB)}))
        for sign, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
            start = bomb.rindex(sign)
            struct.pack_into("<I", bomb, start + place, 10)
        said, taken = peak(lambda: read_table(bytes(bomb), "bomb.xlsx", max_bytes=MB))
        assert isinstance(said, DataError)
        assert taken < 20 * MB

    def test_entities_in_a_workbook_do_not_multiply(self):
        entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
        strings = f'<!DOCTYPE sst [<!ENTITY e0 "{"x" * 99}">{entities}]><sst><si><t>&e11;</t></si></sst>'
        said, taken = peak(lambda: read_table(workbook("", strings), "lol.xlsx", max_bytes=MB))
        assert isinstance(said, DataError)
        assert taken < 30 * MB

    def test_a_text_that_a_workbook_shares_counts_in_every_cell(self):
        bomb = shared_text(letters=50_000, cells=3_000)
        assert len(bomb) < 100_000
        said, taken = peak(lambda: read_table(bomb, "shared.xlsx", max_bytes=2 * MB))
        assert "MB of text" in str(said)
        assert taken < 30 * MB

    @pytest.mark.slow
    @pytest.mark.parametrize("encoding", ["dictionary", "delta"])
    def test_a_parquet_file_that_repeats_a_text_counts_it_in_every_row(self, encoding):
        bomb = repeated(encoding, letters=100_000, rows=5_000)
        assert len(bomb) < MB
        pool = pa.default_memory_pool()
        most, before = pool.max_memory(), pool.bytes_allocated()
        with pytest.raises(DataError, match="unpacks to more than"):
            read_table(bomb, "bomb.parquet", max_bytes=MB)
        with pytest.raises(DataError, match="unpacks to more than"):
            parquet.read_within(bomb, "bomb.parquet", 100 * MB)
        assert pool.max_memory() <= max(most, before + 400 * MB)

    def test_a_parquet_file_of_wide_fixed_bytes_counts_every_row(self):
        content = io.BytesIO()
        column = pa.array([b"x" * 10_000], pa.binary(10_000)).take(pa.array([0] * 20_000))
        pq.write_table(pa.table({"a": column}), content)
        assert len(content.getvalue()) < MB
        with pytest.raises(DataError, match="more than can be loaded here"):
            read_table(content.getvalue(), "fixed.parquet", max_bytes=5 * MB)

    def test_an_archive_inside_an_archive_is_not_opened(self):
        inner = archive({"a.csv": b"a\n1\n"})
        with pytest.raises(DataError, match="an archive inside an archive"):
            read_strictly("release.zip", archive({"inner.zip": inner}))

    def test_without_their_limits_the_bombs_would_go_off(self, monkeypatch):
        monkeypatch.setattr(parquet, "_text_bytes", lambda _column: 0)
        bomb = repeated("dictionary", letters=10_000, rows=2_000)
        assert len(read_table(bomb, "b.parquet", max_bytes=len(bomb)).frame) == 2_000
        monkeypatch.setattr(excel, "_check_archive", lambda *_: None)
        padded = shared_text(letters=200_000, cells=2)
        assert len(read_table(padded, "b.xlsx", max_bytes=MB).frame) == 2


def _stop():
    raise DataError("stop.")


def repeated(encoding: str, letters: int, rows: int) -> bytes:
    """A Parquet file that holds a long text about once and shows it in every row."""
    text = "x" * letters
    content = io.BytesIO()
    if encoding == "dictionary":
        column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
        pq.write_table(pa.table({"a": column}), content, use_dictionary=True)
        return content.getvalue()
    schema = pa.schema([("a", pa.string())])
    options = {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}
    with pq.ParquetWriter(content, schema, **options) as writer:
        for _ in range(0, rows, 500):
            writer.write_table(pa.table({"a": [text] * 500}, schema))
    return content.getvalue()


class TestNamesAndTexts:
    """Names are words for messages, never places; recipes, hierarchies and certificates are data, never code."""

    @pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "C:\\windows\\x.csv", "..", "a/../b.csv"])
    def test_a_name_that_was_uploaded_never_becomes_a_path(self, tmp_path, monkeypatch, name):
        monkeypatch.chdir(tmp_path)
        source = read_table(b"a,b\n1,2\n", name)
        assert isinstance(source, TableSource)
        assert not set("/\\") & set(source.name)
        read_hierarchy(b"x;*\n", name)
        assert list(tmp_path.iterdir()) == []

    def test_an_archive_of_tables_has_no_member_outside(self):
        content = io.BytesIO()
        frame = pd.DataFrame({"a": [1]})
        write_tables({"../../x": frame, "/etc/y": frame, "..\\z": frame}, content, "csv")
        names = zipfile.ZipFile(content).namelist()
        assert len(names) == 3
        assert not any(mark in name for name in names for mark in "/\\")
        assert not {".", ".."} & set(names)

    @pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd", "a\\b.csv", ".."])
    def test_a_certificate_cannot_have_other_files_read(self, tmp_path, capsys, name):
        content = json.loads(certificate_of(people())[0])
        content["files"][0]["name"] = name
        path = tmp_path / "inside" / "c.json"
        path.parent.mkdir()
        (tmp_path / "secret.csv").write_text("secret\n1\n", encoding="utf-8")
        path.write_text(json.dumps(content), encoding="utf-8")
        assert main(["verify", str(path)]) == 2
        assert "no name of a file beside the certificate" in capsys.readouterr().err

    @pytest.mark.parametrize(
        "text",
        [
            "__import__('os').system('touch hit')",
            "!!python/object/apply:os.system ['touch hit']",
            "{{7*7}}",
            "$(touch hit)",
            "`touch hit`",
            "c_os system (S'touch hit' tR.",
        ],
    )
    def test_texts_that_are_code_elsewhere_are_only_texts(self, tmp_path, monkeypatch, text):
        monkeypatch.chdir(tmp_path)
        assert read_hierarchy(f'"{text}";*\n'.encode()).leaves == (text,)
        for recipe in (
            {"source": {"path": text}, "algorithm": {"name": "mondrian"}},
            {"source": {"builtin": text}, "algorithm": {"name": "mondrian"}},
            {"source": {"builtin": "census"}, "algorithm": {"name": text}},
            {"source": {"builtin": "census"}, "algorithm": {"name": "mondrian"}, "measures": [text]},
        ):
            with pytest.raises((RecipeError, DataError)):
                Recipe.from_dict(recipe).run()
        assert list(tmp_path.iterdir()) == []

    def test_temporary_files_are_removed_also_after_a_failure(self, tmp_path, monkeypatch):
        used, table = tmp_path / "temporary", tmp_path / "table"
        used.mkdir()
        table.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(used))
        (table / "a.csv").write_text("age,illness\n1,flu\n2,cold\n", encoding="utf-8")
        recipe = {"source": {"path": str(table)}, "algorithm": {"name": "mondrian"}}
        assert Recipe.from_dict(recipe).microdata().n_rows == 2
        (table / "b.csv").write_text("other\n1\n", encoding="utf-8")
        with pytest.raises(AnonymizationError):
            Recipe.from_dict(recipe).microdata()
        assert list(used.iterdir()) == []

    def test_a_file_that_cannot_be_replaced_leaves_no_part_of_it(self, tmp_path):
        (tmp_path / "taken").mkdir()
        with pytest.raises(DataError, match="cannot be written"):
            write_tables({"a": pd.DataFrame({"a": [1]})}, tmp_path / "taken", "csv")
        assert [path.name for path in tmp_path.iterdir()] == ["taken"]


ODD = ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\tx", "\rx", "\nx", "'\tx", "''\tx", "'=1", "＝1", " =1", "'x", "\u200b=1"]


def exported(format: str) -> list[str]:
    """The cells and column names of a table of odd texts as a spreadsheet would take them."""
    content = io.BytesIO()
    write_tables({"t": pd.DataFrame({"=name": ODD})}, content, format)  # type: ignore[arg-type]
    if format == "csv":
        frame = pd.read_csv(io.BytesIO(content.getvalue()), header=None, dtype=str, keep_default_na=False)
        return list(frame[0])
    sheet = openpyxl.load_workbook(io.BytesIO(content.getvalue())).active
    return [f"={cell.value}" if cell.data_type == "f" else str(cell.value) for row in sheet for cell in row]


@pytest.mark.parametrize("format", ["csv", "excel"])
def test_no_exported_cell_begins_like_a_formula_and_all_stay_apart(format, monkeypatch):
    def runs() -> list[str]:
        return [cell for cell in exported(format) if cell[:1] in "=+-@\t\r\n＝"]

    assert runs() == []
    assert len(set(exported(format))) == len(ODD) + 1
    assert len(set(safe_cells(pd.DataFrame({"a": pd.Categorical(ODD)}))["a"])) == len(ODD)
    monkeypatch.setattr(export, "safe_cells", lambda frame: frame)
    assert runs() != []


def people(texts: tuple[str, ...] = ("flu", "cold")) -> Microdata:
    frame = pd.DataFrame({"age": [30, 31, 40, 41] * 3, "illness": [*texts, *texts] * 3})
    return Microdata(frame, {"age": "quasi-identifier", "illness": "sensitive"})


def certificate_of(data: Microdata, format: str = "csv") -> tuple[str, bytes]:
    from anoncore.algorithms import Mondrian
    from anoncore.requirements import DistinctDiversity, KAnonymity

    release = Mondrian(requirements=(KAnonymity(k=2), DistinctDiversity(l=2))).anonymize(data)
    content, tables = io.BytesIO(), release.tables()
    write_tables(tables, content, format)  # type: ignore[arg-type]
    return certify(release, KEY, {"r": content.getvalue()}, tables=tables).dumps(), content.getvalue()


@pytest.mark.parametrize("format", ["csv", "parquet", "excel"])
@pytest.mark.parametrize("texts", [("=1+1", "+2"), ("\tx", "@y"), ("'\tx", "'=1")])
def test_guarded_cells_verify(format, texts):
    text, content = certificate_of(people(texts), format)
    found = verify(Certificate.loads(text), {"r": content})
    assert [one.sentence for one in found.findings if one.outcome == "fails"] == []


def test_texts_that_only_differ_by_a_guard_are_not_counted_as_two():
    with pytest.raises(AnonymizationError, match="what its readers count otherwise: distinct l-diversity"):
        certificate_of(people(("\tx", "'\tx")))
