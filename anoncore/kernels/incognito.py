"""Rolling groups up to a coarser generalization, and checking whether they satisfy the requirements.

Instead of rows, the search keeps entries: rows with equal (generalized) quasi-identifiers and equal sensitive values
are one entry with a weight. Coarser groups are made of the entries of finer ones, so the table is read only once.

- `codes` int32 (n_entries, n_attributes): generalized codes of the quasi-identifiers of each entry.
- `sensitive` int32 (n_entries,): number of the combination of sensitive values of each entry, 0..n_combinations-1.
  Where one person may have several rows, a combination is also one of a person: entries are then people with a
  combination of values, and those of one person follow each other.
- `weight` int64 (n_entries,): number of rows of each entry.
- `starts` int64 (n_groups + 1,): group g is the entries `starts[g]`..`starts[g + 1]` - 1.

Source: LeFevre, DeWitt and Ramakrishnan, Incognito, SIGMOD 2005.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64
from anoncore.kernels.checking import KernelChecks, all_hold
from anoncore.kernels.compiler import inner_kernel, kernel


@kernel
def roll_up(
    order: Int64, key: Int64, codes: Int32, sensitive: Int32, weight: Int64, n_combinations: int
) -> tuple[Int32, Int32, Int64, Int64]:
    """Join entries of equal keys.

    `key` int64 (n_entries,) is number of the group * n_combinations + combination of sensitive values, `order` int64
    (n_entries,) sorts the entries by it. Returns the joined entries' codes, combination and weight, and `starts`.
    """
    # Joined entries and groups are counted first, so that the results have their final size when they are written.
    n_entries = 0
    n_groups = 0
    for i in range(order.shape[0]):
        now = key[order[i]]
        before = key[order[max(i - 1, 0)]]
        n_entries += i == 0 or now != before
        n_groups += i == 0 or now // n_combinations != before // n_combinations
    joined = np.empty((n_entries, codes.shape[1]), np.int32)
    values = np.empty(n_entries, np.int32)
    rows = np.zeros(n_entries, np.int64)
    starts = np.empty(n_groups + 1, np.int64)
    entry, group = -1, -1
    for i in range(order.shape[0]):
        finer = order[i]
        before = key[order[max(i - 1, 0)]]
        if i == 0 or key[finer] != before:
            entry += 1
            values[entry] = sensitive[finer]
            for column in range(codes.shape[1]):
                joined[entry, column] = codes[finer, column]
        if i == 0 or key[finer] // n_combinations != before // n_combinations:
            group += 1
            starts[group] = entry
        rows[entry] += weight[finer]
    starts[n_groups] = n_entries
    return joined, values, rows, starts


@inner_kernel
def _people_hold(checks: KernelChecks, combinations: Int32, person: Int32, sensitive: Int32, starts: Int64) -> Bools:
    """`holding` where people are counted; a person's entries follow each other in each group."""
    result = np.empty(starts.shape[0] - 1, np.bool_)
    counts = np.zeros(checks.count_start[-1], np.int64)
    # Who was counted last with each value: as a person's entries follow each other, that tells whether they were yet.
    last = np.full(checks.count_start[-1], -1, np.int64)
    for group in range(result.shape[0]):
        counts[:] = 0
        last[:] = -1
        n_people, before = 0, -1
        for entry in range(starts[group], starts[group + 1]):
            combination = sensitive[entry]
            n_people += person[combination] != before
            before = person[combination]
            for column in range(combinations.shape[1]):
                cell = checks.count_start[column] + combinations[combination, column]
                counts[cell] += last[cell] != before
                last[cell] = before
        result[group] = all_hold(checks, counts, n_people)
    return result


@kernel
def holding(
    checks: KernelChecks, combinations: Int32, person: Int32, sensitive: Int32, weight: Int64, starts: Int64
) -> Bools:
    """Whether each group of entries satisfies every check, bool (n_groups,).

    `combinations` int32 (n_combinations, n_columns) has the sensitive codes of each combination, and `person` int32
    (n_combinations,) its person; no entries where rows are counted.
    """
    if person.shape[0] > 0:
        return _people_hold(checks, combinations, person, sensitive, starts)
    result = np.empty(starts.shape[0] - 1, np.bool_)
    counts = np.zeros(checks.count_start[-1], np.int64)
    for group in range(result.shape[0]):
        size = 0
        for entry in range(starts[group], starts[group + 1]):
            size += weight[entry]
            for column in range(combinations.shape[1]):
                counts[checks.count_start[column] + combinations[sensitive[entry], column]] += weight[entry]
        result[group] = all_hold(checks, counts, size)
        for entry in range(starts[group], starts[group + 1]):
            for column in range(combinations.shape[1]):
                counts[checks.count_start[column] + combinations[sensitive[entry], column]] = 0
    return result
