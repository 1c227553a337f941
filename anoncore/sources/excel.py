"""Excel workbooks (.xlsx): one sheet, its first used row as the header."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any

import pandas as pd
import pyarrow as pa

from anoncore.base.errors import DataError
from anoncore.base.extras import imported
from anoncore.base.memory import CELL_BYTES, TEXT_FACTOR, require_memory
from anoncore.sources.headers import column_names, require_few_columns
from anoncore.sources.inference import TextRules
from anoncore.sources.notes import Notes, listed, shown
from anoncore.sources.values import empty_rows, note_empty_rows, typed_frame

LARGEST_ROWS = 1_048_576
LARGEST_CELLS = 100_000_000
XML_FACTOR = 5
"""Memory that a byte of an unpacked workbook takes while it is read."""
SHARED_FACTOR = 14
"""The same of a byte of the texts that a workbook keeps apart from its cells."""
AROUND = ("[Content_Types].xml", "_rels/", "docProps/", "xl/_rels/", "xl/workbook.xml", "xl/styles.xml", "xl/theme/")
"""What a workbook says of itself beside its cells."""
LARGEST_AROUND = 8 << 20
"""Bytes of one such part: all 65,490 formats of cells that Excel takes need less."""
BOOK = "xl/workbook.xml"
"""The part that every workbook has."""
READING = "Reading a workbook"
"""What needs openpyxl, in a sentence."""
FORMULA_ERRORS = ("#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
# Characters that XML cannot hold are written _x0001_ (ECMA-376, 22.9.2.19, ST_Xstring).
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


def read_excel(
    data: bytes, table: str, notes: Notes, sheet: str | int | None, rules: TextRules, unpacked_limit: int
) -> pd.DataFrame:
    """Read one sheet: `sheet` by name or position (0 is the first), the first one if None.

    Numbers, dates and True/False keep the type of their cells; texts are interpreted as in a CSV file; formulas give
    the result that was stored. Raises DataError when the file is damaged, protected, of another kind, too large when
    unpacked, or has no such sheet, and when the sheet has no header or no rows.
    """
    _check_archive(data, table, unpacked_limit)
    title, rows = _rows(data, table, notes, sheet)
    where = f"Sheet {shown(title)} of {shown(table)}"
    if not rows:
        raise DataError(f"{where} is empty; load a sheet with column names and at least one row.")
    if len(rows) == 1:
        raise DataError(f"{where} holds column names but no rows; load a sheet with at least one row.")
    width = max(map(len, rows))
    require_few_columns(width, table)
    # A text that is stored once may stand in every cell.
    letters = sum(len(cell) for row in rows for cell in row if isinstance(cell, str))
    if letters > unpacked_limit:
        raise DataError(
            f"{where} holds more than {unpacked_limit / 2**20:,.0f} MB of text; take fewer rows or columns."
        )
    require_memory(letters * TEXT_FACTOR + width * len(rows) * CELL_BYTES, where)
    header, columns = _columns(rows, width)
    names = column_names(header, table, notes)
    rules = replace(rules, missing=(*FORMULA_ERRORS, *rules.missing))
    frame = typed_frame(names, columns, notes, rules)
    note_empty_rows(empty_rows(frame), notes)
    return frame


def sheet_titles(data: bytes, table: str, unpacked_limit: int) -> tuple[str, ...]:
    """The titles of a workbook's sheets, in their order. Raises DataError for bytes that are no workbook."""
    _check_archive(data, table, unpacked_limit)
    with _opened(data, table) as book:
        return tuple(each.title for each in book.worksheets)


@contextmanager
def _opened(data: bytes, table: str) -> Iterator[Any]:
    """The workbook, whose parts are read as they are asked for. Raises DataError where one is damaged."""
    openpyxl = imported("openpyxl", READING)
    try:
        with warnings.catch_warnings():
            # It warns of styles, validations and images that it leaves out; none of them is part of the table.
            warnings.simplefilter("ignore")
            yield openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except DataError:
        raise
    except Exception:
        # The parsers raise nearly anything on a file that is cut short or changed.
        raise _damaged(table) from None


