"""Statistics of groups over integer codes, in one pass over the rows each.

- `group` int32 (n_rows,): group of every row, 0..n_groups-1.
- `codes` int32 (n_rows,): code of one attribute in every row, 0..size-1.
- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group; those of group g at `starts[g]:starts[g + 1]`.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64, Words
from anoncore.kernels.compiler import kernel
from anoncore.kernels.sorting import filled_with, sort_in_place

LARGEST = np.iinfo(np.int32).max
"""The largest number that a code may be."""


@kernel
def rows_by_group(group: Int32, starts: Int64) -> Int64:
    """Row numbers by group, inside a group in ascending order: `order`, int64 (n_rows,)."""
    # Sorting groups costs O(n log n); placing every row behind those of its group costs O(n), because the sizes of the
    # groups are known.
    filled = np.empty(starts.shape[0] - 1, np.int64)
    for g in range(filled.shape[0]):
        filled[g] = starts[g]
    order = np.empty(group.shape[0], np.int64)
    for row in range(group.shape[0]):
        order[filled[group[row]]] = row
        filled[group[row]] += 1
    return order


def grouped_rows(group: Int32, n_groups: int = 0) -> tuple[Int64, Int64]:
    """`order` and `starts` of rows whose groups are given, also of groups without rows where `n_groups` says so."""
    starts = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=n_groups))))
    return rows_by_group(group, starts), starts


@kernel
def group_histogram(group: Int32, codes: Int32, n_groups: int, size: int) -> Int64:
    """Rows with each code in each group, int64 (n_groups, size)."""
    counts = np.zeros((n_groups, size), np.int64)
    for row in range(group.shape[0]):
        counts[group[row], codes[row]] += 1
    return counts


@kernel
def group_extent(group: Int32, codes: Int32, n_groups: int) -> tuple[Int32, Int32]:
    """Smallest and largest code of each group, both int32 (n_groups,)."""
    low, high = np.empty(n_groups, np.int32), np.empty(n_groups, np.int32)
    for g in range(n_groups):
        low[g], high[g] = LARGEST, -1
    for row in range(group.shape[0]):
        code = codes[row]
        if code < low[group[row]]:
            low[group[row]] = code
        if code > high[group[row]]:
            high[group[row]] = code
    return low, high


@kernel
def group_value_sets(group: Int32, codes: Int32, n_groups: int, size: int) -> tuple[Int64, Int32]:
    """Distinct codes of each group, ascending: those of group g are `members[offsets[g]:offsets[g + 1]]`.

    Marks one bit per group and code, so memory and time grow with n_groups * size.
    """
    n_words = (size + 63) // 64
    bits = np.zeros((n_groups, n_words), np.uint64)
    for row in range(group.shape[0]):
        code = codes[row]
        bits[group[row], code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    offsets = np.zeros(n_groups + 1, np.int64)
    members = np.empty(group.shape[0], np.int32)
    filled = 0
    for g in range(n_groups):
        for word in range(n_words):
            # Shift the word down bit by bit until no member is left in it; empty words cost one comparison.
            left = bits[g, word]
            code = word << 6
            while left != 0:
                if left & np.uint64(1):
                    members[filled] = code
                    filled += 1
                left >>= np.uint64(1)
                code += 1
        offsets[g + 1] = filled
    return offsets, members[:filled].copy()


@kernel
def group_value_lists(order: Int64, starts: Int64, codes: Int32, size: int) -> tuple[Int64, Int32]:
    """The same as `group_value_sets` from rows sorted by group: for domains too large for a bit per code."""
    # seen[code] is the last group in which the code was met, so nothing has to be cleared between groups.
    n_groups = starts.shape[0] - 1
    seen = filled_with(size, -1)
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
        sort_in_place(members[begin:filled])
        offsets[group + 1] = filled
    return offsets, members[:filled].copy()


@kernel
def classes_within(order: Int64, starts: Int64, codes: Int32, size: int) -> tuple[Int64, Int64]:
    """The classes of equal codes inside every group: the first row of each and its number of rows, int64 (n_classes,).

    Classes are listed group by group, inside a group in the order of their first rows.
    """
    first, sizes = np.empty(order.shape[0], np.int64), np.empty(order.shape[0], np.int64)
    counts = np.zeros(size, np.int64)
    filled = 0
    for group in range(starts.shape[0] - 1):
        begin = filled
        for position in range(starts[group], starts[group + 1]):
            code = codes[order[position]]
            if counts[code] == 0:
                first[filled] = order[position]
                filled += 1
            counts[code] += 1
        # Only the codes of this group are set back: the column may have many more.
        for at in range(begin, filled):
            sizes[at] = counts[codes[first[at]]]
            counts[codes[first[at]]] = 0
    return first[:filled].copy(), sizes[:filled].copy()


@kernel
def numbered_keys(keys: Words) -> tuple[Int64, Int64]:
    """Number keys of 128 bits, uint64 (n, 2), by the order in which they first come.

    Gives the number of each key, int64 (n,), and where each distinct key first stands, int64 (n_distinct,).
    The keys should look random in their low bits, as hashes do.
    """
    # Sorting keys costs O(n log n); a table of slots, at least two for every key, finds each one in O(1). A key that
    # finds its slot taken by another one takes the next slot that is free.
    slots = 2
    while slots < 2 * keys.shape[0]:
        slots *= 2
    last = np.uint64(slots - 1)
    holder = filled_with(slots, -1)
    number = np.empty(keys.shape[0], np.int64)
    first = np.empty(keys.shape[0], np.int64)
    filled = 0
    for i in range(keys.shape[0]):
        slot = keys[i, 0] & last
        while holder[slot] >= 0:
            other = first[holder[slot]]
            if keys[other, 0] == keys[i, 0] and keys[other, 1] == keys[i, 1]:
                break
            slot = (slot + np.uint64(1)) & last
        if holder[slot] < 0:
            holder[slot] = filled
            first[filled] = i
            filled += 1
        number[i] = holder[slot]
    return number, first[:filled].copy()
