"""From a finished part to a Parquet file of the release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.algorithms.rothko.finish import finish_rows
from anoncore.algorithms.rothko.setting import Part, Setting
from anoncore.base.errors import AnonymizationError
from anoncore.base.faults import writing
from anoncore.engines.cell_texts import CellTexts
from anoncore.engines.file_rows import CODES, FileRows, list_codes
from anoncore.engines.value_pairs import PairsWriter, pairs_of_class, pairs_of_rows
from anoncore.kernels.arrays import Floats, Int32
from anoncore.kernels.checking import counts_level, group_levels
from anoncore.release.partition import Partition
from anoncore.sources.large_table import LargeTable
from anoncore.sources.parquet import value_type, write_rows


@dataclass(frozen=True, eq=False)
class PartResult:
    """Groups of a part: how many, the smallest and largest, the squared sizes' sum, and row losses per attribute."""

    rows: int
    groups: int
    smallest: int
    largest: int
    squares: int
    losses: Floats


class PartTables:
    """Finishes parts in memory: rows to the table that is published."""

    def __init__(self, setting: Setting, pairs: Path | None = None) -> None:
        self._setting = setting
        self._pairs = None if pairs is None else PairsWriter(pairs)
        self.names = setting.data.attributes
        self.cells = {name: CellTexts(setting.data.domain[name]) for name in setting.data.quasi_identifiers}

    def finished(
        self, rows: Int32, carried: pa.Table, region: Int32, is_class: bool, number: int = 0
    ) -> tuple[pa.Table, PartResult]:
        """The published rows of a part, in order of their class and then of their content, and its classes.

        What became what is written by the part's `number`, where it is wanted. `rows` int32 (n_rows, width + 1) with
        their numbers in the last column, `carried` what is published as it is.
        Raises AnonymizationError if a class fails a requirement, which none ever should.
        """
        group, boxes = finish_rows(self._setting, rows, region, is_class)
        partition = Partition(group)
        self._check(partition, rows)
        columns: dict[str, pa.Array] = {}
        losses, pairs = [], []
        for place, (name, cells) in enumerate(self.cells.items()):
            if self._setting.model.recoding == "regions":
                texts, loss = cells.of_boxes(partition, boxes[:, place, 0].copy(), boxes[:, place, 1].copy())
            else:
                texts, loss = cells.of_rows(partition, np.ascontiguousarray(rows[:, place]))
            columns[name] = _by_group(texts, group)
            losses.append(float((loss * partition.sizes).sum()))
            if self._pairs is not None:
                pairs.append(pairs_of_rows(place, rows[:, place], group, texts))
        if self._pairs is not None:
            self._pairs.write(number, pairs)
        if carried.num_columns:
            carried = carried.take(pa.array(rows[:, -1]))
            for name in carried.column_names:
                columns[name] = carried.column(name)
        published = pa.table({name: columns[name] for name in self.names})
        if carried.num_columns:
            published = published.take(_content_order(group, carried))
        sizes = partition.sizes
        result = PartResult(
            len(rows), len(sizes), int(sizes.min()), int(sizes.max()), int((sizes**2).sum()), np.array(losses)
        )
        return published, result

    def _check(self, partition: Partition, rows: Int32) -> None:
        views = [view.attribute for view in self._setting.checks.views]
        order = np.arange(len(rows))
        for check in self._setting.checks.checks:
            place = self._setting.search.n_attributes
            codes, size, unique = np.zeros(len(rows), dtype=np.int32), 1, -1
            if check.values is not None:
                place += views.index(check.values.attribute)
                codes, size, unique = np.ascontiguousarray(rows[:, place]), check.values.size, check.values.unique
            levels = group_levels(
                order, partition.starts, codes, size, check.requirement.level.address, unique, check.reference
            )
            if not check.holds(levels).all():
                raise AnonymizationError(f"A class fails {check.requirement.label()}; nothing was published.")


