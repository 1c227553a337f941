"""Published files read strictly: their tables cell by cell, and whatever else they hold.

Text tables (CSV) and Parquet files are written again from their cells, and every byte has to come out the same.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.extras import require
from anoncore.base.memory import TEXT_FACTOR, require_memory
from anoncore.base.texts import quoted
from anoncore.kernels.arrays import Bytes
from anoncore.publishing.certification.published_rows import array_of, coded_file, opened
from anoncore.publishing.certification.written_cells import (
    WrittenTable,
    arrow_texts,
    both_columns,
    first_difference,
    text_columns,
)
from anoncore.publishing.export import ZIP_RIGHTS, ZIP_TIME, archive_bytes
from anoncore.release.reading.published_table import Column, cell_texts, text_bytes
from anoncore.sources.excel import BOOK, READING
from anoncore.sources.headers import require_few_columns
from anoncore.sources.parquet import GROUP_ROWS, coded_table, coded_writer, plain_table, read_within, value_type

PARQUET, ZIP = b"PAR1", b"PK\x03\x04"
UNPACKED_LIMIT = 4 << 30
ADVICE = "verify it on a machine with more memory"
JOINED_ROWS = 1 << 17
QUOTED = re.compile('[,"\r\n]')
WRITTEN_AT_ONCE = 1 << 16
SHOWN = 40
LINE_ENDS = ("\r\n", "\n")
MARK_OF_ORDER = b"\xef\xbb\xbf"
MAKER = re.compile(r"parquet-cpp-arrow version \d+\.\d+\.\d+")
SCHEMA = b"ARROW:schema"
Content = Iterator[WrittenTable | str]
"""The tables of a file, and what is wrong with it."""


def read_strictly(name: str, content: bytes) -> tuple[list[WrittenTable], list[str]]:
    """The tables of a published file, and a sentence for everything that it holds besides them or holds otherwise.

    Tables may be incomplete where something is wrong. Raises DataError for a file that cannot be read as one of those
    that are written.
    """
    tables: list[WrittenTable] = []
    faults: list[str] = []
    is_zip = content.startswith(ZIP)
    try:
        for one in _archive(name, content) if is_zip else _table(f"{quoted(name)}", Path(name).stem, content):
            if isinstance(one, WrittenTable):
                tables.append(one)
            else:
                faults.append(f"{one}.")
    except AnonymizationError:
        raise
    except Exception:
        # Parsers raise nearly anything on a file that is cut short or changed.
        if not faults:
            sentence = f"{quoted(name)} is damaged or is no table that was published: it cannot be read."
            raise DataError(sentence) from None
    return tables, faults


def _table(where: str, title: str, content: bytes) -> Content:
    return (_parquet if content.startswith(PARQUET) else _text)(where, title, content)


def _archive(name: str, content: bytes) -> Content:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > UNPACKED_LIMIT:
            raise DataError(f"{quoted(name)} would unpack to more than {UNPACKED_LIMIT >> 30} GB.")
        require_memory(size, f"{quoted(name)}", ADVICE)
        wrong = _archive_fault(content, archive)
        if wrong:
            yield f"{quoted(name)} {wrong}"
        if BOOK in archive.namelist():
            require(READING, "openpyxl")
            from anoncore.publishing.certification.workbook_cells import read_workbook

            for one in read_workbook(name, archive):
                yield one if isinstance(one, WrittenTable) else f"{quoted(name)}: {one}"
            return
        for member in archive.infolist():
            unpacked = archive.read(member)
            if unpacked.startswith(ZIP):
                raise DataError(f"{quoted(name)} holds an archive inside an archive; unpack it first.")
            for one in _table(f"{quoted(name)}, member {quoted(member.filename)}", member.filename, unpacked):
                yield replace(one, is_named=True) if isinstance(one, WrittenTable) else one


def _archive_fault(content: bytes, archive: zipfile.ZipFile) -> str:
    """What a zip holds besides its members, or in which way it is not written as one; empty where neither is so."""
    members = archive.infolist()
    times = Counter(member.filename for member in members)
    for member in members:
        name = member.filename
        if times[name] > 1:
            return f"holds the member {quoted(name)} {times[name]} times"
        if BOOK not in times and any(mark in name for mark in "/\\"):
            return f"holds the member {quoted(name)}, whose name leads to a folder"
        if member.comment or member.extra:
            kind = "a comment" if member.comment else "an extra field"
            return f"holds {kind} of its member {quoted(name)}: {shown_bytes(member.comment or member.extra)}"
        if member.external_attr != ZIP_RIGHTS:
            return f"holds its member {quoted(name)} with attributes of its own"
        if member.date_time != ZIP_TIME:
            return f"says when its member {quoted(name)} was made"
    if archive.comment:
        return f"holds a comment: {shown_bytes(archive.comment)}"
    if members and members[0].header_offset != 0:
        return f"holds {members[0].header_offset:,} bytes before its first member: {shown_bytes(content)}"
    again = archive_bytes((one.filename, archive.read(one)) for one in members)
    if again == content:
        return ""
    return f"is not packed as it is written; it differs from byte {first_difference(content, again):,} on"


def _text(where: str, title: str, content: bytes) -> Content:
    require_memory(len(content) * TEXT_FACTOR, where, ADVICE)
    header = next(csv.reader(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")), None)
    if header is None:
        raise DataError(f"{where} is empty.")
    require_few_columns(len(header), where.strip("'"))
    try:
        columns = text_columns(content, len(header))
    except pa.ArrowInvalid:
        fault = _row_fault(content, header)
        if not fault:
            raise
        yield f"{where}: {fault}"
        return
    labels = [column[0].as_py() for column in columns]
    coded = [column.slice(1).combine_chunks().dictionary_encode() for column in columns]
    fault = text_fault(content, labels, coded)
    if fault:
        yield f"{where}: {fault}"
    read = [
        both_columns(one.indices.to_numpy(), one.dictionary.to_pylist(), cell_texts(one.dictionary)) for one in coded
    ]
    yield WrittenTable(title, where, "csv", labels, read)


def _parquet(where: str, title: str, content: bytes) -> Content:
    read = read_within(content, where.strip("'"), UNPACKED_LIMIT)
    fault = parquet_fault(content, read)
    if fault:
        yield f"{where}: {fault}"
    yield written_parquet(where, title, read, pq.read_schema(pa.BufferReader(content)))


def written_parquet(where: str, title: str, rows: pa.Table, declared: pa.Schema) -> WrittenTable:
    """The table that a Parquet file of declared types holds, cell by cell; `rows` may have texts as dictionaries."""
    coded = [_coded(array_of(rows, place), value_type(field.type)) for place, field in enumerate(declared)]
    return WrittenTable(title, where, "parquet", declared.names, coded)


def _coded(array: pa.Array, kind: pa.DataType) -> tuple[Column, Column]:
    """A column of a Parquet file as it is written, and the texts of its values."""
    bits = {pa.float64(): pa.int64(), pa.float32(): pa.int32(), pa.float16(): pa.int16()}.get(kind)
    if pa.types.is_dictionary(array.type):
        # A row without a value has a number of its own.
        codes = array.indices.fill_null(len(array.dictionary)).to_numpy()
        distinct = pa.concat_arrays([array.dictionary.cast(kind), pa.nulls(min(array.null_count, 1), kind)])
    else:
        # 0.0 and -0.0 are written differently, and so are numbers that are none.
        encoded = (array if bits is None else array.view(bits)).dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy()
        distinct = encoded.dictionary if bits is None else encoded.dictionary.view(kind)
    return both_columns(codes, arrow_texts(distinct), cell_texts(distinct))


def text_fault(content: bytes, labels: Sequence[str], columns: Sequence[pa.DictionaryArray]) -> str:
    """Where a CSV differs from what is written of its cells, and how; empty where it does not.

    Lines may end with CR LF or with LF, all in the same way. Many rows are compared at a time, of which only different
    cells are written.
    """
    if content.startswith(MARK_OF_ORDER):
        return "begins with a byte order mark, which is not part of the table"
    faults = []
    for line_end in LINE_ENDS:
        fault = _difference(content, _lines(labels, columns, line_end))
        if fault is None:
            return ""
        faults.append(fault)
    # The fault that comes later in the file is that of the right line ends.
    return max(faults)[1]


def _lines(labels: Sequence[str], columns: Sequence[pa.DictionaryArray], line_end: str) -> Iterator[Bytes]:
    """The lines of a CSV as they are written, many at a time."""
    is_alone = len(labels) == 1
    header = ",".join(_written(label, is_alone) for label in labels) + line_end
    yield np.frombuffer(header.encode(), dtype=np.uint8)
    ends = [""] * (len(columns) - 1) + [line_end]
    written = [_written_texts(column.dictionary, is_alone, end) for column, end in zip(columns, ends, strict=True)]
    for start in range(0, len(columns[0]), JOINED_ROWS):
        codes = [column.indices.slice(start, JOINED_ROWS) for column in columns]
        cells = [texts.take(own) for texts, own in zip(written, codes, strict=True)]
        lines, bounds = text_bytes(pc.binary_join_element_wise(*cells, pa.scalar(",", pa.large_string())))
        yield lines[bounds[0] : bounds[-1]]


def _written_texts(texts: pa.Array, is_alone: bool, end: str) -> pa.Array:
    """Some cells as they are written, each with what stands behind it; few columns have one that is in quotes."""
    if is_alone or pc.any(pc.match_substring_regex(texts, QUOTED.pattern)).as_py():
        texts = pa.array([_written(text, is_alone) for text in texts.to_pylist()], texts.type)
    return pc.binary_join_element_wise(texts, *(pa.scalar(text, texts.type) for text in (end, "")))


def _written(text: str, is_alone: bool) -> str:
    """A cell as it is written: in quotes where it has to be, which an empty one has that is alone in its line."""
    if QUOTED.search(text) or (is_alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _difference(content: bytes, lines: Iterable[Bytes]) -> tuple[int, str] | None:
    """Where a CSV begins to differ from its lines, and how; None where it does not."""
    held, begin = np.frombuffer(content, dtype=np.uint8), 0
    for expected in lines:
        if not np.array_equal(held[begin : begin + len(expected)], expected):
            return _described(content, expected.tobytes(), begin)
        begin += len(expected)
    return None if begin == len(content) else _described(content, b"", begin)


def _described(content: bytes, expected: bytes, begin: int) -> tuple[int, str]:
    """The first place at which the content is not what was expected from `begin` on."""
    same = first_difference(content[begin : begin + len(expected)], expected)
    line = content.count(b"\n", 0, begin + same) + 1
    begin_of_line = expected.rfind(b"\n", 0, same) + 1
    has, wanted = (_shown(text[begin_of_line:].split(b"\n", 1)[0].strip(b"\r")) for text in (content[begin:], expected))
    if not expected[same:]:
        return begin + same, f"goes on after the table, on line {line}: {has}"
    return begin + same, f"line {line} is {has}, where its cells are written {wanted}"


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", errors="backslashreplace")
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")


def _row_fault(content: bytes, header: Sequence[str]) -> str:
    """Where a row of a CSV has more or fewer cells than the header, or a quote stays open; empty if nowhere."""
    lines = csv.reader(io.StringIO(content.decode("utf-8", errors="replace"), newline=""))
    try:
        for row in lines:
            if len(row) != len(header):
                beyond = f", the last of them {_shown(row[-1].encode())}" if len(row) > len(header) else ""
                cells, names = (f"{n} cell{'' if n == 1 else 's'}" for n in (len(row), len(header)))
                return f"line {lines.line_num} has {cells}{beyond}, but the header has {names}"
    except csv.Error as error:
        return f"line {lines.line_num} cannot be read ({error})"
    return ""


def parquet_fault(source: bytes | Path, table: pa.Table | None = None) -> str:
    """What a Parquet file holds besides its rows, or how it is written otherwise; empty where neither is so.

    Its rows are written again, a row group at a time, and every byte has to come out the same: so there is no room for
    metadata, values that no row has, or bytes between its columns. `table` has all rows where they were read already;
    rows that the file does not have are not written as it is. Raises what Arrow raises for a damaged file.
    """
    with opened(source) as content:
        schema = pq.read_schema(content)
        file = coded_file(content, schema)
        metadata = file.metadata
        for key, value in (metadata.metadata or {}).items():
            if key != SCHEMA:
                return f"holds metadata {shown_bytes(key)}: {shown_bytes(value)}"
        for field in schema:
            for key, value in (field.metadata or {}).items():
                return f"holds metadata of the column {quoted(field.name)}, {shown_bytes(key)}: {shown_bytes(value)}"
        if not MAKER.fullmatch(metadata.created_by):
            return f"names as its maker {shown_bytes(metadata.created_by.encode())}"
        rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        if any(number != GROUP_ROWS for number in rows[:-1]) or any(not 0 < number <= GROUP_ROWS for number in rows):
            return f"has its rows in groups of other sizes than {GROUP_ROWS:,}"
        with opened(source) as original:
            again = _Compared(original)
            has_no_number = _write_again(file, schema, table, again)
            again.end()
        if has_no_number:
            return "holds numbers that are none (NaN), which no release has and in which anything can be written"
    if again.differs is None:
        return ""
    return (
        f"is not written as this table is: it differs from byte {again.differs:,} on, which leaves room for values "
        "that no row has"
    )


def _write_again(file: pq.ParquetFile, declared: pa.Schema, table: pa.Table | None, target: _Compared) -> bool:
    """Write the rows as long as the bytes are the same; says whether they hold a number that is none."""
    has_no_number = False
    is_described = SCHEMA in (file.metadata.metadata or {})
    schema = pa.schema([pa.field(one.name, value_type(one.type)) for one in declared])
    # Parts of large releases say nothing of the types that their columns had in Arrow, and are written from codes.
    as_written = plain_table if is_described else coded_table
    with (
        pa.BufferedOutputStream(pa.PythonFile(target, mode="w"), WRITTEN_AT_ONCE) as content,
        pq.ParquetWriter(content, schema) if is_described else coded_writer(content, schema) as writer,
    ):
        for number in range(file.num_row_groups):
            if target.differs is None:
                begin = number * GROUP_ROWS
                rows = file.read_row_group(number) if table is None else table.slice(begin, GROUP_ROWS)
                rows = as_written(rows, schema)
                floats = [rows.column(one.name) for one in rows.schema if pa.types.is_floating(one.type)]
                has_no_number |= any(bool(pc.any(pc.is_nan(column)).as_py()) for column in floats)
                writer.write_table(rows)
    return has_no_number


def shown_bytes(content: bytes) -> str:
    """How some bytes begin, for a sentence."""
    return repr(content[:SHOWN].decode("utf-8", errors="backslashreplace"))


class _Compared(io.RawIOBase):
    """A file to write to that keeps nothing: it compares what comes with the content of another file.

    `differs` is the first byte in which they differ, None as long as there is none.
    """

    def __init__(self, original: Any) -> None:
        self.original, self.at = original, 0
        self.differs: int | None = None

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def write(self, content: Any) -> int:
        written = bytes(content)
        if self.differs is None:
            expected = self.original.read(len(written))
            if expected != written:
                self.differs = self.at + first_difference(expected, written)
        self.at += len(written)
        return len(written)

    def end(self) -> None:
        """Compare the ends, too."""
        if self.differs is None and self.original.read(1):
            self.differs = self.at
