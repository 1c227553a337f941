"""Exchanging rows between the buckets of a sliced table, so that a reader's joint frequencies come nearer.

Two attributes that no column shows together are linked at random within a bucket. Of every pair of their values a
reader expects the sum over the buckets of rows with the one, times rows with the other, divided by the rows of the
bucket. An exchange of two rows stays where the reader then gets more rows right and everybody keeps l-diversity.

- `rows` int32 (n_rows, n_columns) is as in `kernels.slicing`: bucket g has the places `starts[g]:starts[g + 1]` of
  int64 (n_buckets + 1,), and `bucket` int32 (n_rows,) is the bucket of each place.
- `row` int64 (n_rows,) is the number of the row at each place and `place` int64 (n_rows,) the place of each row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.anatomy import LEAST_GAIN
from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.rounding import ACCUMULATED, lies_above, lies_below
from anoncore.kernels.slicing import (
    Masses,
    Signatures,
    clear_counts,
    count_row,
    degree,
    weight,
)
from anoncore.kernels.sorting import find_value

LINES = 5
"""Columns of counts in `Masses`: both buckets before and after an exchange, and marks of the cells that were met."""
MINE_BEFORE: int = np.int64(0)  # type: ignore[assignment]
MINE_AFTER: int = np.int64(1)  # type: ignore[assignment]
OTHER_BEFORE: int = np.int64(2)  # type: ignore[assignment]
OTHER_AFTER: int = np.int64(3)  # type: ignore[assignment]
MARK: int = np.int64(4)  # type: ignore[assignment]
ONE: int = np.int64(1)  # type: ignore[assignment]


class Linked(NamedTuple):
    """The pairs of attributes that are linked at random, and what a reader expects of their values.

    Attributes `first[p]` and `second[p]` int64 (n_linked,) are columns of `codes` int32 (n_rows, d), by the numbers of
    the rows. Of large buckets the rows with each value are counted, in line `tally_of[g]` int64 (n_buckets,) of `tally`
    int32 (n_lines, n_tallied); -1 is a small bucket. Those of attribute a are at `tallied[a]:tallied[a + 1]` of int64
    (d + 1,), where it has few values, else nowhere.

    Rows of each pair of values are `true` float (n_cells,), and `expected` those that a reader expects. Where attribute
    `second[p]` has `width[p]` values, all cells of p are there, from `begin[p]` on, line by line. Where `width[p]` is 0
    only the pairs are there that occur: those with code x of the first attribute are at
    `start[begin[p] + x]:start[begin[p] + x + 1]`, with the other codes in `value` int32, ascending.
    """

    first: Int64
    second: Int64
    codes: Int32
    tallied: Int64
    tally_of: Int64
    tally: Int32
    width: Int64
    begin: Int64
    start: Int64
    value: Int32
    true: Floats
    expected: Floats


class Partners(NamedTuple):
    """With which rows each place tries an exchange.

    A row of its own bucket is drawn, and then a row with the same `key` int64 (n_rows,), so that alike rows come
    together. `members[start[k]:start[k + 1]]` are the rows with key k, and `draws` float (n_rows, 2) are two random
    numbers from 0 to 1 for every place.
    """

    key: Int64
    start: Int64
    members: Int64
    draws: Floats


class Limits(NamedTuple):
    """The diversity that everybody keeps (see `slicing_buckets.Guards`) and the rows of the largest bucket that
    exchanges any.
    """

    l: float
    distinct: bool
    most_rows: int


@inner_kernel
def _expect(linked: Linked, p: int, x: int, y: int, more: float) -> float:
    """Expect more rows of a pair of values; by how many rows the reader is right more often."""
    if linked.width[p] > 0:
        cell = linked.begin[p] + x * linked.width[p] + y
    else:
        end = linked.start[linked.begin[p] + x + 1]
        cell = find_value(linked.value, linked.start[linked.begin[p] + x], end, y)
        if cell == end or linked.value[cell] != y:
            return 0.0
    true, before = linked.true[cell], linked.expected[cell]
    linked.expected[cell] = before + more
    return min(true, before + more) - min(true, before)


@inner_kernel
def _expect_beside(
    linked: Linked, starts: Int64, row: Int64, g: int, at: int, p: int, is_first: bool, old: int, new: int
) -> float:
    """Expect one row of bucket g to have another value of an attribute of pair p, beside all rows but that at `at`."""
    beside = linked.second[p] if is_first else linked.first[p]
    gain, share = 0.0, 1.0 / (starts[g + 1] - starts[g])
    begin, end, line = linked.tallied[beside], linked.tallied[beside + 1], linked.tally_of[g]
    if line >= 0 and end > begin:
        for code in range(end - begin):
            weight = share * linked.tally[line, begin + code]
            if weight > 0.0:
                if is_first:
                    gain += _expect(linked, p, old, code, -weight) + _expect(linked, p, new, code, weight)
                else:
                    gain += _expect(linked, p, code, old, -weight) + _expect(linked, p, code, new, weight)
        return gain
    for i in range(starts[g], starts[g + 1]):
        if i == at:
            continue
        code = linked.codes[row[i], beside]
        if is_first:
            gain += _expect(linked, p, old, code, -share) + _expect(linked, p, new, code, share)
        else:
            gain += _expect(linked, p, code, old, -share) + _expect(linked, p, code, new, share)
    return gain


@inner_kernel
def _count_values(linked: Linked, g: int, number: int, change: int) -> None:
    """Add a row to the tally of bucket g, or take it away."""
    line = linked.tally_of[g]
    if line < 0:
        return
    for a in range(linked.codes.shape[1]):
        if linked.tallied[a + 1] > linked.tallied[a]:
            linked.tally[line, linked.tallied[a] + linked.codes[number, a]] += change


@inner_kernel
def _replace(linked: Linked, starts: Int64, row: Int64, g: int, at: int, into: int) -> float:
    """Expect what a reader does after row `into` has taken a place of bucket g; by how many rows they are right more
    often.
    """
    codes, out, gain, share = linked.codes, row[at], 0.0, 1.0 / (starts[g + 1] - starts[g])
    _count_values(linked, g, out, -ONE)
    for p in range(len(linked.first)):
        a, b = linked.first[p], linked.second[p]
        old_x, new_x, old_y, new_y = codes[out, a], codes[into, a], codes[out, b], codes[into, b]
        if old_x != new_x:
            gain += _expect_beside(linked, starts, row, g, at, p, True, old_x, new_x)
        if old_y != new_y:
            gain += _expect_beside(linked, starts, row, g, at, p, False, old_y, new_y)
        if old_x != new_x or old_y != new_y:
            gain += _expect(linked, p, old_x, old_y, -share) + _expect(linked, p, new_x, new_y, share)
    _count_values(linked, g, into, ONE)
    return gain


@inner_kernel
def _exchange(linked: Linked, starts: Int64, bucket: Int32, row: Int64, i: int, j: int) -> float:
    """Exchange the rows at two places of different buckets; by how many rows the reader is right more often."""
    gain = _replace(linked, starts, row, bucket[i], i, row[j])
    gain += _replace(linked, starts, row, bucket[j], j, row[i])
    row[i], row[j] = row[j], row[i]
    return gain


@inner_kernel
def _count_bucket(rows: Int32, lo: int, hi: int, before: int, after: int, table: Signatures, masses: Masses) -> None:
    """Count the rows of a bucket as they are on the lines for before and after."""
    for at in range(lo, hi):
        count_row(rows, at, before, table, masses, ONE)
        count_row(rows, at, after, table, masses, ONE)


@inner_kernel
def _mark_codes(rows: Int32, lo: int, hi: int, f: int, table: Signatures, masses: Masses) -> int:
    """Mark the bucket's codes of a factor; how many signatures have one that was not marked yet."""
    n_signatures = 0
    for row in range(lo, hi):
        cell = table.factor_start[f] + rows[row, table.first_factor + f]
        if masses.counts[cell, MARK] == 0:
            masses.counts[cell, MARK] = 1
            n_signatures += table.code_start[cell + 1] - table.code_start[cell]
    return n_signatures


