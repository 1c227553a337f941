"""Dealing rows into buckets of different sensitive values."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64
from anoncore.kernels.compiler import kernel


@kernel
def _sift_down(heap: Int64, length: int, left: Int64, tie: Int64) -> None:
    place = 0
    while True:
        child = 2 * place + 1
        if child >= length:
            return
        other = child + 1
        if other < length and _before(heap[other], heap[child], left, tie):
            child = other
        if not _before(heap[child], heap[place], left, tie):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@kernel
def _sift_up(heap: Int64, place: int, left: Int64, tie: Int64) -> None:
    while place > 0:
        above = (place - 1) // 2
        if not _before(heap[place], heap[above], left, tie):
            return
        heap[place], heap[above] = heap[above], heap[place]
        place = above


@kernel
def _before(a: int, b: int, left: Int64, tie: Int64) -> bool:
    return left[a] > left[b] or (left[a] == left[b] and tie[a] < tie[b])


@kernel
def deal(by_value: Int64, counts: Int64, l: int, tie: Int64, chance: Floats) -> Int32:
    """Bucket of every row, (n,).

    `by_value` lists the rows value by value, each value's in random order; `counts` rows per value; `tie` ranks values
    of equal count; `chance` in [0, 1) picks the bucket of a leftover row among those that lack its value. A heap keeps
    the values by rows left, so a bucket costs O(l log m). Needs l values, none with more than n / l rows.
    """
    n = by_value.shape[0]
    n_values = counts.shape[0]
    start = np.zeros(n_values, np.int64)
    for value in range(1, n_values):
        start[value] = start[value - 1] + counts[value - 1]
    left = counts.copy()
    heap = np.empty(n_values, np.int64)
    length = 0
    for value in range(n_values):
        if left[value] > 0:
            heap[length] = value
            length += 1
            _sift_up(heap, length - 1, left, tie)
    bucket = np.full(n, -1, np.int32)
    taken = np.empty(l, np.int64)
    n_buckets = 0
    while length >= l:
        for draw in range(l):
            taken[draw] = heap[0]
            length -= 1
            heap[0] = heap[length]
            _sift_down(heap, length, left, tie)
        for draw in range(l):
            value = taken[draw]
            left[value] -= 1
            bucket[by_value[start[value] + left[value]]] = n_buckets
            if left[value] > 0:
                heap[length] = value
                length += 1
                _sift_up(heap, length - 1, left, tie)
        n_buckets += 1
    _place_leftovers(bucket, by_value, start, counts, left, n_buckets, chance)
    return bucket


@kernel
def _place_leftovers(
    bucket: Int32,
    by_value: Int64,
    start: Int64,
    counts: Int64,
    left: Int64,
    n_buckets: int,
    chance: Floats,
) -> None:
    """Each leftover row joins a random bucket that lacks its value, one without a leftover row where that can be."""
    n_leftovers = left.sum()
    row = np.empty(n_leftovers, np.int64)
    lacks = np.ones((n_leftovers, n_buckets), np.bool_)
    filled = 0
    for value in range(counts.shape[0]):
        for place in range(start[value], start[value] + left[value]):
            row[filled] = by_value[place]
            for dealt in range(start[value] + left[value], start[value] + counts[value]):
                lacks[filled, bucket[by_value[dealt]]] = False
            filled += 1
    owner = np.full(n_buckets, -1, np.int64)
    place_of = np.full(n_leftovers, -1, np.int64)
    for leftover in range(n_leftovers):
        fresh = lacks[leftover] & (owner < 0)
        if fresh.any():
            place_of[leftover] = _random_choice(fresh, chance[row[leftover]])
            owner[place_of[leftover]] = leftover
        elif not _make_room(leftover, lacks, owner, place_of):
            place_of[leftover] = _random_choice(lacks[leftover], chance[row[leftover]])
    for leftover in range(n_leftovers):
        bucket[row[leftover]] = place_of[leftover]


@kernel
def _random_choice(candidates: Bools, chance: float) -> int:
    """One of the candidates, all equally likely for a chance that is uniform in [0, 1)."""
    pick = int(chance * candidates.sum())
    for candidate in range(candidates.shape[0]):
        if candidates[candidate]:
            if pick == 0:
                return candidate
            pick -= 1
    return -1


@kernel
def _make_room(leftover: int, lacks: Bools, owner: Int64, place_of: Int64) -> bool:
    """Find a bucket for the row by moving other leftover rows along a shortest augmenting path, if there is one."""
    n_leftovers, n_buckets = lacks.shape
    asked_by = np.full(n_buckets, -1, np.int64)
    queue = np.empty(n_leftovers, np.int64)
    queue[0] = leftover
    head, tail = 0, 1
    while head < tail:
        asking = queue[head]
        head += 1
        for candidate in range(n_buckets):
            if asked_by[candidate] >= 0 or not lacks[asking, candidate]:
                continue
            asked_by[candidate] = asking
            if owner[candidate] >= 0:
                queue[tail] = owner[candidate]
                tail += 1
                continue
            while candidate >= 0:
                moved = asked_by[candidate]
                owner[candidate] = moved
                candidate, place_of[moved] = place_of[moved], candidate
            return True
    return False
