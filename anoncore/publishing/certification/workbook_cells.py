"""Workbooks cell by cell, and whether one holds these cells and nothing else in any of its parts."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import cache
from itertools import permutations
from typing import Any
from xml.sax.saxutils import escape, unescape

import numpy as np
from openpyxl import LXML
from openpyxl.compat import safe_string
from openpyxl.utils.datetime import from_excel

from anoncore.base.texts import quoted
from anoncore.publishing.certification.written_cells import (
    NO_CELL,
    WrittenTable,
    first_difference,
    sheet_cell,
    unescaped,
)
from anoncore.publishing.export import EXCEL_ROWS, workbook_bytes
from anoncore.release.reading.published_table import Column, cell_text
from anoncore.sources.excel import BOOK, LARGEST_CELLS

STYLES = "xl/styles.xml"
ROWS_BEGIN, ROWS_END = b"<sheetData>", b"</sheetData>"
SAMPLES: Mapping[str, Any] = {"datetime": datetime(2000, 1, 1, 1), "date": date(2000, 1, 1), "time": time(1)}
"""A value of each kind of cell that has a format of its own."""
SHEET = re.compile(r"xl/worksheets/sheet(\d+)\.xml")
TITLE = re.compile(r'<sheet [^<>]*?name="([^"]*)"')
TOKEN = re.compile(
    rb'<row r="(?P<row>[1-9][0-9]*)">|(?P<end></row>)|'
    rb'<c r="(?P<column>[A-Z]{1,3})(?P<of>[1-9][0-9]*)"(?: s="(?P<style>[1-9][0-9]*)")? '
    rb't="(?P<kind>n|b|inlineStr)"(?:>(?P<body>.*?)</c>| />)',
    re.DOTALL,
)
"""What stands in a sheet between its begin and its end."""
TEXT = re.compile(r"<is><t( xml:space=\"preserve\")?>([^<]*)</t></is>")
NUMBER = re.compile(r"<v>(-?[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?)</v>")
PARTS = (
    ("xl/comments", "comments"),
    ("xl/threadedComments", "comments"),
    ("xl/persons", "the writers of comments"),
    ("xl/drawings", "drawings"),
    ("xl/media", "pictures"),
    ("xl/charts", "charts"),
    ("xl/pivot", "stored rows of a pivot table"),
    ("xl/externalLinks", "links to other files"),
    ("xl/vba", "a program (VBA)"),
    ("xl/sharedStrings", "texts beside the cells"),
    ("xl/printerSettings", "printer settings"),
    ("xl/tables", "tables with names and texts of their own"),
    ("xl/worksheets", "a sheet"),
    ("xl/workbook.xml", "sheets, their titles and visibility, defined names"),
    ("xl/styles.xml", "formats of cells, which can hold text"),
    ("xl/theme", "names of colours and fonts"),
    ("docProps/custom", "properties that somebody added"),
    ("docProps", "properties of the document"),
    ("customXml", "data that somebody added"),
)
"""What a part of a workbook holds, by the begin of its name."""
SHOWN = 60
MOST_SHEETS = 1_000


def read_workbook(name: str, archive: zipfile.ZipFile) -> Iterator[WrittenTable | str]:
    """The tables of a workbook, a sheet each, and what it holds besides them or holds otherwise."""
    parts = archive.namelist()
    titles = [unescape(title, {"&quot;": '"'}) for title in TITLE.findall(archive.read(BOOK).decode("utf-8"))]
    if not titles or len({title.casefold() for title in titles}) < len(titles):
        yield "has no sheet, or two of one title"
        return
    if len(titles) > MOST_SHEETS:
        yield f"has {len(titles):,} sheets, and no release has more than {MOST_SHEETS} tables"
        return
    expected, kinds = _expected(titles, archive.read(STYLES) if STYLES in parts else b"")
    added = [part for part in parts if part not in expected]
    yield from (f"holds the part {quoted(part)}{_about(part)}, which no table has" for part in added)
    if not added and parts != list(expected):
        yield "has its parts in another order than they are written in, or lacks some"
    for part, wanted in expected.items():
        content = archive.read(part) if part in parts else b""
        number = SHEET.fullmatch(part)
        if number is None:
            if content != wanted:
                where = _first(content, wanted)
                yield f"part {quoted(part)}{_about(part)} is not what is written for these tables: {where}"
            continue
        title = titles[int(number[1]) - 1]
        try:
            yield _Sheet(kinds).read(content, wanted).table(title, f"{quoted(name)}, sheet {quoted(title)}")
        except SheetError as fault:
            yield f"sheet {quoted(title)} {fault}"


def _about(part: str) -> str:
    return next((f" ({what})" for begin, what in PARTS if part.startswith(begin)), "")


def _first(content: bytes, expected: bytes) -> str:
    """What stands where two parts begin to differ."""
    same = first_difference(content, expected)
    return repr(content[max(0, same - SHOWN // 3) : same + SHOWN].decode("utf-8", errors="backslashreplace"))


def _expected(titles: Sequence[str], styles: bytes) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The parts of a workbook with sheets of these titles, and the kind of cell of each of its formats.

    A format is written where its first cell stands, so the formats come in any order.
    """
    orders = [order for number in range(len(SAMPLES) + 1) for order in permutations(SAMPLES, number)]
    kinds = next((order for order in orders if _styles(order) == styles), ())
    sheets: dict[str, list[list[Any]]] = {title: [["name"]] for title in titles}
    sheets[titles[0]].append([SAMPLES[kind] for kind in kinds])
    return dict(_parts(workbook_bytes(sheets))), kinds


@cache
def _styles(kinds: tuple[str, ...]) -> bytes:
    return dict(_parts(workbook_bytes({"sheet": [[SAMPLES[kind] for kind in kinds]]})))[STYLES]


