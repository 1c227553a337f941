"""From a finished part to a Parquet file of the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.algorithms.rothko.finish import finish_rows
from anoncore.algorithms.rothko.setting import Part, Setting
from anoncore.base.errors import AnonymizationError
from anoncore.base.faults import writing
from anoncore.engines.error_of_pairs import TextRegions
from anoncore.engines.file_rows import CODES, FileRows, list_codes
from anoncore.engines.value_pairs import pairs_of_class, pairs_of_rows, write_pairs
from anoncore.kernels.arrays import Floats, Int32, Int64, record
from anoncore.kernels.rothko import extents_of_runs
from anoncore.kernels.sorting import stable_order
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized
from anoncore.requirements import Check
from anoncore.sources.large_table import LargeTable
from anoncore.sources.parquet import value_type, write_rows
from anoncore.table.domain import Domain, Kind


@record
class PartResult:
    """Groups of a part: how many, the smallest and largest, the squared sizes' sum, and row losses per attribute.

    `cells` are its different cells by attribute, where they are wanted.
    """

    rows: int
    groups: int
    smallest: int
    largest: int
    squares: int
    losses: Floats
    cells: Mapping[str, TextRegions]


class PartTables:
    """Finishes parts in memory: rows to the table that is published. With `wants_cells` a part tells its cells."""

    def __init__(self, setting: Setting, pairs: Path | None = None, wants_cells: bool = False) -> None:
        self._setting = setting
        self._pairs, self._wants_cells = pairs, wants_cells
        self.names = setting.data.attributes
        self.domains = {name: setting.data.domain[name] for name in setting.data.quasi_identifiers}

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
        for check, column in self._setting.checked_columns:
            _require(check, check.levels(partition, None if column is None else np.ascontiguousarray(rows[:, column])))
        boxes = boxes if len(boxes) else self._extents(rows, partition)
        columns: dict[str, pa.Array | pa.ChunkedArray] = {}
        losses, pairs, recodings = [], [], {}
        for place, (name, domain) in enumerate(self.domains.items()):
            recoding = recodings[name] = self.recoding(domain, partition, rows[:, place], boxes[:, place])
            texts, loss = coded_texts(recoding), recoding.loss()
            # Rows stand by group, so that what is published of a group is repeated.
            codes = np.repeat(texts.indices.to_numpy(), partition.sizes)
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), texts.dictionary)
            losses.append(float((loss * partition.sizes).sum()))
            if self._pairs is not None:
                pairs.append(pairs_of_rows(place, rows[:, place], group, texts))
        if self._pairs is not None:
            write_pairs(self._pairs, number, pairs)
        if carried.num_columns:
            carried = carried.take(pa.array(rows[:, -1]))
            carried = carried.take(pa.array(_content_order(group, carried)))
            columns |= dict(zip(carried.column_names, carried.columns, strict=True))
        published = pa.table({name: columns[name] for name in self.names})
        sizes = partition.sizes
        result = PartResult(
            len(rows),
            len(sizes),
            int(sizes.min()),
            int(sizes.max()),
            int((sizes**2).sum()),
            np.array(losses),
            self.known(recodings),
        )
        return published, result

    def _extents(self, rows: Int32, partition: Partition) -> Int32:
        """The lowest and the highest code of every attribute in each group, int32 (n_groups, n_attributes, 2)."""
        low, high = np.empty((2, partition.n_groups, len(self.domains)), np.int32)
        extents_of_runs(rows, partition.starts, low, high)
        return np.stack([low, high], axis=2)

    def known(self, recodings: Mapping[str, Generalized]) -> dict[str, TextRegions]:
        """What the cells of a part are, where that is wanted."""
        return {name: TextRegions.of(one) for name, one in recodings.items()} if self._wants_cells else {}

    def recoding(self, domain: Domain, partition: Partition, codes: Int32, boxes: Int32) -> Generalized:
        """The cell of each group, from the codes of its rows and from `boxes` int32 (n_groups, 2): the tree's where
        these are published, else its lowest and highest code.
        """
        is_range = domain.tree is None and domain.kind is Kind.NUMERIC
        if self._setting.model.recoding == "regions" or is_range:
            return Generalized.of_boxes(domain, partition, boxes)
        return Generalized.of_rows(domain, partition, codes)


def coded_texts(recoding: Generalized) -> pa.DictionaryArray:
    """The text of each group's cell."""
    texts, region = recoding.numbered_texts
    return pa.DictionaryArray.from_arrays(pa.array(region, pa.int32()), pa.array(texts, pa.string()))


def _require(check: Check, levels: Floats) -> None:
    if not check.holds(levels).all():
        raise AnonymizationError(f"A group fails {check.requirement.label()}; nothing was published.")


