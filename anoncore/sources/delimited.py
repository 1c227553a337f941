"""Text tables: comma, semicolon, tab or pipe between the values, as RFC 4180 quotes them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import BinaryIO, Literal, TextIO

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from anoncore.base.errors import DataError
from anoncore.base.memory import CELL_BYTES, require_memory
from anoncore.sources.encoding import ChunkStream, OpenBytes, text_encoding, utf8_chunks
from anoncore.sources.headers import MOST_COLUMNS, column_names, notice_numbers, require_few_columns
from anoncore.sources.inference import TextRules
from anoncore.sources.notes import Notes, shown
from anoncore.sources.values import empty_rows, note_empty_rows, typed_frame

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
UNUSUAL_SEPARATORS = {" ": "spaces", ":": "colons", "^": "carets", "~": "tildes", "#": "number signs"}
SAMPLE_BYTES = 1 << 16
SAMPLE_ROWS = 200
MOST_BLANK = 1 << 20
"""Bytes of blank lines that may stand before the column names."""
LONGEST_HEADER = 1 << 22
"""Characters of the column names together: 400 for each of as many columns as a table may have."""
BLOCK_BYTES = (1 << 22, 1 << 25, 1 << 28)
"""How much the parser takes at a time, which a row has to fit in; the larger ones are for longer rows."""
# A row of its own after the last one: it is swallowed when a quote was never closed.
SENTINEL = "\x1eend of table\x1e"
BLANK_LINES = re.compile(rb"\A(?:[ \t]*(?:\r\n|\r|\n))+")
SURELY_DECIMAL = re.compile(r"[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:[.][0-9]{3})+),(?:[0-9]{1,2}|[0-9]{4,})")
"""A number whose comma separates no thousands."""
SEPARATOR_LINE = re.compile(rb"\A\n*sep=(.)(?:\r\n|\r|\n)", re.IGNORECASE)


class TextFile:
    """A text table whose bytes are read as a stream, as often as asked for.

    `separator` stands between its values and `header` holds the names in its first line, one or more, as they are.
    Raises DataError when the file isn't text or is empty, or has more columns than a table may have.
    """

    def __init__(self, opened: OpenBytes, table: str, notes: Notes, encoding: str | None = None) -> None:
        self.table = table
        self._open_bytes = opened
        self._encoding = text_encoding(opened, table, encoding, notes)
        head = self._head()
        if not head.strip():
            raise DataError(f"{shown(table)} is empty; load a file with column names and at least one row.")
        begin = _blank_start(head)
        _refuse_markup(begin, table)
        begin, self.separator = _separator(begin)
        self._blank_lines = len(begin) - len(begin.lstrip(b"\n"))
        self._skipped = len(head) - (len(begin) - self._blank_lines)
        self.sample = begin[:SAMPLE_BYTES].decode("utf-8", errors="ignore")
        self.header = self._header()

    @property
    def comma_is_decimal(self) -> bool:
        """Whether commas in numbers are likely decimal marks: between semicolons, and where no separator is a comma and
        the first rows have a number such as 1,5, which no thousands are written like.
        """
        if self.separator in ";,":
            return self.separator == ";"
        cells = (cell.strip() for row in islice(_rows(self.sample, self.separator), SAMPLE_ROWS) for cell in row)
        return any(SURELY_DECIMAL.fullmatch(cell) for cell in cells)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows below the header, as columns of texts without nulls; an empty cell is "".

        Raises DataError when a row has another length than the header, or a quote is never closed.
        """
        done = 0
        for block in BLOCK_BYTES:
            try:
                for batch in self._parsed(block, done):
                    done += batch.num_rows
                    yield batch
                return
            except pa.ArrowInvalid as error:
                if "straddling" not in str(error):
                    break
        raise self._row_error()

    def _parsed(self, block: int, done: int) -> Iterator[pa.RecordBatch]:
        """The rows from row `done` on; a row that is longer than the block raises ArrowInvalid."""
        width = len(self.header)
        names = [str(position) for position in range(width)]
        reader = pa_csv.open_csv(
            self._stream(b"\n" + self.separator.encode() * (width - 1) + b'"' + SENTINEL.encode() + b'"\n'),
            read_options=pa_csv.ReadOptions(column_names=names, block_size=block),
            parse_options=pa_csv.ParseOptions(
                delimiter=self.separator,
                newlines_in_values=True,
                invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=False
            ),
        )
        with reader:
            skipped, last = done + 1, None  # the header is a row for the parser
            for batch in reader:
                if not batch.num_rows:
                    continue
                if last is not None:
                    yield last
                last = batch.slice(skipped)
                skipped = max(skipped - batch.num_rows, 0)
                if not last.num_rows:
                    last = None
        if last is None or last.column(width - 1)[-1].as_py() != SENTINEL:
            raise pa.ArrowInvalid("The row after the last one is missing.")
        if last.num_rows > 1:
            yield last.slice(0, last.num_rows - 1)

    def _stream(self, end: bytes) -> BinaryIO:
        """The text as UTF-8 from the header on, after as many empty lines as stand before it, and the end."""

        def chunks() -> Iterator[bytes]:
            yield b"\n" * self._blank_lines
            left = self._skipped
            for chunk in utf8_chunks(self._open_bytes, self._encoding):
                yield chunk[left:]
                left = max(left - len(chunk), 0)
            yield end

        return io.BufferedReader(ChunkStream(chunks()), 1 << 20)

    def _head(self) -> bytes:
        """The begin of the text, a sample beyond all its blank lines."""
        head, seen = bytearray(), 0
        for chunk in utf8_chunks(self._open_bytes, self._encoding):
            head += chunk
            seen += len(chunk) if seen else len(chunk.lstrip())
            if seen > SAMPLE_BYTES:
                break
            if not seen and len(head) > MOST_BLANK:
                raise DataError(f"{shown(self.table)} begins with more than 1 MB of blank lines; leave them out.")
        return bytes(head)

    def _lines(self, end: str) -> TextIO:
        return io.TextIOWrapper(self._stream(end.encode()), encoding="utf-8", newline="")

    def _header(self) -> list[str]:
        try:
            header = next(row for row in csv.reader(self._first_lines(), delimiter=self.separator) if row)
        except (csv.Error, StopIteration):
            raise DataError(f"The first line of {shown(self.table)} cannot be read as column names.") from None
        require_few_columns(len(header), self.table)
        return header

    def _first_lines(self) -> Iterator[str]:
        """The lines until the header ends, of which no more is read than a header may have."""
        text, left = self._lines(""), LONGEST_HEADER
        while line := text.readline(left + 1):
            # The blank lines before it were counted where they are skipped.
            left -= len(line) if line.strip() else 0
            if left < 0:
                raise DataError(
                    f"The column names of {shown(self.table)} take more than {LONGEST_HEADER:,} characters; tables of "
                    f"at most {MOST_COLUMNS:,} columns are read. Leave out columns, or put each row on a line of its "
                    "own."
                )
            yield line

    def _row_error(self) -> DataError:
        """Find the first row whose number of values isn't the header's or whose quote stays open, and name its line."""
        table, width = self.table, len(self.header)
        rows = csv.reader(self._lines(f"\n{SENTINEL}"), delimiter=self.separator)
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
                    name = SEPARATORS[self.separator]
                    return DataError(
                        f"Line {line + 1} of {shown(table)} has {_values(len(row))}, but the header has {width} column"
                        f"{'' if width == 1 else 's'} "
                        f"({name} as separator); put quotes around values that hold a {name}, or correct the line."
                    )
                line = rows.line_num
        except csv.Error:
            return DataError(
                f"{shown(table)} cannot be read from line {line + 1} on; a quote there may never be closed."
            )
        return DataError(
            f"{shown(table)} cannot be split into rows of {_values(width)}; check its quotes and separators."
        )


