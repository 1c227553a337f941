"""The cells of a table as files of each format have them, told apart wherever the format can tell them apart."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.errors import DataError
from anoncore.base.pandas_versions import factorized, is_arrow_text
from anoncore.kernels.arrays import Codes, Int64
from anoncore.publishing import export
from anoncore.release.reading.published_table import Column, PublishedTable, cell_name, cell_texts, ranked

MARK = "\0"
"""Stands between the kind of a cell and its content; no text of a workbook and no name of a type has it."""
NO_CELL = ""
COMPARED_AT_ONCE = 1 << 16
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
GROUP_CELL: Mapping[export.FileFormat, str] = {"csv": "", "parquet": f"int32{MARK}=", "excel": f"number{MARK}"}
"""What stands before the number of a group in a cell of each format."""


@dataclass(frozen=True, eq=False)
class WrittenTable:
    """A table as a file has it.

    `title` is the name of its sheet, of its member of a zip (`is_named`: both are written by us), or of its file;
    `where` says in a sentence which table of which file it is. `labels` are the names of its columns as they are
    written; `columns` are these as they are written, each with that in the texts that are equal in all formats. `name`
    is that of the certified table that it is.
    """

    title: str
    where: str
    format: export.FileFormat
    labels: Sequence[str]
    columns: Sequence[tuple[Column, Column]]
    is_named: bool = False
    name: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that the labels stand for."""
        is_sheet = self.format == "excel"
        return tuple(cell_name(unescaped(label) if is_sheet else label) for label in self.labels)

    @cached_property
    def exact(self) -> PublishedTable:
        """Its cells as they are written."""
        return PublishedTable(self.name, dict(zip(self.names, [cells for cells, _ in self.columns], strict=True)))

    @cached_property
    def table(self) -> PublishedTable:
        """Its cells in the texts that are equal in all formats."""
        return PublishedTable(self.name, dict(zip(self.names, [values for _, values in self.columns], strict=True)))


def both_columns(codes: npt.NDArray[Any], cells: Sequence[str], texts: Sequence[str]) -> tuple[Column, Column]:
    """The column of what the codes stand for as it is written, and that of the texts equal in all formats."""
    ordered, rows, order = _in_order(codes, texts)
    written, read = (Column.counted(ordered, rows, [*map(either.__getitem__, order)]) for either in (cells, texts))
    return written, read


