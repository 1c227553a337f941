"""Counting different people where several rows may belong to one person.

- `person` int32 (n_rows,): number of the person whose row it is, 0..n_people-1.
- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group, as in `checking`.
- `people` int64 (n_groups,): different people of each group.
- `pair_starts` int64 (n_groups + 1,), `pair_codes` int32 (n_pairs,): the different pairs of a person and a value in
  each group, by the code of their value. A person who has two values in a group makes two pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import call_level, inner_kernel, kernel
from anoncore.kernels.sorting import sort_in_place


class KernelPeople(NamedTuple):
    """Whose rows a search looks at, where one person may have several.

    `person` int32 (n_rows,) as above. `pair` int32 (n_rows, n_sensitive) numbers the different pairs of a person and a
    value of the whole table, those of all sensitive attributes one after the other, 0..n_pairs-1.
    """

    person: Int32
    pair: Int32
    n_people: int
    n_pairs: int


class Tally(NamedTuple):
    """The people of a group while rows are added to it and taken from it.

    `of_person` int32 (n_people,) and `of_pair` int32 (n_pairs,): how many of the group's rows are a person's, and have
    a pair. A person, or a pair, is in the group as long as this number is above 0. All numbers are 0 between two uses,
    so that no group has to clear those of people whom it does not have.
    """

    of_person: Int32
    of_pair: Int32


@inner_kernel
def new_tally(people: KernelPeople | None) -> Tally:
    """The tally of a group without rows; it counts nobody where every row is another person."""
    if people is None:
        return Tally(np.zeros(0, np.int32), np.zeros(0, np.int32))
    return Tally(np.zeros(people.n_people, np.int32), np.zeros(people.n_pairs, np.int32))


@inner_kernel
def add_row(people: KernelPeople, tally: Tally, row: int, cells: Int64, counts: Int64) -> int:
    """Add a row of the table to a group; 1 if its person is new there, else 0.

    `counts` int64 (n_counts,) are the people of the group with each sensitive value, and `cells` int64 (n_sensitive,)
    is where the row's values stand in it.
    """
    for s in range(len(cells)):
        pair = people.pair[row, s]
        counts[cells[s]] += tally.of_pair[pair] == 0
        tally.of_pair[pair] += 1
    person = people.person[row]
    tally.of_person[person] += 1
    return 1 if tally.of_person[person] == 1 else 0


@inner_kernel
def take_row(people: KernelPeople, tally: Tally, row: int, cells: Int64, counts: Int64) -> int:
    """Take a row from a group, as `add_row` adds it; 1 if its person is gone with it, else 0."""
    for s in range(len(cells)):
        pair = people.pair[row, s]
        tally.of_pair[pair] -= 1
        counts[cells[s]] -= tally.of_pair[pair] == 0
    person = people.person[row]
    tally.of_person[person] -= 1
    return 1 if tally.of_person[person] == 0 else 0


@inner_kernel
def forget_row(people: KernelPeople, tally: Tally, row: int) -> None:
    """Set back what a tally has of a row's person and pairs."""
    tally.of_person[people.person[row]] = 0
    for s in range(people.pair.shape[1]):
        tally.of_pair[people.pair[row, s]] = 0


@kernel
def people_and_pairs(order: Int64, starts: Int64, person: Int32, codes: Int32) -> tuple[Int64, Int64, Int32]:
    """`people`, `pair_starts` and `pair_codes` of groups whose rows have these `codes` int32 (n_rows,)."""
    n_groups = len(starts) - 1
    people = np.zeros(n_groups, np.int64)
    pair_starts = np.zeros(n_groups + 1, np.int64)
    pair_codes = np.empty(len(order), np.int32)
    n_pairs = 0
    for group in range(n_groups):
        n = starts[group + 1] - starts[group]
        keys = np.empty(n, np.int64)
        for i in range(n):
            row = order[starts[group] + i]
            keys[i] = (np.int64(person[row]) << 32) | np.int64(codes[row])
        # Sorted by person and then by code, equal pairs stand side by side.
        sort_in_place(keys)
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
    levels = np.empty(len(people))
    counts = np.zeros(size, np.int64)
    for group in range(len(people)):
        for pair in range(pair_starts[group], pair_starts[group + 1]):
            counts[pair_codes[pair]] += 1
        levels[group] = call_level(address, counts, people[group], unique, reference)
        for pair in range(pair_starts[group], pair_starts[group + 1]):
            counts[pair_codes[pair]] = 0
    return levels
