"""Published files read strictly: their tables cell by cell, and whatever else they hold."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import DataError
from anoncore.base.memory import TEXT_FACTOR, require_memory
from anoncore.publishing.certification.files import (
    ADVICE,
    PARQUET,
    UNPACKED_LIMIT,
    ZIP,
    check_unpacked_size,
    damaged,
    value_type,
)
from anoncore.publishing.certification.text_cells import (
    first_difference,
    header_of,
    row_fault,
    text_columns,
    text_fault,
)
from anoncore.publishing.certification.workbook_cells import BOOK, read_workbook
from anoncore.publishing.certification.written_cells import WrittenTable, arrow_texts
from anoncore.publishing.export import ZIP_RIGHTS, ZIP_TIME, ZipTime, packed, parquet_bytes
from anoncore.release.reading.published_table import Column, cell_name, cell_text
from anoncore.sources.parquet import read_within

MAKER = re.compile(r"parquet-cpp-arrow version \d+\.\d+\.\d+")
SCHEMA = b"ARROW:schema"
BOOK_RIGHTS = (0o600 << 16, 0o100600 << 16)
"""Rights that workbooks of earlier versions give to their parts; they also say when they were saved."""
SAVING = 60
"""Minutes within which such a workbook was saved."""
SHOWN = 40


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
    except DataError:
        raise
    except Exception:
        # Parsers raise nearly anything on a file that is cut short or changed.
        if not faults:
            raise damaged(name) from None
    return StrictReading(tuple(tables), tuple(faults))


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
            return f"holds {kind} of its member '{member.filename}': {_shown(member.comment or member.extra)}"
        if member.external_attr not in (ZIP_RIGHTS, *(BOOK_RIGHTS if is_book else ())):
            return f"holds its member '{member.filename}' with attributes of its own"
        if member.date_time != ZIP_TIME and not (is_book and _minutes(member.date_time, members[0].date_time) < SAVING):
            return f"says when its member '{member.filename}' was made"
    if archive.comment:
        return f"holds a comment: {_shown(archive.comment)}"
    if members and members[0].header_offset != 0:
        return f"holds {members[0].header_offset:,} bytes before its first member: {_shown(content)}"
    again = packed((one.filename, archive.read(one), one.date_time, one.external_attr) for one in members)
    if again == content:
        return ""
    return f"is not packed as it is written; it differs from byte {first_difference(content, again):,} on"


def _minutes(moment: ZipTime, other: ZipTime) -> float:
    """The minutes between two times of members of a zip."""
    return abs((datetime(*moment) - datetime(*other)).total_seconds()) / 60


def _shown(content: bytes) -> str:
    text = content[:SHOWN].decode("utf-8", errors="backslashreplace")
    return repr(text)


def _text(where: str, title: str, content: bytes, tables: list[WrittenTable], faults: list[str]) -> None:
    require_memory(len(content) * TEXT_FACTOR, where, ADVICE)
    header = header_of(content)
    if header is None:
        raise DataError(f"{where} is empty.")
    try:
        columns = text_columns(content, len(header))
    except pa.ArrowInvalid:
        fault = row_fault(content, header)
        if not fault:
            raise
        faults.append(f"{where}: {fault}.")
        return
    fault = text_fault(content, columns)
    if fault:
        faults.append(f"{where}: {fault}.")
    labels = tuple(column[0].as_py() for column in columns)
    coded = [column.slice(1).combine_chunks().dictionary_encode() for column in columns]
    cells, values = [], []
    for column in coded:
        texts, codes = column.dictionary.to_pylist(), column.indices.to_numpy()
        cells.append(Column.coded(codes, texts))
        values.append(Column.coded(codes, [cell_text(text) for text in texts]))
    tables.append(WrittenTable(title, where, "csv", labels, tuple(map(cell_name, labels)), tuple(cells), tuple(values)))


def _parquet_fault(content: bytes, declared: pa.Schema, table: pa.Table) -> str:
    """What a Parquet file holds besides its table, or how it is written otherwise; empty where neither is so."""
    metadata = pq.ParquetFile(pa.BufferReader(content)).metadata
    for key, value in (metadata.metadata or {}).items():
        if key != SCHEMA:
            return f"holds metadata {_shown(key)}: {_shown(value)}"
    for field in declared:
        for key, value in (field.metadata or {}).items():
            return f"holds metadata of the column '{field.name}', {_shown(key)}: {_shown(value)}"
    if not MAKER.fullmatch(metadata.created_by):
        return f"names as its maker {_shown(metadata.created_by.encode())}"
    again = parquet_bytes(table)
    if again == content:
        return ""
    return (
        f"is not written as this table is: it differs from byte {first_difference(content, again):,} on, which leaves "
        "room for values that no row has"
    )


def _coded(array: pa.Array) -> tuple[Column, Column]:
    """A column of a Parquet file as it is written, and the texts of its values."""
    # 0.0 and -0.0 are written differently, and so are numbers that are none.
    bits = {pa.float64(): pa.int64(), pa.float32(): pa.int32(), pa.float16(): pa.int16()}.get(array.type)
    encoded = (array if bits is None else array.view(bits)).dictionary_encode(null_encoding="encode")
    distinct = encoded.dictionary if bits is None else encoded.dictionary.view(array.type)
    codes = encoded.indices.to_numpy()
    values = pa.table([distinct], names=["values"]).to_pandas(integer_object_nulls=True, date_as_object=True)["values"]
    return Column.coded(codes, arrow_texts(distinct)), Column.coded(codes, [cell_text(value) for value in values])


def _parquet(where: str, title: str, content: bytes, tables: list[WrittenTable], faults: list[str]) -> None:
    read = read_within(content, where.strip("'"), UNPACKED_LIMIT)
    declared = pq.read_schema(pa.BufferReader(content))
    plain = pa.schema([pa.field(one.name, value_type(one.type)) for one in declared])
    arrays = [read.column(place).combine_chunks().cast(kind.type) for place, kind in enumerate(plain)]
    table = pa.Table.from_arrays(arrays, schema=plain)
    fault = _parquet_fault(content, declared, table)
    if fault:
        faults.append(f"{where}: {fault}.")
    coded = [_coded(array) for array in arrays]
    labels = tuple(declared.names)
    tables.append(
        WrittenTable(
            title,
            where,
            "parquet",
            labels,
            tuple(map(cell_name, labels)),
            tuple(cells for cells, _ in coded),
            tuple(values for _, values in coded),
        )
    )
