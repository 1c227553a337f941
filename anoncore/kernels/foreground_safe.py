"""Dealing rows that look alike into buckets, and how far p(t:x) exceeds a bound in a bucket.

Rows have one profile if they look alike to the adversary in every set of attributes that they may learn from. p(t:x) is
the probability that person t has the value x, by what the adversary learned (see `foreground_worlds`).

- `rows` int64 (n_rows,): row numbers sorted by profile; those of profile p at `profile_start[p]:profile_start[p + 1]`.
- `values` int32 (n_rows,): code of the sensitive value of each row of the table.
- `unique`: the code whose rows each count as a value of their own; -1 if there is none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import kernel
from anoncore.kernels.foreground_worlds import expected_counts
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.kernels.sorting import stable_positions


class Knowledge(NamedTuple):
    """What an adversary knows about profiles: people of one profile share the signature in every attribute set.

    `place` int32 (n_profiles, n_sets) is the column of `shares` float (n_values, n_places) that has p(s:x) for a
    profile's signature s in an attribute set.
    """

    place: Int32
    shares: Floats


@kernel
def deal_alike(rows: Int64, profile_start: Int64, values: Int32, n_values: int, unique: int, l: int) -> Int32:
    """Bucket of every row, int32 (n_rows,), -1 for those left over: l rows of one profile with different values each.

    The rows of a profile are dealt in the order in which they stand. The values with most rows left go first, so that
    as few rows as possible are left over; rows of the value `unique` go last.
    """
    bucket = np.empty(len(rows), np.int32)
    bucket[:] = -1
    count, rank = np.zeros(n_values, np.int64), np.empty(n_values, np.int64)
    start = np.zeros(n_values + 1, np.int64)
    n_buckets = 0
    for profile in range(len(profile_start) - 1):
        begin, end = profile_start[profile], profile_start[profile + 1]
        count[:] = 0
        for i in range(begin, end):
            count[values[rows[i]]] += 1
        start[0] = 0
        for value in range(n_values):
            start[value + 1] = start[value] + count[value]
        by_value = np.empty(end - begin, np.int64)
        filled = start.copy()
        for i in range(begin, end):
            value = values[rows[i]]
            by_value[filled[value]] = rows[i]
            filled[value] += 1
        left = count.copy()
        while True:
            for value in range(n_values):
                rank[value] = -left[value]
            ranked = stable_positions(rank)
            taken = 0
            for value in ranked:
                if value != unique and left[value] > 0 and taken < l:
                    taken += 1
            if taken + (left[unique] if unique >= 0 else 0) < l:
                break
            taken = 0
            for value in ranked:
                if value != unique and left[value] > 0 and taken < l:
                    left[value] -= 1
                    bucket[by_value[start[value] + left[value]]] = n_buckets
                    taken += 1
            while taken < l:
                left[unique] -= 1
                bucket[by_value[start[unique] + left[unique]]] = n_buckets
                taken += 1
            n_buckets += 1
    return bucket


@kernel
def total_excess(
    profiles: Int32, counts: Int64, values: Int64, held: Int64, knowledge: Knowledge, bound: float
) -> float:
    """By what share of the bound the largest p(t:x) exceeds it, summed over attribute sets and values that are held.

    One bucket: it has `counts[i]` rows of profile `profiles[i]`, and `held[j]` rows with the value `values[j]`.
    """
    excess = 0.0
    expected = np.empty(len(profiles))
    places = np.empty(len(profiles), np.int32)
    for j in range(len(values)):
        shares = knowledge.shares[values[j]]
        for attribute_set in range(knowledge.place.shape[1]):
            largest = 0.0
            for i in range(len(profiles)):
                places[i] = knowledge.place[profiles[i], attribute_set]
            expected_counts(shares, places, counts, held[j], -1, expected)
            for i in range(len(profiles)):
                largest = max(largest, expected[i] / counts[i])
            excess += max(largest / bound - 1.0 - ACCUMULATED, 0.0)
    return excess
