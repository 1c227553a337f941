"""Coded rows on Spark: scanned and divided where they are, by the same accumulators and trees as on one machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rows import Accumulator, Check, no_check, sampled_places
from anoncore.engines.file_rows import CODES, list_codes
from anoncore.kernels.arrays import Int32
from anoncore.kernels.tree_scans import leaves_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


NUMBER, SLOT = "anoncore:number", "anoncore_slot"
"""Columns of a row's number in its table, which only samples read, and of the leaf that a division sends it to."""


def united(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of all frames, whose columns are alike.

    They are put together two by two: a chain of as many unions as there are frames would be looked through anew for
    each, and a server of Spark Connect takes only plans up to a certain depth.
    """
    level = list(frames)
    while len(level) > 1:
        pairs = [level[place : place + 2] for place in range(0, len(level), 2)]
        level = [pair[0].unionAll(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


class SparkRows:
    """Rows of a Spark frame with the columns CODES (array of int), NUMBER and what is carried along.

    Divisions are written as Parquet below `folder`, which all workers reach.
    """

    most_leaves = 1024

    def __init__(self, frame: DataFrame, n_rows: int, folder: str) -> None:
        self.frame, self.n_rows, self._folder = frame, n_rows, folder
        self._parts: tuple[DataFrame, ...] = (frame,)
        self.check: Check = no_check

    def scan(self, accumulator: Accumulator) -> None:
        """Add every row once: each task fills an empty accumulator of its own, and the driver merges them."""
        empty = pickle.dumps(accumulator)

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            own = pickle.loads(empty)
            for batch in batches:
                if batch.num_rows:
                    own.add(list_codes(batch.column(0)))
            yield pa.record_batch([pa.array([pickle.dumps(own)], pa.binary())], names=["counted"])

        counted = self.frame.select(f"`{CODES}`").mapInArrow(count, "counted binary").persist()
        # All tasks count at once, and what they counted stays with the workers. Taken from there one after the other,
        # only one of them is in this machine's memory at a time.
        counted.count()
        for row in counted.toLocalIterator():
            self.check()
            accumulator.merge(pickle.loads(bytes(row["counted"])))
        counted.unpersist()

    def sample(self, n: int, generator: np.random.Generator) -> Int32:
        """A simple random sample of n rows by their numbers, (n, width + 1)."""
        wanted = self._numbers()[sampled_places(n, self.n_rows, generator)]

        def pick(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                inside = np.isin(batch.column(1).to_numpy(), wanted, assume_unique=True)
                yield batch.filter(pa.array(inside))

        columns = self.frame.select(f"`{CODES}`", f"`{NUMBER}`")
        picked = columns.mapInArrow(pick, columns.schema).toArrow()
        place_of = np.argsort(np.argsort(wanted))
        picked = picked.take(pa.array(np.argsort(picked.column(1).to_numpy())[place_of]))
        codes = list_codes(picked.column(0).combine_chunks())
        return np.concatenate([codes, np.zeros((len(codes), 1), dtype=np.int32)], axis=1)

    def _numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of all rows in the order in which the embedded engine has them: part by part."""
        columns = [part.select(f"`{NUMBER}`").toArrow().column(0).to_numpy() for part in self._parts]
        return np.concatenate([np.sort(one) for one in columns])

    def divide(self, tree: PartitionTree, accumulator: Accumulator | None = None) -> Iterator[tuple[int, SparkRows]]:
        """Each leaf that has rows with its rows, from left to right.

        What is counted takes a scan of its own: a job of Spark that writes rows has no second result.
        """
        from pyspark.sql import types

        if accumulator is not None:
            self.scan(accumulator)
        arrays, (leaves, slot) = tree.arrays(), tree.slots()

        def mark(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                places = slot[leaves_of(list_codes(batch.column(CODES)), arrays)]
                yield batch.append_column(SLOT, pa.array(places))

        schema: Any = types.StructType([*self.frame.schema.fields, types.StructField(SLOT, types.IntegerType())])
        folder = f"{self._folder}/division"
        self.frame.mapInArrow(mark, schema).write.partitionBy(SLOT).parquet(folder)
        session = self.frame.sparkSession
        divided = session.read.schema(schema).parquet(folder)
        sizes = {row[SLOT]: row["count"] for row in divided.groupBy(SLOT).count().collect()}
        for place, leaf in enumerate(leaves):
            if place in sizes:
                part = divided.filter(divided[SLOT] == place).drop(SLOT)
                yield leaf, SparkRows(part, sizes[place], f"{folder}-{place}")

    def joined(self, others: Sequence[SparkRows]) -> SparkRows:
        """The rows of all of them."""
        if not others:
            return self
        frame = united([self.frame, *(one.frame for one in others)])
        found = SparkRows(frame, self.n_rows + sum(one.n_rows for one in others), self._folder)
        found._parts = tuple(part for one in (self, *others) for part in one._parts)
        found.check = self.check
        return found

    def drop(self) -> None:
        """Nothing to free: the run removes the folder."""
