"""Statistics of groups over integer codes, in one pass each."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.compiler import kernel


@kernel
def rows_by_group(group: Int32, starts: Int64) -> Int64:
    """Counting sort: row numbers by group, stable."""
    place = starts[:-1].copy()
    order = np.empty(group.shape[0], np.int64)
    for row in range(group.shape[0]):
        order[place[group[row]]] = row
        place[group[row]] += 1
    return order


@kernel
def group_histogram(group: Int32, codes: Int32, n_groups: int, size: int) -> Int64:
    """Counts of each code in each group, (n_groups, size)."""
    counts = np.zeros((n_groups, size), np.int64)
    for row in range(group.shape[0]):
        counts[group[row], codes[row]] += 1
    return counts


@kernel
def group_extent(group: Int32, codes: Int32, n_groups: int) -> tuple[Int32, Int32]:
    """Smallest and largest code of each group."""
    low = np.full(n_groups, np.iinfo(np.int32).max, np.int32)
    high = np.full(n_groups, -1, np.int32)
    for row in range(group.shape[0]):
        code = codes[row]
        if code < low[group[row]]:
            low[group[row]] = code
        if code > high[group[row]]:
            high[group[row]] = code
    return low, high


@kernel
def group_value_sets(group: Int32, codes: Int32, n_groups: int, size: int) -> tuple[Int64, Int32]:
    """Distinct codes of each group, ascending, as offsets (n_groups + 1,) and members; one bit per group and code."""
    n_words = (size + 63) // 64
    bits = np.zeros((n_groups, n_words), np.uint64)
    for row in range(group.shape[0]):
        code = codes[row]
        bits[group[row], code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    offsets = np.zeros(n_groups + 1, np.int64)
    members = np.empty(group.shape[0], np.int32)
    filled = 0
    for place in range(n_groups):
        for word in range(n_words):
            left = bits[place, word]
            code = word << 6
            while left != 0:
                if left & np.uint64(1):
                    members[filled] = code
                    filled += 1
                left >>= np.uint64(1)
                code += 1
        offsets[place + 1] = filled
    return offsets, members[:filled].copy()


@kernel
def group_value_lists(order: Int64, starts: Int64, codes: Int32, size: int) -> tuple[Int64, Int32]:
    """The same as `group_value_sets` from rows sorted by group: for domains too large for a bit per code."""
    n_groups = starts.shape[0] - 1
    seen = np.full(size, -1, np.int64)
    offsets = np.zeros(n_groups + 1, np.int64)
    members = np.empty(order.shape[0], np.int32)
    filled = 0
    for group in range(n_groups):
        begin = filled
        for position in range(starts[group], starts[group + 1]):
            code = codes[order[position]]
            if seen[code] != group:
                seen[code] = group
                members[filled] = code
                filled += 1
        members[begin:filled].sort()
        offsets[group + 1] = filled
    return offsets, members[:filled].copy()
