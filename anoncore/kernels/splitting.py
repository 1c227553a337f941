"""The splits of a node of the partition tree: moving the node's rows to the sides, and the size of each side.

A node is a run of rows lo..hi-1 of the matrix `rows`. Arrays that all functions share:

- `rows` int32 (n_rows, n_columns): codes of the quasi-identifiers (one column per attribute), then where the sensitive
  values are counted (`cells` of `checking`), then the code of the target where there is one, last the row's number in
  the input table. Rows are moved physically, so that the rows of every node stand side by side in memory.
- `spare` int32 (n_rows, n_columns): memory for rows on their way; what it holds before and after means nothing.
- `content` int64 (n_words, n_rows), indexed by the row's number in the input table: words whose lexicographic order
  sorts rows by everything that the table says about them.
- `ends` int64 (n_sides,): the row behind the last row of each side; the first side begins at lo.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.compiler import inner_kernel
from anoncore.kernels.sorting import kth_smallest

NO_SPLIT, THRESHOLD, SHARED_MEDIAN, NODE_CHILDREN = 0, 1, 2, 3
BLOCK = 256
"""Rows that are looked at before it is asked which attributes have reached their bounds."""
NO_BOUNDS = (-1, 2**31 - 1)
"""Bounds outside which no code can lie and at which none does."""


class Node(NamedTuple):
    """One node as the search for its split sees it.

    Its rows are `lo`..`hi` - 1; `low` and `high` int32 (n_attributes,) are its smallest and largest code of every
    attribute; `counts` int64 (n_counts,) are its rows with each sensitive value, laid out as in `KernelChecks`.
    """

    lo: int
    hi: int
    low: Int32
    high: Int32
    counts: Int64


class Split(NamedTuple):
    """How a node is cut.

    `kind` THRESHOLD: rows whose code of `attribute` is at most `value` go left. SHARED_MEDIAN: rows below `value` go
    left, and rows at it fill the left side up to `left` rows. NODE_CHILDREN: each child of the hierarchy node `value`
    gets a side. NO_SPLIT: the node is a leaf.
    """

    kind: int
    attribute: int
    value: int
    left: int


@inner_kernel
def make_split(kind: int, attribute: int, value: int, left: int) -> Split:
    """A Split whose fields all have the compiled type int64."""
    return Split(np.int64(kind), np.int64(attribute), np.int64(value), np.int64(left))  # type: ignore[arg-type]


@inner_kernel
def extent(rows: Int32, lo: int, hi: int, low: Int32, high: Int32) -> None:
    """Write the smallest and the largest code of rows lo..hi-1 in the first len(low) columns into `low` and `high`."""
    for a in range(len(low)):
        low[a] = rows[lo, a]
        high[a] = rows[lo, a]
    # Row by row, not attribute by attribute: a row's codes lie side by side, so every row is fetched from memory once.
    for row in range(lo + 1, hi):
        for a in range(len(low)):
            code = rows[row, a]
            low[a] = min(low[a], code)
            high[a] = max(high[a], code)


@inner_kernel
def extent_within(rows: Int32, lo: int, hi: int, bounds: Int32, low: Int32, high: Int32) -> None:
    """`extent` where it is known that no code lies outside `bounds` int32 (2, n_attributes).

    An attribute whose smallest and largest code stand at their bounds is not looked at any more. Most of a large node
    do so after some hundred rows, and then the others need not be fetched from memory.
    """
    if hi - lo <= 8 * BLOCK:
        extent(rows, lo, hi, low, high)
        return
    n = len(low)
    wide = np.empty(n, np.int64)
    for a in range(n):
        wide[a] = a
        low[a] = rows[lo, a]
        high[a] = rows[lo, a]
    n_wide, begin = n, lo + 1
    while begin < hi and n_wide > 0:
        end = min(begin + BLOCK, hi)
        for row in range(begin, end):
            for place in range(n_wide):
                a = wide[place]
                code = rows[row, a]
                low[a] = min(low[a], code)
                high[a] = max(high[a], code)
        begin, n_before, n_wide = end, n_wide, 0
        for place in range(n_before):
            a = wide[place]
            if low[a] > bounds[0, a] or high[a] < bounds[1, a]:
                wide[n_wide] = a
                n_wide += 1


@inner_kernel
def _copy_rows(source: Int32, begin: int, target: Int32, to: int, n: int) -> None:
    """Copy n rows, from `begin` in the source to `to` in the target."""
    # A loop, because the checks of a slice assignment take seconds to compile.
    for i in range(n):
        for column in range(source.shape[1]):
            target[to + i, column] = source[begin + i, column]


@inner_kernel
def mark_left(rows: Int32, lo: int, hi: int, split: Split, content: Int64, left: Bools) -> None:
    """Write which of the rows lo..hi-1 a binary split sends left into the first entries of `left` bool.

    Rows at a shared median go left in order of their content, so that the order of the input decides nothing; rows
    that are equal in all of it are interchangeable.
    """
    if split.kind == THRESHOLD:
        for row in range(lo, hi):
            left[row - lo] = rows[row, split.attribute] <= split.value
    else:
        _share_median(rows, lo, hi, split, content, left)


@inner_kernel
def _share_median(rows: Int32, lo: int, hi: int, split: Split, content: Int64, left: Bools) -> None:
    """`mark_left` where rows at the median go to both sides."""
    a, value = split.attribute, split.value
    n_below, n_shared = 0, 0
    for row in range(lo, hi):
        left[row - lo] = rows[row, a] < value
        n_below += rows[row, a] < value
        n_shared += rows[row, a] == value
    shared = np.empty(n_shared, np.int64)
    filled = 0
    for row in range(lo, hi):
        if rows[row, a] == value:
            shared[filled] = row
            filled += 1
    number, n_open, wanted = rows.shape[1] - 1, n_shared, split.left - n_below
    # Word by word: rows below the last one that goes left go left, and those that share its word are told apart by the
    # next one. To select costs less than to sort.
    for word in range(len(content)):
        if wanted <= 0 or wanted >= n_open:
            break
        keys = np.empty(n_open, np.int64)
        for i in range(n_open):
            keys[i] = content[word, rows[shared[i], number]]
        last = kth_smallest(keys, wanted - 1)
        n_left, n_tied = 0, 0
        for i in range(n_open):
            if keys[i] < last:
                left[shared[i] - lo] = True
                n_left += 1
            elif keys[i] == last:
                shared[n_tied] = shared[i]
                n_tied += 1
        n_open, wanted = n_tied, wanted - n_left
    for i in range(min(wanted, n_open)):
        left[shared[i] - lo] = True


@inner_kernel
def split_rows(
    rows: Int32,
    spare: Int32,
    lo: int,
    hi: int,
    split: Split,
    content: Int64,
    attributes: Attributes,
    is_left: Bools,
    ends: Int64,
) -> int:
    """Move rows lo..hi-1 so that the sides follow each other, the order within a side kept; returns how many there are.

    Their ends are written into `ends`, which has room for as many sides as rows; `is_left` is memory as in `mark_left`.
    """
    if split.kind == NODE_CHILDREN:
        return _split_children(rows, spare, lo, hi, split, attributes, ends)
    n_kept, n_moved = 0, 0
    a, value = split.attribute, split.value
    if split.kind == SHARED_MEDIAN:
        mark_left(rows, lo, hi, split, content, is_left)
    for row in range(lo, hi):
        left = is_left[row - lo] if split.kind == SHARED_MEDIAN else rows[row, a] <= value
        # Every row is written to both sides, and the next row overwrites the copy that does not belong there. That is
        # cheaper than a branch that the processor cannot foresee. No row is lost: lo + n_kept is at most `row`.
        for column in range(rows.shape[1]):
            code = rows[row, column]
            rows[lo + n_kept, column] = code
            spare[lo + n_moved, column] = code
        n_kept += left
        n_moved += not left
    _copy_rows(spare, lo, rows, lo + n_kept, n_moved)
    ends[0], ends[1] = lo + n_kept, hi
    return 2


@inner_kernel
def rows_of_children(rows: Int32, lo: int, hi: int, split: Split, attributes: Attributes) -> tuple[Int64, Int32]:
    """Number of rows of each child of the split's hierarchy node, int64 (n_children,), and the child of each row.

    The children are counted in the order of the hierarchy, and the rows lo..hi-1 from `lo` on, int32 (hi - lo,).
    """
    base, a = attributes.node_start[split.attribute], split.attribute
    # An attribute's lists of children have one entry more than it has nodes, so those of the earlier attributes take
    # `a` entries more than their nodes do.
    begin, end = attributes.child_start[base + a + split.value], attributes.child_start[base + a + split.value + 1]
    offset = attributes.first[base + split.value]
    child_of = np.empty(attributes.last[base + split.value] - offset + 1, np.int32)
    for child in range(end - begin):
        node = base + attributes.children[begin + child]
        for code in range(attributes.first[node], attributes.last[node] + 1):
            child_of[code - offset] = child
    sizes, own = np.zeros(end - begin, np.int64), np.empty(hi - lo, np.int32)
    for row in range(lo, hi):
        child = child_of[rows[row, a] - offset]
        own[row - lo] = child
        sizes[child] += 1
    return sizes, own


@inner_kernel
def _split_children(
    rows: Int32, spare: Int32, lo: int, hi: int, split: Split, attributes: Attributes, ends: Int64
) -> int:
    """`split_rows` for the children of a hierarchy node; children without rows get no side."""
    sizes, own = rows_of_children(rows, lo, hi, split, attributes)
    next_row = np.empty(len(sizes), np.int64)
    end = lo
    n_sides = 0
    for child in range(len(sizes)):
        next_row[child] = end
        end += sizes[child]
        if sizes[child] > 0:
            ends[n_sides] = end
            n_sides += 1
    for row in range(lo, hi):
        child = own[row - lo]
        for column in range(rows.shape[1]):
            spare[next_row[child], column] = rows[row, column]
        next_row[child] += 1
    _copy_rows(spare, lo, rows, lo, hi - lo)
    return n_sides
