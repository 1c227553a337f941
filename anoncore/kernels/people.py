"""Counting different people where several rows may belong to one person.

- `person` int32 (n_rows,): number of the person whose row it is, 0..n_people-1.
- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group, as in `checking`.
- `people` int64 (n_groups,): different people of each group.
- `pair_starts` int64 (n_groups + 1,), `pair_codes` int32 (n_pairs,): the different pairs of a person and a value in
  each group, by the code of their value. A person who has two values in a group makes two pairs.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import call_level, kernel


@kernel
def people_and_pairs(order: Int64, starts: Int64, person: Int32, codes: Int32) -> tuple[Int64, Int64, Int32]:
    """`people`, `pair_starts` and `pair_codes` of groups whose rows have these `codes` int32 (n_rows,)."""
    n_groups = starts.shape[0] - 1
    people = np.zeros(n_groups, np.int64)
    pair_starts = np.zeros(n_groups + 1, np.int64)
    pair_codes = np.empty(order.shape[0], np.int32)
    n_pairs = 0
    for group in range(n_groups):
        n = starts[group + 1] - starts[group]
        keys = np.empty(n, np.int64)
        for i in range(n):
            row = order[starts[group] + i]
            keys[i] = (np.int64(person[row]) << 32) | np.int64(codes[row])
        # Sorted by person and then by code, equal pairs stand side by side.
        keys.sort()
        for i in range(n):
            if i == 0 or keys[i] >> 32 != keys[i - 1] >> 32:
                people[group] += 1
            if i == 0 or keys[i] != keys[i - 1]:
                pair_codes[n_pairs] = keys[i] & 0xFFFFFFFF
                n_pairs += 1
        pair_starts[group + 1] = n_pairs
    return people, pair_starts, pair_codes[:n_pairs]


@kernel
def people_levels(
    people: Int64, pair_starts: Int64, pair_codes: Int32, size: int, address: int, unique: int, reference: Floats
) -> Floats:
    """Level of every group by its people, float (n_groups,); `size` is the number of codes."""
    levels = np.empty(people.shape[0], np.float64)
    counts = np.zeros(size, np.int64)
    for group in range(people.shape[0]):
        for pair in range(pair_starts[group], pair_starts[group + 1]):
            counts[pair_codes[pair]] += 1
        levels[group] = call_level(address, counts, people[group], unique, reference)
        for pair in range(pair_starts[group], pair_starts[group + 1]):
            counts[pair_codes[pair]] = 0
    return levels