def read_delimited(
    data: bytes, table: str, notes: Notes, encoding: str | None, rules: TextRules
) -> tuple[pd.DataFrame, Literal["csv", "tsv"]]:
    """Read a text table; its first line holds the column names.

    Raises DataError when it isn't text, is empty, has no rows, has a row of another length than the header or a quote
    that is never closed, or when two columns have one name.
    """
    file = TextFile(lambda: io.BytesIO(data), table, notes, encoding)
    # Every row has a separator between two cells, so that there are at most so many rows, blank ones left out.
    lines, separators = data.count(b"\n") + data.count(b"\r") + 1, data.count(file.separator.encode())
    rows = min(lines, separators // max(len(file.header) - 1, 1) + 1) if len(file.header) > 1 else lines
    require_memory(rows * len(file.header) * CELL_BYTES, shown(table))
    batches = list(file.batches())
    if not batches:
        raise DataError(f"{shown(table)} holds column names but no rows; load a file with at least one row.")
    columns = pa.Table.from_batches(batches).columns
    blank = [_is_blank(column) for column in columns]
    kept = columns_with_content(file.header, blank, notes)
    names = column_names([file.header[position] for position in kept], table, notes)
    notice_header(names, file, notes)
    rules = replace(rules, comma_is_decimal=file.comma_is_decimal)
    frame = typed_frame(names, [columns[position] for position in kept], notes, rules)
    note_empty_rows(empty_rows(frame), notes)
    return frame, "tsv" if file.separator == "\t" else "csv"


def _is_blank(column: pa.ChunkedArray) -> bool:
    """Whether no cell of a column holds more than spaces."""
    return not column[0].as_py().strip() and not any(text.strip() for text in column.unique().to_pylist())


def columns_with_content(header: list[str], blank: list[bool], notes: Notes) -> list[int]:
    """The columns but those with neither a name nor a value, as a separator at the end of every line makes them.

    `blank` says of each column whether it has no value. Where nothing has any, all columns stay.
    """
    kept = [
        position for position, (name, empty) in enumerate(zip(header, blank, strict=True)) if name.strip() or not empty
    ]
    dropped = len(header) - len(kept)
    if not dropped or not kept:
        return list(range(len(header)))
    notes.say(f"{dropped} column{'s' if dropped > 1 else ''} with neither a name nor a value left out.")
    return kept


def notice_header(names: list[str], file: TextFile, notes: Notes) -> None:
    """Say so when the names look like values, or when the only column looks like several."""
    notice_numbers(names, notes)
    if len(names) == 1:
        _notice_one_column(file.sample, notes)


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


def _notice_one_column(sample: str, notes: Notes) -> None:
    lines = sample.lstrip("\n").split("\n")[:SAMPLE_ROWS]
    lines = [line.strip() for line in lines if line.strip()]
    for mark, title in UNUSUAL_SEPARATORS.items():
        if lines and mark in lines[0] and len({line.count(mark) for line in lines[:-1]}) == 1 and len(lines) > 1:
            notes.say(
                f"Only one column was found, but every line holds {title}; if they separate the values, "
                "save the file with commas instead."
            )
            return
    notes.say("Only one column was found; the values may be separated by something else than , ; tab or |.")


def _values(number: int) -> str:
    return f"{number} value" + ("" if number == 1 else "s")
