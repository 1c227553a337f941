"""Exchanging rows of equal sensitive values between buckets, so that a reader's joint frequencies come nearer.

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

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel

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
    low, high = pairs.start[code], pairs.start[code + 1]
    while low < high:
        middle = (low + high) // 2
        if pairs.value[middle] < value:
            low = middle + 1
        else:
            high = middle
    if low == pairs.start[code + 1] or pairs.value[low] != value:
        return 0.0
    before = min(pairs.true[low], pairs.expected[low])
    pairs.expected[low] += more
    return min(pairs.true[low], pairs.expected[low]) - before


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
