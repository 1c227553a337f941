"""Classes in proportion to buckets of sensitive values: their worst distance from the table, and halving them.

A class is known by how many rows it takes of each bucket, not by which ones; its worst distance is the largest that any
choice of rows can have. The ground distance is a tree (or a line) whose edges carry the mass that the class has too
much or too little of on one side: EMD = sum over edges of weight x |share of the class - share of the table|.

- `counts`, `lower`, `upper` int64 (n_buckets,): rows of a class, or of its halves, in each bucket.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import kernel
from anoncore.kernels.rounding import ROUNDING, fits_word, product_difference, stays_within


class Proportions(NamedTuple):
    """Edges of the ground distance against buckets, which are runs of codes.

    Edge i has `weight[i]` float, cuts off `rows[i]` of the table's `n_rows` rows, covers the buckets `begin[i]:end[i]`
    wholly and at most one other in part. Edges `edge_start[b]:edge_start[b + 1]` cover bucket b in part (codes `first`
    to `last`); those before `edge_start[0]` cover none so. `probe[probe_start[b]:probe_start[b + 1]]` are the codes of
    bucket b at which all its rows may lie in the worst case. All arrays but `weight` are int64.
    """

    weight: Floats
    rows: Int64
    n_rows: int
    begin: Int64
    end: Int64
    first: Int64
    last: Int64
    edge_start: Int64
    probe: Int64
    probe_start: Int64


@kernel
def worst_distance(proportions: Proportions, counts: Int64) -> float:
    """Largest EMD from the table of any class with these counts per bucket.

    Within a bucket the distance is convex in where the rows lie, so it is largest with all rows at one value; the
    buckets are independent, as no edge covers two in part.
    """
    # before[end] - before[begin] are the rows of the buckets begin..end-1, in O(1).
    n_buckets = len(counts)
    before = np.zeros(n_buckets + 1, np.int64)
    for b in range(n_buckets):
        before[b + 1] = before[b] + counts[b]
    # Distances are summed in units of 1 / (size * n_rows): there the surplus of an edge is a whole number.
    size, n_rows = int(before[n_buckets]), proportions.n_rows
    fits = fits_word(size, n_rows)
    total = 0.0
    for i in range(proportions.edge_start[0]):
        held = before[proportions.end[i]] - before[proportions.begin[i]]
        total += proportions.weight[i] * product_difference(held, n_rows, proportions.rows[i], size, fits)
    for b in range(n_buckets):
        worst = 0.0
        for code in proportions.probe[proportions.probe_start[b] : proportions.probe_start[b + 1]]:
            distance = 0.0
            for i in range(proportions.edge_start[b], proportions.edge_start[b + 1]):
                held = before[proportions.end[i]] - before[proportions.begin[i]]
                if proportions.first[i] <= code <= proportions.last[i]:
                    held += counts[b]
                distance += proportions.weight[i] * product_difference(held, n_rows, proportions.rows[i], size, fits)
            worst = max(worst, distance)
        total += worst
    return float(total / size / n_rows)


@kernel
def halve(proportions: Proportions, counts: Int64, t: float, k: int) -> tuple[Int32, Int32]:
    """Halve the counts per bucket as long as both halves have k rows and a worst distance of at most t.

    Returns the places of the classes: bucket and class of each, int32 (n_rows,). Odd counts give their extra row to the
    one half and the other in turn.
    """
    n_buckets = len(counts)
    n = 0
    for b in range(n_buckets):
        n += counts[b]
    bucket, group = np.empty(n, np.int32), np.empty(n, np.int32)
    # A stack of classes. Every halving leaves one class more waiting, so 128 are enough for 2^64 rows.
    waiting = np.empty((128, n_buckets), np.int64)
    waiting[0] = counts
    n_waiting, filled, n_classes = 1, 0, 0
    lower, upper = np.empty(n_buckets, np.int64), np.empty(n_buckets, np.int64)
    node = np.empty(n_buckets, np.int64)
    while n_waiting > 0:
        n_waiting -= 1
        odd, n_lower, n_upper = 0, 0, 0
        node[:] = waiting[n_waiting]
        for b in range(n_buckets):
            lower[b] = node[b] // 2
            if node[b] % 2 == 1:
                odd += 1
                lower[b] += odd % 2
            upper[b] = node[b] - lower[b]
            n_lower += lower[b]
            n_upper += upper[b]
        if (
            min(n_lower, n_upper) >= k
            and stays_within(worst_distance(proportions, lower), t, ROUNDING / 2)
            and stays_within(worst_distance(proportions, upper), t, ROUNDING / 2)
        ):
            waiting[n_waiting], waiting[n_waiting + 1] = lower, upper
            n_waiting += 2
            continue
        for b in range(n_buckets):
            for _ in range(node[b]):
                bucket[filled], group[filled] = b, n_classes
                filled += 1
        n_classes += 1
    return bucket, group
