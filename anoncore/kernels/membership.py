"""Tuples that match buckets of a sliced table: counted one by one, or drawn at random.

A tuple takes one value of each column; it matches a bucket that shows all of them. A bucket of many columns is matched
by many more tuples than it has rows: the fake tuples among which an adversary has to find the original ones.

- `values` int64 (n_columns,): a tuple, as the number of its value in each column.
- `tuples`, `originals` int64 (n_tuples, n_columns): tuples, one per line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.grouping import ones
from anoncore.kernels.sorting import find_value, place_after, sort_in_place


class ColumnValues(NamedTuple):
    """Which values each column shows in each bucket, listed by bucket and by value. All arrays but `shown` are int64.

    The values of column i in bucket b are `value[bucket_start[i, b]:bucket_start[i, b + 1]]`. Value v of column i is
    number j = first[i] + v among all values; the buckets that show it are `bucket[value_start[j]:value_start[j + 1]]`.
    Both lists ascend. Columns that overlap agree: value v of column i goes with value w of its `parent[i]` (an earlier
    column, -1 for none) where `own[first[i] + v]` equals `asked[asked_first[i] + w]`. `shown` uint64 (n_values,
    n_words) has a bit per bucket that shows each value; it has no lines where that would take too much memory.
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
def _agree(columns: ColumnValues, values: Int64) -> bool:
    """Whether the column values of a tuple agree on what the columns share."""
    for i in range(1, len(values)):
        parent = columns.parent[i]
        if parent >= 0 and (
            columns.own[columns.first[i] + values[i]] != columns.asked[columns.asked_first[i] + values[parent]]
        ):
            return False
    return True


@inner_kernel
def _n_matching(columns: ColumnValues, values: Int64) -> int:
    """Number of buckets that show every column value of a tuple."""
    if len(columns.shown) == 0:
        return _n_listed(columns, values)
    matching = 0
    for word in range(columns.shown.shape[1]):
        common = columns.shown[columns.first[0] + values[0], word]
        for i in range(1, len(values)):
            common &= columns.shown[columns.first[i] + values[i], word]
        if common != 0:
            matching += ones(common)
    return matching


@inner_kernel
def _n_listed(columns: ColumnValues, values: Int64) -> int:
    """The same from the lists of buckets: those of the rarest value are looked up in the lists of the others."""
    n_columns = len(values)
    lead, fewest = 0, -1
    for i in range(n_columns):
        number = columns.first[i] + values[i]
        n_buckets = columns.value_start[number + 1] - columns.value_start[number]
        if fewest < 0 or n_buckets < fewest:
            lead, fewest = i, n_buckets
    matching = 0
    number = columns.first[lead] + values[lead]
    for listed in range(columns.value_start[number], columns.value_start[number + 1]):
        bucket = columns.bucket[listed]
        inside = True
        for i in range(n_columns):
            if i != lead and inside:
                other = columns.first[i] + values[i]
                end = columns.value_start[other + 1]
                position = find_value(columns.bucket, columns.value_start[other], end, bucket)
                inside = position < end and columns.bucket[position] == bucket
        matching += inside
    return matching


@kernel
def matching_buckets(columns: ColumnValues, tuples: Int64) -> Int64:
    """Number of buckets that match each tuple, int64 (n_tuples,)."""
    matching = np.empty(len(tuples), np.int64)
    for t in range(len(tuples)):
        matching[t] = _n_matching(columns, tuples[t])
    return matching


@kernel
def count_pairs(columns: ColumnValues) -> Int64:
    """How many tuples of two columns match 0, 1, 2, ... buckets, int64 (n_buckets + 1,); entry 0 stays 0."""
    # For each value of the first column all values that share a bucket with it are counted; only those that were met
    # are set back to 0.
    n_buckets = columns.bucket_start.shape[1] - 1
    histogram = np.zeros(n_buckets + 1, np.int64)
    matching = np.zeros(len(columns.value_start) - 1 - columns.first[1], np.int64)
    seen = np.empty(len(matching), np.int64)
    values = np.empty(2, np.int64)
    for lead in range(columns.first[1]):
        n_seen = 0
        for listed in range(columns.value_start[lead], columns.value_start[lead + 1]):
            bucket = columns.bucket[listed]
            for position in range(columns.bucket_start[1, bucket], columns.bucket_start[1, bucket + 1]):
                other = columns.value[position]
                if matching[other] == 0:
                    seen[n_seen] = other
                    n_seen += 1
                matching[other] += 1
        values[0] = lead
        for i in range(n_seen):
            values[1] = seen[i]
            if _agree(columns, values):
                histogram[matching[seen[i]]] += 1
            matching[seen[i]] = 0
    return histogram


@kernel
def count_tuples(columns: ColumnValues, lead: int, sizes: Int64, longest: int) -> Int64:
    """The same for any number of columns, whose numbers of values `sizes` int64 multiply to less than 2^63.

    The tuples of one value of column `lead` are listed, once per bucket that they match, and sorted together;
    `longest` is the length of the longest such list.
    """
    n_columns = len(sizes)
    histogram = np.zeros(columns.bucket_start.shape[1], np.int64)
    listed_tuples = np.empty(longest, np.int64)
    turn = np.empty(n_columns, np.int64)
    values = np.empty(n_columns, np.int64)
    for wanted in range(sizes[lead]):
        filled = 0
        number = columns.first[lead] + wanted
        for listed in range(columns.value_start[number], columns.value_start[number + 1]):
            bucket = columns.bucket[listed]
            # An odometer: turn[i] is the position of column i's value in the bucket. The last column turns first; one
            # that has shown all its values starts again and moves the column before it on.
            turn[:] = 0
            column = 0
            while column >= 0:
                values[lead] = wanted
                for i in range(n_columns):
                    if i != lead:
                        values[i] = columns.value[columns.bucket_start[i, bucket] + turn[i]]
                if _agree(columns, values):
                    code = 0
                    for i in range(n_columns):
                        code = code * sizes[i] + values[i]
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
        sort_in_place(listed_tuples[:filled])
        run = 0
        for i in range(filled):
            run += 1
            if i + 1 == filled or listed_tuples[i + 1] != listed_tuples[i]:
                histogram[run] += 1
                run = 0
    return histogram


@inner_kernel
def _is_listed(tuples: Int64, values: Int64) -> bool:
    """Whether a tuple is among the given ones, which ascend."""
    begin, end = 0, len(tuples)
    while begin < end:
        middle = (begin + end) // 2
        order = 0
        for i in range(len(values)):
            if order == 0:
                order = np.sign(tuples[middle, i] - values[i])
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

    So every pair of a bucket and a tuple that matches it is equally likely. `up_to` float (n_buckets,) is the
    cumulative share of the buckets' products, `chance` float (n_draws, n_columns + 1) is uniform in [0, 1). Returns the
    number of buckets that match each tuple, 0 where its columns do not agree, and whether it is among the `originals`,
    which ascend.
    """
    n_draws, n_columns = len(chance), chance.shape[1] - 1
    matching = np.zeros(n_draws, np.int64)
    is_original = np.zeros(n_draws, np.bool_)
    values = np.empty(n_columns, np.int64)
    for draw in range(n_draws):
        bucket = min(place_after(up_to, chance[draw, n_columns]), len(up_to) - 1)
        for i in range(n_columns):
            begin, end = columns.bucket_start[i, bucket], columns.bucket_start[i, bucket + 1]
            values[i] = columns.value[begin + int(chance[draw, i] * (end - begin))]
        if _agree(columns, values):
            matching[draw] = _n_matching(columns, values)
            is_original[draw] = _is_listed(originals, values)
    return matching, is_original
