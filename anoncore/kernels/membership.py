"""Tuples that match buckets of a sliced table: counted one by one, or drawn at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.matching import find_value


class ColumnValues(NamedTuple):
    """Which values each column shows in each bucket.

    Those of column i in bucket b are `value[bucket_start[i, b]:bucket_start[i, b + 1]]`. The buckets that show value v
    of column i are `bucket[value_start[first[i] + v]:value_start[first[i] + v + 1]]`. Both ascend. Columns that overlap
    agree: value v of column i goes with value w of its `parent[i]` (an earlier column, -1 for none) where
    `own[first[i] + v]` equals `asked[asked_first[i] + w]`. `shown` uint64 (n_values, n_words) has a bit per bucket that
    shows each value; it has no rows where that would take too much memory.
    """

    bucket_start: Int64
    value: Int64
    first: Int64
    value_start: Int64
    bucket: Int64
    parent: Int64
    own: Int64
    asked_first: Int64
    asked: Int64
    shown: Words


@inner_kernel
def _agree(columns: ColumnValues, one: Int64) -> bool:
    """Whether the column values of a tuple agree on what the columns share."""
    for i in range(1, one.shape[0]):
        parent = columns.parent[i]
        if parent >= 0 and (
            columns.own[columns.first[i] + one[i]] != columns.asked[columns.asked_first[i] + one[parent]]
        ):
            return False
    return True


@inner_kernel
def _ones(word: np.uint64) -> int:
    """Number of set bits."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    nibbles = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    octets = (nibbles + (nibbles >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((octets * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@inner_kernel
def _n_matching(columns: ColumnValues, one: Int64) -> int:
    """Number of buckets that show every column value of a tuple."""
    if columns.shown.shape[0] == 0:
        return _n_listed(columns, one)
    matching = 0
    for word in range(columns.shown.shape[1]):
        common = columns.shown[columns.first[0] + one[0], word]
        for i in range(1, one.shape[0]):
            common &= columns.shown[columns.first[i] + one[i], word]
        if common != 0:
            matching += _ones(common)
    return matching


@inner_kernel
def _n_listed(columns: ColumnValues, one: Int64) -> int:
    """The same from the lists of buckets: those of the rarest value are looked up in the others'."""
    n_columns = one.shape[0]
    lead, fewest = 0, -1
    for i in range(n_columns):
        place = columns.first[i] + one[i]
        n_buckets = columns.value_start[place + 1] - columns.value_start[place]
        if fewest < 0 or n_buckets < fewest:
            lead, fewest = i, n_buckets
    matching = 0
    place = columns.first[lead] + one[lead]
    for listed in range(columns.value_start[place], columns.value_start[place + 1]):
        bucket = columns.bucket[listed]
        inside = True
        for i in range(n_columns):
            if i != lead and inside:
                other = columns.first[i] + one[i]
                end = columns.value_start[other + 1]
                found = find_value(columns.bucket, columns.value_start[other], end, bucket)
                inside = found < end and columns.bucket[found] == bucket
        matching += inside
    return matching


@kernel
def matching_buckets(columns: ColumnValues, tuples: Int64) -> Int64:
    """Number of buckets that match each tuple (n_tuples, n_columns), int64 (n_tuples,)."""
    matching = np.empty(tuples.shape[0], np.int64)
    for t in range(tuples.shape[0]):
        matching[t] = _n_matching(columns, tuples[t])
    return matching


@kernel
def count_pairs(columns: ColumnValues) -> Int64:
    """How many tuples of two columns match 0, 1, 2, ... buckets, int64 (n_buckets + 1,)."""
    n_buckets = columns.bucket_start.shape[1] - 1
    histogram = np.zeros(n_buckets + 1, np.int64)
    matching = np.zeros(columns.value_start.shape[0] - 1 - columns.first[1], np.int64)
    seen = np.empty(matching.shape[0], np.int64)
    one = np.empty(2, np.int64)
    for lead in range(columns.first[1]):
        n_seen = 0
        for listed in range(columns.value_start[lead], columns.value_start[lead + 1]):
            bucket = columns.bucket[listed]
            for place in range(columns.bucket_start[1, bucket], columns.bucket_start[1, bucket + 1]):
                other = columns.value[place]
                if matching[other] == 0:
                    seen[n_seen] = other
                    n_seen += 1
                matching[other] += 1
        one[0] = lead
        for i in range(n_seen):
            one[1] = seen[i]
            if _agree(columns, one):
                histogram[matching[seen[i]]] += 1
            matching[seen[i]] = 0
    return histogram


