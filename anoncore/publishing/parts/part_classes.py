"""Classes of a release in parts, told apart by further columns: what a reader sees of them who knows these columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa

from anoncore.base.pipeline import in_threads
from anoncore.kernels.arrays import Bools, Codes, Int64
from anoncore.publishing.parts.part_files import PartFile, array_of
from anoncore.publishing.parts.part_groups import GroupKeys, Lanes, distinct_keys, shared_keys, unit_partition
from anoncore.table.keys import dense_key

MOST = int(np.iinfo(np.int64).max)
AT_ONCE = 8
"""Sets of columns that one reading of the parts answers for."""


@dataclass(frozen=True, eq=False)
class _Piece:
    """What one set of columns makes of a piece: the sizes of classes that no other piece has a row of, as the smallest
    and the rows below k, and the keys and sizes of those that other pieces may have rows of.
    """

    smallest: int
    below: int
    keys: Lanes
    sizes: Int64


class PartClasses:
    """The classes of some parts, as `privacy.tag_leaks` asks for them.

    Parts are read anew for each question, a few row groups at a time, and only classes that several pieces have rows of
    are put together in memory. `known` are the columns by which readers tell classes apart, `k` the rows that a class
    should have.
    """

    def __init__(self, files: Sequence[PartFile], known: Sequence[str], k: int) -> None:
        self.k, self._files, self._known = k, files, list(known)
        self._keys = GroupKeys(len(self._known))
        self._shared: list[Int64] | None = None

    def sizes(self, sets: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
        """For each set of columns the size of the smallest class and the rows in classes of fewer than k."""
        waiting = iter(sets)
        while asked := list(islice(waiting, AT_ONCE)):
            yield from self._read(asked)

    def _read(self, asked: Sequence[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
        names = list(dict.fromkeys(name for one in asked for name in one))
        shared = self._shared_classes()
        keys = [GroupKeys(len(one)) for one in asked]

        def work(item: tuple[int, pa.Table]) -> list[_Piece]:
            number, unit = item
            coded = {name: _coded(array_of(unit, name)) for name in [*self._known, *names]}
            lanes, partition = unit_partition(self._keys, [coded[name] for name in self._known], unit.num_rows)
            is_shared = np.zeros(partition.n_groups, dtype=bool)
            is_shared[shared[number]] = True
            return [
                self._piece(partition.group, lanes, is_shared, [coded[name] for name in one], own)
                for one, own in zip(asked, keys, strict=True)
            ]

        found: list[list[_Piece]] = [[] for _ in asked]
        with closing(in_threads(work, enumerate(self._units(names)))) as pieces:
            for of_piece in pieces:
                for one, piece in zip(found, of_piece, strict=True):
                    one.append(piece)
        for one in found:
            yield self._together(one)

    def _piece(
        self, group: Codes, lanes: Lanes, is_shared: Bools, columns: Sequence[pa.DictionaryArray], keys: GroupKeys
    ) -> _Piece:
        n_rows = len(group)
        codes = [column.indices.fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False) for column in columns]
        key = dense_key((group, *codes), n_rows)
        sizes = np.bincount(key)
        row = np.empty(len(sizes), dtype=np.int64)
        row[key] = np.arange(n_rows)
        goes_on = is_shared[group[row]]
        alone, rows = sizes[~goes_on], row[goes_on]
        # The key of a class and that of what tells it apart are drawn independently, so that their sum is one for both.
        found = lanes[group[rows]] + keys.of_rows(columns, rows) if len(rows) else np.zeros((0, 2), dtype=np.uint64)
        return _Piece(int(alone.min(initial=MOST)), int(alone[alone < self.k].sum()), found, sizes[goes_on])

    def _together(self, pieces: Sequence[_Piece]) -> tuple[int, int]:
        distinct, number = distinct_keys(np.concatenate([one.keys for one in pieces]))
        rows = np.concatenate([one.sizes for one in pieces])
        sizes = np.bincount(number, weights=rows, minlength=len(distinct)).astype(np.int64)
        smallest = min([*(one.smallest for one in pieces), int(sizes.min(initial=MOST))])
        return smallest, sum(one.below for one in pieces) + int(sizes[sizes < self.k].sum())

    def _shared_classes(self) -> list[Int64]:
        """For each piece the classes that other pieces have rows of too."""
        if self._shared is None:

            def work(unit: pa.Table) -> Lanes:
                known = [_coded(array_of(unit, name)) for name in self._known]
                return unit_partition(self._keys, known, unit.num_rows)[0]

            with closing(in_threads(work, self._units([]))) as keys:
                self._shared = shared_keys(list(keys))[1]
        return self._shared

    def _units(self, names: Sequence[str]) -> Iterator[pa.Table]:
        for file in self._files:
            for unit in file.units([*self._known, *names]):
                if unit.num_rows:
                    yield unit


def _coded(column: pa.Array) -> pa.DictionaryArray:
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
