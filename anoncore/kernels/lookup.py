"""Codes and counts of whole numbers by a table with one entry per number from `first` on, and of words by a hash table.

- `numbers` int64 (n_rows,): the value of one column in every row.
- `lookup` int32 (n_numbers,): entry i is the code of the number `first` + i.
- `counts` int64 (n_numbers,): entry i counts the rows with the number `first` + i.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel


@kernel
def look_up(numbers: Int64, first: int, lookup: Int32) -> Int32:
    """Code of every number, int32 (n_rows,); 0 for one outside of the table."""
    codes = np.zeros(numbers.shape[0], np.int32)
    for row in range(numbers.shape[0]):
        entry = numbers[row] - first
        if 0 <= entry < lookup.shape[0]:
            codes[row] = lookup[entry]
    return codes


@kernel
def count_numbers(numbers: Int64, first: int, counts: Int64) -> None:
    """Add every row to the count of its number; none may lie outside of the table."""
    for row in range(numbers.shape[0]):
        counts[numbers[row] - first] += 1


@inner_kernel
def position_of_word(word: np.uint64, entry: Int64, words: Words) -> int:
    """Where a word stands in a hash table with open addressing, or the free position where it would stand.

    `entry` int64 (a power of two,): the number of the word at each position, -1 where it is free; `words` uint64: the
    words by number.
    """
    # The size of the table is a power of two, so that the position of a hash in it is a mask and not a division.
    last = entry.shape[0] - 1
    slot = int(word >> np.uint64(20)) & last
    while entry[slot] >= 0 and words[entry[slot]] != word:
        slot = (slot + 1) & last
    return int(slot)
