"""Groups of a release that is read piece by piece, also those that pieces share: levels, and the classes in them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, Words
from anoncore.kernels.checking import counts_level
from anoncore.kernels.grouping import classes_within, numbered_keys
from anoncore.kernels.hashing import text_hashes
from anoncore.publishing.certification.written_cells import arrow_texts
from anoncore.release.partition import Partition
from anoncore.release.reading.published_table import is_text_type, text_bytes
from anoncore.requirements.requirement import Check
from anoncore.table.keys import dense_key

MOST = int(np.iinfo(np.int64).max)
Lanes = npt.NDArray[np.uint64]
Triples = tuple[Int64, Codes, Int64]
"""Of a sensitive attribute: the group, a code, and how many rows of the group have it, each (n,)."""


class GroupKeys:
    """Gives every combination of published cells a key of 128 bits, the same wherever it is found.

    A key is made of keyed hashes (SipHash) of the cells. The hashes' own key is drawn anew, so that nobody can publish
    different groups that get one key, but by a chance of one in 2^128.
    """

    def __init__(self, n_columns: int) -> None:
        self._hash_key = np.frombuffer(secrets.token_bytes(16), dtype=np.uint64)
        self._nothing = hashed_cells(pa.array([""], pa.string()), self._hash_key)
        random = np.frombuffer(secrets.token_bytes(16 * max(n_columns, 1)), dtype=np.uint64)
        self._factors = random.reshape(-1, 2) | np.uint64(1)

    def of_rows(self, columns: Sequence[pa.Array], rows: Int64) -> Lanes:
        """The keys of some rows of dictionary-coded columns, uint64 (n_rows, 2)."""
        lanes = np.zeros((len(rows), 2), dtype=np.uint64)
        for place, column in enumerate(columns):
            # Every distinct text is hashed once, and rows without a cell have the hash of an empty text.
            hashes = np.concatenate([hashed_cells(column.dictionary, self._hash_key), self._nothing])
            codes = column.indices.take(pa.array(rows)).fill_null(len(hashes) - 1).to_numpy(zero_copy_only=False)
            lanes += (hashes * self._factors[place])[codes]
        return lanes


def hashed_cells(values: pa.Array, key: Words) -> Words:
    """The keyed hash of each of the distinct values of a column as it is written, uint64 (n_values, 2).

    Values that are one text to `cell_texts`, such as 1.5 and 1.50, stay apart, as they are to a reader of the file.
    """
    cells = values if is_text_type(values.type) else pa.array(arrow_texts(values), pa.large_string())
    return text_hashes(*text_bytes(cells.fill_null("")), key)


@dataclass(frozen=True, eq=False)
class UnitGroups:
    """The groups of one piece: keys (n_groups, 2), sizes, and a level for each check, as if nobody shared them.

    `place` has the numbers of the part and of the piece in it. `mergeable` are the groups of which `counts` has the
    counts, to be put together with those of other pieces; `splits` says what becomes of groups with further columns.
    """

    place: tuple[int, int]
    keys: Lanes
    sizes: Int64
    levels: list[Floats]
    mergeable: Int64
    counts: list[Triples]
    splits: list[SplitPiece]


def runs(columns: Sequence[pa.Array], n_rows: int) -> Int64:
    """The rows at which a cell differs from that of the row before, and the first row."""
    changed = np.zeros(n_rows, dtype=bool)
    changed[:1] = True
    for column in columns:
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        changed[1:] |= codes[1:] != codes[:-1]
    return np.flatnonzero(changed)


def unit_partition(keys: GroupKeys, columns: Sequence[pa.Array], n_rows: int) -> tuple[Lanes, Partition]:
    """The keys of the groups of a piece, and which group each row is in. Sorted or not, equal cells are one group."""
    first = runs(columns, n_rows)
    lanes = keys.of_rows(columns, first)
    distinct, group_of_run = distinct_keys(lanes)
    lengths = np.diff(np.append(first, n_rows))
    return distinct, Partition(np.repeat(group_of_run.astype(np.int32), lengths))


def distinct_keys(lanes: Lanes) -> tuple[Lanes, Int64]:
    """The distinct keys in the order in which they first come, and the number of each key among them."""
    number, first = numbered_keys(np.ascontiguousarray(lanes))
    return lanes[first], number


def counted(partition: Partition, codes: Codes, groups: Int64) -> Triples:
    """How often each code stands in some of the groups."""
    sizes = partition.sizes[groups]
    before = np.cumsum(sizes) - sizes
    rows = partition.order[np.arange(sizes.sum()) + np.repeat(partition.starts[groups] - before, sizes)]
    size = int(codes.max(initial=0)) + 1
    pairs, n = np.unique(np.repeat(groups, sizes) * size + codes[rows], return_counts=True)
    return pairs // size, (pairs % size).astype(np.int32), n.astype(np.int64)


def shared_keys(keys: Sequence[Lanes]) -> tuple[Lanes, list[Int64], list[Int64]]:
    """The keys that several pieces have; for each piece which of its groups these are, and their number among them.

    `keys` are those of the groups of each piece, (n_groups, 2).
    """
    every = np.concatenate(keys)
    distinct, number = distinct_keys(every)
    often = np.bincount(number, minlength=len(distinct)) > 1
    rank = np.cumsum(often) - 1
    groups, numbers, begin = [], [], 0
    for one in keys:
        own = number[begin : begin + len(one)]
        begin += len(one)
        found = np.flatnonzero(often[own])
        groups.append(found)
        numbers.append(rank[own[found]])
    return distinct[often], groups, numbers


def joined_counts(triples: Iterable[Triples]) -> Triples:
    """Counts of pieces added up, by group and code."""
    groups, codes, rows = (np.concatenate(parts) for parts in zip(*triples, strict=True))
    size = int(codes.max(initial=0)) + 1
    pairs, number = np.unique(groups * size + codes, return_inverse=True)
    total = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(total, number, rows)
    return pairs // size, (pairs % size).astype(np.int32), total


def levels_of_counts(check: Check, counts: Triples | None, sizes: Int64) -> Floats:
    """The level of every group of which only the counts are known."""
    unique, size = (-1, 1) if check.values is None else (check.values.unique, check.values.size)
    levels = np.empty(len(sizes))
    if check.values is None or counts is None:
        for group, n_rows in enumerate(sizes.tolist()):
            levels[group] = counts_level(
                np.array([n_rows]), n_rows, check.requirement.level.address, unique, check.reference
            )
        return levels
    groups, codes, rows = counts
    bounds = np.searchsorted(groups, np.arange(len(sizes) + 1))
    histogram = np.zeros(size, dtype=np.int64)
    for group, n_rows in enumerate(sizes.tolist()):
        own = slice(bounds[group], bounds[group + 1])
        histogram[codes[own]] = rows[own]
        levels[group] = counts_level(histogram, n_rows, check.requirement.level.address, unique, check.reference)
        histogram[codes[own]] = 0
    return levels


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
