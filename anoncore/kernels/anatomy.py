"""Dealing rows into buckets of different sensitive values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anoncore.kernels.compiler import kernel

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


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
def deal(by_value: Int64, counts: Int64, l: int, tie: Int64, chance: npt.NDArray[np.float64]) -> Int32:
    """Bucket of every row, (n,).

    `by_value` lists the rows value by value, each value's in random order; `counts` rows per value; `tie` ranks values
    of equal count; `chance` in [0, 1) picks the bucket of a leftover row among those that lack its value. A heap keeps
    the values by rows left, so a bucket costs O(l log m).
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
    chance: npt.NDArray[np.float64],
) -> None:
    """Each leftover row joins a random bucket that lacks its value, one without a leftover row while there is one."""
    used = np.zeros(n_buckets, np.bool_)
    for value in range(counts.shape[0]):
        if left[value] == 0:
            continue
        holds_value = np.zeros(n_buckets, np.bool_)
        for place in range(start[value] + left[value], start[value] + counts[value]):
            holds_value[bucket[by_value[place]]] = True
        for place in range(start[value], start[value] + left[value]):
            row = by_value[place]
            fresh = 0
            lacking = 0
            for candidate in range(n_buckets):
                if not holds_value[candidate]:
                    lacking += 1
                    if not used[candidate]:
                        fresh += 1
            pick = int(chance[row] * (fresh if fresh > 0 else lacking))
            for candidate in range(n_buckets):
                if not holds_value[candidate] and (fresh == 0 or not used[candidate]):
                    if pick == 0:
                        bucket[row] = candidate
                        holds_value[candidate] = True
                        used[candidate] = True
                        break
                    pick -= 1