def _in_order(codes: npt.NDArray[Any], texts: Sequence[str]) -> tuple[Codes, Int64, list[int]]:
    """The codes of rows into the texts in their order, how many rows have each of these, and the places of these.

    Most files write cells in the order of their texts, so that columns with codes in this order can share them.
    """
    order = np.argsort(ranked(texts)[0], kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[codes], np.bincount(codes, minlength=len(order))[order], order.tolist()


@dataclass(frozen=True, eq=False)
class DistinctCells:
    """The different cells of a column that is published, in the order of their texts.

    `codes` int32 (n_rows,) say which of them a row has, and `rows` int64 (n_cells,) how many rows have each; `sample`
    has the cells themselves, and `texts` those of all formats.
    """

    codes: Codes
    rows: Int64
    sample: pd.Series[Any]
    texts: Sequence[str]

    @classmethod
    def of(cls, column: pd.Series[Any]) -> DistinctCells:
        """The different cells of a column, also of those that count as equal."""
        if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
            # 0.0 and -0.0 are written differently.
            codes, bits = pd.factorize(column.to_numpy().view(f"i{column.dtype.itemsize}"))
            sample = pd.Series(bits.view(column.dtype))
        elif column.dtype == object:
            # All but texts are told apart by their types, too, since 1, 1.0 and True are equal.
            told = [one if type(one) is str else (type(one).__name__, repr(one)) for one in column]
            keys = pd.Series(told, dtype=object)
            codes, _ = factorized(keys)
            sample = column[~keys.duplicated().to_numpy()]
        else:
            # Published rows are sorted, so that most texts are that of the row before.
            first = _changes(column) if is_arrow_text(column.dtype) else np.arange(len(column))
            codes, distinct = factorized(column.iloc[first])
            codes, sample = np.repeat(codes, np.diff(first, append=len(column))), pd.Series(distinct)
        texts = cell_texts(sample)
        ordered, rows, order = _in_order(codes, texts)
        sample = sample.iloc[order]
        sample.name = column.name
        return cls(ordered, rows, sample, [texts[place] for place in order])

    @cached_property
    def shown(self) -> Column:
        """The column in the texts of all formats."""
        return Column.counted(self.codes, self.rows, self.texts)

    def written(self, table: str, format: export.FileFormat) -> Column:
        """The cells as files of a format have them, by what writes files."""
        if format == "parquet":
            texts = arrow_texts(export.parquet_array(self.sample, table))
        elif format == "excel":
            text, cells = sheet_cell("text", ""), export.sheet_cells(self._guarded, table)[1:]
            texts = [text + cell if type(cell) is str else sheet_text(cell) for cell in cells]
        elif isinstance(self.sample.dtype, pd.StringDtype):
            texts = self._guarded.fillna("").tolist()
        else:
            texts = text_columns(export.csv_bytes(self.sample.to_frame()), 1)[0].slice(1).to_pylist()
        return self.shown if texts == self.texts else Column.counted(self.codes, self.rows, texts)

    @cached_property
    def _guarded(self) -> pd.Series[Any]:
        """The cells as they are written where a spreadsheet may read them."""
        return export.safe_cells(self.sample.to_frame()).iloc[:, 0]


def _changes(texts: pd.Series[Any]) -> Int64:
    """The first row, and the rows whose text is not that of the row before."""
    cells = pa.array(texts)
    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    return np.append(0, 1 + np.flatnonzero(pc.not_equal(cells[1:], cells[:-1]).fill_null(True)))[: len(texts)]


Distinct = Mapping[str, Sequence[DistinctCells]]
"""The cells of every column of every table."""


def distinct_cells(tables: Mapping[str, pd.DataFrame]) -> Distinct:
    """The different cells of published tables."""
    return {
        name: [DistinctCells.of(frame.iloc[:, place]) for place in range(frame.shape[1])]
        for name, frame in tables.items()
    }


def published_as(distinct: Distinct) -> list[PublishedTable]:
    """Tables in the texts that are equal in all formats."""
    return [
        PublishedTable(name, {cell_name(one.sample.name): one.shown for one in columns})
        for name, columns in distinct.items()
    ]


def written_as(tables: Mapping[str, pd.DataFrame], distinct: Distinct) -> dict[export.FileFormat, list[PublishedTable]]:
    """The cells that files of every format have of tables; formats that cannot hold them are left out."""
    found: dict[export.FileFormat, list[PublishedTable]] = {}
    with suppress(DataError):
        for name, frame in tables.items():
            export.check_table(name, frame)
        for format in get_args(export.FileFormat):
            with suppress(DataError):
                for name, frame in tables.items():
                    if format == "excel":
                        export.check_sheet_size(name, *frame.shape)
                found[format] = [
                    PublishedTable(name, {cell_name(one.sample.name): one.written(name, format) for one in columns})
                    for name, columns in distinct.items()
                ]
    return found


def sheet_text(cell: Any) -> str:
    """What a sheet holds of a value."""
    if isinstance(cell, str):
        return sheet_cell("text", cell)
    if cell is None:
        return NO_CELL
    from openpyxl.compat import safe_string
    from openpyxl.utils.datetime import to_excel

    if isinstance(cell, bool):
        return sheet_cell("boolean", str(int(cell)))
    if isinstance(cell, int | float):
        return sheet_cell("number", safe_string(cell))
    kind = "datetime" if isinstance(cell, datetime) else "date" if isinstance(cell, date) else "time"
    return sheet_cell(kind, safe_string(to_excel(cell)))


def sheet_cell(kind: str, content: str) -> str:
    """A cell of a workbook: what kind it is and what it holds."""
    return f"{kind}{MARK}{content}"


def unescaped(text: str) -> str:
    """A text of a workbook with the characters that XML cannot hold."""
    return ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


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


def arrow_texts(values: pa.ChunkedArray | pa.Array) -> list[str]:
    """What a Parquet file holds of values: their type, and a text that tells every two of them apart."""
    try:
        texts = values.cast(pa.large_string()).to_pylist()
    except pa.ArrowException:
        texts = [None if value is None else repr(value) for value in values.to_pylist()]
    none = f"{values.type}{MARK}"
    return [none if text is None else f"{none}={text}" for text in texts]


def label_as(name: str, format: export.FileFormat) -> str:
    """The name of a column as a file of a format has it."""
    label = name if format == "parquet" else str(export.guarded(name))
    return export.escaped_text(label, "", label) if format == "excel" else label


def shown_cell(cell: str) -> str:
    """What a cell holds, for a sentence."""
    kind, _, content = cell.rpartition(MARK)
    # Parquet's texts begin with "=", so that nothing else than what is missing is empty there.
    return repr(content.removeprefix("=")[:40]) if content or kind == "text" else "a missing cell"


def first_difference(content: bytes, other: bytes) -> int:
    """The first byte in which two contents differ; the length of the shorter one where it has none."""
    start = 0
    while content[start : start + COMPARED_AT_ONCE] == other[start : start + COMPARED_AT_ONCE] and start < len(content):
        start += COMPARED_AT_ONCE
    pairs = zip(content[start : start + COMPARED_AT_ONCE], other[start : start + COMPARED_AT_ONCE], strict=False)
    differing = (start + at for at, (one, two) in enumerate(pairs) if one != two)
    return next(differing, min(len(content), len(other)))