@kernel
def count_tuples(columns: ColumnValues, lead: int, sizes: Int64, longest: int) -> Int64:
    """The same for any number of columns, whose numbers of values `sizes` multiply to less than 2^63.

    The tuples of one value of column `lead` are listed and sorted together; `longest` is the longest such list.
    """
    n_columns = sizes.shape[0]
    histogram = np.zeros(columns.bucket_start.shape[1], np.int64)
    listed_tuples = np.empty(longest, np.int64)
    turn = np.empty(n_columns, np.int64)
    one = np.empty(n_columns, np.int64)
    for wanted in range(sizes[lead]):
        filled = 0
        place = columns.first[lead] + wanted
        for listed in range(columns.value_start[place], columns.value_start[place + 1]):
            bucket = columns.bucket[listed]
            turn[:] = 0
            column = 0
            while column >= 0:
                one[lead] = wanted
                for i in range(n_columns):
                    if i != lead:
                        one[i] = columns.value[columns.bucket_start[i, bucket] + turn[i]]
                if _agree(columns, one):
                    code = 0
                    for i in range(n_columns):
                        code = code * sizes[i] + one[i]
                    listed_tuples[filled] = code
                    filled += 1
                column = n_columns - 1
                while column >= 0:
                    turn[column] += 1
                    end = columns.bucket_start[column, bucket + 1] - columns.bucket_start[column, bucket]
                    if column != lead and turn[column] < end:
                        break
                    turn[column] = 0
                    column -= 1
        listed_tuples[:filled].sort()
        run = 0
        for i in range(filled):
            run += 1
            if i + 1 == filled or listed_tuples[i + 1] != listed_tuples[i]:
                histogram[run] += 1
                run = 0
    return histogram


@inner_kernel
def _is_listed(tuples: Int64, one: Int64) -> bool:
    """Whether a tuple is among the given ones (n_tuples, n_columns), which ascend."""
    begin, end = 0, tuples.shape[0]
    while begin < end:
        middle = (begin + end) // 2
        order = 0
        for i in range(one.shape[0]):
            if order == 0:
                order = np.sign(tuples[middle, i] - one[i])
        if order == 0:
            return True
        if order < 0:
            begin = middle + 1
        else:
            end = middle
    return False


@kernel
def draw_tuples(columns: ColumnValues, up_to: Floats, chance: Floats, originals: Int64) -> tuple[Int64, Bools]:
    """Random tuples: a bucket by the size of the product of its columns, then a value of each column.

    `up_to` float (n_buckets,) is the cumulative share of the buckets' products, `chance` float (n_draws, n_columns + 1)
    is uniform in [0, 1). Returns the number of buckets that match each tuple, 0 where its columns do not agree, and
    whether it is among the `originals` (n_tuples, n_columns), which ascend.
    """
    n_draws, n_columns = chance.shape[0], chance.shape[1] - 1
    matching = np.zeros(n_draws, np.int64)
    is_original = np.zeros(n_draws, np.bool_)
    one = np.empty(n_columns, np.int64)
    for draw in range(n_draws):
        bucket = min(np.searchsorted(up_to, chance[draw, n_columns], side="right"), up_to.shape[0] - 1)
        for i in range(n_columns):
            begin, end = columns.bucket_start[i, bucket], columns.bucket_start[i, bucket + 1]
            one[i] = columns.value[begin + int(chance[draw, i] * (end - begin))]
        if _agree(columns, one):
            matching[draw] = _n_matching(columns, one)
            is_original[draw] = _is_listed(originals, one)
    return matching, is_original