class Publisher:
    """Turns parts into Parquet files; several threads may publish at a time."""

    def __init__(self, setting: Setting, table: LargeTable, folder: Path, pairs: Path | None = None) -> None:
        self._setting, self._table, self._folder = setting, table, folder
        self._tables = PartTables(setting, pairs)
        self._pairs = None if pairs is None else PairsWriter(pairs)
        self._names, self._cells = self._tables.names, self._tables.cells

    def publish(self, part: Part, number: int) -> PartResult:
        """Finish one part, check it and write it to `part-<number>.parquet`; its rows are removed."""
        assert isinstance(part.rows, FileRows)
        target = self._folder / f"part-{number:05d}.parquet"
        if part.is_class and part.rows.n_rows > self._setting.model.memory_rows:
            result = self._publish_large_class(part.rows, part.region, target, number)
        else:
            published, result = self._tables.finished(*part.rows.load(), part.region, part.is_class, number)
            with writing(self._folder):
                schema = pa.schema([(field.name, value_type(field.type)) for field in published.schema])
                write_rows(target, schema, [published])
        part.rows.drop()
        return result

    def _publish_large_class(self, source: FileRows, region: Int32, target: Path, number: int) -> PartResult:
        """One class of more rows than fit in memory: its values are counted, the rest is sorted on disk."""
        n_attributes = self._setting.search.n_attributes
        counts = [np.zeros(len(cells.domain), dtype=np.int64) for cells in self._cells.values()]
        totals = np.zeros(int(self._setting.kernel_checks.count_start[-1]), dtype=np.int64)
        for batch in source.batches():
            codes = list_codes(batch.column(0))
            for place, counted in enumerate(counts):
                counted += np.bincount(codes[:, place], minlength=len(counted))
            for place, start in enumerate(self._setting.kernel_checks.count_start[:-1]):
                found = np.bincount(codes[:, n_attributes + place])
                totals[start : start + len(found)] += found
        self._check_class(totals, source.n_rows)
        texts, losses = {}, []
        for place, (name, cells) in enumerate(self._cells.items()):
            present = np.flatnonzero(counts[place]).astype(np.int32)
            alone = Partition(np.zeros(len(present), dtype=np.int32))
            if self._setting.model.recoding == "regions":
                text, loss = cells.of_boxes(alone, region[place, :1], region[place, 1:])
            else:
                text, loss = cells.of_rows(alone, present)
            texts[name] = text
            losses.append(float(loss[0]) * source.n_rows)
        if self._pairs is not None:
            every = zip(counts, texts.values(), strict=True)
            self._pairs.write(number, [pairs_of_class(place, *one) for place, one in enumerate(every)])
        with writing(self._folder):
            self._write_class(source, texts, target)
        n = source.n_rows
        return PartResult(n, 1, n, n, n * n, np.array(losses))

    def _check_class(self, totals: npt.NDArray[np.int64], n_rows: int) -> None:
        starts = self._setting.kernel_checks.count_start
        views = [view.attribute for view in self._setting.checks.views]
        for check in self._setting.checks.checks:
            counts, unique = np.zeros(1, dtype=np.int64), -1
            if check.values is not None:
                place = views.index(check.values.attribute)
                counts, unique = totals[starts[place] : starts[place + 1]], check.values.unique
            level = counts_level(counts, n_rows, check.requirement.level.address, unique, check.reference)
            if not check.holds(np.array([level])).all():
                raise AnonymizationError(f"A class fails {check.requirement.label()}; nothing was published.")

    def _write_class(self, source: FileRows, texts: dict[str, pa.Array], target: Path) -> None:
        fields = [source.schema.field(name) for name in source.schema.names[1:]]
        kinds = {field.name: field.type for field in fields}
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in self._names])
        carried = (batch.drop_columns([CODES]) for batch in source.batches())
        if fields:
            reader = pa.RecordBatchReader.from_batches(pa.schema(fields), carried)
            batches = self._table.sorted(reader, self._folder)
        else:
            batches = source.batches()

        def published() -> Iterator[pa.Table]:
            for batch in batches:
                own = {name: batch.column(name) for name in kinds}
                zeros = pa.array(np.zeros(batch.num_rows, dtype=np.int32))
                columns = [own[name] if name in own else texts[name].take(zeros) for name in self._names]
                yield pa.table(columns, schema=schema)

        write_rows(target, pa.schema([(field.name, value_type(field.type)) for field in schema]), published())


def _by_group(texts: pa.Array, group: Int32) -> pa.Array:
    """The text of each row's group, dictionary-coded."""
    distinct = texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(distinct.indices.take(pa.array(group)), distinct.dictionary)


def _content_order(group: Int32, carried: pa.Table) -> pa.Array:
    """Rows by group and then by what is published beside it, so that the order of the input decides nothing."""
    keyed = carried.append_column(CODES, pa.array(group))
    names = [CODES, *(field.name for field in carried.schema if not pa.types.is_null(field.type))]
    plain = pa.table({name: _sortable(keyed.column(name)) for name in names})
    return pc.sort_indices(plain, [(name, "ascending") for name in names])


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
