"""Dealing rows into buckets of l different sensitive values, always from the values with most rows left.

- `by_value` int64 (n_rows,): the row numbers value by value; those of value v begin at `start[v]`.
- `counts`, `left` int64 (n_values,): rows of each value, and those that are not dealt yet, the first ones in its run of
  `by_value`.
- `tie` int64 (n_values,): rank that decides between values with equally many rows left.
- `heap` int64 (n_values,): in its first `length` entries the values that have rows left, as a binary heap. The children
  of entry i are 2i + 1 and 2i + 2, and no child comes before its parent, so that entry 0 has most rows left.
- `lacks` bool (n_leftovers, n_buckets): whether the bucket has no row yet of the leftover row's value.

Source: Xiao and Tao, Anatomy, VLDB 2006, section 4.

Exchanging rows of equal sensitive values between buckets, so that a reader's joint frequencies come nearer.

A reader of exact values in buckets expects, of every value of a quasi-identifier together with a sensitive value, the
sum over the buckets of rows with the one, times rows with the other, divided by the rows of the bucket. What they get
right is the smaller one of that and the true frequency, over all pairs that occur: the two-way error is what is left.

- `codes` int32 (n_rows, d): codes of the quasi-identifiers.
- `value` int32 (n_rows,): code of the sensitive value that each place holds. Places are ordered by bucket, those of
  bucket g are `starts[g]:starts[g + 1]` of int64 (n_buckets + 1,). Rows that are exchanged have equal values, so that
  the values of the places stay.
- `row` int64 (n_rows,): the row at each place; `bucket` int32 (n_rows,): the bucket of each place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import filled_with, find_value


@inner_kernel
def _sift_down(heap: Int64, length: int, left: Int64, tie: Int64) -> None:
    """Move the top entry down until no child comes before its parent."""
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= length:
            return
        sibling = child + 1
        if sibling < length and _before(heap[sibling], heap[child], left, tie):
            child = sibling
        if not _before(heap[child], heap[parent], left, tie):
            return
        heap[parent], heap[child] = heap[child], heap[parent]
        parent = child


@inner_kernel
def _sift_up(heap: Int64, child: int, left: Int64, tie: Int64) -> None:
    """Move an entry up until no child comes before its parent."""
    while child > 0:
        parent = (child - 1) // 2
        if not _before(heap[child], heap[parent], left, tie):
            return
        heap[child], heap[parent] = heap[parent], heap[child]
        child = parent


@inner_kernel
def _before(a: int, b: int, left: Int64, tie: Int64) -> bool:
    """Whether value a is dealt before value b."""
    return left[a] > left[b] or (left[a] == left[b] and tie[a] < tie[b])


@kernel
def deal(by_value: Int64, counts: Int64, l: int, tie: Int64, chance: Floats) -> Int32:
    """Bucket of every row, int32 (n_rows,).

    The rows of each value stand in `by_value` in random order. `chance` float (n_rows,) in [0, 1) picks the bucket of a
    leftover row among those that lack its value. A heap keeps the values by rows left, so a bucket costs O(l log m) for
    m values. Needs l values, none with more than n / l rows.
    """
    n = len(by_value)
    n_values = len(counts)
    start = np.zeros(n_values, np.int64)
    for value in range(1, n_values):
        start[value] = start[value - 1] + counts[value - 1]
    left = counts.copy()
    heap = np.empty(n_values, np.int64)
    length = 0
    for value in range(n_values):
        if left[value] > 0:
            heap[length] = value
            length += 1
            _sift_up(heap, length - 1, left, tie)
    bucket = np.empty(n, np.int32)
    taken = np.empty(l, np.int64)
    n_buckets = 0
    while length >= l:
        # All l values are taken off the heap before any goes back: else the same value could be drawn twice.
        for draw in range(l):
            taken[draw] = heap[0]
            length -= 1
            heap[0] = heap[length]
            _sift_down(heap, length, left, tie)
        for draw in range(l):
            value = taken[draw]
            left[value] -= 1
            bucket[by_value[start[value] + left[value]]] = n_buckets
            if left[value] > 0:
                heap[length] = value
                length += 1
                _sift_up(heap, length - 1, left, tie)
        n_buckets += 1
    _place_leftovers(bucket, by_value, start, counts, left, n_buckets, chance)
    return bucket


@inner_kernel
def _place_leftovers(
    bucket: Int32,
    by_value: Int64,
    start: Int64,
    counts: Int64,
    left: Int64,
    n_buckets: int,
    chance: Floats,
) -> None:
    """Each leftover row joins a random bucket that lacks its value, one without a leftover row where that can be.

    `owner` int64 (n_buckets,) is the leftover row that a bucket has, -1 for none; `bucket_of` int64 (n_leftovers,) the
    reverse.
    """
    n_leftovers = 0
    for value in range(len(counts)):
        n_leftovers += left[value]
    row = np.empty(n_leftovers, np.int64)
    lacks = np.empty((n_leftovers, n_buckets), np.bool_)
    n_listed = 0
    for value in range(len(counts)):
        for undealt in range(start[value], start[value] + left[value]):
            row[n_listed] = by_value[undealt]
            for candidate in range(n_buckets):
                lacks[n_listed, candidate] = True
            for dealt in range(start[value] + left[value], start[value] + counts[value]):
                lacks[n_listed, bucket[by_value[dealt]]] = False
            n_listed += 1
    owner, bucket_of = filled_with(n_buckets, -1), filled_with(n_leftovers, -1)
    free = np.empty(n_buckets, np.bool_)
    for leftover in range(n_leftovers):
        for candidate in range(n_buckets):
            free[candidate] = lacks[leftover, candidate] and owner[candidate] < 0
        choice = _random_choice(free, chance[row[leftover]])
        if choice >= 0:
            bucket_of[leftover] = choice
            owner[choice] = leftover
        elif not _make_room(leftover, lacks, owner, bucket_of):
            bucket_of[leftover] = _random_choice(lacks[leftover], chance[row[leftover]])
    for leftover in range(n_leftovers):
        bucket[row[leftover]] = bucket_of[leftover]


@inner_kernel
def _random_choice(candidates: Bools, chance: float) -> int:
    """Number of one of the candidates, bool (n,), all equally likely for a chance that is uniform in [0, 1).

    -1 where there is no candidate.
    """
    n_candidates = 0
    for candidate in candidates:
        n_candidates += candidate
    pick = int(chance * n_candidates)
    for candidate in range(len(candidates)):
        if candidates[candidate]:
            if pick == 0:
                return candidate
            pick -= 1
    return -1


@inner_kernel
def _make_room(leftover: int, lacks: Bools, owner: Int64, bucket_of: Int64) -> bool:
    """Find a bucket for the row by moving other leftover rows along a shortest augmenting path, if there is one.

    Breadth first: the row asks for all buckets that lack its value, then their owners ask for others, until a bucket
    without an owner is asked for. `asked_by` int64 (n_buckets,) is the row that asked first, along which the path is
    walked back.
    """
    n_leftovers, n_buckets = lacks.shape
    asked_by = filled_with(n_buckets, -1)
    queue = np.empty(n_leftovers, np.int64)
    queue[0] = leftover
    head, tail = 0, 1
    while head < tail:
        asking = queue[head]
        head += 1
        for candidate in range(n_buckets):
            if asked_by[candidate] >= 0 or not lacks[asking, candidate]:
                continue
            asked_by[candidate] = asking
            if owner[candidate] >= 0:
                queue[tail] = owner[candidate]
                tail += 1
                continue
            while candidate >= 0:
                moved = asked_by[candidate]
                owner[candidate] = moved
                candidate, bucket_of[moved] = bucket_of[moved], candidate
            return True
    return False


LEAST_GAIN = 1e-7
"""Rows that an exchange must bring right at least, so that rounding does not decide what is done."""


class Pairs(NamedTuple):
    """The pairs of a quasi-identifier's value and a sensitive value that occur, ascending.

    `begin` int64 (d,): where each attribute's codes begin in `start` int64 (n_codes + 1,). The sensitive values that
    occur with code i are `value[start[i]:start[i + 1]]` int32 (n_pairs,), ascending; `true` float (n_pairs,) are the
    rows of each pair and `expected` float (n_pairs,) those that a reader expects.
    """

    begin: Int64
    start: Int64
    value: Int32
    true: Floats
    expected: Floats


@inner_kernel
def _change(pairs: Pairs, code: int, value: int, more: float) -> float:
    """Expect more rows of a pair; by how many rows the reader is right more often. 0 of a pair that does not occur."""
    end = pairs.start[code + 1]
    pair = find_value(pairs.value, pairs.start[code], end, value)
    if pair == end or pairs.value[pair] != value:
        return 0.0
    before = min(pairs.true[pair], pairs.expected[pair])
    pairs.expected[pair] += more
    return min(pairs.true[pair], pairs.expected[pair]) - before


@inner_kernel
def _replace(pairs: Pairs, codes: Int32, starts: Int64, value: Int32, g: int, out: int, into: int) -> float:
    """Put a row into a bucket for another one; by how many rows the reader is right more often, over all attributes."""
    gain, share = 0.0, 1.0 / (starts[g + 1] - starts[g])
    for a in range(codes.shape[1]):
        old, new = pairs.begin[a] + codes[out, a], pairs.begin[a] + codes[into, a]
        if old == new:
            continue
        for i in range(starts[g], starts[g + 1]):
            gain += _change(pairs, old, value[i], -share) + _change(pairs, new, value[i], share)
    return gain


@inner_kernel
def _exchange(
    pairs: Pairs, codes: Int32, starts: Int64, value: Int32, bucket: Int32, row: Int64, i: int, j: int
) -> float:
    """Exchange the rows at two places; by how many rows the reader is right more often."""
    gain = _replace(pairs, codes, starts, value, bucket[i], row[i], row[j])
    gain += _replace(pairs, codes, starts, value, bucket[j], row[j], row[i])
    row[i], row[j] = row[j], row[i]
    return gain


@kernel
def expect(pairs: Pairs, codes: Int32, starts: Int64, value: Int32, row: Int64) -> float:
    """Write what a reader expects into `pairs.expected`; returns the rows that they get right, over all attributes."""
    pairs.expected[:] = 0.0
    total = 0.0
    for g in range(len(starts) - 1):
        share = 1.0 / (starts[g + 1] - starts[g])
        for i in range(starts[g], starts[g + 1]):
            for a in range(codes.shape[1]):
                for j in range(starts[g], starts[g + 1]):
                    _change(pairs, pairs.begin[a] + codes[row[i], a], value[j], share)
    for pair in range(len(pairs.true)):
        total += min(pairs.true[pair], pairs.expected[pair])
    return total


@kernel
def exchange_rows(
    pairs: Pairs,
    codes: Int32,
    starts: Int64,
    value: Int32,
    bucket: Int32,
    row: Int64,
    partner: Int64,
) -> float:
    """Try one exchange for every place, with the place `partner` int64 (n_rows,), which holds the same value.

    An exchange after which the reader is right in more rows stays. Returns how many rows they are right in more.
    """
    total = 0.0
    for i in range(len(row)):
        j = partner[i]
        if bucket[i] == bucket[j]:
            continue
        gain = _exchange(pairs, codes, starts, value, bucket, row, i, j)
        if gain > LEAST_GAIN:
            total += gain
        else:
            _exchange(pairs, codes, starts, value, bucket, row, i, j)
    return total
