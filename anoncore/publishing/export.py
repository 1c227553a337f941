"""Published tables as files: CSV, Parquet or Excel, without formulas and never half-written."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.extras import imported
from anoncore.base.pandas_versions import is_arrow_text
from anoncore.base.texts import FORMULA, MOST_DIGITS
from anoncore.base.whole_files import replace_file
from anoncore.release.reading.published_table import duration_text
from anoncore.table.given_table import as_pandas

if TYPE_CHECKING:
    import pyarrow as pa

FileFormat = Literal["csv", "parquet", "excel"]
"""The formats in which tables are written."""

WRITING_WORKBOOK = "Writing a workbook"
"""What needs openpyxl, in a sentence."""
EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_CHARACTERS, EXCEL_DIGITS = 1_048_576, 16_384, 32_767, 15
SHEET_CHARACTERS = 31
# What XML 1.0 cannot hold, or would change, is written _x0001_ in a workbook, as Excel does (ECMA-376, ST_Xstring).
ESCAPED = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
NO_FORMULA = "^[0-9A-Za-z]"
"""How a text begins that no spreadsheet runs, as Arrow looks for it."""
SURROGATE = re.compile(r"[\ud800-\udfff]")
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
ZIP_RIGHTS = 0o644 << 16
ENDINGS: Mapping[FileFormat, str] = {"csv": ".csv", "parquet": ".parquet", "excel": ".xlsx"}
"""How the name of a file with one table ends; several tables are a zip of such files, or the sheets of a workbook."""
ARCHIVE = ".zip"
PROPERTIES = "docProps/core.xml"
WRITTEN_AT = re.compile(rb"(?<=>)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ(?=<)")
FIXED_TIME = b"1980-01-01T00:00:00Z"
RESERVED_FILES = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])")


@checked
def write_tables(tables: Mapping[str, Any], target: str | Path | BinaryIO, format: FileFormat) -> None:
    """Write published tables to one file; their row labels are left out.

    One CSV or Parquet table is that file, several are a zip with fixed times; Excel gets one sheet each. CSV is UTF-8
    with CRLF line ends (RFC 4180). Texts and column names in CSV and Excel are guarded by `safe_cells`; Parquet has no
    formulas and keeps texts as they are. Excel gets what it cannot hold exactly as text: whole numbers of more than 15
    digits, infinities, dates before 1900 or with a time zone. A file that exists is replaced only when the whole new
    one is written.

    Parameters
    ----------
    tables : mapping of str to DataFrame, LazyFrame, Arrow table or DuckDB relation
        The tables by name, such as `Release.tables` gives them.
    target : str, path or binary file
        Where to write.
    format : {"csv", "parquet", "excel"}
        The format of the file.

    Raises
    ------
    ParameterError
        For an unknown format.
    DataError
        For no tables, and for a table that the format cannot hold.

    Examples
    --------
    >>> import io
    >>> from anoncore.publishing import write_tables
    >>> file = io.BytesIO()
    >>> write_tables({"people": pd.DataFrame({"age": ["20-29"], "note": ["=1+1"]})}, file, "csv")
    >>> file.getvalue().decode().splitlines()
    ['age,note', "20-29,'=1+1"]
    """
    content = table_file("", tables, format)[1]
    if isinstance(target, (str, Path)):
        replace_file(Path(target), content)
    else:
        target.write(content)


def table_file(name: str, tables: Mapping[str, Any], format: FileFormat, zipped: bool = False) -> tuple[str, bytes]:
    """The one file of some tables with its name: a zip where a file of the format holds one table only.

    `zipped` makes a zip of a single CSV or Parquet table, too. Raises what `write_tables` does.
    """
    contents = file_contents(tables, format)
    if len(contents) > 1 or (zipped and format != "excel"):
        return f"{name}{ARCHIVE}", archive_bytes(contents.items())
    return f"{name}{ENDINGS[format]}", next(iter(contents.values()))


def file_contents(tables: Mapping[str, Any], format: FileFormat) -> dict[str, bytes]:
    """The files that tables make, by the names that these have in a zip; a workbook has all of them.

    Raises what `write_tables` does.
    """
    if format not in ENDINGS:
        raise ParameterError(f"There is no file format '{format}'; use csv, parquet or excel.")
    if not tables:
        raise DataError("There is no table to write.")
    frames = {name: as_pandas(table) for name, table in tables.items()}
    for name, frame in frames.items():
        check_table(name, frame)
    if format == "excel":
        return {f"tables{ENDINGS[format]}": _excel(frames)}
    contents = [
        csv_bytes(one) if format == "csv" else parquet_bytes(parquet_table(name, one)) for name, one in frames.items()
    ]
    return dict(zip((f"{name}{ENDINGS[format]}" for name in member_names(frames)), contents, strict=True))


@checked
def safe_cells(frame: Any) -> pd.DataFrame:
    """A copy of a table in which a spreadsheet runs no text as a formula: an apostrophe comes before it.

    Guarded are texts, categories and column names whose first character is = + - @ tab or a line end, also behind
    spaces and quotes. Different texts stay different. Numbers, dates and all else stay as they are, negative numbers
    included; a negative number that is text is guarded.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, Arrow table or DuckDB relation
        The table, which is not changed.

    Returns
    -------
    DataFrame
        The guarded copy, in pandas.

    References
    ----------
    OWASP, "CSV Injection".

    Examples
    --------
    >>> from anoncore.publishing import safe_cells
    >>> safe_cells(pd.DataFrame({"note": ["=1+1", "fine"], "change": [-1, 2]}))
        note  change
    0  '=1+1      -1
    1   fine       2
    """
    frame = as_pandas(frame)
    safe = frame.copy()
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if isinstance(column.dtype, pd.CategoricalDtype):
            renamed = column.cat.rename_categories([guarded(value) for value in column.cat.categories])
            safe.isetitem(position, renamed.array)
        elif _may_hold_text(column):
            guards = {value: guarded(value) for value in _texts(column, NO_FORMULA) if FORMULA.match(value)}
            if guards:
                cells = [guards.get(value, value) if isinstance(value, str) else value for value in column]
                # Only a Series keeps its dtype here; bare objects would be turned into what they look like.
                safe_column: Any = pd.Series(cells, index=column.index, dtype=column.dtype)
                safe.isetitem(position, safe_column)
    safe.columns = pd.Index([guarded(name) for name in frame.columns], name=frame.columns.name)
    return safe


def guarded(value: Any) -> Any:
    """A text as `safe_cells` guards it; anything else as it is."""
    return "'" + value if isinstance(value, str) and FORMULA.match(value) else value


def _may_hold_text(column: pd.Series[Any]) -> bool:
    return column.dtype == object or isinstance(column.dtype, (pd.StringDtype, pd.CategoricalDtype))


def _texts(column: pd.Series[Any], passed_over: str = "") -> Iterable[str]:
    """Distinct texts that occur in a column; where Arrow holds them, without most that begin as `passed_over` says."""
    if column.dtype == object:
        return {value for value in column if isinstance(value, str)}
    if not _is_held_by_arrow(column):
        return (value for value in column.unique() if isinstance(value, str))
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array(column).unique().drop_null()
    if passed_over:
        texts = texts.filter(pc.invert(pc.match_substring_regex(texts, passed_over)))
    return list(texts.to_pylist())


def _is_held_by_arrow(column: pd.Series[Any]) -> bool:
    """Whether Arrow holds the texts of a column, which then are whole texts."""
    return is_arrow_text(column.dtype)


def check_table(table: str, frame: pd.DataFrame) -> None:
    """Raise DataError for a table that no file can hold: two columns of one name, or half a character."""
    if not frame.columns.astype(str).is_unique:
        raise DataError(f"Table '{table}' has columns of the same name; give every column its own name.")
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        may_be_cut = _may_hold_text(column) and not _is_held_by_arrow(column)
        for text in (str(column.name), *(_texts(column) if may_be_cut else ())):
            if SURROGATE.search(text):
                raise DataError(
                    f"Column {column.name!a} of table '{table}' holds the text {text[:40]!a} with half a character "
                    "(a surrogate), which no file can hold; correct the text."
                )


def archive_bytes(members: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip of members by name that says nothing of when, where and by whom it was made."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            info = zipfile.ZipInfo(name, ZIP_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = ZIP_RIGHTS
            file.writestr(info, content)
    return archive.getvalue()


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """The CSV file of a table."""
    # A negative duration is text to a spreadsheet, which would run it, so that it is written out before it is guarded.
    safe = safe_cells(_with_texts(frame, timedelta, duration_text))
    # With \n as line end, Python's writer would leave a text with \r without quotes.
    return _with_texts(safe, Decimal, written_out).to_csv(index=False, lineterminator="\r\n").encode("utf-8")


def _with_texts(frame: pd.DataFrame, kind: type, text: Callable[[Any], Any]) -> pd.DataFrame:
    """The table with values of a kind as texts, each in the same form, whatever others its column has."""
    written = frame.copy(deep=False)
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        may_be = column.dtype == object or (kind is timedelta and column.dtype.kind == "m")
        if may_be and any(isinstance(value, kind) for value in column):
            texts = [text(value) if isinstance(value, kind) else value for value in column]
            cells: Any = pd.Series(texts, index=column.index, dtype=object)
            written.isetitem(position, cells)
    return written


def written_out(value: Any) -> Any:
    """A decimal with all digits before its point, as a Parquet file gives it: 1E+16 has an exponent; all else as it is.

    A program that reads 1E+16 takes it for a floating-point number.
    """
    if not isinstance(value, Decimal) or not value.is_finite() or "E+" not in str(value):
        return value
    return format(value, "f") if value.adjusted() < MOST_DIGITS else value


def parquet_table(name: str, frame: pd.DataFrame) -> pa.Table:
    """A table as a Parquet file gets it. Raises DataError for values that no type of Parquet holds."""
    import pyarrow as pa

    arrays = [parquet_array(frame.iloc[:, position], name) for position in range(frame.shape[1])]
    # Built from arrays, the file has no metadata: that of a frame would publish its row labels and attrs.
    return pa.table(arrays, names=[str(column) for column in frame.columns])


def parquet_array(column: pd.Series[Any], table: str) -> pa.Array:
    """A column as a Parquet file gets it. Raises DataError for values that no type of Parquet holds."""
    import pyarrow as pa

    # A dictionary would also publish the categories that don't occur.
    values: Any = np.asarray(column) if isinstance(column.dtype, pd.CategoricalDtype) else column
    try:
        array = pa.array(values, from_pandas=True)
        return array.cast(kept_type(array.type))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise DataError(
            f"Column '{column.name}' of table '{table}' holds values of several types or of one that Parquet does not "
            "know; turn them into text, or write CSV."
        ) from None


@cache
def kept_type(kind: pa.DataType) -> pa.DataType:
    """The type in which a Parquet file gives back values of a type: points in time to the second become milliseconds.

    A file would hold such values in a type that it knows, and name the one they came in besides. Whoever reads its
    table and writes it again gets another file, so that it could not be told from one that hides something.
    Raises ArrowException for a type that Parquet does not know.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(kind, pa.BaseExtensionType):
        raise pa.ArrowNotImplementedError(f"{kind} has no meaning outside the program that made it")
    if pa.types.is_dictionary(kind):
        return kept_type(kind.value_type)
    if pa.types.is_string(kind):
        # Which of the two types of text Arrow takes depends on how pandas holds texts, and so on its version.
        return pa.large_string()
    content = parquet_bytes(pa.table([pa.array([], kind)], names=["values"]))
    return pq.read_schema(pa.BufferReader(content)).field(0).type


