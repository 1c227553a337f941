"""Classes of a release in parts, told apart by further columns: what a reader sees of them who knows these columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa

from anoncore.base.pipeline import in_threads
from anoncore.kernels.arrays import Bools, Codes, Int64
from anoncore.kernels.grouping import classes_within
from anoncore.publishing.certification.published_rows import Rows, array_of
from anoncore.publishing.certification.scan_groups import GroupKeys, Lanes, distinct_keys, shared_keys, unit_partition
from anoncore.release.partition import Partition
from anoncore.table.keys import dense_key

MOST = int(np.iinfo(np.int64).max)
AT_ONCE = 8
"""Sets of columns that one reading of the parts answers for."""


@dataclass(frozen=True, eq=False)
class SplitPiece:
    """What one set of columns makes of a piece: the sizes of classes that no other piece has a row of, as the smallest
    and the rows below k, and group, key and size of each class that other pieces may have rows of, (n_kept,).
    """

    smallest: int
    below: int
    groups: Codes
    keys: Lanes
    sizes: Int64


class ClassSplit:
    """What becomes of classes whose rows are told apart by some further columns, worked out piece by piece.

    `k` is the number of rows that a class should have.
    """

    def __init__(self, columns: Sequence[str], k: int) -> None:
        self.columns, self.k = tuple(columns), k
        self._keys = GroupKeys(len(self.columns))

    def piece(
        self, partition: Partition, lanes: Lanes, is_shared: Bools, coded: Mapping[str, pa.DictionaryArray]
    ) -> SplitPiece:
        """The classes inside the groups of a piece.

        `lanes` (n_groups, 2) are the keys of the groups, `is_shared` (n_groups,) says which of them other pieces may
        have rows of, and `coded` has the cells of the rows.
        """
        columns = [coded[name] for name in self.columns]
        codes, size = _joined_codes(columns, partition.n_rows)
        first, sizes = classes_within(partition.order, partition.starts, codes, size)
        group = partition.group[first]
        goes_on = is_shared[group]
        alone, rows = sizes[~goes_on], first[goes_on]
        keys = lanes[group[goes_on]]
        if len(rows):
            # The key of a class and that of what tells it apart are drawn independently, so that their sum is one for
            # both.
            keys = keys + self._keys.of_rows(columns, rows)
        return SplitPiece(*self._smallest_and_below(alone), group[goes_on], keys, sizes[goes_on])

    def together(self, pieces: Sequence[SplitPiece], shared: Sequence[Int64]) -> tuple[int, int]:
        """The size of the smallest class of all pieces, and the rows in classes of fewer than k.

        `shared` says for each piece which of its groups other pieces have rows of; it has kept the classes of these.
        """
        is_shared = [np.isin(one.groups, own) for one, own in zip(pieces, shared, strict=True)]
        pairs = list(zip(pieces, is_shared, strict=True))
        distinct, number = distinct_keys(np.concatenate([one.keys[mask] for one, mask in pairs]))
        rows = np.concatenate([one.sizes[mask] for one, mask in pairs])
        joined = np.bincount(number, weights=rows, minlength=len(distinct)).astype(np.int64)
        sizes = np.concatenate([joined, *(one.sizes[~mask] for one, mask in pairs)])
        smallest, below = self._smallest_and_below(sizes)
        return min([smallest, *(one.smallest for one in pieces)]), below + sum(one.below for one in pieces)

    def _smallest_and_below(self, sizes: Int64) -> tuple[int, int]:
        return int(sizes.min(initial=MOST)), int(sizes[sizes < self.k].sum())


class PartClasses:
    """The classes of some parts, as `privacy.tag_leaks` asks for them.

    Parts are read anew for each question, a few row groups at a time, and only classes that several pieces have rows of
    are put together in memory. `known` are the columns by which readers tell classes apart, `k` the rows that a class
    should have. `shared` says for each piece which of its classes other pieces have rows of, where that was found out.
    """

    def __init__(
        self, files: Sequence[Rows], known: Sequence[str], k: int, shared: Sequence[Int64] | None = None
    ) -> None:
        self.k, self._files, self._known = k, files, list(known)
        self._keys = GroupKeys(len(self._known))
        self._shared = shared

    def sizes(self, sets: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
        """For each set of columns the size of the smallest class and the rows in classes of fewer than k."""
        waiting = iter(sets)
        while asked := list(islice(waiting, AT_ONCE)):
            yield from self._read([ClassSplit(one, self.k) for one in asked])

    def _read(self, splits: Sequence[ClassSplit]) -> Iterator[tuple[int, int]]:
        names = list(dict.fromkeys(name for split in splits for name in split.columns))
        shared = self._shared_classes()

        def work(item: tuple[int, pa.Table]) -> list[SplitPiece]:
            number, unit = item
            coded = {name: coded_cells(array_of(unit, name)) for name in [*self._known, *names]}
            lanes, partition = unit_partition(self._keys, [coded[name] for name in self._known], unit.num_rows)
            is_shared = np.zeros(partition.n_groups, dtype=bool)
            is_shared[shared[number]] = True
            return [split.piece(partition, lanes, is_shared, coded) for split in splits]

        found: list[list[SplitPiece]] = [[] for _ in splits]
        with closing(in_threads(work, enumerate(self._units(names)))) as pieces:
            for of_piece in pieces:
                for one, piece in zip(found, of_piece, strict=True):
                    one.append(piece)
        for split, one in zip(splits, found, strict=True):
            yield split.together(one, shared)

    def _shared_classes(self) -> Sequence[Int64]:
        """For each piece the classes that other pieces have rows of too."""
        if self._shared is None:

            def work(unit: pa.Table) -> Lanes:
                known = [coded_cells(array_of(unit, name)) for name in self._known]
                return unit_partition(self._keys, known, unit.num_rows)[0]

            with closing(in_threads(work, self._units([]))) as keys:
                self._shared = shared_keys(list(keys))[1]
        return self._shared

    def _units(self, names: Sequence[str]) -> Iterator[pa.Table]:
        for file in self._files:
            for unit in file.units([*self._known, *names]):
                if unit.num_rows:
                    yield unit


def coded_cells(column: pa.Array) -> pa.DictionaryArray:
    """The cells of a column as codes and the distinct values behind them."""
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _joined_codes(columns: Sequence[pa.DictionaryArray], n_rows: int) -> tuple[Codes, int]:
    """One code per row, int32 (n_rows,), for the cells of some columns together, and a number above every code."""
    # A row without a cell has a code of its own.
    codes = [column.indices.fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False) for column in columns]
    if len(codes) == 1:
        return codes[0].astype(np.int32, copy=False), len(columns[0].dictionary) + 1
    key = dense_key(codes, n_rows).astype(np.int32)
    return key, int(key.max(initial=-1)) + 1
