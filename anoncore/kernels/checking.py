"""Requirements inside kernels: levels of groups, and whether a group satisfies every check.

A requirement has one level per group (its largest share of a value, its distance from the table, ...), computed from
the counts of a sensitive attribute in the group, and a threshold that the level must keep. Counted are rows, or people
where several rows may belong to one person.

- `counts` int64 (n_counts,): rows or people of a group with each sensitive value; the codes of all sensitive attributes
  that are counted stand one after the other, those of attribute c at `count_start[c]:count_start[c + 1]`.
- `cells` int32 (n_rows, n_sensitive): where the sensitive values of a row stand among the counts.
- `person` int32 (n_rows,): number of the person whose row it is, 0..n_people-1.
- `size`: number of rows or people of a group, or in functions over all groups the number of codes.
- `unique`: the code whose rows each count as a value of their own; -1 if there is none.
- `reference` float: what the requirement compares the group with, such as the shares in the whole table.
- `address`: where the requirement's compiled level function lies in memory (see `compiler.call_level`).
- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import call_level, inner_kernel, kernel
from anoncore.kernels.rounding import lies_below, reaches, stays_within
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


class KernelChecks(NamedTuple):
    """The checks of a search as arrays, one entry per check.

    `address` int64: the level function. `column` int64: the sensitive attribute, -1 where only the size counts.
    `threshold` float and `comparison` int64: as in `meets`. Reference numbers of check i are at
    `reference_start[i]:reference_start[i + 1]` of `reference` float; `stride[i]` is how far apart those for 2, 3, ...
    sides of a split begin there (0: the same ones for any number). `unique` int64, per sensitive attribute, and
    `count_start` int64 as above. `minimum_rows`: a group with fewer rows fails whatever its counts.
    """

    address: Int64
    column: Int64
    threshold: Floats
    comparison: Int64
    reference: Floats
    reference_start: Int64
    stride: Int64
    unique: Int64
    count_start: Int64
    minimum_rows: int


@inner_kernel
def meets(level: float, threshold: float, comparison: int) -> bool:
    """Whether one level keeps the threshold: by `comparison` 0 is at least, 1 at most, 2 below it."""
    if comparison == 0:
        return reaches(level, threshold)
    if comparison == 1:
        return stays_within(level, threshold)
    return lies_below(level, threshold)


@inner_kernel
def all_hold(checks: KernelChecks, counts: Int64, size: int) -> bool:
    """Whether a group of `size` rows with these counts of sensitive values satisfies every check."""
    return side_holds(checks, counts, size, 2)


@inner_kernel
def side_holds(checks: KernelChecks, counts: Int64, size: int, n_sides: int) -> bool:
    """Whether one of the `n_sides` sides of a split (2 or more) satisfies every check.

    Tests on a sample depend on how many sides are tested at once; all other checks ignore the number.
    """
    # Small groups are the most frequent reason for a refusal and the cheapest to see.
    if size < checks.minimum_rows:
        return False
    for i in range(len(checks.address)):
        column = checks.column[i]
        unique = -1
        begin, end = 0, 0
        if column >= 0:
            unique = checks.unique[column]
            begin, end = checks.count_start[column], checks.count_start[column + 1]
        first = checks.reference_start[i] + checks.stride[i] * (n_sides - 2)
        reference = checks.reference[first : checks.reference_start[i + 1]]
        level = call_level(checks.address[i], counts[begin:end], size, unique, reference)
        if not meets(level, checks.threshold[i], checks.comparison[i]):
            return False
    return True


@inner_kernel
def new_tally(people: KernelPeople | None) -> Tally:
    """The tally of a group without rows; it counts nobody where every row is another person."""
    if people is None:
        return Tally(np.zeros(0, np.int32), np.zeros(0, np.int32))
    return Tally(np.zeros(people.n_people, np.int32), np.zeros(people.n_pairs, np.int32))


@inner_kernel
def count_cells(counts: Int64, cells: Int32, change: int) -> None:
    """Add `change` to the counts of a row's sensitive values; `cells` are those of the row."""
    for cell in cells:
        counts[cell] += change


@inner_kernel
def add_row(people: KernelPeople | None, tally: Tally, row: int, cells: Int32, counts: Int64) -> int:
    """Add a row of the table to a group; 1 if its person is new there, else 0. `cells` are those of the row.

    Without `people` every row is another person, and the tally is not looked at.
    """
    if people is None:
        count_cells(counts, cells, 1)
        return 1
    for s in range(len(cells)):
        pair = people.pair[row, s]
        counts[cells[s]] += tally.of_pair[pair] == 0
        tally.of_pair[pair] += 1
    person = people.person[row]
    tally.of_person[person] += 1
    return 1 if tally.of_person[person] == 1 else 0