def parquet_bytes(table: pa.Table) -> bytes:
    """The Parquet file of a table."""
    import pyarrow.parquet as pq

    content = io.BytesIO()
    pq.write_table(table, content)
    return content.getvalue()


def _excel(tables: Mapping[str, pd.DataFrame]) -> bytes:
    # All cells come first: a sheet that was begun cannot be given up cleanly.
    sheets = []
    for name, frame in tables.items():
        check_sheet_size(name, *frame.shape)
        safe = safe_cells(frame)
        sheets.append([sheet_cells(safe.iloc[:, position], name) for position in range(safe.shape[1])])
    return workbook_bytes(
        {title: zip(*columns, strict=True) for title, columns in zip(sheet_titles(tables), sheets, strict=True)}
    )


def workbook_bytes(sheets: Mapping[str, Iterable[Iterable[Any]]]) -> bytes:
    """The workbook that has these rows of cells in sheets by title, the same at whatever time it is written."""
    openpyxl, cells = imported("openpyxl", WRITING_WORKBOOK), imported("openpyxl.cell.cell", WRITING_WORKBOOK)
    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = "anoncore"
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)

        def as_text(value: Any, sheet: Any = sheet) -> Any:
            """A new cell for every text that looks like an error: openpyxl writes the rest of the row with it."""
            if not isinstance(value, str) or value not in cells.ERROR_CODES:
                return value
            cell = cells.WriteOnlyCell(sheet, value=value)
            cell.data_type = "s"
            return cell

        for row in rows:
            sheet.append([as_text(value) for value in row])
    content = io.BytesIO()
    book.save(content)
    with zipfile.ZipFile(content) as archive:
        parts = ((name, archive.read(name)) for name in archive.namelist())
        # A fixed time stands in place of that at which it was written.
        return archive_bytes(
            (name, WRITTEN_AT.sub(FIXED_TIME, part) if name == PROPERTIES else part) for name, part in parts
        )


