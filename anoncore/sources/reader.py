"""Open a table whatever form it comes in; what it is, its bytes say."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO, Literal

import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.base.memory import TEXT_FACTOR, free_memory, require_memory
from anoncore.base.temporary import temporary_directory
from anoncore.kernels.arrays import record
from anoncore.sources.addresses import is_address
from anoncore.sources.delimited import read_delimited
from anoncore.sources.excel import read_excel, sheet_titles
from anoncore.sources.inference import DecimalMark, TextRules
from anoncore.sources.notes import Notes, shown
from anoncore.sources.numerals import DateOrder
from anoncore.sources.parquet import read_parquet
from anoncore.sources.remote import fetched

Format = Literal["csv", "tsv", "parquet", "excel"]

GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
# First bytes of files that people try, and what to do with them.
REFUSED = (
    (
        b"\xd0\xcf\x11\xe0",
        "is an old Excel file (.xls) or protected by a password; save it as .xlsx without a password.",
    ),
    (b"PARE", "is an encrypted Parquet file; save it without encryption."),
    (b"PK\x05\x06", "is an empty zip archive; load the table itself."),
    (b"BZh", "is compressed with bzip2; unpack it, or use gzip."),
    (b"\xfd7zXZ\0", "is compressed with xz; unpack it, or use gzip."),
    (b"\x28\xb5\x2f\xfd", "is compressed with Zstandard; unpack it, or use gzip."),
    (b"7z\xbc\xaf", "is a 7-Zip archive; unpack it and load one table."),
    (b"Rar!", "is a RAR archive; unpack it and load one table."),
    (b"ARROW1", "is an Arrow or Feather file; save it as Parquet."),
    (b"%PDF", "is a PDF document; load the table itself, as CSV, Parquet or Excel."),
)
ENDINGS = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "excel", ".xlsm": "excel", ".csv": "csv", ".tsv": "tsv"}
TITLES = {"csv": "text (CSV)", "tsv": "text with tabs", "parquet": "a Parquet file", "excel": "an Excel workbook"}
UNPACKED_LIMIT = 2 << 30
UNPACKED_RATIO = 20


@record
class TableSource:
    r"""A table and where it comes from.

    Attributes
    ----------
    frame : DataFrame
        The table. Its column names are texts, each of which occurs once, and its columns are of int64, float64,
        datetime64 or str.
    name : str
        What the table is called: the name of its file, without the folder.
    format : {"csv", "tsv", "parquet", "excel"}
        What the file turned out to be.
    notes : tuple of str
        A sentence for everything that was decided while the file was read.
    digest : str
        SHA-256 of the bytes as they came, in hexadecimal.

    Examples
    --------
    >>> from anoncore.sources import read_table
    >>> table = read_table(b"age,town\n21,Ulm\n44,Bonn\n", "people.csv")
    >>> table.name, table.format, len(table.digest)
    ('people.csv', 'csv', 64)
    """

    frame: pd.DataFrame
    name: str
    format: Format
    notes: tuple[str, ...]
    digest: str


@checked
def read_table(
    source: str | Path | BinaryIO | bytes,
    name: str | None = None,
    *,
    sheet: str | int | None = None,
    encoding: str | None = None,
    max_bytes: int | None = None,
    missing: Collection[str] = (),
    decimal: DecimalMark | None = None,
    dates: DateOrder | None = None,
) -> TableSource:
    r"""Read a CSV (also with semicolons, tabs or pipes, also gzipped), Parquet or Excel (.xlsx) table.

    The content decides about the format, not the ending of the name. A table that would not fit into the memory that is
    free is refused before it is taken in.

    Parameters
    ----------
    source : str, Path, binary file or bytes
        The path of a file, an open file, or the bytes themselves.
    name : str, optional
        What messages and the result call the table; by default the name of the file, without its folder.
    sheet : str or int, optional
        The sheet of an Excel file, by name or position.
    encoding : str, optional
        The encoding of a text file; by default that of its byte order mark, else UTF-8, else what its letters tell
        (Cyrillic, Greek, Hebrew, Japanese, Chinese, Korean), else Windows-1252.
    max_bytes : int, optional
        The most bytes that are taken. Unpacked they may be 20 times as many, and never more than 2 GB.
    missing : collection of str
        Further texts that mean missing in text and Excel files.
    decimal : {".", ","}, optional
        The mark of decimals in numbers; by default what the numbers show.
    dates : {"day-month-year", "month-day-year", "year-month-day"}, optional
        The order of dates such as 03/04/2020, of which both are possible; by default such dates stay text.

    Returns
    -------
    TableSource
        The table, with a sentence for everything that was decided.

    Raises
    ------
    DataError
        For a file that cannot be read as a table.
    ParameterError
        For an unknown mark of decimals or order of dates; no other error is raised.

    Examples
    --------
    >>> from anoncore.sources import read_table
    >>> table = read_table(b"age;town\n21;Ulm\nunknown;Bonn\n", "people.csv", missing=["unknown"])
    >>> table.frame["age"].isna().tolist(), table.frame["town"].tolist()
    ([False, True], ['Ulm', 'Bonn'])
    """
    data, table = _load(source, name, max_bytes)
    digest = hashlib.sha256(data).hexdigest()
    if not data:
        raise DataError(f"{shown(table)} is empty; load a file with column names and at least one row.")
    limit = UNPACKED_LIMIT if max_bytes is None else min(UNPACKED_LIMIT, UNPACKED_RATIO * max_bytes)
    if data.startswith(GZIP):
        data = _unpacked(data, table, limit)
    refuse_other_files(data, table)
    notes = Notes()
    rules = TextRules(missing=tuple(missing), decimal=decimal, dates=dates)
    frame, format_ = _read(data, table, notes, sheet, encoding, rules, limit)
    notice_ending(table, format_, notes)
    return TableSource(frame=frame, name=table, format=format_, notes=notes.sentences(), digest=digest)


@checked
def table_sheets(
    source: str | Path | BinaryIO | bytes, name: str | None = None, *, max_bytes: int | None = None
) -> tuple[str, ...]:
    r"""The sheets of an Excel workbook, one of which `read_table` reads; none for a file of another kind.

    Parameters
    ----------
    source : str, Path, binary file or bytes
        The path of a file, an open file, or the bytes themselves.
    name : str, optional
        What messages call the file; by default its own name, without its folder.
    max_bytes : int, optional
        The most bytes that are taken.

    Returns
    -------
    tuple of str
        The titles of the sheets, in the workbook's order.

    Raises
    ------
    DataError
        For a file that cannot be opened, is too large, or is a damaged workbook.

    Examples
    --------
    >>> from anoncore.sources import table_sheets
    >>> table_sheets(b"age,town\n21,Ulm\n", "people.csv")
    ()
    """
    data, table = _load(source, name, max_bytes)
    limit = UNPACKED_LIMIT if max_bytes is None else min(UNPACKED_LIMIT, UNPACKED_RATIO * max_bytes)
    if data.startswith(GZIP):
        data = _unpacked(data, table, limit)
    return sheet_titles(data, table, limit) if data.startswith(ZIP) else ()


def refuse_other_files(data: bytes, table: str) -> None:
    """Raise DataError for (unpacked) bytes that begin like a file of another kind than a table."""
    for first, reason in (*REFUSED, (GZIP, "is packed with gzip twice; unpack it once.")):
        if data.startswith(first):
            raise DataError(f"{shown(table)} {reason}")


def _read(
    data: bytes,
    table: str,
    notes: Notes,
    sheet: str | int | None,
    encoding: str | None,
    rules: TextRules,
    limit: int,
) -> tuple[pd.DataFrame, Format]:
    if data.startswith(PARQUET):
        return read_parquet(data, table, notes, limit), "parquet"
    if data.startswith(ZIP):
        return read_excel(data, table, notes, sheet, rules, limit), "excel"
    require_memory(len(data) * TEXT_FACTOR, shown(table))
    return read_delimited(data, table, notes, encoding, rules)


def _load(source: str | Path | BinaryIO | bytes, name: str | None, max_bytes: int | None) -> tuple[bytes, str]:
    """The bytes, and a name without any folder."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data, found = bytes(source), "table"
    elif isinstance(source, str) and is_address(source):
        with temporary_directory() as folder:
            file = fetched(source, folder)
            data, found = _load_path(file, base_name(name or file.name), max_bytes), file.name
    elif isinstance(source, (str, Path)):
        found = Path(source).name
        data = _load_path(Path(source), base_name(name or found), max_bytes)
    else:
        data = source.read() if max_bytes is None else source.read(max_bytes + 1)
        if not isinstance(data, bytes):
            raise TypeError("Open the file in binary mode.")
        label = getattr(source, "name", None)
        found = label if isinstance(label, str) else "table"
    table = base_name(name or found)
    _check_size(len(data), table, max_bytes)
    return data, table