def _parts(content: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for part in archive.namelist():
            yield part, archive.read(part)


class SheetError(ValueError):
    """What a sheet holds that no table has there."""


@dataclass
class _Sheet:
    """Reads one sheet from its first byte to its last, and stops at what no table has there."""

    kinds: tuple[str, ...]
    n_rows: int = 0
    columns: list[list[int]] = field(default_factory=list)
    numbers: dict[tuple[bytes, bytes, bytes | None], int] = field(default_factory=dict)
    cells: list[str] = field(default_factory=lambda: [NO_CELL])
    values: list[str] = field(default_factory=lambda: [""])

    def read(self, content: bytes, empty: bytes) -> _Sheet:
        """Take in the rows; `empty` is the sheet as it is written with other rows or none. Raises SheetError."""
        before, after = empty[: empty.index(ROWS_BEGIN)] + ROWS_BEGIN, empty[empty.index(ROWS_END) :]
        if not content.startswith(before):
            raise SheetError(f"does not begin as a sheet is written: {_first(content, before)}")
        at, in_row, column = len(before), False, 0
        while token := TOKEN.match(content, at):
            row = token["row"]
            if in_row == (row is not None) or (row is not None and row != b"%d" % (self.n_rows + 1)):
                break
            if row is not None:
                self.n_rows, in_row, column = self.n_rows + 1, True, 0
                if self.n_rows > EXCEL_ROWS or self.n_rows * len(self.columns) > LARGEST_CELLS:
                    raise SheetError(f"has more than {EXCEL_ROWS:,} rows or {LARGEST_CELLS:,} cells")
            elif token["end"] is not None:
                in_row = False
            else:
                column = self._cell(token, column)
            at = token.end()
        fault = ""
        if in_row:
            fault = f"row {self.n_rows} holds something else than cells"
        elif content.startswith(b"<row", at):
            fault = f"row {self.n_rows + 1} is not written as rows are"
        elif not content.startswith(ROWS_END, at):
            fault = f"holds something else than rows after row {self.n_rows}"
        if fault:
            raise SheetError(f"{fault}: {_shown(content, at)}")
        if content[at:] != after:
            raise SheetError(f"holds something else below its cells: {_first(content[at:], after)}")
        if not self.columns:
            raise SheetError("holds no table")
        return self

    def _cell(self, token: re.Match[bytes], column: int) -> int:
        """Take in a cell that may stand in this column or behind it; returns the next column. Raises SheetError."""
        number, fault = _column_number(token["column"]), ""
        key = token["style"] or b"", token["kind"], token["body"]
        if token["of"] != b"%d" % self.n_rows or number < column:
            fault = f"stands again, or in row {self.n_rows}"
        elif self.n_rows == 1 and number > column:
            fault = "stands beside the table: the column before it has no name"
        elif self.n_rows > 1 and number >= len(self.columns):
            fault = "stands beside the table"
        elif key not in self.numbers:
            written = self._content(*key)
            if written is None:
                fault = "is not written as such a cell is"
            else:
                self.numbers[key] = len(self.cells)
                self.cells.append(written[0])
                self.values.append(written[1])
        if fault:
            cell = (token["column"] + token["of"]).decode()
            raise SheetError(f"cell {cell} {fault}: {_shown(token.string, token.start())}")
        if self.n_rows == 1:
            self.columns.append([])
        cells = self.columns[number]
        cells.extend([0] * (self.n_rows - 1 - len(cells)))
        cells.append(self.numbers[key])
        return number + 1

    def _content(self, style: bytes, kind: bytes, body: bytes | None) -> tuple[str, str] | None:
        """A cell as it is written, and the text of its value; None where no such cell is written."""
        text = "" if body is None else body.decode("utf-8")
        if kind == b"inlineStr":
            return None if style else _text(text, is_empty=body is None)
        found = NUMBER.fullmatch(text)
        if found is None or safe_string(float(found[1])) != found[1] or int(style or 0) > len(self.kinds):
            return None
        number = found[1]
        if kind == b"b":
            return None if style or number not in ("0", "1") else (sheet_cell("boolean", number), str(number == "1"))
        try:
            value: Any = from_excel(float(number)) if style else float(number)
            return sheet_cell(self.kinds[int(style) - 1] if style else "number", number), cell_text(value)
        except (OverflowError, ValueError):
            return None

    def table(self, title: str, where: str) -> WrittenTable:
        """The table that was read; its first row has the names of the columns."""
        codes = [np.array([*cells, *[0] * (self.n_rows - len(cells))], dtype=np.int64) for cells in self.columns]
        labels = [self.cells[int(one[0])].removeprefix(sheet_cell("text", "")) for one in codes]
        columns = [(Column.coded(one[1:], self.cells), Column.coded(one[1:], self.values)) for one in codes]
        return WrittenTable(title, where, "excel", labels, columns, is_named=True)


def _text(body: str, is_empty: bool) -> tuple[str, str] | None:
    """A cell of text; None where it is not written as texts are."""
    if is_empty or body == "":
        return (sheet_cell("text", ""), "") if is_empty != LXML else None
    match = TEXT.fullmatch(body)
    if match is None or escape(unescape(match[2])) != match[2]:
        return None
    text = unescape(match[2])
    keeps_spaces = text != text.strip() and bool(text.strip() or LXML)
    if text == "" or keeps_spaces != bool(match[1]):
        return None
    return sheet_cell("text", text), cell_text(unescaped(text))


def _shown(content: bytes, at: int) -> str:
    return repr(content[at : at + SHOWN].decode("utf-8", errors="backslashreplace"))


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1
