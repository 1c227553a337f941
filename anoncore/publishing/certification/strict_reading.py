"""Published files read strictly: their tables cell by cell, and whatever else they hold."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.extras import require
from anoncore.base.memory import TEXT_FACTOR, require_memory
from anoncore.publishing.certification.strict_parquet import parquet_fault, shown_bytes
from anoncore.publishing.certification.text_cells import (
    first_difference,
    header_of,
    row_fault,
    text_columns,
    text_fault,
)
from anoncore.publishing.certification.written_cells import WrittenTable, arrow_texts, both_columns
from anoncore.publishing.export import ZIP_RIGHTS, ZIP_TIME, archive_bytes
from anoncore.release.reading.published_table import Column, cell_texts
from anoncore.sources.excel import BOOK, READING
from anoncore.sources.headers import require_few_columns
from anoncore.sources.parquet import read_within, value_type

PARQUET, ZIP = b"PAR1", b"PK\x03\x04"
UNPACKED_LIMIT = 4 << 30
ADVICE = "verify it on a machine with more memory"


@dataclass(frozen=True, eq=False)
class StrictReading:
    """The tables of a file, and a sentence for everything that it holds besides them or holds otherwise."""

    tables: tuple[WrittenTable, ...]
    faults: tuple[str, ...]


def read_strictly(name: str, content: bytes) -> StrictReading:
    """Read a published file. Its tables may be incomplete where something is wrong with it.

    Raises DataError for a file that cannot be read as one of those that are written.
    """
    tables: list[WrittenTable] = []
    faults: list[str] = []
    try:
        _read(name, content, tables, faults)
    except AnonymizationError:
        raise
    except Exception:
        # Parsers raise nearly anything on a file that is cut short or changed.
        if not faults:
            raise damaged(name) from None
    return StrictReading(tuple(tables), tuple(faults))


def damaged(name: str) -> DataError:
    """The error for a file that nothing can be read from."""
    return DataError(f"'{name}' is damaged or is no table that was published: it cannot be read.")


def check_unpacked_size(name: str, archive: zipfile.ZipFile) -> None:
    """Raise DataError for an archive that would take too much memory."""
    size = sum(member.file_size for member in archive.infolist())
    if size > UNPACKED_LIMIT:
        raise DataError(f"'{name}' would unpack to more than {UNPACKED_LIMIT >> 30} GB.")
    require_memory(size, f"'{name}'", ADVICE)


def _read(name: str, content: bytes, tables: list[WrittenTable], faults: list[str]) -> None:
    if content.startswith(PARQUET):
        _parquet(f"'{name}'", Path(name).stem, content, tables, faults)
    elif content.startswith(ZIP):
        _archive(name, content, tables, faults)
    else:
        _text(f"'{name}'", Path(name).stem, content, tables, faults)


def _archive(name: str, content: bytes, tables: list[WrittenTable], faults: list[str]) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        check_unpacked_size(name, archive)
        wrong = _archive_fault(content, archive)
        if wrong:
            faults.append(f"'{name}' {wrong}.")
        if BOOK in archive.namelist():
            require(READING, "openpyxl")
            from anoncore.publishing.certification.workbook_cells import read_workbook

            found, others = read_workbook(name, archive)
            tables += found
            faults += [f"'{name}': {other}." for other in others]
            return
        for member in archive.infolist():
            unpacked = archive.read(member)
            where = f"'{name}', member '{member.filename}'"
            if unpacked.startswith(ZIP):
                raise DataError(f"'{name}' holds an archive inside an archive; unpack it first.")
            begun = len(tables)
            read = _parquet if unpacked.startswith(PARQUET) else _text
            read(where, member.filename, unpacked, tables, faults)
            tables[begun:] = [replace(table, is_named=True) for table in tables[begun:]]


def _archive_fault(content: bytes, archive: zipfile.ZipFile) -> str:
    """What a zip holds besides its members, or in which way it is not written as one; empty where neither is so."""
    members = archive.infolist()
    times = Counter(member.filename for member in members)
    is_book = BOOK in times
    for member in members:
        if times[member.filename] > 1:
            return f"holds the member '{member.filename}' {times[member.filename]} times"
        if not is_book and any(mark in member.filename for mark in "/\\"):
            return f"holds the member '{member.filename}', whose name leads to a folder"
        if member.comment or member.extra:
            kind = "a comment" if member.comment else "an extra field"
            return f"holds {kind} of its member '{member.filename}': {shown_bytes(member.comment or member.extra)}"
        if member.external_attr != ZIP_RIGHTS:
            return f"holds its member '{member.filename}' with attributes of its own"
        if member.date_time != ZIP_TIME:
            return f"says when its member '{member.filename}' was made"
    if archive.comment:
        return f"holds a comment: {shown_bytes(archive.comment)}"
    if members and members[0].header_offset != 0:
        return f"holds {members[0].header_offset:,} bytes before its first member: {shown_bytes(content)}"
    again = archive_bytes((one.filename, archive.read(one)) for one in members)
    if again == content:
        return ""
    return f"is not packed as it is written; it differs from byte {first_difference(content, again):,} on"


def _text(where: str, title: str, content: bytes, tables: list[WrittenTable], faults: list[str]) -> None:
    require_memory(len(content) * TEXT_FACTOR, where, ADVICE)
    header = header_of(content)
    if header is None:
        raise DataError(f"{where} is empty.")
    require_few_columns(len(header), where.strip("'"))
    try:
        columns = text_columns(content, len(header))
    except pa.ArrowInvalid:
        fault = row_fault(content, header)
        if not fault:
            raise
        faults.append(f"{where}: {fault}.")
        return
    labels = [column[0].as_py() for column in columns]
    coded = [column.slice(1).combine_chunks().dictionary_encode() for column in columns]
    fault = text_fault(content, labels, coded)
    if fault:
        faults.append(f"{where}: {fault}.")
    read = [
        both_columns(one.indices.to_numpy(), one.dictionary.to_pylist(), cell_texts(one.dictionary)) for one in coded
    ]
    tables.append(WrittenTable.of(title, where, "csv", labels, read))


def _coded(column: pa.ChunkedArray, kind: pa.DataType) -> tuple[Column, Column]:
    """A column of a Parquet file as it is written, and the texts of its values."""
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
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


def _parquet(where: str, title: str, content: bytes, tables: list[WrittenTable], faults: list[str]) -> None:
    read = read_within(content, where.strip("'"), UNPACKED_LIMIT)
    fault = parquet_fault(content, read)
    if fault:
        faults.append(f"{where}: {fault}.")
    tables.append(written_parquet(where, title, read, pq.read_schema(pa.BufferReader(content))))


def written_parquet(where: str, title: str, rows: pa.Table, declared: pa.Schema) -> WrittenTable:
    """The table that a Parquet file of declared types holds, cell by cell; `rows` may have texts as dictionaries."""
    coded = [_coded(rows.column(place), value_type(field.type)) for place, field in enumerate(declared)]
    return WrittenTable.of(title, where, "parquet", declared.names, coded)
