"""Handing out rows to classes whose counts are given, so that every class is small in quasi-identifier space."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.attributes import HIERARCHY, NUMBER, Attributes
from anoncore.kernels.compiler import kernel

SAMPLE = 512
"""Rows on which a large node compares the attributes it may be split by."""
CANDIDATES = 8
"""Attributes that are tried at a cut, the widest of the node first."""
SHORT_RUN = 24
"""Run length below which insertion beats a merge sort."""


@kernel
def spread(attributes: Attributes, a: int, begin: int, codes: Int64, counts: Int64, drawn: int) -> float:
    """Expected width of attribute a in `drawn` random rows (0: in all rows) of a node; 0 to 1.

    `codes` are the node's distinct codes, ascending, `counts` their rows. A number's range passes a gap unless all
    draws fall on one side of it; a category is met unless all draws miss it; a hierarchy node is the common ancestor
    if all draws lie in it.
    """
    rows = counts.sum()
    if codes.shape[0] < 2:
        return 0.0
    if attributes.form[a] == HIERARCHY:
        return _tree_spread(attributes, a, codes, counts, rows, drawn)
    total = 0.0
    below = 0
    for place in range(codes.shape[0]):
        share = counts[place] / rows
        if attributes.form[a] == NUMBER:
            if place > 0:
                low = below / rows
                gap = attributes.position[begin + codes[place]] - attributes.position[begin + codes[place - 1]]
                total += gap if drawn == 0 else gap * (1.0 - low**drawn - (1.0 - low) ** drawn)
            below += counts[place]
        else:
            total += 1.0 if drawn == 0 else 1.0 - (1.0 - share) ** drawn
    if attributes.form[a] != NUMBER:
        total = max(total - 1.0, 0.0)
    return total / attributes.span[a]


@kernel
def _tree_spread(attributes: Attributes, a: int, codes: Int64, counts: Int64, rows: int, drawn: int) -> float:
    """Expected size of the common ancestor: the root's, less what each deeper node saves if it holds all draws."""
    base, end = attributes.node_start[a], attributes.node_start[a + 1]
    size = attributes.last[base] - attributes.first[base] + 0.0
    for node in range(base + 1, end):
        inside = 0
        for place in range(codes.shape[0]):
            if attributes.first[node] <= codes[place] <= attributes.last[node]:
                inside += counts[place]
        if inside == 0:
            continue
        above = base + attributes.parent[node]
        saved = attributes.last[above] - attributes.first[above] - (attributes.last[node] - attributes.first[node])
        if drawn > 0:
            size -= (inside / rows) ** drawn * saved
        elif inside == rows:
            size -= saved
    return size / attributes.span[a]


@kernel
def attribute_spread(
    attributes: Attributes, a: int, codes: Int32, rows: Int64, n: int, drawn: int, tally: Int64, keys: Int64
) -> float:
    """`spread` of attribute a in rows[:n]; `tally` is zero, one entry per code, `keys` has room for n."""
    begin, size = attributes.code_start[a], attributes.code_start[a + 1] - attributes.code_start[a]
    if size == 1:
        return 0.0
    found = np.empty(n, np.int64)
    distinct = 0
    if size <= 4 * n:
        for i in range(n):
            tally[codes[rows[i], a]] += 1
        for code in range(size):
            if tally[code] > 0:
                keys[distinct] = code
                found[distinct] = tally[code]
                distinct += 1
                tally[code] = 0
    else:
        values = np.empty(n, np.int64)
        for i in range(n):
            values[i] = codes[rows[i], a]
        values.sort()
        for i in range(n):
            if i == 0 or values[i] != values[i - 1]:
                keys[distinct] = values[i]
                found[distinct] = 0
                distinct += 1
            found[distinct - 1] += 1
    return spread(attributes, a, begin, keys[:distinct], found[:distinct], drawn)


@kernel
def node_spread(
    attributes: Attributes, codes: Int32, rows: Int64, n: int, drawn: int, tally: Int64, keys: Int64
) -> float:
    """Sum of `attribute_spread` over all attributes."""
    total = 0.0
    for a in range(attributes.form.shape[0]):
        total += attribute_spread(attributes, a, codes, rows, n, drawn, tally, keys)
    return total


@kernel
def sort_run(rows: Int64, lo: int, hi: int, codes: Int32, a: int) -> None:
    """Sort rows[lo:hi] by their code of attribute a, stable."""
    if hi - lo <= SHORT_RUN:
        for i in range(lo + 1, hi):
            row = rows[i]
            key = codes[row, a]
            j = i - 1
            while j >= lo and codes[rows[j], a] > key:
                rows[j + 1] = rows[j]
                j -= 1
            rows[j + 1] = row
        return
    keys = np.empty(hi - lo, np.int32)
    for i in range(lo, hi):
        keys[i - lo] = codes[rows[i], a]
    rows[lo:hi] = rows[lo:hi][np.argsort(keys, kind="mergesort")]


@kernel
def divide(
    rows: Int64, bucket: Int32, quota: Int64, lo: int, hi: int, codes: Int32, a: int, left: Int64, right: Int64
) -> int:
    """Give the first `quota[i]` rows of the run that begins at i, by attribute a, to the left; how many went there."""
    n_left, n_right, i = 0, 0, lo
    while i < hi:
        j = i
        while j < hi and bucket[rows[j]] == bucket[rows[i]]:
            j += 1
        if 0 < quota[i] < j - i:
            sort_run(rows, i, j, codes, a)
        for place in range(i, j):
            if place - i < quota[i]:
                left[n_left] = rows[place]
                n_left += 1
            else:
                right[n_right] = rows[place]
                n_right += 1
        i = j
    return n_left