def check_sheet_size(name: str, rows: int, columns: int) -> None:
    """Raise DataError for a table that is too large for a sheet."""
    if rows >= EXCEL_ROWS or columns > EXCEL_COLUMNS:
        raise DataError(
            f"Table '{name}' has {rows:,} rows and {columns:,} columns, but an Excel sheet holds at most "
            f"{EXCEL_ROWS - 1:,} rows below the header and {EXCEL_COLUMNS:,} columns; write CSV or Parquet instead."
        )


def sheet_cells(column: pd.Series[Any], table: str) -> list[Any]:
    """The cells of a guarded column as a workbook can hold them, with its name on top; None where one is missing."""
    cells: list[Any] = [escaped_text(str(column.name), table, str(column.name))]
    if _is_held_by_arrow(column):
        texts = [value if type(value) is str else None for value in column.tolist()]
        known = [text for text in texts if text is not None]
        if max(map(len, known), default=0) <= EXCEL_CHARACTERS and not ESCAPED.search("\n".join(known)):
            return [*cells, *texts]
    missing = column.isna().to_numpy()
    escaped: dict[str, str] = {}
    for value, absent in zip(column.astype(object), missing, strict=True):
        content = value if type(value) is str else None if absent else _sheet_value(value)
        if isinstance(content, str):
            if content not in escaped:
                escaped[content] = escaped_text(content, table, str(column.name))
            content = escaped[content]
        cells.append(content)
    return cells