@inner_kernel
def _unmark_codes(rows: Int32, lo: int, hi: int, f: int, table: Signatures, masses: Masses) -> None:
    """Take the marks of the bucket's codes of a factor away."""
    for row in range(lo, hi):
        masses.counts[table.factor_start[f] + rows[row, table.first_factor + f], MARK] = 0


@inner_kernel
def _list_signatures(rows: Int32, lo: int, hi: int, f: int, n: int, table: Signatures, masses: Masses) -> int:
    """Mark the bucket's codes of a factor, and add the signatures with those that were not marked yet to the n listed
    in `masses.touched`; how many there are then.
    """
    for row in range(lo, hi):
        cell = table.factor_start[f] + rows[row, table.first_factor + f]
        if masses.counts[cell, MARK] == 0:
            masses.counts[cell, MARK] = 1
            for listed in range(table.code_start[cell], table.code_start[cell + 1]):
                masses.touched[n] = table.with_code[listed]
                n += 1
    return n


@inner_kernel
def _candidates(rows: Int32, starts: Int64, g: int, h: int, table: Signatures, masses: Masses) -> int:
    """List the signatures that may match one of two buckets, before or after an exchange, in `masses.touched`.

    They show a code of the buckets of every factor, so those of the factor with the fewest are enough.
    """
    best, fewest = 0, -1
    for f in range(len(table.power)):
        found = _mark_codes(rows, starts[g], starts[g + 1], f, table, masses)
        found += _mark_codes(rows, starts[h], starts[h + 1], f, table, masses)
        _unmark_codes(rows, starts[g], starts[g + 1], f, table, masses)
        _unmark_codes(rows, starts[h], starts[h + 1], f, table, masses)
        if fewest < 0 or found < fewest:
            best, fewest = f, found
    n = _list_signatures(rows, starts[g], starts[g + 1], best, 0, table, masses)
    return _list_signatures(rows, starts[h], starts[h + 1], best, n, table, masses)


