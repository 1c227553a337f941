"""Rothko on Spark: tables and machines of any size, with the same algorithm and the same kernels."""

from __future__ import annotations

import os
import pickle
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.rows import Accumulator, Check, no_check, sampled_places
from anoncore.algorithms.rothko.setting import Part, Setting
from anoncore.base.errors import DataError
from anoncore.base.faults import reading
from anoncore.base.progress import Progress
from anoncore.base.texts import listing
from anoncore.engines.column_coding import CodedColumn
from anoncore.engines.file_rows import CODES, list_codes
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
from anoncore.engines.parts import PartTables
from anoncore.engines.spool import RowCoder, Tags, profile_of
from anoncore.engines.table_profile import TableProfile
from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.rothko import leaves_of
from anoncore.sources.headers import column_names
from anoncore.sources.inference import TextRules
from anoncore.sources.notes import Notes
from anoncore.sources.parquet import PANDAS_ROW_LABELS, value_type, write_rows
from anoncore.sources.table_files import is_parquet, table_files
from anoncore.sources.text_spool import column_label, spool_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
        input_digest = "" if settings.key is None else _input_digest(table, profile, settings.key, report)
        report(0.2, "Coding the rows")
        coded = _coded(table, setting, columns)
        spooled = str(Path(folder) / "rows")
        coded.write.parquet(spooled)
        rows = SparkRows(frame.sparkSession.read.parquet(spooled), table.n_rows, f"{folder}/tree")
        rows.check = lambda: report(0.4, "Dividing the rows")
        parts = list(algorithm.parts(setting, rows))
        report(0.6, f"Finishing {len(parts):,} parts")
        results = Path(folder) / "results"
        results.mkdir()
        pairs = pairs_folder(Path(folder)) if settings.mapping else None
        _publish(parts, algorithm, profile, table.labels, f"{folder}/published", results, pairs, settings.two_way)
        _move(Path(folder) / "published", parts_folder)
        told = [pickle.loads(one.read_bytes()) for one in results.iterdir()]
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


def _input_digest(table: SparkTable, profile: TableProfile, key: str, report: Progress) -> str:
    """The keyed hash of the table: every task hashes its rows, and the driver adds up what they give."""
    report(0.15, "Hashing the table")
    digest = InputDigest(key, profile.attributes)
    labels = [table.labels[name] for name in digest.names]

    def hashed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            lanes = digest.of_batch(batch.rename_columns(digest.names)).view(np.int64)
            yield pa.record_batch([pa.array([lane], pa.int64()) for lane in lanes], names=["one", "two"])

    lanes = table.frame.select(*labels).mapInArrow(hashed, "one long, two long").toArrow()
    sums = np.column_stack([column.to_numpy() for column in lanes.columns]).view(np.uint64)
    return digest.total(table.n_rows, list(sums))


def _move(written: Path, folder: Path) -> None:
    """Write the files that Spark wrote again as parts: with nothing of Spark in them, as runs on disk write theirs.

    Raises DataError where this machine has none of them.
    """
    files = [file for file in sorted(written.glob("*.parquet")) if pq.read_metadata(file).num_rows]
    if not files:
        raise DataError(
            f"Spark wrote no file that this machine can read in '{written}'; name a workspace that all machines reach."
        )
    for number, file in enumerate(files):
        with pq.ParquetFile(file) as source:
            schema = pa.schema([(field.name, value_type(field.type)) for field in source.schema_arrow])
            tables = (source.read_row_group(group) for group in range(source.num_row_groups))
            write_rows(folder / f"part-{number:05d}.parquet", schema, tables)
        file.unlink()


def _coded(table: SparkTable, setting: Setting, columns: dict[str, CodedColumn]) -> DataFrame:
    """The table as SparkRows reads it; what is carried along is called by its labels."""
    from pyspark.sql import functions, types

    coder = RowCoder(setting, columns)

    def code(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            coded = coder(batch.drop_columns([NUMBER]))
            lists = coded.column(0).cast(pa.list_(pa.int32()))
            arrays = [lists, *coded.columns[1:], batch.column(NUMBER)]
            yield pa.record_batch(arrays, names=[*coded.schema.names, NUMBER])

    numbered = table.frame.select(
        *(table.labels[name] for name in coder.wanted), functions.monotonically_increasing_id().alias(NUMBER)
    )
    kinds = dict(zip(table.names, table.frame.schema.fields, strict=True))
    codes = types.StructField(CODES, types.ArrayType(types.IntegerType()))
    schema: Any = types.StructType(
        [codes, *(kinds[name] for name in coder.carried), types.StructField(NUMBER, types.LongType())]
    )
    return numbered.mapInArrow(code, schema)


def replace_part(path: Path, content: bytes) -> None:
    """Write a file whole, whoever else writes the same."""
    own = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    own.write_bytes(content)
    os.replace(own, path)


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
    output: str,
    results: Path,
    pairs: Path | None,
    wants_cells: bool,
) -> None:
    """Finish every part in a task of its own, write what they give, and leave what they found in files of `results`."""
    from pyspark.sql import functions, types

    pickled = pickle.dumps((algorithm, profile, pairs, wants_cells))
    names = {label: name for name, label in labels.items()}
    regions: list[Int32] = [part.region for part in parts]
    final = [part.is_class for part in parts]
    frames = [
        part.rows.frame.withColumn(PART, functions.lit(number))  # type: ignore[attr-defined]
        for number, part in enumerate(parts)
    ]
    together = united(frames)

    def finish(table: pa.Table) -> pa.Table:
        number = table.column(PART)[0].as_py()
        codes = list_codes(table.column(CODES).combine_chunks())
        rows = np.column_stack([codes, np.arange(len(codes), dtype=np.int32)]).astype(np.int32, order="C")
        carried = table.drop_columns([CODES, NUMBER, PART])
        carried = carried.rename_columns([names[label] for label in carried.column_names])
        published, found = _tables(pickled).finished(rows, carried, regions[number], final[number], number)
        # A task may run more than once, and gives the same whenever it does.
        replace_part(results / f"{number}.pickle", pickle.dumps(found))
        return pa.table(
            [_plain(column) for column in published.columns], names=[labels[name] for name in published.column_names]
        )

    kinds = {field.name: field.dataType for field in together.schema.fields}
    kinds |= {labels[name]: types.StringType() for name in profile.quasi_identifiers}
    schema: Any = types.StructType(
        [types.StructField(labels[name], kinds[labels[name]]) for name in profile.attributes]
    )
    finished = together.groupBy(PART).applyInArrow(finish, schema)
    finished.toDF(*profile.attributes).write.parquet(output)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
