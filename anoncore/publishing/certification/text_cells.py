"""Text tables (CSV) cell by cell, and whether a file holds these cells and nothing else."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.release.reading.published_table import text_bytes

CHECKED_ROWS = 20_000
JOINED_ROWS = 1 << 17
QUOTED = re.compile('[,"\r\n]')
STEP = 1 << 16
SHOWN = 40
LINE_ENDS = ("\r\n", "\n")
MARK_OF_ORDER = b"\xef\xbb\xbf"


def header_of(content: bytes) -> list[str] | None:
    """The names of the columns of a CSV; None where it is empty."""
    return next(csv.reader(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")), None)


def text_columns(content: bytes, width: int) -> list[pa.ChunkedArray]:
    """The columns of a CSV as texts, the first row with the names among them. Raises ArrowInvalid for other lengths."""
    from pyarrow import csv as arrow_csv

    labels = [str(number) for number in range(width)]
    table = arrow_csv.read_csv(
        io.BytesIO(content),
        read_options=arrow_csv.ReadOptions(column_names=labels, block_size=max(len(content), 1) + 1),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(labels, pa.large_string()), strings_can_be_null=False
        ),
    )
    return list(table.columns)


def is_written(content: bytes, labels: Sequence[str], columns: Sequence[pa.DictionaryArray]) -> bool:
    """Whether a CSV is nothing but its cells as they are written, in lines that all end in one of the two ways.

    What `text_fault` finds row by row is looked for here in many rows at a time, of which only distinct cells are
    written.
    """
    is_alone = len(labels) == 1
    header = ",".join(_written(label, is_alone) for label in labels).encode()
    line_end = next((one for one in LINE_ENDS if content.startswith(header + one.encode())), None)
    if line_end is None:
        return False
    begin = len(header) + len(line_end)
    ends = [""] * (len(columns) - 1) + [line_end]
    written = [
        pa.array([_written(text, is_alone) + end for text in column.dictionary.to_pylist()], pa.large_string())
        for column, end in zip(columns, ends, strict=True)
    ]
    held = np.frombuffer(content, dtype=np.uint8)
    for start in range(0, len(columns[0]), JOINED_ROWS):
        codes = [column.indices.slice(start, JOINED_ROWS) for column in columns]
        cells = [texts.take(own) for texts, own in zip(written, codes, strict=True)]
        lines, bounds = text_bytes(pc.binary_join_element_wise(*cells, pa.scalar(",", pa.large_string())))
        expected = lines[bounds[0] : bounds[-1]]
        if not np.array_equal(held[begin : begin + len(expected)], expected):
            return False
        begin += len(expected)
    return begin == len(content)


def _written(text: str, is_alone: bool) -> str:
    """A cell as it is written: in quotes where it has to be, which an empty one has that is alone in its line."""
    if QUOTED.search(text) or (is_alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


def text_fault(content: bytes, columns: Sequence[pa.ChunkedArray]) -> str:
    """Where a CSV differs from what is written of its cells, and how; empty where it does not.

    Lines may end with CR LF or with LF, all in the same way.
    """
    if content.startswith(MARK_OF_ORDER):
        return "begins with a byte order mark, which is not part of the table"
    faults = []
    for line_end in LINE_ENDS:
        fault = _difference(content, columns, line_end)
        if fault is None:
            return ""
        faults.append(fault)
    # The fault that comes later in the file is that of the right line ends.
    return max(faults)[1]


def _difference(content: bytes, columns: Sequence[pa.ChunkedArray], line_end: str) -> tuple[int, str] | None:
    begin, rows = 0, len(columns[0])
    for start in range(0, rows, CHECKED_ROWS):
        buffer = io.StringIO(newline="")
        cells = [column.slice(start, CHECKED_ROWS).to_pylist() for column in columns]
        csv.writer(buffer, lineterminator=line_end).writerows(zip(*cells, strict=True))
        expected = buffer.getvalue().encode()
        if not content.startswith(expected, begin):
            return _described(content, expected, begin)
        begin += len(expected)
    return None if begin == len(content) else _described(content, b"", begin)


def _described(content: bytes, expected: bytes, begin: int) -> tuple[int, str]:
    """The first place at which the content is not what was expected from `begin` on."""
    same = first_difference(content[begin : begin + len(expected)], expected)
    line = content.count(b"\n", 0, begin + same) + 1
    begin_of_line = expected.rfind(b"\n", 0, same) + 1
    has = content[begin + begin_of_line :].split(b"\n", 1)[0].strip(b"\r")
    wanted = expected[begin_of_line:].split(b"\n", 1)[0].strip(b"\r")
    if not expected[same:]:
        return begin + same, f"goes on after the table, on line {line}: {_shown(has)}"
    return begin + same, f"line {line} is {_shown(has)}, where its cells are written {_shown(wanted)}"


def first_difference(content: bytes, other: bytes) -> int:
    """The first byte in which two contents differ; the length of the shorter one where it has none."""
    start = 0
    while content[start : start + STEP] == other[start : start + STEP] and start < len(content):
        start += STEP
    pairs = zip(content[start : start + STEP], other[start : start + STEP], strict=False)
    differing = (start + at for at, (one, two) in enumerate(pairs) if one != two)
    return next(differing, min(len(content), len(other)))


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", errors="backslashreplace")
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")


def row_fault(content: bytes, header: Sequence[str]) -> str:
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