@inner_kernel
def _stays_diverse(
    rows: Int32, starts: Int64, bucket: Int32, i: int, j: int, table: Signatures, masses: Masses, limits: Limits
) -> bool:
    """Whether everybody keeps l-diversity after the rows at two places are exchanged; then the masses are those."""
    g, h, distinct = bucket[i], bucket[j], limits.distinct
    mine, other = starts[g + 1] - starts[g], starts[h + 1] - starts[h]
    _count_bucket(rows, starts[g], starts[g + 1], MINE_BEFORE, MINE_AFTER, table, masses)
    _count_bucket(rows, starts[h], starts[h + 1], OTHER_BEFORE, OTHER_AFTER, table, masses)
    count_row(rows, i, MINE_AFTER, table, masses, -ONE)
    count_row(rows, j, MINE_AFTER, table, masses, ONE)
    count_row(rows, j, OTHER_AFTER, table, masses, -ONE)
    count_row(rows, i, OTHER_AFTER, table, masses, ONE)
    n_touched, holds = 0, True
    for candidate in range(_candidates(rows, starts, g, h, table, masses)):
        t = masses.touched[candidate]
        mine_before = degree(table, masses, t, MINE_BEFORE, mine, distinct)
        mine_after = degree(table, masses, t, MINE_AFTER, mine, distinct)
        other_before = degree(table, masses, t, OTHER_BEFORE, other, distinct)
        other_after = degree(table, masses, t, OTHER_AFTER, other, distinct)
        if mine_before == 0.0 and mine_after == 0.0 and other_before == 0.0 and other_after == 0.0:
            continue
        total, largest, values = 0.0, 0.0, 0
        for entry in range(table.entry_start[t], table.entry_start[t + 1]):
            mass = masses.high[entry] + masses.low[entry]
            mass -= weight(table, masses, entry, MINE_BEFORE, mine, mine_before, distinct)
            mass -= weight(table, masses, entry, OTHER_BEFORE, other, other_before, distinct)
            mass += weight(table, masses, entry, MINE_AFTER, mine, mine_after, distinct)
            mass += weight(table, masses, entry, OTHER_AFTER, other, other_after, distinct)
            mass = max(mass, 0.0)
            masses.rest[entry] = mass
            values += mass > 0.0
            total += mass
            if table.protected[entry]:
                largest = max(largest, mass)
        if lies_below(values, limits.l) if distinct else lies_above(largest * limits.l, total, ACCUMULATED):
            holds = False
            break
        masses.touched[n_touched] = t
        n_touched += 1
    clear_counts(rows, starts[g], starts[g + 1], table, masses)
    clear_counts(rows, starts[h], starts[h + 1], table, masses)
    if holds:
        for touched in range(n_touched):
            t = masses.touched[touched]
            for entry in range(table.entry_start[t], table.entry_start[t + 1]):
                masses.high[entry], masses.low[entry] = masses.rest[entry], 0.0
    return holds


@kernel
def exchange_between_buckets(
    linked: Linked,
    rows: Int32,
    starts: Int64,
    bucket: Int32,
    row: Int64,
    place: Int64,
    partners: Partners,
    table: Signatures,
    masses: Masses,
    limits: Limits,
    begin: int,
    end: int,
) -> float:
    """Try one exchange for each of the places from `begin` up to `end`; returns how many rows a reader gets right more.

    `masses` has `LINES` columns of counts.
    """
    total = 0.0
    for i in range(begin, end):
        g = bucket[i]
        size = starts[g + 1] - starts[g]
        if size > limits.most_rows:
            continue
        key = partners.key[row[starts[g] + int(partners.draws[i, 0] * size)]]
        first, n = partners.start[key], partners.start[key + 1] - partners.start[key]
        j = place[partners.members[first + int(partners.draws[i, 1] * n)]]
        h = bucket[j]
        if h == g or starts[h + 1] - starts[h] > limits.most_rows:
            continue
        gain = _exchange(linked, starts, bucket, row, i, j)
        if gain > LEAST_GAIN and _stays_diverse(rows, starts, bucket, i, j, table, masses, limits):
            total += gain
            for column in range(rows.shape[1]):
                rows[i, column], rows[j, column] = rows[j, column], rows[i, column]
            place[row[i]], place[row[j]] = i, j
        else:
            _exchange(linked, starts, bucket, row, i, j)
    return total
