"""Grouping, numbering and counting, in few passes over the rows each: runs, groups, and keys of several columns.

Sorting n rows costs O(n log n). Where groups are numbered, or words look random, a table finds the place of each row,
which costs O(n).

- `group` int32 (n_rows,): group of every row, 0..n_groups-1.
- `codes` int32 (n_rows,): code of one attribute in every row, 0..size-1.
- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group; those of group g at `starts[g]:starts[g + 1]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.kernels.arrays import Bools, Codes, Floats, Int32, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import filled_with, stable_order

N = TypeVar("N", bound=np.generic)
LARGEST = np.iinfo(np.int32).max
"""The largest number that a code may be."""


def starts_of(sizes: Iterable[int]) -> Int64:
    """Where runs of these sizes begin that follow each other, and where the last one ends, int64 (n_runs + 1,)."""
    sizes = sizes if isinstance(sizes, np.ndarray) else np.fromiter(sizes, np.int64)
    return np.append(np.int64(0), np.cumsum(sizes, dtype=np.int64))


def runs_from(begin: Int64 | int, sizes: Int64) -> Int64:
    """The places of runs, one run after the other: `sizes[i]` whole numbers from `begin[i]` on, int64 (sum,)."""
    return np.arange(sizes.sum()) + np.repeat(begin - np.cumsum(sizes) + sizes, sizes)


def owners(sizes: Int64 | Sequence[int]) -> Int64:
    """The number of the run that each place lies in, of runs of these sizes that follow each other, int64 (sum,)."""
    return np.repeat(np.arange(len(sizes)), sizes)


def places_in(keys: Int64, wanted: Int64) -> tuple[Int64, Bools]:
    """Where wanted keys stand among some that ascend, of which there is one at least, and whether they are there.

    Both are (n_wanted,); the place of a key that is not there is that of another one.
    """
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return place, keys[place] == wanted


def looked_up(keys: Int64, values: Floats, wanted: Int64) -> Floats:
    """The values of wanted keys, float (n_wanted,), 0 where one is not among the `keys`, which ascend."""
    if not len(keys):
        return np.zeros(len(wanted))
    place, is_there = places_in(keys, wanted)
    return np.where(is_there, values[place], 0.0)


def put_at(places: Int32 | Int64, values: npt.NDArray[N]) -> npt.NDArray[N]:
    """The values in the order of their places, which are 0 to n - 1 in any order: values[i] comes to places[i]."""
    result = np.empty_like(values)
    result[places] = values
    return result


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


def grouped_rows(group: Int32 | Int64, n_groups: int = 0) -> tuple[Int64, Int64]:
    """`order` and `starts` of rows whose groups are given, also of groups without rows where `n_groups` says so."""
    starts = starts_of(np.bincount(group, minlength=n_groups))
    return rows_by_group(np.ascontiguousarray(group, np.int32), starts), starts


@inner_kernel
def group_starts(group: Int32, n_groups: int) -> Int64:
    """`starts` of rows whose groups are given."""
    starts = np.zeros(n_groups + 1, np.int64)
    for of_row in group:
        starts[of_row + 1] += 1
    for g in range(n_groups):
        starts[g + 1] += starts[g]
    return starts


@inner_kernel
def ones(word: np.uint64) -> int:
    """Number of members of a set with one bit per member."""
    # Bits are added in fields of 2, then 4, then 8 bits, all fields at once; the product puts the sum of all eight
    # fields into the highest one.
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    nibbles = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    octets = (nibbles + (nibbles >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((octets * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


DENSE = 4
"""Cells of a table of counts per row up to which counting every cell is cheaper than sorting the rows."""
SMALL = 1024
"""Cells that are always counted."""
NEAR_BITS = 4
"""Times that each column is halved for the order of rows by nearness."""
MOST_BITS = 62


def occurring_pairs(
    one: Codes | Int64, other: Codes | Int64, n_one: int = 0, n_other: int = 0
) -> tuple[Int64, Int64, Int64]:
    """The pairs of codes that occur in rows, sorted, and the rows of each, int64 (n_pairs,) each.

    `n_one` and `n_other` are above every code, and looked for where they are 0, which takes a tenth of the time.
    Counting is O(n + number of cells) where these are few, else O(n log n).
    """
    n_one, n_other = n_one or int(one.max(initial=0)) + 1, n_other or int(other.max(initial=0)) + 1
    key = one.astype(np.int64) * n_other + other
    if n_one * n_other <= max(DENSE * len(key), SMALL):
        cells = np.bincount(key)
        there = np.flatnonzero(cells)
        rows = cells[there]
    else:
        there, rows = np.unique(key, return_counts=True)
    return *np.divmod(there, n_other), rows


def distinct(values: npt.NDArray[Any], size: int | None = None) -> npt.NDArray[Any]:
    """The different values, ascending. Where all are below a `size` that is not far above their number, they are
    marked, which is faster than sorting.
    """
    if size is not None and size <= max(DENSE * len(values), SMALL):
        occurs = np.zeros(size, dtype=np.bool_)
        occurs[values] = True
        return np.flatnonzero(occurs)
    # Without the counts newer NumPy looks for them by hashing, which takes 30 times as long for a million values.
    return np.unique(values, return_counts=True)[0]


def numbered_inside_groups(group: Codes | Int64, keys: Int64 | Codes) -> tuple[Int64, Int64, Int64, Int64]:
    """Number the different keys of each group, in ascending order, from one group to the next.

    Gives the number of every row, int64 (n_rows,), and of each number its group, its key, and how many rows have it,
    int64 (n_numbers,) each. `keys` int64 (n_rows,) are below 2**31. Marking costs O(n) where there are few more pairs
    than rows, else sorting O(n log n).
    """
    width = int(keys.max(initial=0)) + 1
    pairs = group * np.int64(width) + keys
    if (int(group.max(initial=0)) + 1) * width > max(DENSE * len(keys), SMALL):
        different, number = np.unique(pairs, return_inverse=True)
    else:
        occurs = np.zeros(int(pairs.max(initial=0)) + 1, np.bool_)
        occurs[pairs] = True
        different, number = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[pairs]
    return number, *np.divmod(different, width), np.bincount(number, minlength=len(different))


def numbered_sets(offsets: Int64, entries: Codes | Int64, words: Int64 | Words | None) -> Int64:
    """A number for each of some sets, int64 (n_sets,); sets have the same one where they have the same entries.

    The entries of set i are `entries[offsets[i]:offsets[i + 1]]`, in one order in all sets. Where all of a set fit into
    a word, `words` (n_entries,) has the bits of each entry, which is faster.
    """
    if words is not None:
        return np.add.reduceat(words, offsets[:-1]).view(np.int64)
    known: dict[bytes, int] = {}
    sets = (entries[begin:end].tobytes() for begin, end in pairwise(offsets.tolist()))
    return np.array([known.setdefault(one, len(known)) for one in sets], np.int64)


def dense_key(columns: Iterable[Codes | Int64], n_rows: int, *, is_sorted: bool = False) -> Int64:
    """A number per row, int64 (n_rows,), from 0 without gaps; rows that are equal in all columns have the same.

    Where it `is_sorted`, numbers ascend with the values, those of the first column first; otherwise from row to row.
    """
    return pd.factorize(combined_key(columns, n_rows, is_sorted=is_sorted), sort=is_sorted)[0].astype(np.int64)


def combined_key(columns: Iterable[Codes | Int64], n_rows: int, *, is_sorted: bool = True) -> Int64:
    """As `dense_key`, with gaps and faster; only where it `is_sorted` do its numbers stand in an order."""
    key = np.zeros(n_rows, dtype=np.int64)
    capacity = 1
    for column in columns if n_rows else ():
        width = int(column.max()) + 1
        # Before the key would outgrow int64, it is numbered anew by the combinations that occur.
        if capacity * width >= 2**62:
            key, uniques = pd.factorize(key, sort=is_sorted)
            capacity = len(uniques)
        key = key * width + column
        capacity *= width
    return key


def first_rows(key: Codes | Int64) -> Int64:
    """The first row with each number, int64 (n_numbers,), of numbers without gaps as `dense_key` gives them."""
    first = np.empty(int(key.max(initial=-1)) + 1, np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return first


@kernel
def count_numbers(numbers: Int64, first: int, counts: Int64) -> None:
    """Add the rows of each number to `counts` int64 (n_numbers,), which begins with the number `first`."""
    for number in numbers:
        counts[number - first] += 1


@kernel
def look_up(numbers: Int64, first: int, codes: Int32, found: Int32) -> None:
    """Write the code of each number into `found` int32 (n,): the codes of the numbers from `first` on stand in `codes`.

    Numbers that lie outside have the code of the nearest one.
    """
    for row in range(len(numbers)):
        found[row] = codes[min(max(numbers[row] - first, 0), len(codes) - 1)]


@kernel
def numbered_by_appearance(codes: Int32, n_codes: int) -> tuple[Int32, Int32]:
    """Number codes in the order in which they first come: int32 (n_rows,), -1 where a code is negative.

    The second array, int32 (n_numbers,), has the code of each number.
    """
    number_of, code_of = np.full(n_codes, np.int32(-1)), np.empty(n_codes, np.int32)
    numbers, n = np.empty(len(codes), np.int32), 0
    for row in range(len(codes)):
        code = codes[row]
        if code >= 0 and number_of[code] < 0:
            number_of[code], code_of[n] = n, code
            n += 1
        numbers[row] = number_of[code] if code >= 0 else -1
    return numbers, code_of[:n].copy()


def order_by_nearness(columns: Sequence[Codes], n_rows: int) -> Int64:
    """The rows in an order in which those that are alike in all columns stand near each other, int64 (n_rows,).

    Columns are halved in turn, each by the ranks of its values, and rows are sorted by the halves that they are in
    (Morton's order). What is read box by box is then read from a few places of memory, not from all over it.
    """
    if not columns:
        return np.arange(n_rows)
    n_bits = min(NEAR_BITS * len(columns), MOST_BITS)
    key = np.zeros(n_rows, np.int64)
    for column, codes in enumerate(columns):
        up_to = np.cumsum(np.bincount(codes))
        rank = up_to - np.diff(up_to, prepend=0) / 2
        halves = (rank * 2**NEAR_BITS / n_rows).astype(np.int64)
        # The bits of each code at their places in the key: the first halves of all columns, then the second ones.
        spread = np.zeros_like(halves)
        for level, bit in enumerate(range(column, n_bits, len(columns))):
            spread |= (halves >> (NEAR_BITS - 1 - level) & 1) << (n_bits - 1 - bit)
        key |= spread[codes]
    return stable_order(key, n_bits, np.arange(n_rows))


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
    # Sorting keys costs O(n log n); a table of slots, at least two for every key that is not the one before it, finds
    # each one in O(1). A key that finds its slot taken by another one takes the next slot that is free.
    runs = min(len(keys), 1)
    for i in range(1, len(keys)):
        runs += keys[i, 0] != keys[i - 1, 0] or keys[i, 1] != keys[i - 1, 1]
    slots = 2
    while slots < 2 * runs:
        slots *= 2
    last = np.uint64(slots - 1)
    holder = filled_with(slots, -1)
    number = np.empty(len(keys), np.int64)
    first = np.empty(runs, np.int64)
    filled = 0
    for i in range(len(keys)):
        if i > 0 and keys[i, 0] == keys[i - 1, 0] and keys[i, 1] == keys[i - 1, 1]:
            number[i] = number[i - 1]
            continue
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