@kernel
def sample_node(
    rows: Int64, bucket: Int32, quota: Int64, lo: int, hi: int, step: int, sample: Int64, sample_quota: Int64
) -> int:
    """Every step-th row of a node with quotas in proportion (rounded so that they add up); how many rows."""
    n, i, owed = 0, lo, 0.5
    while i < hi:
        j = i
        while j < hi and bucket[rows[j]] == bucket[rows[i]]:
            j += 1
        first = n
        for place in range(i, j):
            if (place - lo) % step == 0:
                sample[n] = rows[place]
                n += 1
        if n > first:
            owed += quota[i] / (j - i) * (n - first)
            sample_quota[first] = min(int(owed), n - first)
            owed -= sample_quota[first]
        i = j
    return n


@kernel
def best_attribute(
    rows: Int64,
    bucket: Int32,
    quota: Int64,
    n: int,
    codes: Int32,
    attributes: Attributes,
    drawn: tuple[int, int],
    tally: Int64,
) -> int:
    """The attribute by which the two sides of a node get the least expected width; of many, among the widest."""
    keys = np.empty(n, np.int64)
    left, right = np.empty(n, np.int64), np.empty(n, np.int64)
    wide = np.empty(attributes.form.shape[0])
    for a in range(wide.shape[0]):
        wide[a] = attribute_spread(attributes, a, codes, rows, n, max(drawn[0], drawn[1]), tally, keys)
    best, lowest = 0, np.inf
    for a in np.argsort(-wide, kind="mergesort")[:CANDIDATES]:
        if wide[a] == 0.0:
            break
        n_left = divide(rows, bucket, quota, 0, n, codes, a, left, right)
        if n_left == 0 or n_left == n:
            return a
        cost = n_left * node_spread(attributes, codes, left, n_left, drawn[0], tally, keys)
        cost += (n - n_left) * node_spread(attributes, codes, right, n - n_left, drawn[1], tally, keys)
        if cost < lowest:
            best, lowest = a, cost
    return best


@kernel
def split_classes(
    rows: Int64,
    bucket: Int32,
    slot: Int32,
    lo: int,
    hi: int,
    first: int,
    end: int,
    codes: Int32,
    attributes: Attributes,
    tally: Int64,
) -> int:
    """Split a node of the classes first..end-1 into halves of its classes; where the right half's rows begin.

    rows[lo:hi] and slot[lo:hi] (the class of each place to fill) run bucket by bucket, with as many of each. Of every
    bucket the left half takes as many rows as it has places, the lowest by the chosen attribute.
    """
    middle = (first + end) // 2
    n = hi - lo
    quota = np.zeros(n, np.int64)
    i = lo
    while i < hi:
        j = i
        while j < hi and bucket[rows[j]] == bucket[rows[i]]:
            quota[i - lo] += slot[j] < middle
            j += 1
        i = j
    mine = rows[lo:hi]
    sides = (_drawn(n, first, end, middle - first), _drawn(n, first, end, end - middle))
    left, right = np.empty(n, np.int64), np.empty(n, np.int64)
    if n <= 2 * SAMPLE:
        a = best_attribute(mine, bucket, quota, n, codes, attributes, sides, tally)
    else:
        step = n // SAMPLE
        sample_quota = np.zeros(n // step + 1, np.int64)
        sample = np.empty(n // step + 1, np.int64)
        n_sample = sample_node(mine, bucket, quota, 0, n, step, sample, sample_quota)
        a = best_attribute(sample, bucket, sample_quota, n_sample, codes, attributes, sides, tally)
    n_left = divide(mine, bucket, quota, 0, n, codes, a, left, right)
    rows[lo : lo + n_left] = left[:n_left]
    rows[lo + n_left : hi] = right[: n - n_left]
    _part_slots(slot, lo, hi, middle)
    return lo + n_left


@kernel
def _drawn(rows: int, first: int, end: int, classes: int) -> int:
    """Rows of a class as `spread` takes them: 0, all of them, where a side is one class; two tell attributes apart."""
    return 0 if classes == 1 else max(rows // (end - first), 2)


@kernel
def _part_slots(slot: Int32, lo: int, hi: int, middle: int) -> None:
    """Move the places of the classes before `middle` to the front, stable."""
    mine = slot[lo:hi].copy()
    place = lo
    for i in range(mine.shape[0]):
        if mine[i] < middle:
            slot[place] = mine[i]
            place += 1
    for i in range(mine.shape[0]):
        if mine[i] >= middle:
            slot[place] = mine[i]
            place += 1


@kernel
def largest_domain(attributes: Attributes) -> int:
    """Number of codes of the attribute that has most."""
    largest = 1
    for a in range(attributes.form.shape[0]):
        largest = max(largest, attributes.code_start[a + 1] - attributes.code_start[a])
    return largest


@kernel
def hand_out(
    rows: Int64,
    bucket: Int32,
    slot: Int32,
    lo: int,
    hi: int,
    first: int,
    end: int,
    codes: Int32,
    attributes: Attributes,
    group: Int32,
) -> None:
    """Split a node until every part is one class, and write the class of each row into `group`."""
    tally = np.zeros(largest_domain(attributes), np.int64)
    waiting = np.empty((128, 4), np.int64)
    waiting[0] = np.array([lo, hi, first, end])
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        lo, hi, first, end = waiting[n_waiting]
        if end - first == 1:
            for i in range(lo, hi):
                group[rows[i]] = first
            continue
        cut = split_classes(rows, bucket, slot, lo, hi, first, end, codes, attributes, tally)
        middle = (first + end) // 2
        waiting[n_waiting] = np.array([lo, cut, first, middle])
        waiting[n_waiting + 1] = np.array([cut, hi, middle, end])
        n_waiting += 2