def _sheet_value(value: Any) -> Any:
    """The value as a cell can hold it exactly: text, True/False, a number, a date or time; all else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 10**EXCEL_DIGITS else str(value)
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    # Excel knows no time finer than a millisecond.
    fine = isinstance(value, (datetime, time)) and value.microsecond % 1000 != 0
    if isinstance(value, (datetime, date)):
        # Excel counts a 29 February 1900 that never was, and knows no time zones.
        zoned = isinstance(value, datetime) and value.tzinfo is not None
        as_text = zoned or (value.year, value.month) < (1900, 3) or fine or getattr(value, "nanosecond", 0) != 0
        if as_text:
            return value.isoformat()
        return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value
    if isinstance(value, timedelta):
        return guarded(duration_text(value))
    return value if isinstance(value, time) and not fine else guarded(str(written_out(value)))


def escaped_text(text: str, table: str, column: str) -> str:
    """A text as a workbook's cell holds it. Raises DataError for one that is too long."""
    escaped = ESCAPED.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
    if len(escaped) > EXCEL_CHARACTERS:
        raise DataError(
            f"Column '{column[:40]}' of table '{table}' holds a text of {len(text):,} characters, but an Excel "
            f"cell holds at most {EXCEL_CHARACTERS:,}; write CSV or Parquet instead."
        )
    return escaped


def sheet_titles(names: Iterable[str]) -> list[str]:
    """The titles of the sheets that tables of these names get."""
    return _distinct(names, _sheet_name, SHEET_CHARACTERS, " ")


def member_names(names: Iterable[str]) -> list[str]:
    """The names that tables get inside a zip, without their ending."""
    return _distinct(names, _member_name, 100, "_")


def _sheet_name(name: str) -> str:
    cleaned = re.sub(r"[\[\]:*?/\\\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]", "_", name)[:SHEET_CHARACTERS]
    cleaned = cleaned.strip().strip("'")
    return f"{cleaned}_" if cleaned.lower() == "history" else cleaned or "Sheet"


def _member_name(name: str) -> str:
    cleaned = re.sub(r"[^\w.\- ]", "_", name).strip(". ")
    return (
        f"_{cleaned}" if RESERVED_FILES.fullmatch(cleaned.split(".")[0]) or cleaned[:1] == "-" else cleaned or "table"
    )


def _distinct(names: Iterable[str], clean: Callable[[str], str], longest: int, gap: str) -> list[str]:
    """Cleaned names, at most `longest` characters, all different even where case does not count."""
    taken: set[str] = set()
    result = []
    for name in names:
        cleaned = candidate = clean(str(name))[:longest]
        number = 1
        while candidate.casefold() in taken:
            number += 1
            suffix = f"{gap}({number})" if gap == " " else f"{gap}{number}"
            candidate = cleaned[: longest - len(suffix)] + suffix
        taken.add(candidate.casefold())
        result.append(candidate)
    return result
