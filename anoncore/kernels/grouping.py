"""Grouping, numbering and counting, in one pass over the rows each.

Sorting n rows costs O(n log n). Where groups are numbered, or words look random, a table finds the place of each row,
which costs O(n).

- `group` int32 (n_rows,): group of every row, 0..n_groups-1.
- `codes` int32 (n_rows,): code of one attribute in every row, 0..size-1.
- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group; those of group g at `starts[g]:starts[g + 1]`.
- `numbers` int64 (n_rows,): the value of one column in every row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Int32, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import filled_with, sort_in_place

LARGEST = np.iinfo(np.int32).max
"""The largest number that a code may be."""


@kernel
def rows_by_group(group: Int32, starts: Int64) -> Int64:
    """Row numbers by group, inside a group in ascending order: `order`, int64 (n_rows,)."""
    filled = np.empty(len(starts) - 1, np.int64)
    for g in range(len(filled)):
        filled[g] = starts[g]
    order = np.empty(len(group), np.int64)
    for row in range(len(group)):
        order[filled[group[row]]] = row
        filled[group[row]] += 1
    return order


def grouped_rows(group: Int32, n_groups: int = 0) -> tuple[Int64, Int64]:
    """`order` and `starts` of rows whose groups are given, also of groups without rows where `n_groups` says so."""
    starts = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=n_groups))))
    return rows_by_group(group, starts), starts


@inner_kernel
def group_starts(group: Int32, n_groups: int) -> Int64:
    """`starts` of rows whose groups are given."""
    starts = np.zeros(n_groups + 1, np.int64)
    for of_row in group:
        starts[of_row + 1] += 1
    for g in range(n_groups):
        starts[g + 1] += starts[g]
    return starts


@kernel
def group_histogram(group: Int32, codes: Int32, n_groups: int, size: int) -> Int64:
    """Rows with each code in each group, int64 (n_groups, size)."""
    counts = np.zeros((n_groups, size), np.int64)
    for row in range(len(group)):
        counts[group[row], codes[row]] += 1
    return counts


@kernel
def group_extent(group: Int32, codes: Int32, n_groups: int) -> tuple[Int32, Int32]:
    """Smallest and largest code of each group, both int32 (n_groups,)."""
    low, high = np.empty(n_groups, np.int32), np.empty(n_groups, np.int32)
    for g in range(n_groups):
        low[g], high[g] = LARGEST, -1
    for row in range(len(group)):
        code = codes[row]
        if code < low[group[row]]:
            low[group[row]] = code
        if code > high[group[row]]:
            high[group[row]] = code
    return low, high


@inner_kernel
def ones(word: np.uint64) -> int:
    """Number of members of a set with one bit per member."""
    # Bits are added in fields of 2, then 4, then 8 bits, all fields at once; the product puts the sum of all eight
    # fields into the highest one.
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    nibbles = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    octets = (nibbles + (nibbles >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((octets * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@kernel
def group_value_sets(group: Int32, codes: Int32, n_groups: int, size: int) -> tuple[Int64, Int32]:
    """Distinct codes of each group, ascending: those of group g are `members[offsets[g]:offsets[g + 1]]`.

    Marks one bit per group and code, so memory and time grow with n_groups * size.
    """
    n_words = (size + 63) // 64
    bits = np.zeros((n_groups, n_words), np.uint64)
    for row in range(len(group)):
        code = codes[row]
        bits[group[row], code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    offsets = np.zeros(n_groups + 1, np.int64)
    members = np.empty(len(group), np.int32)
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
    n_groups = len(starts) - 1
    seen = filled_with(size, -1)
    offsets = np.zeros(n_groups + 1, np.int64)
    members = np.empty(len(order), np.int32)
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
    first, sizes = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    counts = np.zeros(size, np.int64)
    filled = 0
    for group in range(len(starts) - 1):
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


class WordTable(NamedTuple):
    """A hash table of words that look random, at most half full, whose slots are tried one after the other.

    `entry` int64 (n_slots,): the number of the word in each slot, -1 where it is free; `words` uint64: the words by
    number. The slot of a word is its highest bits, after a `shift`.
    """

    entry: Int64
    words: Words
    shift: np.uint64


@inner_kernel
def word_table(n: int) -> WordTable:
    """An empty table for so many words."""
    bits = 1
    while (1 << bits) < 2 * n:
        bits += 1
    return WordTable(filled_with(1 << bits, -1), np.empty(n, np.uint64), np.uint64(64 - bits))


@inner_kernel
def _slot(table: WordTable, word: np.uint64) -> int:
    """Where a word stands, or the free slot where it would stand."""
    last = len(table.entry) - 1
    slot = np.int64(word >> table.shift)
    while table.entry[slot] >= 0 and table.words[table.entry[slot]] != word:
        slot = (slot + 1) & last
    return slot  # type: ignore[return-value]


@inner_kernel
def known_number(table: WordTable, word: np.uint64) -> int:
    """The number of a word; -1 if the table does not have it."""
    return int(table.entry[_slot(table, word)])


@inner_kernel
def number_of(table: WordTable, word: np.uint64, n_words: int) -> int:
    """The number of a word; one that is new becomes number `n_words`."""
    slot = _slot(table, word)
    if table.entry[slot] < 0:
        table.entry[slot], table.words[n_words] = n_words, word
    return int(table.entry[slot])


@kernel
def numbered_keys(keys: Words) -> tuple[Int64, Int64]:
    """Number keys of 128 bits, uint64 (n, 2), by the order in which they first come.

    Gives the number of each key, int64 (n,), and where each distinct key first stands, int64 (n_distinct,).
    The keys should look random in their low bits, as hashes do.
    """
    # Sorting keys costs O(n log n); a table of slots, at least two for every key, finds each one in O(1). A key that
    # finds its slot taken by another one takes the next slot that is free.
    slots = 2
    while slots < 2 * len(keys):
        slots *= 2
    last = np.uint64(slots - 1)
    holder = filled_with(slots, -1)
    number = np.empty(len(keys), np.int64)
    first = np.empty(len(keys), np.int64)
    filled = 0
    for i in range(len(keys)):
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


@kernel
def look_up(numbers: Int64, first: int, lookup: Int32) -> Int32:
    """Code of every number, int32 (n_rows,): that of number `first` + i is `lookup[i]`, that of any other 0."""
    codes = np.zeros(len(numbers), np.int32)
    for row in range(len(numbers)):
        entry = numbers[row] - first
        if 0 <= entry < len(lookup):
            codes[row] = lookup[entry]
    return codes


@kernel
def count_numbers(numbers: Int64, first: int, counts: Int64) -> None:
    """Add every row to `counts`, where entry i counts the number `first` + i; there is one for every number."""
    for number in numbers:
        counts[number - first] += 1
