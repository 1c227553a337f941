"""Classes of a release in parts, told apart by further columns: what a reader sees of them who knows these columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anoncore.kernels.arrays import Bools, Codes, Int64
from anoncore.kernels.grouping import classes_within
from anoncore.publishing.certification.scan_groups import GroupKeys, Lanes, distinct_keys
from anoncore.release.partition import Partition
from anoncore.table.keys import dense_key

MOST = int(np.iinfo(np.int64).max)


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
