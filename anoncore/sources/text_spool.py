"""Text files, also larger than the memory, written once as Parquet with the types that their texts have."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import DataError
from anoncore.base.pipeline import read_ahead
from anoncore.kernels.arrays import Bools
from anoncore.sources.delimited import TextFile, columns_with_content, notice_header
from anoncore.sources.headers import column_names
from anoncore.sources.inference import ColumnType, Evidence, TextRules
from anoncore.sources.notes import Notes, listed, shown
from anoncore.sources.reader import GZIP, refuse_other_files
from anoncore.sources.values import Distinct, arrow_type, note_empty_rows, note_infinite, typed_values

SAMPLE_BATCHES = 8
"""Batches of rows that the types are first taken from; texts further down that do not fit cost a second reading."""


def spool_text(
    files: Sequence[Path], table: str, target: Path, encoding: str | None, rules: TextRules, notes: Notes
) -> list[str]:
    """Write the rows of text files, one file after the other, to one Parquet file; gives the names of its columns.

    Names, types, missing values and notes are those that `read_table` gives for one file of all these rows. The columns
    of the Parquet file are called `column_label(0)`, `column_label(1)`, …, because DuckDB takes names that differ only
    in upper and lower case for one. Raises DataError as `read_table` does, and for files whose columns differ.
    """
    try:
        texts = [TextFile(_Opener(file), file.name, notes, encoding) for file in files]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            spool = _Spool(texts, table, target, rules, pool)
            written = spool.write_while_it_fits() or spool.write_again()
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{shown(table)} is incomplete or damaged: it cannot be unpacked with gzip.") from None
    return spool.told(written, notes)


def column_label(number: int) -> str:
    """The name of a column in the Parquet file."""
    return f"c{number}"


class _Opener:
    """Opens a file, unpacked if it is packed with gzip, whose first bytes do not tell that it is something else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            self._packed = file.read(len(GZIP)) == GZIP
        with self() as file:
            refuse_other_files(file.read(16), path.name)

    def __call__(self) -> BinaryIO:
        return gzip.open(self._path) if self._packed else self._path.open("rb")  # type: ignore[return-value]


@dataclass(frozen=True)
class _Layout:
    """The columns of the text files that are kept, by their positions, and the types of these."""

    kept: tuple[int, ...]
    types: tuple[ColumnType, ...]


