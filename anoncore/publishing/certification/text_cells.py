"""Text tables (CSV) cell by cell, and whether a file holds these cells and nothing else."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.kernels.arrays import Bytes
from anoncore.release.reading.published_table import text_bytes

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


def text_fault(content: bytes, labels: Sequence[str], columns: Sequence[pa.DictionaryArray]) -> str:
    """Where a CSV differs from what is written of its cells, and how; empty where it does not.

    Lines may end with CR LF or with LF, all in the same way. Many rows are compared at a time, of which only different
    cells are written.
    """
    if content.startswith(MARK_OF_ORDER):
        return "begins with a byte order mark, which is not part of the table"
    faults = []
    for line_end in LINE_ENDS:
        fault = _difference(content, _lines(labels, columns, line_end))
        if fault is None:
            return ""
        faults.append(fault)
    # The fault that comes later in the file is that of the right line ends.
    return max(faults)[1]


def _lines(labels: Sequence[str], columns: Sequence[pa.DictionaryArray], line_end: str) -> Iterator[Bytes]:
    """The lines of a CSV as they are written, many at a time."""
    is_alone = len(labels) == 1
    header = ",".join(_written(label, is_alone) for label in labels) + line_end
    yield np.frombuffer(header.encode(), dtype=np.uint8)
    ends = [""] * (len(columns) - 1) + [line_end]
    written = [
        pa.array([_written(text, is_alone) + end for text in column.dictionary.to_pylist()], pa.large_string())
        for column, end in zip(columns, ends, strict=True)
    ]
    for start in range(0, len(columns[0]), JOINED_ROWS):
        codes = [column.indices.slice(start, JOINED_ROWS) for column in columns]
        cells = [texts.take(own) for texts, own in zip(written, codes, strict=True)]
        lines, bounds = text_bytes(pc.binary_join_element_wise(*cells, pa.scalar(",", pa.large_string())))
        yield lines[bounds[0] : bounds[-1]]


def _written(text: str, is_alone: bool) -> str:
    """A cell as it is written: in quotes where it has to be, which an empty one has that is alone in its line."""
    if QUOTED.search(text) or (is_alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _difference(content: bytes, lines: Iterable[Bytes]) -> tuple[int, str] | None:
    """Where a CSV begins to differ from its lines, and how; None where it does not."""
    held, begin = np.frombuffer(content, dtype=np.uint8), 0
    for expected in lines:
        if not np.array_equal(held[begin : begin + len(expected)], expected):
            return _described(content, expected.tobytes(), begin)
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
