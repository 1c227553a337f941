"""Moving a node's rows to the sides of a split, and the extents of a node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.compiler import inner_kernel

NO_SPLIT, THRESHOLD, SHARED_MEDIAN, NODE_CHILDREN = 0, 1, 2, 3


class Split(NamedTuple):
    """How a node is cut: THRESHOLD (codes up to `value` left), SHARED_MEDIAN (codes below `value` left, rows at it
    fill the left side up to `left` rows), NODE_CHILDREN (one side for each child of hierarchy node `value`).
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
    """Smallest and largest code of rows lo..hi-1 in each of the first len(low) columns."""
    for a in range(low.shape[0]):
        low[a] = rows[lo, a]
        high[a] = rows[lo, a]
    for row in range(lo + 1, hi):
        for a in range(low.shape[0]):
            code = rows[row, a]
            low[a] = min(low[a], code)
            high[a] = max(high[a], code)


@inner_kernel
def _copy_rows(source: Int32, begin: int, target: Int32, to: int, n: int) -> None:
    # A loop, because the checks of a slice assignment take seconds to compile.
    for i in range(n):
        for column in range(source.shape[1]):
            target[to + i, column] = source[begin + i, column]


@inner_kernel
def goes_left(rows: Int32, lo: int, hi: int, split: Split, content: Int64) -> Bools:
    """Which rows lo..hi-1 a binary split sends left.

    Rows at a shared median go left in order of their content, so that the order of the input decides nothing; rows
    that are equal in all of it are interchangeable.
    """
    a, value = split.attribute, split.value
    left = np.empty(hi - lo, np.bool_)
    if split.kind == THRESHOLD:
        for row in range(lo, hi):
            left[row - lo] = rows[row, a] <= value
        return left
    below, at = 0, 0
    for row in range(lo, hi):
        left[row - lo] = rows[row, a] < value
        below += rows[row, a] < value
        at += rows[row, a] == value
    shared = np.empty(at, np.int64)
    filled = 0
    for row in range(lo, hi):
        if rows[row, a] == value:
            shared[filled] = row
            filled += 1
    identity = rows.shape[1] - 1
    for word in range(content.shape[0] - 1, -1, -1):
        keys = np.empty(at, np.int64)
        for i in range(at):
            keys[i] = content[word, rows[shared[i], identity]]
        shared = shared[np.argsort(keys, kind="mergesort")]
    for i in range(split.left - below):
        left[shared[i] - lo] = True
    return left


@inner_kernel
def split_rows(
    rows: Int32, spare: Int32, lo: int, hi: int, split: Split, content: Int64, attributes: Attributes, ends: Int64
) -> int:
    """Move rows lo..hi-1 so that sides follow each other, order kept; writes the sides' ends, returns their number."""
    if split.kind == NODE_CHILDREN:
        return _split_children(rows, spare, lo, hi, split, attributes, ends)
    kept, moved = lo, 0
    a, value = split.attribute, split.value
    shared = np.empty(0, np.bool_)
    if split.kind == SHARED_MEDIAN:
        shared = goes_left(rows, lo, hi, split, content)
    for row in range(lo, hi):
        left = shared[row - lo] if split.kind == SHARED_MEDIAN else rows[row, a] <= value
        # To both sides, of which one is written over: cheaper than a branch that nobody can foresee.
        for column in range(rows.shape[1]):
            code = rows[row, column]
            rows[kept, column] = code
            spare[lo + moved, column] = code
        kept += left
        moved += not left
    _copy_rows(spare, lo, rows, kept, moved)
    ends[0], ends[1] = kept, hi
    return 2


@inner_kernel
def child_sizes(rows: Int32, lo: int, hi: int, split: Split, attributes: Attributes, side: Int32) -> Int64:
    """Rows of each child of a hierarchy node; `side` gets the child of each code, from the node's first code on."""
    a = split.attribute
    base = attributes.node_start[a]
    begin = attributes.child_start[base + a + split.value]
    n_children = attributes.child_start[base + a + split.value + 1] - begin
    offset = attributes.first[base + split.value]
    for child in range(n_children):
        node = base + attributes.children[begin + child]
        for code in range(attributes.first[node], attributes.last[node] + 1):
            side[code - offset] = child
    sizes = np.zeros(n_children, np.int64)
    for row in range(lo, hi):
        sizes[side[rows[row, a] - offset]] += 1
    return sizes


@inner_kernel
def _split_children(
    rows: Int32, spare: Int32, lo: int, hi: int, split: Split, attributes: Attributes, ends: Int64
) -> int:
    a = split.attribute
    node = attributes.node_start[a] + split.value
    offset = attributes.first[node]
    side = np.empty(attributes.last[node] - offset + 1, np.int32)
    sizes = child_sizes(rows, lo, hi, split, attributes, side)
    place = np.empty(sizes.shape[0], np.int64)
    at = lo
    n_sides = 0
    for child in range(sizes.shape[0]):
        place[child] = at
        at += sizes[child]
        if sizes[child] > 0:
            ends[n_sides] = at
            n_sides += 1
    for row in range(lo, hi):
        child = side[rows[row, a] - offset]
        for column in range(rows.shape[1]):
            spare[place[child], column] = rows[row, column]
        place[child] += 1
    _copy_rows(spare, lo, rows, lo, hi - lo)
    return n_sides
