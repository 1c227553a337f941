"""The embedded engine's rows: coded rows in an Arrow stream on disk, read and divided batch by batch."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Lock

import numpy as np
import pyarrow as pa

from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rows import Accumulator, Check, no_check, sampled_places
from anoncore.base.faults import writing
from anoncore.base.pipeline import in_threads, read_ahead
from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.grouping import grouped_rows
from anoncore.kernels.rothko import leaves_of

CODES = "anoncore:codes"
"""Column of the coded rows, a fixed-size list each; the other columns are carried along as they are."""
BUFFER_ROWS = 1 << 20
"""Rows that are collected before they are written to the files of their leaves, so that these have few batches."""


def rows_schema(width: int, carried: Sequence[pa.Field]) -> pa.Schema:
    """The schema of files of coded rows."""
    return pa.schema([pa.field(CODES, pa.list_(pa.int32(), width)), *carried])


def rows_batch(codes: Int32, carried: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Coded rows (n, width) and what is carried along as one batch."""
    lists = pa.FixedSizeListArray.from_arrays(pa.array(codes.reshape(-1)), codes.shape[1])
    return pa.record_batch([lists, *carried], schema=schema)


def list_codes(column: pa.Array) -> Int32:
    """The coded rows of an array of lists, int32 (n, width), without a copy where the lists have one length."""
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(flat.reshape(len(column), -1), np.int32)


class RowsWriter:
    """Writes coded rows to a file of the workspace."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._rows = FileRows([path], schema, 0)
        self._file = pa.OSFile(str(path), "wb")
        self._stream = pa.ipc.new_stream(self._file, schema)

    def write(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Add rows."""
        self._stream.write(rows)
        self._rows.n_rows += rows.num_rows

    def close(self) -> FileRows:
        """The rows written."""
        self._stream.close()
        self._file.close()
        return self._rows


class FileRows:
    """Coded rows in one file, or in several after each other."""

    most_leaves = 256
    """Files written at a time."""

    def __init__(self, paths: Sequence[Path], schema: pa.Schema, n_rows: int, check: Check = no_check) -> None:
        self.paths, self.schema, self.n_rows, self.check = tuple(paths), schema, n_rows, check

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
        """Add every row once, in threads that each count a share of what there is to count."""
        shares = accumulator.shares(os.cpu_count() or 1)
        with ThreadPoolExecutor(len(shares)) as pool:
            for batch in self.batches():
                rows = list_codes(batch.column(0))
                list(pool.map(lambda share, rows=rows: share.add(rows), shares))

    def sample(self, n: int, generator: np.random.Generator) -> Int32:
        """A simple random sample of n rows, (n, width + 1)."""
        places = sampled_places(n, self.n_rows, generator)
        chosen, begin = [], 0
        for batch in self.batches():
            own = places[np.searchsorted(places, begin) : np.searchsorted(places, begin + batch.num_rows)]
            chosen.append(list_codes(batch.column(0))[own - begin])
            begin += batch.num_rows
        codes = np.concatenate(chosen)
        return np.concatenate([codes, np.zeros((len(codes), 1), np.int32)], axis=1)

    def load(self) -> tuple[Int32, pa.Table]:
        """All rows, int32 (n_rows, width + 1) with their numbers in the last column, and what is carried along."""
        rows = np.empty((self.n_rows, self.schema.field(0).type.list_size + 1), np.int32)
        rows[:, -1] = np.arange(self.n_rows)
        carried, at = [], 0
        for batch in self.batches():
            rows[at : at + batch.num_rows, :-1] = list_codes(batch.column(0))
            at += batch.num_rows
            carried.append(batch.drop_columns([CODES]) if batch.num_columns > 1 else None)
        fields = pa.schema(list(self.schema)[1:])
        return rows, pa.Table.from_batches([batch for batch in carried if batch is not None], fields)

    def divide(self, tree: PartitionTree, accumulator: Accumulator | None = None) -> Iterator[tuple[int, FileRows]]:
        """Each leaf that has rows with its rows, from left to right; this file is removed."""
        leaves, slot = tree.slots()
        arrays, writers = tree.arrays(), dict[int, RowsWriter]()
        waiting: defaultdict[int, list[pa.RecordBatch]] = defaultdict(list)
        n_waiting, counting = 0, Lock()

        def by_leaf(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Int64]:
            leaf = leaves_of(list_codes(batch.column(0)), arrays)
            order, starts = grouped_rows(slot[leaf], len(leaves))
            moved = batch.take(pa.array(order))
            if accumulator is not None:
                with counting:
                    accumulator.add(list_codes(moved.column(0)), leaf[order])
            return moved, starts

        def flush() -> None:
            for place, batches in waiting.items():
                if place not in writers:
                    path = self.paths[0]
                    writers[place] = RowsWriter(path.with_name(f"{path.stem}-{place}.arrow"), self.schema)
                writers[place].write(pa.Table.from_batches(batches).combine_chunks())
            waiting.clear()

        with writing(self.paths[0].parent):
            with closing(in_threads(by_leaf, self.batches())) as divided:
                for moved, starts in divided:
                    for place in np.flatnonzero(np.diff(starts)).tolist():
                        waiting[place].append(moved.slice(starts[place], starts[place + 1] - starts[place]))
                    n_waiting += moved.num_rows
                    if n_waiting >= BUFFER_ROWS:
                        flush()
                        n_waiting = 0
            flush()
            parts = [(leaf, writers[place].close()) for place, leaf in enumerate(leaves) if place in writers]
        self.drop()
        for leaf, part in parts:
            part.check = self.check
            yield leaf, part

    def joined(self, others: Sequence[FileRows]) -> FileRows:
        """The files of all of them, one after the other."""
        parts = (self, *others)
        paths = [path for part in parts for path in part.paths]
        return FileRows(paths, self.schema, sum(part.n_rows for part in parts), self.check)

    def drop(self) -> None:
        """Remove the files."""
        for path in self.paths:
            path.unlink(missing_ok=True)
