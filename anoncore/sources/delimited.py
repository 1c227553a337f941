"""Text tables: comma, semicolon, tab or pipe between the values, as RFC 4180 quotes them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from anoncore.base.errors import DataError
from anoncore.sources.encoding import to_utf8
from anoncore.sources.headers import column_names, notice_numbers
from anoncore.sources.notes import Notes, shown
from anoncore.sources.values import TextRules, note_empty_rows, typed_columns

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
UNUSUAL_SEPARATORS = {" ": "spaces", ":": "colons", "^": "carets", "~": "tildes", "#": "number signs"}
SAMPLE_BYTES = 1 << 16
SAMPLE_ROWS = 200
BLOCK_BYTES = 1 << 20
LARGEST_BLOCK = (1 << 31) - 1
# A row of its own after the last one: it is swallowed when a quote was never closed.
SENTINEL = "\x1eend of table\x1e"
BLANK_LINES = re.compile(rb"\A(?:[ \t]*(?:\r\n|\r|\n))+")
SEPARATOR_LINE = re.compile(rb"\A\n*sep=(.)(?:\r\n|\r|\n)", re.IGNORECASE)


def read_delimited(
    data: bytes, table: str, notes: Notes, encoding: str | None, rules_missing: tuple[str, ...]
) -> tuple[pd.DataFrame, Literal["csv", "tsv"]]:
    """Read a text table; its first line holds the column names.

    Raises DataError when it isn't text, is empty, has no rows, has a row of another length than the header or a quote
    that is never closed, or when two columns have one name.
    """
    text = _blank_start(to_utf8(data, table, encoding, notes))
    if not text.strip():
        raise DataError(f"{shown(table)} is empty; load a file with column names and at least one row.")
    _refuse_markup(text, table)
    text, separator = _separator(text)
    header = _header(text, separator, table)
    columns = _columns(text, separator, len(header), table)
    if len(columns[0]) == 0:
        raise DataError(f"{shown(table)} holds column names but no rows; load a file with at least one row.")
    header, columns = _without_empty_columns(header, columns, notes)
    names = column_names(header, table, notes)
    notice_numbers(names, notes)
    if len(names) == 1:
        _notice_one_column(text, notes)
    rules = TextRules(comma_is_decimal=separator == ";", missing=rules_missing)
    frame = pd.DataFrame(typed_columns(names, columns, notes, rules))
    note_empty_rows(frame, notes)
    return frame, "tsv" if separator == "\t" else "csv"


def _blank_start(text: bytes) -> bytes:
    """Blank lines at the start as bare line ends, which the parser skips and which keep the line numbers right."""
    blank = BLANK_LINES.match(text)
    return text if blank is None else b"\n" * len(blank[0].splitlines()) + text[blank.end() :]


def _refuse_markup(text: bytes, table: str) -> None:
    start = text[:1000].lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        raise DataError(f"{shown(table)} is a web page or XML, not a table; save the table itself as CSV.")
    if re.match(rb'\{\s*"|\[\s*[\[{]', start):
        raise DataError(f"{shown(table)} looks like JSON; save the table as CSV, Parquet or Excel.")


def _separator(text: bytes) -> tuple[bytes, str]:
    """The separator of the first line `sep=;` that Excel writes, else the one that fits most rows best."""
    declared = SEPARATOR_LINE.match(text)
    if declared and declared[1].decode("latin-1") in SEPARATORS:
        line_ends = declared[0].count(b"\n", 0, declared.start(1)) + 1
        return b"\n" * line_ends + text[declared.end() :], declared[1].decode()
    sample = text[:SAMPLE_BYTES].decode("utf-8", errors="ignore")
    return text, max(SEPARATORS, key=lambda separator: _fit(sample, separator, cut=len(text) > SAMPLE_BYTES))


def _fit(sample: str, separator: str, *, cut: bool) -> tuple[float, int]:
    """Share of rows that have as many values as the header, and that number; (0, 1) for one column."""
    rows = [row for row in islice(_rows(sample, separator), SAMPLE_ROWS + 1) if row]
    if cut and len(rows) > 2:
        rows = rows[:-1]
    width = len(rows[0]) if rows else 0
    if width < 2:
        return 0.0, 1
    return sum(len(row) == width for row in rows) / len(rows), width


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _header(text: bytes, separator: str, table: str) -> list[str]:
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")
    try:
        return next(row for row in csv.reader(lines, delimiter=separator) if row)
    except (csv.Error, StopIteration):
        raise DataError(f"The first line of {shown(table)} cannot be read as column names.") from None


def _columns(text: bytes, separator: str, width: int, table: str) -> list[pa.ChunkedArray]:
    """Values of the rows below the header, one array of n texts per column."""
    end = "\n" + separator * (width - 1) + f'"{SENTINEL}"\n'
    closed = text + end.encode()
    block = min(max(BLOCK_BYTES, len(closed) // 64), LARGEST_BLOCK)
    try:
        parsed = _parse(closed, separator, width, block)
    except pa.ArrowInvalid as error:
        if "straddling" not in str(error):
            raise _row_error(text, separator, width, table) from None
        try:
            parsed = _parse(closed, separator, width, min(len(closed) + 1, LARGEST_BLOCK))
        except pa.ArrowInvalid:
            raise _row_error(text, separator, width, table) from None
    if parsed.column(width - 1)[-1].as_py() != SENTINEL:
        raise _row_error(text, separator, width, table)
    return parsed.slice(1, parsed.num_rows - 2).columns


def _parse(text: bytes, separator: str, width: int, block: int) -> pa.Table:
    names = [str(position) for position in range(width)]

    def on_other_width(row: pa_csv.InvalidRow) -> str:
        return "error" if row.text.strip() else "skip"

    return pa_csv.read_csv(
        pa.BufferReader(text),
        read_options=pa_csv.ReadOptions(column_names=names, block_size=block),
        parse_options=pa_csv.ParseOptions(
            delimiter=separator, newlines_in_values=True, invalid_row_handler=on_other_width
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=False
        ),
    )


def _row_error(text: bytes, separator: str, width: int, table: str) -> DataError:
    """Find the first row whose number of values isn't the header's or whose quote stays open, and name its line."""
    rows = csv.reader(io.StringIO(f"{text.decode()}\n{SENTINEL}", newline=""), delimiter=separator)
    line = 0
    try:
        for row in rows:
            if row == [SENTINEL]:
                break
            if row and row[-1].endswith(SENTINEL):
                return DataError(
                    f"A quote that opens on line {line + 1} of {shown(table)} is never closed; "
                    "close it, or load the complete file."
                )
            if len(row) != width and any(map(str.strip, row)):
                name = SEPARATORS[separator]
                return DataError(
                    f"Line {line + 1} of {shown(table)} has {_values(len(row))}, but the header has {width} column"
                    f"{'' if width == 1 else 's'} "
                    f"({name} as separator); put quotes around values that hold a {name}, or correct the line."
                )
            line = rows.line_num
    except csv.Error:
        return DataError(f"{shown(table)} cannot be read from line {line + 1} on; a quote there may never be closed.")
    return DataError(f"{shown(table)} cannot be split into rows of {_values(width)}; check its quotes and separators.")


def _without_empty_columns(
    header: list[str], columns: list[pa.ChunkedArray], notes: Notes
) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Leave out columns with neither a name nor a value, as a separator at the end of every line makes them."""
    kept = [
        position
        for position, (name, column) in enumerate(zip(header, columns, strict=True))
        if name.strip() or any(text.strip() for text in column.unique().to_pylist())
    ]
    dropped = len(header) - len(kept)
    if dropped and kept:
        notes.say(f"{dropped} column{'s' if dropped > 1 else ''} with neither a name nor a value left out.")
        return [header[position] for position in kept], [columns[position] for position in kept]
    return header, columns


def _notice_one_column(text: bytes, notes: Notes) -> None:
    lines = text[:SAMPLE_BYTES].decode("utf-8", errors="ignore").split("\n")[:SAMPLE_ROWS]
    lines = [line.strip() for line in lines if line.strip()]
    for mark, title in UNUSUAL_SEPARATORS.items():
        if mark in lines[0] and len({line.count(mark) for line in lines[:-1]}) == 1 and len(lines) > 1:
            notes.say(
                f"Only one column was found, but every line holds {title}; if they separate the values, "
                "save the file with commas instead."
            )
            return
    notes.say("Only one column was found; the values may be separated by something else than , ; tab or |.")


def _values(number: int) -> str:
    return f"{number} value" + ("" if number == 1 else "s")
