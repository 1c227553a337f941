"""Handing out rows to classes whose counts are given, so that every class is small in quasi-identifier space.

Each class needs a given number of rows of every bucket. A node is a run of rows that a run of classes shares; it is
split into two halves of its classes until every node is one class. At a split every bucket gives its lowest rows by one
attribute to the left half, as many as the left half needs of it (the bucket's quota).

- `codes` int32 (n_rows, n_attributes): codes of the quasi-identifiers of every row of the table.
- `bucket` int32 (n_rows,): bucket of every row of the table.
- `rows` int64 (n,): row numbers of a node, bucket by bucket.
- `slot` int32 (n,): the class of each place to fill, bucket by bucket as well: entry i is for a row of the bucket of
  `rows[i]`.
- `quota` int64 (n,): where a bucket's rows begin in `rows`, how many of them go left; other entries are not read.
- `tally` int64 (most codes of any attribute,): memory for counts by code; all 0 before and after every call.
- `keys` int64 (at least n,): memory for distinct codes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.attributes import HIERARCHY, NUMBER, Attributes, widest
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.rounding import ACCUMULATED, lies_below
from anoncore.kernels.sorting import sort_in_place, stable_positions, taken

SAMPLE = 512
"""Rows on which a large node compares the attributes it may be split by."""
CANDIDATES = 8
"""Attributes that are tried at a cut, the widest of the node first."""
SHORT_RUN = 24
"""Run length below which insertion beats a merge sort."""


class Deal(NamedTuple):
    """The rows that are handed out and the places that they fill: `rows`, `slot`, `bucket` and `codes` as above."""

    rows: Int64
    slot: Int32
    bucket: Int32
    codes: Int32


@inner_kernel
def spread(attributes: Attributes, a: int, begin: int, codes: Int64, counts: Int64, drawn: int) -> float:
    """Expected width of attribute a in `drawn` random rows (0: in all rows) of a node; 0 to 1.

    `codes` int64 are the node's distinct codes, ascending, `counts` int64 their rows; positions of attribute a begin at
    `begin`. A number's range passes a gap unless all draws fall on one side of it; a category is met unless all draws
    miss it; a hierarchy node is the common ancestor if all draws lie in it.
    """
    n = 0
    for i in range(codes.shape[0]):
        n += counts[i]
    if codes.shape[0] < 2:
        return 0.0
    if attributes.form[a] == HIERARCHY:
        return _tree_spread(attributes, a, codes, counts, n, drawn)
    total = 0.0
    n_below = 0
    for i in range(codes.shape[0]):
        share = counts[i] / n
        if attributes.form[a] == NUMBER:
            if i > 0:
                below = n_below / n
                gap = attributes.position[begin + codes[i]] - attributes.position[begin + codes[i - 1]]
                total += gap if drawn == 0 else gap * (1.0 - below**drawn - (1.0 - below) ** drawn)
            n_below += counts[i]
        else:
            total += 1.0 if drawn == 0 else 1.0 - (1.0 - share) ** drawn
    if attributes.form[a] != NUMBER:
        # One category has width 0, so the width is the number of categories that are met, less 1.
        total = max(total - 1.0, 0.0)
    return total / attributes.span[a]


@inner_kernel
def _tree_spread(attributes: Attributes, a: int, codes: Int64, counts: Int64, n: int, drawn: int) -> float:
    """Expected size of the common ancestor: the root's, less what each deeper node saves if it holds all draws."""
    base, end = attributes.node_start[a], attributes.node_start[a + 1]
    size = attributes.last[base] - attributes.first[base] + 0.0
    for node in range(base + 1, end):
        n_inside = 0
        for i in range(codes.shape[0]):
            if attributes.first[node] <= codes[i] <= attributes.last[node]:
                n_inside += counts[i]
        if n_inside == 0:
            continue
        parent = base + attributes.parent[node]
        saved = attributes.last[parent] - attributes.first[parent] - (attributes.last[node] - attributes.first[node])
        if drawn > 0:
            size -= (n_inside / n) ** drawn * saved
        elif n_inside == n:
            size -= saved
    return size / attributes.span[a]


@inner_kernel
def attribute_spread(
    attributes: Attributes, a: int, codes: Int32, rows: Int64, drawn: int, tally: Int64, keys: Int64
) -> float:
    """`spread` of attribute a in the rows of a node."""
    n = rows.shape[0]
    begin, size = attributes.code_start[a], attributes.code_start[a + 1] - attributes.code_start[a]
    if size == 1:
        return 0.0
    counts = np.empty(n, np.int64)
    n_distinct = 0
    # Sorting codes costs O(n log n); counting them costs O(n + size), because the codes are small integers. Counting
    # loses only where the attribute has many codes beside the rows of the node.
    if size <= 4 * n:
        for i in range(n):
            tally[codes[rows[i], a]] += 1
        for code in range(size):
            if tally[code] > 0:
                keys[n_distinct] = code
                counts[n_distinct] = tally[code]
                n_distinct += 1
                tally[code] = 0
    else:
        values = np.empty(n, np.int64)
        for i in range(n):
            values[i] = codes[rows[i], a]
        sort_in_place(values)
        for i in range(n):
            if i == 0 or values[i] != values[i - 1]:
                keys[n_distinct] = values[i]
                counts[n_distinct] = 0
                n_distinct += 1
            counts[n_distinct - 1] += 1
    return spread(attributes, a, begin, keys[:n_distinct], counts[:n_distinct], drawn)