class _Written:
    """The Parquet file, while rows are written by a layout, and what is counted about them."""

    def __init__(self, target: Path, layout: _Layout, pool: ThreadPoolExecutor) -> None:
        self.layout, self._target, self._pool = layout, target, pool
        self.infinite = [0] * len(layout.kept)
        self.empty_rows = 0
        fields = [(column_label(number), arrow_type(kind)) for number, kind in enumerate(layout.types)]
        self._schema = pa.schema(fields)
        self._writer: pq.ParquetWriter | None = None
        self._writing: Future[None] | None = None

    def add(self, columns: Sequence[Distinct]) -> None:
        """Write rows, given as all columns of the text files. Raises ValueError for a text that does not fit."""
        kept = [columns[position] for position in self.layout.kept]
        if self._writer is None:
            # A dictionary of texts of which every row has its own takes time and no less space.
            repeated = [column_label(number) for number, column in enumerate(kept) if column.codes is not None]
            self._writer = pq.ParquetWriter(self._target, self._schema, use_dictionary=repeated)
        typed = list(self._pool.map(typed_values, kept, self.layout.types))
        self.infinite = [before + more for before, (_, more) in zip(self.infinite, typed, strict=True)]
        arrays = [values for values, _ in typed]
        self.empty_rows += int(_all_null(arrays).sum())
        self._wait()
        # The rows are written while the next ones are read.
        self._writing = self._pool.submit(self._writer.write_batch, pa.record_batch(arrays, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        try:
            self._wait()
        finally:
            if self._writer is not None:
                self._writer.close()

    def _wait(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()


class _Spool:
    """Text files of the same columns, in the order of those of the first file, and what all their texts show."""

    def __init__(
        self, texts: Sequence[TextFile], table: str, target: Path, rules: TextRules, pool: ThreadPoolExecutor
    ) -> None:
        self._texts, self._table, self._target, self._pool = texts, table, target, pool
        self._orders = [_order(texts[0], text) for text in texts]
        rules = replace(rules, comma_is_decimal=any(text.comma_is_decimal for text in texts))
        self._evidence = [Evidence(rules) for _ in texts[0].header]

    def write_while_it_fits(self) -> _Written | None:
        """Gather the evidence of all rows, and write them by the layout that the first ones have.

        None where rows further down do not fit that layout.
        """
        sample: list[list[Distinct]] = []
        written: _Written | None = None
        fits = True
        try:
            for columns in self._batches(self._evidence):
                if not fits:
                    continue
                if written is None:
                    sample.append(columns)
                    written = self._begun(sample) if len(sample) == SAMPLE_BATCHES else None
                elif self._fits(written.layout):
                    written.add(columns)
                else:
                    fits = False
            if not sample:
                raise DataError(
                    f"{shown(self._table)} holds column names but no rows; load a file with at least one row."
                )
            written = written or self._begun(sample)
            return written if fits else None
        finally:
            if written is not None:
                written.close()

    def write_again(self) -> _Written:
        """Write all rows by the layout that their evidence, which is complete now, gives."""
        written = _Written(self._target, self._layout(), self._pool)
        try:
            for columns in self._batches([None] * len(self._evidence)):
                written.add(columns)
        except ValueError:
            raise DataError(f"{shown(self._table)} was changed while it was read; read it again.") from None
        finally:
            written.close()
        return written

    def told(self, written: _Written, notes: Notes) -> list[str]:
        """The names of the columns; the notes say what a reader of the whole table says."""
        header = self._texts[0].header
        columns_with_content(header, [one.is_blank for one in self._evidence], notes)
        kept = written.layout.kept
        names = column_names([header[position] for position in kept], self._table, notes)
        notice_header(names, self._texts[0], notes)
        for name, position, infinite in zip(names, kept, written.infinite, strict=True):
            self._evidence[position].column_type(name, notes)
            note_infinite(infinite, name, notes)
        note_empty_rows(written.empty_rows if len(kept) > 1 else 0, notes)
        return names

    def _begun(self, sample: list[list[Distinct]]) -> _Written:
        written = _Written(self._target, self._layout(), self._pool)
        for columns in sample:
            written.add(columns)
        sample[1:] = []
        return written

    def _batches(self, evidence: Sequence[Evidence | None]) -> Iterator[list[Distinct]]:
        """The columns of batch after batch of all files, shown to the evidence where there is any."""
        for text, order in zip(self._texts, self._orders, strict=True):
            with closing(read_ahead(text.batches())) as batches:
                for batch in batches:
                    yield list(self._pool.map(_shown, [batch.column(position) for position in order], evidence))

    def _kept(self) -> tuple[int, ...]:
        blank = [one.is_blank for one in self._evidence]
        return tuple(columns_with_content(self._texts[0].header, blank, Notes()))

    def _layout(self) -> _Layout:
        """The layout that all texts so far have."""
        kept = self._kept()
        return _Layout(kept, tuple(self._evidence[position].column_type("", Notes()) for position in kept))

    def _fits(self, layout: _Layout) -> bool:
        """Whether all texts so far have this layout."""
        types = zip(layout.kept, layout.types, strict=True)
        return layout.kept == self._kept() and all(
            self._evidence[position].is_read_by(kind) for position, kind in types
        )


def _shown(column: pa.Array, evidence: Evidence | None) -> Distinct:
    """The distinct texts of a column's rows, which the evidence then knows."""
    distinct = Distinct.of(column)
    if evidence is not None:
        distinct.show(evidence)
    return distinct


def _order(first: TextFile, text: TextFile) -> list[int]:
    """Where a file has the columns of the first one. Raises DataError for a file with other columns."""
    wanted, names = ([name.strip() for name in file.header] for file in (first, text))
    if names == wanted:
        return list(range(len(names)))
    if sorted(names) != sorted(wanted) or len(set(names)) < len(names):
        raise DataError(
            f"{shown(text.table)} has the columns {listed([shown(name) for name in names])}, but {shown(first.table)} "
            f"has {listed([shown(name) for name in wanted])}; the files of one table need the same columns."
        )
    return [names.index(name) for name in wanted]


def _all_null(arrays: Sequence[pa.Array]) -> Bools:
    """Which rows have no value in any column."""
    empty = np.ones(len(arrays[0]), np.bool_)
    for array in arrays:
        if not array.null_count:
            return np.zeros(len(array), np.bool_)
        empty &= np.asarray(array.is_null())
    return empty