@inner_kernel
def take_row(people: KernelPeople | None, tally: Tally, row: int, cells: Int32, counts: Int64) -> int:
    """Take a row from a group, as `add_row` adds it; 1 if its person is gone with it, else 0."""
    if people is None:
        count_cells(counts, cells, -1)
        return 1
    for s in range(len(cells)):
        pair = people.pair[row, s]
        tally.of_pair[pair] -= 1
        counts[cells[s]] -= tally.of_pair[pair] == 0
    person = people.person[row]
    tally.of_person[person] -= 1
    return 1 if tally.of_person[person] == 0 else 0


@inner_kernel
def forget_row(people: KernelPeople | None, tally: Tally, row: int) -> None:
    """Set back what a tally has of a row's person and pairs."""
    if people is not None:
        tally.of_person[people.person[row]] = 0
        for s in range(people.pair.shape[1]):
            tally.of_pair[people.pair[row, s]] = 0


@inner_kernel
def rows_hold(
    cells: Int32, people: KernelPeople | None, rows: Int64, tally: Tally, counts: Int64, checks: KernelChecks
) -> bool:
    """Whether these rows satisfy every check as one group; `tally` and `counts` come and go as zeros."""
    if len(rows) < checks.minimum_rows:
        return False
    if cells.shape[1] == 0 and people is None:
        return all_hold(checks, counts, len(rows))
    size = 0
    for row in rows:
        size += add_row(people, tally, row, cells[row], counts)
    result = all_hold(checks, counts, size)
    for row in rows:
        # Only what was counted is set back: an attribute may have many more values than a group.
        for cell in cells[row]:
            counts[cell] = 0
        forget_row(people, tally, row)
    return result


@kernel
def group_levels(
    sizes: Int64, starts: Int64, codes: Int32, n_codes: int, address: int, unique: int, reference: Floats
) -> Floats:
    """Level of every group, float (n_groups,), of `sizes` int64 (n_groups,) rows or people.

    `codes` int32 are the codes of the sensitive attribute that are counted, group by group from `starts` on: one for
    each row, or one for each different pair of a person and a value.
    """
    levels = np.empty(len(sizes))
    counts = np.zeros(n_codes, np.int64)
    for group in range(len(sizes)):
        own = codes[starts[group] : starts[group + 1]]
        count_cells(counts, own, 1)
        levels[group] = call_level(address, counts, sizes[group], unique, reference)
        # Only the codes of this group are set back: the attribute may have many more.
        count_cells(counts, own, -1)
    return levels


@kernel
def levels_of_counts(
    starts: Int64, codes: Int32, rows: Int64, n_codes: int, address: int, unique: int, reference: Floats
) -> Floats:
    """Level of every group, float (n_groups,), of which counts are known.

    The codes of a group stand from `starts` int64 (n_groups + 1,) on, and `rows` int64 says how many rows each of them
    stands for; one may stand there several times.
    """
    levels = np.empty(len(starts) - 1)
    counts = np.zeros(n_codes, np.int64)
    for group in range(len(levels)):
        size = 0
        for place in range(starts[group], starts[group + 1]):
            counts[codes[place]] += rows[place]
            size += rows[place]
        levels[group] = call_level(address, counts, size, unique, reference)
        for place in range(starts[group], starts[group + 1]):
            counts[codes[place]] = 0
    return levels


@kernel
def counts_level(counts: Int64, size: int, address: int, unique: int, reference: Floats) -> float:
    """Level of one group from the counts of its sensitive values."""
    return call_level(address, counts, size, unique, reference)


@kernel
def most_frequent(starts: Int64, codes: Int32, size: int, unique: int, groups: Int64) -> tuple[Int64, Int64]:
    """Most frequent code of each listed group (the lowest of several) and its count, both int64 (n_listed,).

    `groups` int64 (n_listed,) are the numbers of the groups, and `codes` int32 stand group by group from `starts` on.
    Code `unique` counts once.
    """
    values, largest = np.zeros(len(groups), np.int64), np.zeros(len(groups), np.int64)
    counts = np.zeros(size, np.int64)
    for i in range(len(groups)):
        own = codes[starts[groups[i]] : starts[groups[i] + 1]]
        count_cells(counts, own, 1)
        for code in own:
            count = min(counts[code], 1) if code == unique else counts[code]
            if count > largest[i] or (count == largest[i] and code < values[i]):
                values[i], largest[i] = code, count
        count_cells(counts, own, -1)
    return values, largest


@kernel
def people_and_pairs(order: Int64, starts: Int64, person: Int32, codes: Int32) -> tuple[Int64, Int64, Int32]:
    """The people of every group, and its different pairs of a person and a value; rows have these `codes` int32.

    Returns the number of people int64 (n_groups,), where the pairs of each group begin int64 (n_groups + 1,), and the
    code of each pair int32 (n_pairs,). A person who has two values in a group makes two pairs.
    """
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
