"""Rothko on Spark: tables and machines of any size, with the same algorithm and the same kernels."""

from __future__ import annotations

import os
import pickle
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.rows import Accumulator, Check, no_check, sampled_places
from anoncore.algorithms.rothko.setting import Part, Setting
from anoncore.base.errors import DataError
from anoncore.base.faults import reading
from anoncore.base.texts import listing
from anoncore.engines.column_coding import CodedColumn
from anoncore.engines.file_rows import CODES
from anoncore.engines.input_digest import InputDigest
from anoncore.engines.joint_counts import relations_of
from anoncore.engines.large_run import (
    USUAL,
    LargeRun,
    RunSettings,
    WrittenParts,
    check_output,
    pairs_folder,
    result,
    with_two_way_error,
    write_summary,
)
from anoncore.engines.output_folder import folder_when_complete
from anoncore.engines.parts import PartResult, PartTables, part_file, write_part
from anoncore.engines.spool import RowCoder, Tags, profile_of
from anoncore.engines.table_profile import TableProfile
from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.rothko import leaves_of
from anoncore.sources.headers import column_names
from anoncore.sources.inference import TextRules
from anoncore.sources.notes import Notes
from anoncore.sources.parquet import PANDAS_ROW_LABELS
from anoncore.sources.table_files import is_parquet, table_files
from anoncore.sources.text_spool import column_label, spool_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


NOTHING = "nothing int"
"""The columns of a job whose tasks leave what they find in files."""
UNFINISHED = ".unfinished"
"""The ending of a file that is being written."""
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


def packed(codes: Int32) -> pa.Array:
    """Coded rows int32 (n, width) as an array of bytes, which Spark hands on faster than an array of lists."""
    size, content = codes.shape[1] * codes.itemsize, np.ascontiguousarray(codes)
    ends = size * np.arange(len(codes) + 1, dtype=np.int32)
    return pa.BinaryArray.from_buffers(pa.binary(), len(codes), [None, pa.py_buffer(ends), pa.py_buffer(content)])


def unpacked(column: pa.Array | pa.ChunkedArray) -> Int32:
    """The coded rows of an array of bytes, int32 (n, width); of one chunk without a copy."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    found = []
    for chunk in chunks:
        if len(chunk):
            _, ends, content = chunk.buffers()
            begin, end = np.frombuffer(ends, np.int32)[[chunk.offset, chunk.offset + len(chunk)]].tolist()
            own = np.frombuffer(content, np.uint8)[begin:end].view(np.int32)
            found.append(own.reshape(len(chunk), -1))
    return found[0] if len(found) == 1 else np.concatenate(found)


@dataclass(frozen=True)
class TaskResults:
    """What tasks leave, one by one, in files of a folder that all machines reach.

    A task may run more than once, on another machine, too: it leaves the same each time.
    """

    folder: Path

    @classmethod
    def at(cls, folder: str | Path) -> TaskResults:
        """A new folder for them."""
        path = Path(folder)
        path.mkdir()
        return cls(path)

    def leave(self, number: int, n_rows: int, result: object) -> None:
        """Keep what the task of this number found in so many rows."""
        content = pickle.dumps((n_rows, result))
        write_whole(self.folder / f"{number}.pickle", lambda path: path.write_bytes(content))

    def of_all(self, n_rows: int) -> Iterator[Any]:
        """What the tasks found, one after the other. Raises DataError at the end where that is not from all rows."""
        n_found = 0
        for file in self.folder.glob("*.pickle"):
            n_own, result = pickle.loads(file.read_bytes())
            n_found += n_own
            yield result
        if n_found != n_rows:
            raise DataError(
                f"Of {n_rows:,} rows this machine can read in '{self.folder.parent}' what tasks of Spark found in "
                f"{n_found:,}; name a workspace that all machines reach."
            )

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let a file be written whole or not at all, whoever else writes the same."""
    own = path.with_name(f".{secrets.token_hex(8)}{UNFINISHED}")
    write(own)
    os.replace(own, path)