def _check_archive(data: bytes, table: str, unpacked_limit: int) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, OverflowError):
        raise _damaged(table) from None
    names = {member.filename for member in members}
    if "xl/workbook.bin" in names:
        raise DataError(f"{shown(table)} is a binary Excel workbook (.xlsb); save it as .xlsx.")
    if BOOK not in names and "[Content_Types].xml" not in names:
        raise DataError(f"{shown(table)} is a zip archive without an Excel workbook; unpack it and load one table.")
    if sum(member.file_size for member in members) > unpacked_limit:
        raise DataError(
            f"{shown(table)} would unpack to more than {unpacked_limit / 2**20:,.0f} MB; save it as CSV or Parquet."
        )
    for member in members:
        if member.file_size > LARGEST_AROUND and member.filename.startswith(AROUND):
            raise DataError(
                f"{shown(table)} says {member.file_size / 2**20:,.0f} MB of its formats and properties "
                f"({shown(member.filename)}), more than any table needs; save the sheet as CSV."
            )
    shared = sum(member.file_size for member in members if member.filename.startswith("xl/sharedStrings"))
    whole = sum(member.file_size for member in members)
    require_memory(XML_FACTOR * whole + (SHARED_FACTOR - XML_FACTOR) * shared, shown(table))


def _rows(data: bytes, table: str, notes: Notes, sheet: str | int | None) -> tuple[str, list[list[Any]]]:
    """Title and cells of the sheet: rows as long as their last used cell, no unused rows at the start and the end."""
    with _opened(data, table) as book:
        chosen = book.worksheets[_choose([each.title for each in book.worksheets], table, notes, sheet)]
        # The size that the file declares may be wrong.
        chosen.reset_dimensions()
        return chosen.title, _used(chosen.iter_rows(values_only=True), table)


def _choose(titles: Sequence[str], table: str, notes: Notes, sheet: str | int | None) -> int:
    if not titles:
        raise DataError(f"{shown(table)} has no sheet with cells.")
    every = listed([shown(title) for title in titles])
    if isinstance(sheet, str) and sheet in titles:
        chosen = titles.index(sheet)
    elif isinstance(sheet, str) or not 0 <= (sheet or 0) < len(titles):
        raise DataError(f"{shown(table)} has no sheet {shown(sheet)}; it has {every}.")
    else:
        chosen = sheet or 0
    if len(titles) > 1:
        advice = "" if sheet is not None else " Name another sheet to read that one."
        notes.say(f"Sheet {shown(titles[chosen])} was read; the file has {every}.{advice}")
    return chosen


def _used(rows: Iterable[Sequence[Any]], table: str) -> list[list[Any]]:
    used: list[list[Any]] = []
    last = seen = longest = 0
    for row in rows:
        cells = list(row)
        while cells and cells[-1] in (None, ""):
            cells.pop()
        if cells or used:
            used.append(cells)
        if cells:
            last = len(used)
        if len(used) > LARGEST_ROWS:
            raise DataError(f"{shown(table)} has more rows than an Excel sheet can hold; it is damaged.")
        seen, longest = seen + len(cells), max(longest, len(cells))
        if seen > LARGEST_CELLS or longest * len(used) > LARGEST_CELLS:
            raise DataError(f"{shown(table)} has more than {LARGEST_CELLS:,} cells; save it as CSV or Parquet.")
    return used[:last]


def _columns(rows: list[list[Any]], width: int) -> tuple[list[Any], list[pa.ChunkedArray]]:
    """Names and texts of the columns that have a name or a value."""
    header: list[Any] = []
    columns: list[pa.ChunkedArray] = []
    for position in range(width):
        name, *cells = [row[position] if position < len(row) else None for row in rows]
        texts = [_text(cell) for cell in cells]
        if (name is not None and str(name).strip()) or any(text.strip() for text in texts):
            header.append(_unescaped(name) if isinstance(name, str) else name)
            columns.append(pa.chunked_array([pa.array(texts, pa.large_string())]))
    return header, columns


def _text(cell: Any) -> str:
    """The value of a cell as a CSV file would write it."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return _unescaped(cell)
    if isinstance(cell, (datetime, date, time)):
        return cell.isoformat().removesuffix("T00:00:00")
    return repr(cell) if isinstance(cell, float) else str(cell)


def _unescaped(text: str) -> str:
    return ESCAPED.sub(lambda match: _character(match[1]), text) if "_x" in text else text


def _character(digits: str) -> str:
    code = int(digits, 16)
    return f"_x{digits}_" if 0xD800 <= code < 0xE000 else chr(code)


def _damaged(table: str) -> DataError:
    return DataError(f"{shown(table)} is incomplete or damaged, or protected by a password; save it again as .xlsx.")