def _load_path(path: Path, table: str, max_bytes: int | None) -> bytes:
    try:
        if path.is_dir():
            raise DataError(f"{shown(table)} is a folder; name a file.")
        size = path.stat().st_size
        _check_size(size, table, max_bytes)
        require_memory(size, shown(table))
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no file {shown(table)}; check its name and folder.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        reason = f": {error.strerror.lower()}" if isinstance(error, OSError) and error.strerror else ""
        raise DataError(f"{shown(table)} cannot be opened{reason}.") from None


def _check_size(size: int, table: str, max_bytes: int | None) -> None:
    if max_bytes is not None and size > max_bytes:
        raise DataError(
            f"{shown(table)} is larger than {max_bytes / 2**20:,.1f} MB, the most that is taken here; "
            "take fewer rows or columns, or save it as Parquet."
        )


def base_name(name: str) -> str:
    """The name of a file without any folder."""
    return re.split(r"[\\/]", name.rstrip("\\/"))[-1] or "table"


def _unpacked(data: bytes, table: str, limit: int) -> bytes:
    fitting = min(limit, free_memory() // TEXT_FACTOR)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            unpacked = packed.read(fitting + 1)
    except (EOFError, OSError, zlib.error):
        raise DataError(f"{shown(table)} is incomplete or damaged: it cannot be unpacked with gzip.") from None
    if len(unpacked) > fitting < limit:
        require_memory(len(unpacked) * TEXT_FACTOR, f"{shown(table)}, unpacked,")
    if len(unpacked) > limit:
        raise DataError(f"{shown(table)} would unpack to more than {limit / 2**20:,.0f} MB; load a smaller file.")
    return unpacked


def notice_ending(table: str, format_: Format, notes: Notes) -> None:
    """Say so when the name of a file ends like that of another kind."""
    expected = ENDINGS.get(Path(table.lower().removesuffix(".gz")).suffix)
    text_either_way = {expected, format_} == {"csv", "tsv"}
    if expected is not None and expected != format_ and not text_either_way:
        notes.say(f"The name ends like {TITLES[expected]}, but the content is {TITLES[format_]}; read as that.")