def task_number() -> int:
    """The number of the task that asks, among those of its job."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


class SparkRows:
    """Rows of a Spark frame with the columns CODES (see `packed`), NUMBER and what is carried along.

    Divisions are written as Parquet below `folder`, which all workers reach.
    """

    most_leaves = 1024

    def __init__(self, frame: DataFrame, n_rows: int, folder: str) -> None:
        self.frame, self.n_rows, self._folder = frame, n_rows, folder
        self._parts: tuple[DataFrame, ...] = (frame,)
        self.check: Check = no_check

    def scan(self, accumulator: Accumulator) -> None:
        """Add every row once: each task fills an empty accumulator of its own, and the driver merges them."""
        empty, results = pickle.dumps(accumulator), TaskResults.at(f"{self._folder}-counted")

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            own, n_rows = pickle.loads(empty), 0
            for batch in batches:
                n_rows += batch.num_rows
                if batch.num_rows:
                    own.add(unpacked(batch.column(0)))
            results.leave(task_number(), n_rows, own)
            return iter(())

        self.frame.select(f"`{CODES}`").mapInArrow(count, NOTHING).collect()
        # Only one of them is in this machine's memory at a time.
        for counted in results.of_all(self.n_rows):
            self.check()
            accumulator.merge(counted)
        results.remove()

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
        codes = unpacked(picked.column(0))
        return np.concatenate([codes, np.zeros((len(codes), 1), np.int32)], axis=1)

    def _numbers(self) -> Int64:
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
                places = slot[leaves_of(unpacked(batch.column(CODES)), arrays)]
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


PART = "anoncore:part"


class SparkTable:
    """A Spark frame as coding asks for it.

    The columns of `frame` are called by `labels`, because Spark reads a dot or a backtick in the name of a column that
    it hands to a task as more than a part of the name.
    """

    def __init__(self, frame: DataFrame) -> None:
        self.names = tuple(frame.columns)
        self.labels = {name: column_label(place) for place, name in enumerate(self.names)}
        self.frame = frame.toDF(*self.labels.values())
        self.n_rows = frame.count()
        if self.n_rows == 0:
            raise DataError("The table holds column names but no rows; load a table with at least one row.")

    def about(self, names: Sequence[str]) -> int:
        """An estimate of the number of combinations of values of some columns, within some hundredths."""
        from pyspark.sql import functions

        hashed = functions.xxhash64(*(self.labels[name] for name in names))
        found = self.frame.select(functions.approx_count_distinct(hashed, 0.03).alias("about")).toArrow()
        return int(found.column(0)[0].as_py())

    def joint(self, names: Sequence[str], most: int | None = None) -> pa.Table:
        """The combinations of values of some columns and how often each occurs, the columns in order and `rows`."""
        found = self.frame.groupBy(*(self.labels[name] for name in names)).count().withColumnRenamed("count", "rows")
        return (found if most is None else found.limit(most)).toArrow()

    def some_rows(self, names: Sequence[str], n: int) -> pa.Table:
        """About so many rows of some columns, or all where there are fewer, drawn at random."""
        columns = self.frame.select(*(self.labels[name] for name in names))
        return (columns if n >= self.n_rows else columns.sample(fraction=n / self.n_rows, seed=0)).toArrow()


def open_on_spark(
    session: SparkSession, path: Path, folder: Path, encoding: str | None = None, rules: TextRules | None = None
) -> DataFrame:
    """A table of Parquet or text files as a Spark frame, with the names, types and missing values of other engines.

    Spark reads Parquet files itself. Text files are read on this machine, as `read_table` reads them, and written once
    as Parquet to `folder`, which all workers reach. Raises DataError for files that cannot be read, and for names that
    differ in upper and lower case alone, which Spark does not tell apart.
    """
    with reading(path.name):
        files = table_files(path)
        if is_parquet(files[0]):
            frame = session.read.parquet(*map(str, files))
            kept = [name for name in frame.columns if name != PANDAS_ROW_LABELS]
            frame = frame.drop(PANDAS_ROW_LABELS)
            names = column_names(kept, path.name, Notes())
        else:
            spooled = folder / "source.parquet"
            names = spool_text(files, path.name, spooled, encoding, rules or TextRules(), Notes())
            frame = session.read.parquet(str(spooled))
    alike = [name for name in names if sum(name.lower() == other.lower() for other in names) > 1]
    if alike:
        raise DataError(f"Spark takes the names {listing(alike)} for one; rename the columns, or use the engine disk.")
    return frame.toDF(*names)


def anonymize_on_spark(
    frame: DataFrame,
    tags: Tags,
    algorithm: Rothko,
    output: Path,
    settings: RunSettings = USUAL,
) -> LargeRun:
    """Write the release of a Spark frame as a folder of Parquet files, as `anonymize_table` does of a table.

    Rows are numbered in the order in which Spark reads them, so that a sample depends on it and the seed alone.
    `output` and the workspace of the settings (default: a temporary folder, which serves Spark on one machine) are
    folders that all workers reach. A class is finished by one task, so that it has to fit in a worker's memory.
    Raises DataError and InfeasibleError as a run on one machine does.
    """
    check_output(output)
    report = settings.progress if settings.progress is not None else lambda share, text: None
    table = SparkTable(frame)
    profile, columns = profile_of(table, tags, algorithm, lambda text: report(0.05, text))
    algorithm.validate_data(profile)
    setting = Setting.of(algorithm, profile)
    with (
        folder_when_complete(output.resolve(), settings.replace) as parts_folder,
        tempfile.TemporaryDirectory(dir=settings.workspace) as folder,
    ):
        report(0.1, "Coding the rows")
        spooled = f"{folder}/rows"
        input_digest = _write_coded(table, setting, columns, spooled, settings.key)
        rows = SparkRows(frame.sparkSession.read.parquet(spooled), table.n_rows, f"{folder}/tree")
        rows.check = lambda: report(0.4, "Dividing the rows")
        parts = list(algorithm.parts(setting, rows))
        report(0.6, f"Finishing {len(parts):,} parts")
        pairs = pairs_folder(Path(folder)) if settings.mapping else None
        told = _publish(parts, algorithm, profile, table.labels, parts_folder, Path(folder), pairs, settings.two_way)
        found = result(output, algorithm, setting, told)
        if settings.two_way:
            work = Path(folder)
            found = with_two_way_error(found, table, parts_folder, work, (profile, columns), told, settings)
        write_summary(parts_folder, found)
        if settings.finish is not None:
            report(0.95, "Looking at columns that are published as they are")
            related = relations_of(table, profile)
            report(1.0, "Done")
            settings.finish(WrittenParts(parts_folder, profile, algorithm, found, input_digest, pairs, related))
    return found


def _write_coded(
    table: SparkTable, setting: Setting, columns: dict[str, CodedColumn], target: str, key: str | None
) -> str:
    """Write the table as SparkRows reads it, and say its keyed hash (none without a key); what is carried along is
    called by its labels.
    """
    from pyspark.sql import functions, types

    coder = RowCoder(setting, columns)
    wanted, carried = ([table.labels[name] for name in names] for names in (coder.wanted, coder.carried))
    digest = None if key is None else InputDigest(key, coder.wanted)
    results = TaskResults.at(f"{target}-hashed")

    def code(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sums, n_rows = [], 0
        for batch in batches:
            n_rows += batch.num_rows
            if digest is not None:
                sums.append(digest.of_batch(batch.select(wanted).rename_columns(coder.wanted)))
            columns = [packed(coder.codes(batch)), *(batch.column(label) for label in carried), batch.column(NUMBER)]
            yield pa.record_batch(columns, names=[CODES, *carried, NUMBER])
        results.leave(task_number(), n_rows, sums)

    numbered = table.frame.select(*wanted, functions.monotonically_increasing_id().alias(NUMBER))
    kinds = {field.name: field for field in table.frame.schema.fields}
    codes, number = types.StructField(CODES, types.BinaryType()), types.StructField(NUMBER, types.LongType())
    schema: Any = types.StructType([codes, *(kinds[label] for label in carried), number])
    numbered.mapInArrow(code, schema).write.parquet(target)
    hashed = [words for sums in results.of_all(table.n_rows) for words in sums]
    results.remove()
    return "" if digest is None else digest.total(table.n_rows, hashed)


@lru_cache(maxsize=1)
def _tables(pickled: bytes) -> PartTables:
    """What finishes parts, made once in a worker: compiled functions have other addresses in every process."""
    algorithm, profile, pairs, wants_cells = pickle.loads(pickled)
    return PartTables(Setting.of(algorithm, profile), pairs, wants_cells)


def _publish(
    parts: list[Part],
    algorithm: Rothko,
    profile: TableProfile,
    labels: dict[str, str],
    output: Path,
    work: Path,
    pairs: Path | None,
    wants_cells: bool,
) -> list[PartResult]:
    """Finish every part in a task of its own, which writes it as runs on disk do, and give what they found.

    Raises DataError where this machine has none of the files.
    """
    from pyspark.sql import functions

    pickled = pickle.dumps((algorithm, profile, pairs, wants_cells))
    names = {label: name for name, label in labels.items()}
    regions: list[Int32] = [part.region for part in parts]
    final = [part.is_class for part in parts]
    frames = [
        part.rows.frame.withColumn(PART, functions.lit(number))  # type: ignore[attr-defined]
        for number, part in enumerate(parts)
    ]
    results = TaskResults.at(work / "finished")

    def finish(table: pa.Table) -> pa.Table:
        number = table.column(PART)[0].as_py()
        codes = unpacked(table.column(CODES))
        rows = np.column_stack([codes, np.arange(len(codes), dtype=np.int32)]).astype(np.int32, order="C")
        carried = table.drop_columns([CODES, NUMBER, PART])
        carried = carried.rename_columns([names[label] for label in carried.column_names])
        published, found = _tables(pickled).finished(rows, carried, regions[number], final[number], number)
        write_whole(part_file(output, number), lambda path: write_part(path, published))
        results.leave(number, found.rows, found)
        return pa.table({"nothing": pa.array([], pa.int32())})

    united(frames).groupBy(PART).applyInArrow(finish, NOTHING).collect()
    # Left by a machine that was lost.
    for unfinished in output.glob(f"*{UNFINISHED}"):
        unfinished.unlink()
    found = list(results.of_all(sum(part.rows.n_rows for part in parts)))
    missing = [number for number in range(len(parts)) if not part_file(output, number).exists()]
    if missing:
        raise DataError(
            f"Spark wrote {len(missing):,} of {len(parts):,} parts where this machine cannot read them, in "
            f"'{output.parent}'; name an output that all machines reach."
        )
    return found