@inner_kernel
def node_spread(attributes: Attributes, codes: Int32, rows: Int64, drawn: int, tally: Int64, keys: Int64) -> float:
    """Sum of `attribute_spread` over all attributes."""
    total = 0.0
    for a in range(attributes.form.shape[0]):
        total += attribute_spread(attributes, a, codes, rows, drawn, tally, keys)
    return total


@inner_kernel
def sort_run(rows: Int64, lo: int, hi: int, codes: Int32, a: int) -> None:
    """Sort rows[lo:hi] by their code of attribute a; rows with equal codes keep their order."""
    if hi - lo <= SHORT_RUN:
        for i in range(lo + 1, hi):
            row = rows[i]
            code = codes[row, a]
            j = i - 1
            while j >= lo and codes[rows[j], a] > code:
                rows[j + 1] = rows[j]
                j -= 1
            rows[j + 1] = row
        return
    keys = np.empty(hi - lo, np.int32)
    for i in range(lo, hi):
        keys[i - lo] = codes[rows[i], a]
    ordered = taken(rows[lo:hi], stable_positions(keys))
    for i in range(lo, hi):
        rows[i] = ordered[i - lo]


@inner_kernel
def divide(rows: Int64, quota: Int64, bucket: Int32, codes: Int32, a: int, left: Int64, right: Int64) -> int:
    """Divide a node's rows: of every bucket as many as its quota, the lowest by attribute a, go left; their number.

    Writes the rows into `left` and `right` int64 (n,), still bucket by bucket. Rows of a bucket that is divided are
    sorted in place.
    """
    n = rows.shape[0]
    n_left, n_right, begin = 0, 0, 0
    while begin < n:
        end = begin
        while end < n and bucket[rows[end]] == bucket[rows[begin]]:
            end += 1
        # A bucket that goes to one side as a whole needs no order.
        if 0 < quota[begin] < end - begin:
            sort_run(rows, begin, end, codes, a)
        for i in range(begin, end):
            if i - begin < quota[begin]:
                left[n_left] = rows[i]
                n_left += 1
            else:
                right[n_right] = rows[i]
                n_right += 1
        begin = end
    return n_left


