"""Published files read back cell by cell, with nothing interpreted."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa

from anoncore.base.errors import DataError
from anoncore.base.memory import TEXT_FACTOR, require_memory
from anoncore.publishing.certification.text_cells import header_of, text_columns
from anoncore.publishing.certification.workbook_cells import unescaped
from anoncore.release.reading.published_table import PublishedTable
from anoncore.sources.parquet import read_within

PARQUET, ZIP = b"PAR1", b"PK\x03\x04"
UNPACKED_LIMIT = 4 << 30
ADVICE = "verify it on a machine with more memory"


def read_published(name: str, content: bytes) -> list[PublishedTable]:
    """Every table of a published file: a CSV, a Parquet file, the sheets of a workbook or the members of a zip.

    Raises DataError for a file that cannot be read as one of these.
    """
    try:
        return list(_tables(name, content))
    except DataError:
        raise
    except Exception:
        # Parsers raise nearly anything on a file that is cut short or changed.
        raise damaged(name) from None


def damaged(name: str) -> DataError:
    """The error for a file that nothing can be read from."""
    return DataError(f"'{name}' is damaged or is no table that was published: it cannot be read.")


def check_unpacked_size(name: str, archive: zipfile.ZipFile) -> None:
    """Raise DataError for an archive that would take too much memory."""
    size = sum(member.file_size for member in archive.infolist())
    if size > UNPACKED_LIMIT:
        raise DataError(f"'{name}' would unpack to more than {UNPACKED_LIMIT >> 30} GB.")
    require_memory(size, f"'{name}'", ADVICE)


def _tables(name: str, content: bytes) -> Iterator[PublishedTable]:
    stem = Path(name).stem
    if content.startswith(PARQUET):
        yield PublishedTable.of(stem, _parquet(name, content))
    elif content.startswith(ZIP):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_unpacked_size(name, archive)
            if "xl/workbook.xml" in archive.namelist():
                yield from _sheets(content)
            else:
                for member in archive.infolist():
                    unpacked = archive.read(member)
                    if unpacked.startswith(ZIP):
                        raise DataError(f"'{name}' holds an archive inside an archive; unpack it first.")
                    yield from _tables(member.filename, unpacked)
    else:
        yield PublishedTable.of(stem, _csv(name, content))


def _parquet(name: str, content: bytes) -> pd.DataFrame:
    table = read_within(content, name, UNPACKED_LIMIT)
    plain = [(field.name, value_type(field.type)) for field in table.schema]
    return table.cast(pa.schema(plain)).to_pandas(integer_object_nulls=True, date_as_object=True)


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values, where a dictionary may hold them."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _sheets(content: bytes) -> Iterator[PublishedTable]:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        rows = [
            [unescaped(cell) if isinstance(cell, str) else cell for cell in row]
            for row in sheet.iter_rows(values_only=True)
        ]
        header, body = (rows[0], rows[1:]) if rows else ([], [])
        width = len(header)
        cells = [[*row[:width], *[None] * (width - len(row))] for row in body]
        columns = {number: pd.Series([row[number] for row in cells], dtype=object) for number in range(width)}
        frame = pd.DataFrame(columns, index=range(len(cells)))
        frame.columns = pd.Index(["" if label is None else str(label) for label in header])
        yield PublishedTable.of(sheet.title, frame)


def _csv(name: str, content: bytes) -> pd.DataFrame:
    require_memory(len(content) * TEXT_FACTOR, f"'{name}'", ADVICE)
    header = header_of(content)
    if header is None:
        raise DataError(f"'{name}' is empty.")
    columns = [column.slice(1).to_pandas() for column in text_columns(content, len(header))]
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index(header)
    return frame
