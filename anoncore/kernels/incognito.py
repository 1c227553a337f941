"""Grouping a table at a combination of levels, and checking whether its groups satisfy the requirements.

Instead of rows, the search keeps entries: rows with equal (generalized) quasi-identifiers and equal sensitive values
are one entry with a weight. Coarser groups are made of the entries of finer ones, so the table is read only once.

- `codes` int32 (n_entries, n_attributes): generalized codes of the quasi-identifiers of each entry.
- `sensitive` int32 (n_entries,): number of the combination of sensitive values of each entry, 0..n_combinations-1.
  Where one person may have several rows, a combination is also one of a person: entries are then people with a
  combination of values, and those of one person follow each other.
- `weight` int64 (n_entries,): number of rows of each entry.
- `starts` int64 (n_groups + 1,): group g is the entries `starts[g]`..`starts[g + 1]` - 1.
- `group` int32 (n_entries,): group of every entry, from 0 without gaps, in the order in which groups are met.
- `counts` int64 (n_counts,): memory for counts of sensitive values, laid out as in `KernelChecks`; all 0 between
  groups.
- `last` int64 (n_counts,): memory for the person who was counted last with each value, where people are counted.

Source: LeFevre, DeWitt and Ramakrishnan, Incognito, SIGMOD 2005.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64
from anoncore.kernels.checking import KernelChecks, all_hold
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.grouping import group_starts, number_of, rows_by_group, word_table
from anoncore.kernels.sorting import filled_with, taken

LARGEST_KEY = 2**62
"""Keys stay below this number, so that they never outgrow int64."""
DENSE = 4
"""Keys per entry up to which a table with a place for every key is cheaper than hashing."""
MIXER = np.uint64(0x9E3779B97F4A7C15)
"""Odd number near 2^64 divided by the golden ratio: products of different keys differ, and their high bits spread."""


class Combinations(NamedTuple):
    """The checks, and the combinations of sensitive values that are asked of them.

    `cells` int32 (n_combinations, n_columns): where the values of each combination are counted, as in `checking`;
    `person` int32 (n_combinations,): its person, no entries where rows are counted.
    """

    checks: KernelChecks
    cells: Int32
    person: Int32


@inner_kernel
def _numbered_densely(key: Int64, capacity: int, group: Int32) -> int:
    """Number the keys, all below `capacity`, by a table with a place for every key; returns how many there are."""
    number = filled_with(capacity, -1)
    n_groups = 0
    for entry in range(len(key)):
        if number[key[entry]] < 0:
            number[key[entry]] = n_groups
            n_groups += 1
        group[entry] = number[key[entry]]
    return n_groups


@inner_kernel
def _numbered_by_hash(key: Int64, group: Int32) -> int:
    """Number the keys by a hash table."""
    table, n_groups = word_table(len(key)), 0
    for entry in range(len(key)):
        group[entry] = number_of(table, np.uint64(key[entry]) * MIXER, n_groups)
        n_groups += group[entry] == n_groups
    return n_groups


@kernel
def entry_groups(
    codes: Int32, columns: Int64, number: Int32, number_start: Int64, n_numbers: Int64
) -> tuple[Int32, int]:
    """The groups of entries with equal generalized values, and how many groups there are.

    `codes` int32 (n_attributes, n_entries) has a row per attribute. Of attribute `columns[i]`, the generalized value of
    code c has the number `number[number_start[i] + c]`, which is below `n_numbers[i]`. The numbers of all attributes
    are the digits of a key, so that entries are told apart by one comparison.
    """
    n_entries = codes.shape[1]
    key, capacity = np.zeros(n_entries, np.int64), 1
    group = np.zeros(n_entries, np.int32)
    for i in range(len(columns)):
        if capacity > LARGEST_KEY // n_numbers[i]:
            capacity = _numbered_by_hash(key, group)
            for entry in range(n_entries):
                key[entry] = group[entry]
        own = codes[columns[i]]
        for entry in range(n_entries):
            key[entry] = key[entry] * n_numbers[i] + number[number_start[i] + own[entry]]
        capacity *= n_numbers[i]
    if capacity <= DENSE * n_entries:
        return group, _numbered_densely(key, capacity, group)
    return group, _numbered_by_hash(key, group)


@kernel
def rows_in_small_groups(group: Int32, n_groups: int, weight: Int64, minimum_rows: int) -> int:
    """Number of rows in groups that have fewer rows than the minimum."""
    sizes = np.zeros(n_groups, np.int64)
    for entry in range(len(group)):
        sizes[group[entry]] += weight[entry]
    rows = 0
    for size in sizes:
        if size < minimum_rows:
            rows += int(size)
    return rows


@kernel
def every_group_holds(
    combinations: Combinations,
    group: Int32,
    n_groups: int,
    sensitive: Int32,
    weight: Int64,
) -> bool:
    """Whether every group satisfies every check; it stops at the first that does not.

    Entries come in any order of their groups, but by ascending `sensitive`, so that the entries of a person stay
    together inside each group.
    """
    n_counts = combinations.checks.count_start[-1]
    if rows_in_small_groups(group, n_groups, weight, combinations.checks.minimum_rows) > 0:
        return False
    values, rows, starts = _by_group(group, n_groups, sensitive, weight)
    counts, last = np.zeros(n_counts, np.int64), np.full(n_counts, -1)
    for g in range(n_groups):
        if not _group_holds(combinations, values, rows, starts[g], starts[g + 1], counts, last):
            return False
    return True


@kernel
def groups_holding(
    combinations: Combinations,
    group: Int32,
    n_groups: int,
    sensitive: Int32,
    weight: Int64,
) -> Bools:
    """Whether each group satisfies every check, bool (n_groups,); entries come as for `every_group_holds`."""
    values, rows, starts = _by_group(group, n_groups, sensitive, weight)
    return holding(combinations, values, rows, starts)


@inner_kernel
def _by_group(group: Int32, n_groups: int, sensitive: Int32, weight: Int64) -> tuple[Int32, Int64, Int64]:
    """`sensitive` and `weight` group by group, and `starts`; inside a group entries keep their order."""
    starts = group_starts(group, n_groups)
    order = rows_by_group(group, starts)
    return taken(sensitive, order), taken(weight, order), starts


@inner_kernel
def _group_holds(
    combinations: Combinations,
    sensitive: Int32,
    weight: Int64,
    begin: int,
    end: int,
    counts: Int64,
    last: Int64,
) -> bool:
    """Whether the group of entries begin..end-1 satisfies every check; a person's entries follow each other in it."""
    checks, person = combinations.checks, combinations.person
    of_people = len(person) > 0
    size, before = 0, -1
    for entry in range(begin, end):
        combination = sensitive[entry]
        now = person[combination] if of_people else entry
        # A person counts once in the group and once for each value, a row as often as it stands there.
        rows = 1 if of_people else weight[entry]
        size += rows if now != before else 0
        before = now
        for cell in combinations.cells[combination]:
            counts[cell] += rows if not of_people or last[cell] != now else 0
            last[cell] = now
    result = all_hold(checks, counts, size)
    # Only what was counted is set back: an attribute may have many more values than a group.
    for entry in range(begin, end):
        for cell in combinations.cells[sensitive[entry]]:
            counts[cell], last[cell] = 0, -1
    return result


@kernel
def holding(combinations: Combinations, sensitive: Int32, weight: Int64, starts: Int64) -> Bools:
    """Whether each group of entries satisfies every check, bool (n_groups,)."""
    result = np.empty(len(starts) - 1, np.bool_)
    n_counts = combinations.checks.count_start[-1]
    counts, last = np.zeros(n_counts, np.int64), np.full(n_counts, -1)
    for group in range(len(result)):
        result[group] = _group_holds(combinations, sensitive, weight, starts[group], starts[group + 1], counts, last)
    return result