@inner_kernel
def sample_node(rows: Int64, quota: Int64, bucket: Int32, step: int) -> tuple[Int64, Int64]:
    """Every step-th row of a node, and quotas in proportion: the rows and quotas of a smaller node, (n_sample,) both.

    What rounding a bucket's quota down leaves over is owed to the next bucket, so that the quotas add up.
    """
    n = rows.shape[0]
    sample = np.empty(n // step + 1, np.int64)
    sample_quota = np.zeros(n // step + 1, np.int64)
    n_sample, begin, owed = 0, 0, 0.5
    while begin < n:
        end = begin
        while end < n and bucket[rows[end]] == bucket[rows[begin]]:
            end += 1
        first = n_sample
        for i in range(begin, end):
            if i % step == 0:
                sample[n_sample] = rows[i]
                n_sample += 1
        if n_sample > first:
            owed += quota[begin] / (end - begin) * (n_sample - first)
            sample_quota[first] = min(int(owed), n_sample - first)
            owed -= sample_quota[first]
        begin = end
    return sample[:n_sample], sample_quota[:n_sample]


@inner_kernel
def best_attribute(
    rows: Int64,
    quota: Int64,
    bucket: Int32,
    codes: Int32,
    attributes: Attributes,
    drawn: tuple[int, int],
    tally: Int64,
) -> int:
    """The attribute by which the two sides of a node get the least expected width; of many, among the widest.

    `drawn`: how many random rows of the left and of the right side a class takes, as `spread` takes them.
    """
    n = rows.shape[0]
    keys = np.empty(n, np.int64)
    left, right = np.empty(n, np.int64), np.empty(n, np.int64)
    widths = np.empty(attributes.form.shape[0])
    for a in range(widths.shape[0]):
        widths[a] = attribute_spread(attributes, a, codes, rows, max(drawn[0], drawn[1]), tally, keys)
    best, lowest = 0, np.inf
    for _ in range(min(CANDIDATES, widths.shape[0])):
        a = widest(widths)
        if widths[a] <= 0.0:
            break
        widths[a] = -1.0
        n_left = divide(rows, quota, bucket, codes, a, left, right)
        if n_left == 0 or n_left == n:
            return a
        cost = n_left * node_spread(attributes, codes, left[:n_left], drawn[0], tally, keys)
        cost += (n - n_left) * node_spread(attributes, codes, right[: n - n_left], drawn[1], tally, keys)
        if lowest == np.inf or lies_below(cost, lowest, ACCUMULATED):
            best, lowest = a, cost
    return best


@kernel
def split_classes(deal: Deal, lo: int, hi: int, first: int, end: int, attributes: Attributes, tally: Int64) -> int:
    """Split a node of the classes first..end-1 into halves of its classes; where the right half's rows begin.

    The node's rows and places are `deal.rows[lo:hi]` and `deal.slot[lo:hi]`; both are moved so that the left half's
    come first. Each must have as many of every bucket as the other.
    """
    middle = (first + end) // 2
    n = hi - lo
    rows = deal.rows[lo:hi]
    quota = np.zeros(n, np.int64)
    i = 0
    while i < n:
        j = i
        while j < n and deal.bucket[rows[j]] == deal.bucket[rows[i]]:
            quota[i] += deal.slot[lo + j] < middle
            j += 1
        i = j
    drawn = (_drawn(n, first, end, middle - first), _drawn(n, first, end, end - middle))
    left, right = np.empty(n, np.int64), np.empty(n, np.int64)
    if n <= 2 * SAMPLE:
        a = best_attribute(rows, quota, deal.bucket, deal.codes, attributes, drawn, tally)
    else:
        sample, sample_quota = sample_node(rows, quota, deal.bucket, n // SAMPLE)
        a = best_attribute(sample, sample_quota, deal.bucket, deal.codes, attributes, drawn, tally)
    n_left = divide(rows, quota, deal.bucket, deal.codes, a, left, right)
    for i in range(n):
        rows[i] = left[i] if i < n_left else right[i - n_left]
    _divide_slots(deal.slot[lo:hi], middle)
    return lo + n_left


@inner_kernel
def _drawn(n: int, first: int, end: int, n_classes: int) -> int:
    """How many rows a class takes of a side with `n_classes` classes, as `spread` takes them.

    0, all of them, where the side is one class. At least 2 elsewhere: one row has no width, so it could not tell the
    attributes apart.
    """
    return 0 if n_classes == 1 else max(n // (end - first), 2)


@inner_kernel
def _divide_slots(slot: Int32, middle: int) -> None:
    """Move the places of the classes before `middle` to the front; the order within both parts stays."""
    n_slots, filled = slot.shape[0], 0
    before = np.empty(n_slots, np.int32)
    for i in range(n_slots):
        before[i] = slot[i]
    for i in range(n_slots):
        if before[i] < middle:
            slot[filled] = before[i]
            filled += 1
    for i in range(n_slots):
        if before[i] >= middle:
            slot[filled] = before[i]
            filled += 1


@kernel
def largest_domain(attributes: Attributes) -> int:
    """Number of codes of the attribute that has most."""
    largest = 1
    for a in range(attributes.form.shape[0]):
        largest = max(largest, attributes.code_start[a + 1] - attributes.code_start[a])
    return largest


@inner_kernel
def _push(waiting: Int64, n_waiting: int, lo: int, hi: int, first: int, end: int) -> int:
    """Put a node on the stack; how many wait there now."""
    waiting[n_waiting, 0], waiting[n_waiting, 1] = lo, hi
    waiting[n_waiting, 2], waiting[n_waiting, 3] = first, end
    return n_waiting + 1


@kernel
def hand_out(deal: Deal, lo: int, hi: int, first: int, end: int, attributes: Attributes, group: Int32) -> None:
    """Split the node of rows lo..hi-1 and classes first..end-1 until every node is one class.

    Writes the class of each row into `group` int32 (n_rows,).
    """
    tally = np.zeros(largest_domain(attributes), np.int64)
    # A stack of nodes. Every split halves the classes and leaves one node more waiting, so 128 entries are enough for
    # 2^64 classes.
    waiting = np.empty((128, 4), np.int64)
    n_waiting = _push(waiting, 0, lo, hi, first, end)
    while n_waiting > 0:
        n_waiting -= 1
        lo, hi = waiting[n_waiting, 0], waiting[n_waiting, 1]
        first, end = waiting[n_waiting, 2], waiting[n_waiting, 3]
        if end - first == 1:
            for i in range(lo, hi):
                group[deal.rows[i]] = first
            continue
        cut = split_classes(deal, lo, hi, first, end, attributes, tally)
        middle = (first + end) // 2
        n_waiting = _push(waiting, n_waiting, lo, cut, first, middle)
        n_waiting = _push(waiting, n_waiting, cut, hi, middle, end)