class Publisher:
    """Turns parts into Parquet files; several threads may publish at a time."""

    def __init__(
        self, setting: Setting, table: LargeTable, folder: Path, pairs: Path | None = None, wants_cells: bool = False
    ) -> None:
        self._setting, self._table, self._folder = setting, table, folder
        self._tables = PartTables(setting, pairs, wants_cells)
        self._pairs = pairs

    def publish(self, part: Part, number: int) -> PartResult:
        """Finish one part, check it and write it to its `part_file`; its rows are removed."""
        assert isinstance(part.rows, FileRows)
        target = part_file(self._folder, number)
        if part.is_class and part.rows.n_rows > self._setting.model.memory_rows:
            result = self._publish_large_class(part.rows, part.region, target, number)
        else:
            published, result = self._tables.finished(*part.rows.load(), part.region, part.is_class, number)
            with writing(self._folder):
                write_part(target, published)
        part.rows.drop()
        return result

    def _publish_large_class(self, source: FileRows, region: Int32, target: Path, number: int) -> PartResult:
        """One class of more rows than fit in memory: its values are counted, the rest is sorted on disk."""
        domains = self._tables.domains
        sizes = [*map(len, domains.values()), *(view.size for view in self._setting.checks.views)]
        counts = [np.zeros(size, np.int64) for size in sizes]
        for batch in source.batches():
            codes = list_codes(batch.column(0))
            for counted, column in zip(counts, codes.T, strict=False):
                counted += np.bincount(column, minlength=len(counted))
        for check, checked in self._setting.checked_columns:
            level = check.table_level(source.n_rows, None if checked is None else counts[checked])
            _require(check, np.array([level]))
        texts, losses, recodings = {}, [], {}
        for place, (name, domain) in enumerate(domains.items()):
            present = np.flatnonzero(counts[place]).astype(np.int32)
            box = region[place] if self._setting.model.recoding == "regions" else present[[0, -1]]
            alone = Partition(np.zeros(len(present), np.int32))
            recoding = recodings[name] = self._tables.recoding(domain, alone, present, box[None])
            texts[name] = coded_texts(recoding)
            losses.append(float(recoding.loss()[0]) * source.n_rows)
        if self._pairs is not None:
            every = zip(counts, texts.values(), strict=False)
            write_pairs(self._pairs, number, [pairs_of_class(place, *one) for place, one in enumerate(every)])
        with writing(self._folder):
            self._write_class(source, texts, target)
        n = source.n_rows
        return PartResult(n, 1, n, n, n * n, np.array(losses), self._tables.known(recodings))

    def _write_class(self, source: FileRows, texts: dict[str, pa.DictionaryArray], target: Path) -> None:
        fields = [source.schema.field(name) for name in source.schema.names[1:]]
        kinds = {field.name: field.type for field in fields}
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in self._tables.names])
        carried = (batch.drop_columns([CODES]) for batch in source.batches())
        if fields:
            reader = pa.RecordBatchReader.from_batches(pa.schema(fields), carried)
            batches = self._table.sorted(reader, self._folder)
        else:
            batches = source.batches()

        plain = {name: text.dictionary_decode() for name, text in texts.items()}

        def published() -> Iterator[pa.Table]:
            for batch in batches:
                own = {name: batch.column(name) for name in kinds}
                zeros = pa.array(np.zeros(batch.num_rows, np.int32))
                columns = [own[name] if name in own else plain[name].take(zeros) for name in self._tables.names]
                yield pa.table(columns, schema=schema)

        write_rows(target, pa.schema([(field.name, value_type(field.type)) for field in schema]), published())


def write_part(target: Path, published: pa.Table) -> None:
    """Write what is published of a part as Parquet."""
    write_rows(target, pa.schema([(field.name, value_type(field.type)) for field in published.schema]), [published])


def part_file(folder: Path, number: int) -> Path:
    """The file of the part with this number."""
    return folder / f"part-{number:05d}.parquet"


def _content_order(group: Int32, carried: pa.Table) -> Int64:
    """Rows by group and then by what is published beside it, so that the order of the input decides nothing."""
    order = np.arange(len(group))
    # Sorted by one column after the other, rows that are equal in it as they stand: the column that decides comes last.
    for ranks in (*(_ranks(column) for column in reversed(carried.columns)), group.astype(np.int64)):
        order = stable_order(ranks, int(ranks.max()).bit_length(), order)
    return order


def _ranks(column: pa.ChunkedArray) -> Int64:
    """The rank of every value among the different ones of a column, int64 (n,); missing ones come last."""
    whole = column.combine_chunks()
    if pa.types.is_null(whole.type):
        return np.zeros(len(whole), np.int64)
    plain = whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole
    coded = (plain.cast(pa.int8()) if pa.types.is_boolean(plain.type) else plain).dictionary_encode()
    ranks = np.append(pc.rank(coded.dictionary, tiebreaker="dense").to_numpy(), len(coded.dictionary) + 1)
    return ranks.astype(np.int64)[coded.indices.fill_null(len(coded.dictionary)).to_numpy()]
