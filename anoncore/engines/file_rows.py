"""The embedded engine's rows: coded rows in an Arrow stream on disk, read and divided batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rows import Accumulator, Check, no_check, sampled_places
from anoncore.base.faults import writing
from anoncore.base.pipeline import in_threads, read_ahead
from anoncore.kernels.arrays import Int32
from anoncore.kernels.grouping import grouped_rows
from anoncore.kernels.tree_scans import leaves_of

CODES = "anoncore:codes"
"""Column of the coded rows, a fixed-size list each; the other columns are carried along as they are."""
BUFFER_ROWS = 4096
"""Rows of one leaf that are collected before they are written, so that files have few batches."""


def rows_schema(width: int, carried: Sequence[pa.Field]) -> pa.Schema:
    """The schema of files of coded rows."""
    return pa.schema([pa.field(CODES, pa.list_(pa.int32(), width)), *carried])


def rows_batch(codes: Int32, carried: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Coded rows (n, width) and what is carried along as one batch."""
    lists = pa.FixedSizeListArray.from_arrays(pa.array(codes.reshape(-1)), codes.shape[1])
    return pa.record_batch([lists, *carried], schema=schema)


def batch_codes(batch: pa.RecordBatch) -> Int32:
    """The coded rows of a batch, int32 (n, width), without a copy."""
    lists = batch.column(0)
    return lists.flatten().to_numpy().reshape(-1, lists.type.list_size)


class RowsWriter:
    """Writes coded rows to a file of the workspace."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path, self._schema = path, schema
        self._sizes: list[int] = []
        self._file = pa.OSFile(str(path), "wb")
        self._stream = pa.ipc.new_stream(self._file, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add a batch."""
        self._stream.write_batch(batch)
        self._sizes.append(batch.num_rows)

    def close(self) -> FileRows:
        """The rows written."""
        self._stream.close()
        self._file.close()
        return FileRows([self.path], self._schema, self._sizes)


class FileRows:
    """Coded rows in one file, or in several after each other."""

    most_leaves = 256
    """Files written at a time."""

    def __init__(self, paths: Sequence[Path], schema: pa.Schema, sizes: Sequence[int]) -> None:
        self.paths, self.schema, self._sizes = tuple(paths), schema, tuple(sizes)
        self.n_rows = sum(sizes)
        self.check: Check = no_check

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, in order."""
        for path in self.paths:
            with (
                pa.OSFile(str(path), "rb") as file,
                pa.ipc.open_stream(file) as stream,
                closing(read_ahead(iter(stream))) as batches,
            ):
                for batch in batches:
                    self.check()
                    yield batch

    def scan(self, accumulator: Accumulator) -> None:
        """Add every row once."""
        for batch in self.batches():
            accumulator.add(batch_codes(batch))

    def sample(self, n: int, generator: np.random.Generator) -> Int32:
        """A simple random sample of n rows, (n, width + 1)."""
        places = sampled_places(n, self.n_rows, generator)
        chosen, begin = [], 0
        for batch in self.batches():
            own = places[np.searchsorted(places, begin) : np.searchsorted(places, begin + batch.num_rows)]
            chosen.append(batch_codes(batch)[own - begin])
            begin += batch.num_rows
        codes = np.concatenate(chosen)
        return np.concatenate([codes, np.zeros((len(codes), 1), dtype=np.int32)], axis=1)

    def load(self) -> tuple[Int32, pa.Table]:
        """All rows, int32 (n_rows, width + 1) with their numbers in the last column, and what is carried along."""
        rows = np.empty((self.n_rows, self.schema.field(0).type.list_size + 1), dtype=np.int32)
        rows[:, -1] = np.arange(self.n_rows)
        carried, at = [], 0
        for batch in self.batches():
            rows[at : at + batch.num_rows, :-1] = batch_codes(batch)
            at += batch.num_rows
            carried.append(batch.drop_columns([CODES]) if batch.num_columns > 1 else None)
        fields = pa.schema(list(self.schema)[1:])
        return rows, pa.Table.from_batches([one for one in carried if one is not None], fields)

    def divide(self, tree: PartitionTree, accumulator: Accumulator | None = None) -> Iterator[tuple[int, FileRows]]:
        """Each leaf that has rows with its rows, from left to right; this file is removed."""
        with writing(self.paths[0].parent):
            division = _Division(self, tree)
            with closing(in_threads(division.sorted, self.batches())) as batches:
                for moved, starts in batches:
                    if accumulator is not None:
                        accumulator.add(batch_codes(moved))
                    division.add(moved, starts)
            found = division.close()
        self.drop()
        yield from found

    def joined(self, others: Sequence[FileRows]) -> FileRows:
        """The files of all of them, one after the other."""
        parts = (self, *others)
        found = FileRows(
            [path for one in parts for path in one.paths], self.schema, [n for one in parts for n in one._sizes]
        )
        found.check = self.check
        return found

    def drop(self) -> None:
        """Remove the files."""
        for path in self.paths:
            path.unlink(missing_ok=True)


class _Division:
    """Rows on their way to one file per leaf."""

    def __init__(self, rows: FileRows, tree: PartitionTree) -> None:
        self._leaves = list(tree.leaves())
        self._slot = np.full(len(tree), -1, dtype=np.int32)
        self._slot[self._leaves] = np.arange(len(self._leaves))
        self._tree, self._source = tree.arrays(), rows
        self._writers: list[RowsWriter | None] = [None] * len(self._leaves)
        self._waiting: list[list[pa.RecordBatch]] = [[] for _ in self._leaves]
        self._n_waiting = np.zeros(len(self._leaves), dtype=np.int64)

    def sorted(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, npt.NDArray[np.int64]]:
        """The rows of a batch by their leaf, and where each leaf's begin."""
        codes = batch_codes(batch)
        order, starts = grouped_rows(self._slot[leaves_of(codes, self._tree)], len(self._leaves))
        carried: list[Any] = [column.take(pa.array(order)) for column in batch.columns[1:]]
        return rows_batch(codes.take(order, axis=0), carried, self._source.schema), starts

    def add(self, moved: pa.RecordBatch, starts: npt.NDArray[np.int64]) -> None:
        """Send sorted rows to their files."""
        for place in np.flatnonzero(np.diff(starts)).tolist():
            begin, end = int(starts[place]), int(starts[place + 1])
            if end - begin >= BUFFER_ROWS:
                self._flush(place)
                self._writer(place).write(moved.slice(begin, end - begin))
                continue
            # A slice would keep its whole batch alive.
            self._waiting[place].append(moved.take(pa.array(np.arange(begin, end))))
            self._n_waiting[place] += end - begin
            if self._n_waiting[place] >= BUFFER_ROWS:
                self._flush(place)

    def _writer(self, place: int) -> RowsWriter:
        writer = self._writers[place]
        if writer is None:
            path = self._source.paths[0]
            writer = RowsWriter(path.with_name(f"{path.stem}-{place}.arrow"), self._source.schema)
            self._writers[place] = writer
        return writer

    def _flush(self, place: int) -> None:
        if self._waiting[place]:
            joined = pa.Table.from_batches(self._waiting[place]).combine_chunks()
            for batch in joined.to_batches():
                self._writer(place).write(batch)
        self._waiting[place].clear()
        self._n_waiting[place] = 0

    def close(self) -> list[tuple[int, FileRows]]:
        for place in np.flatnonzero(self._n_waiting).tolist():
            self._flush(place)
        closed = [(leaf, one.close()) for leaf, one in zip(self._leaves, self._writers, strict=True) if one is not None]
        for _, rows in closed:
            rows.check = self._source.check
        return closed
