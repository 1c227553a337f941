"""Rolling groups up to a coarser generalization, and judging them."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64
from anoncore.kernels.checking import KernelChecks, all_hold
from anoncore.kernels.compiler import kernel


@kernel
def roll_up(
    order: Int64, key: Int64, codes: Int32, sensitive: Int32, weight: Int64, n_combinations: int
) -> tuple[Int32, Int32, Int64, Int64]:
    """Join entries of equal keys; a group is a run of entries with equal key // n_combinations.

    Returns the joined entries' codes, sensitive combination and rows, and where each group begins (n_groups + 1,).
    """
    n_entries = 0
    n_groups = 0
    for place in range(order.shape[0]):
        now = key[order[place]]
        before = key[order[max(place - 1, 0)]]
        n_entries += place == 0 or now != before
        n_groups += place == 0 or now // n_combinations != before // n_combinations
    joined = np.empty((n_entries, codes.shape[1]), np.int32)
    values = np.empty(n_entries, np.int32)
    rows = np.zeros(n_entries, np.int64)
    starts = np.empty(n_groups + 1, np.int64)
    entry, group = -1, -1
    for place in range(order.shape[0]):
        row = order[place]
        before = key[order[max(place - 1, 0)]]
        if place == 0 or key[row] != before:
            entry += 1
            values[entry] = sensitive[row]
            for column in range(codes.shape[1]):
                joined[entry, column] = codes[row, column]
        if place == 0 or key[row] // n_combinations != before // n_combinations:
            group += 1
            starts[group] = entry
        rows[entry] += weight[row]
    starts[n_groups] = n_entries
    return joined, values, rows, starts


@kernel
def holding(checks: KernelChecks, combinations: Int32, sensitive: Int32, weight: Int64, starts: Int64) -> Bools:
    """Whether each group of entries satisfies every check, (n_groups,).

    `combinations` (n_combinations, n_columns) has the sensitive codes of each combination.
    """
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
