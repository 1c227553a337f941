"""Sorting and filling, in a few short loops that all kernels share.

numba compiles its own sorts anew for every type of numbers and every kernel, which takes seconds each time.

- `values`: numbers of any type (n,), none of them NaN.
- `order` int64 (n,): positions in `values`.
- `keys` int64 (n_rows,): key of every row, 0 to 2 ** bits - 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel

SHORT_RUN = 16
"""Values in the runs that are sorted by insertion before they are merged: so few that merging them would cost more."""
DIGIT_BITS = 11
"""Bits of a digit: its 2,048 counters stay in the fastest memory."""


@inner_kernel
def stable_positions(values: Any) -> Int64:
    """Positions of the values in ascending order, int64 (n,); equal values keep their order."""
    n = len(values)
    order, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        at = i
        while at % SHORT_RUN > 0 and values[order[at - 1]] > values[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
    run = SHORT_RUN
    while run < n:
        for begin in range(0, n, 2 * run):
            middle, end = min(begin + run, n), min(begin + 2 * run, n)
            left, right = begin, middle
            for at in range(begin, end):
                # Of equal values the left one comes first, which keeps the sort stable.
                if right == end or (left < middle and values[order[left]] <= values[order[right]]):
                    spare[at] = order[left]
                    left += 1
                else:
                    spare[at] = order[right]
                    right += 1
        order, spare = spare, order
        run *= 2
    return order


@kernel
def stable_order(keys: Int64, bits: int, order: Int64) -> Int64:
    """The row numbers of `order` sorted by `keys[row]`, equal ones kept as they stand, int64 (n,).

    Sorting by comparing costs O(n log n). Placing keys by one digit after the other (radix sort) costs O(n) per digit.
    """
    n = len(order)
    now, following = order.copy(), np.empty_like(order)
    begin = np.empty((1 << DIGIT_BITS) + 1, np.int64)
    # The lowest digit first: every pass keeps the order of rows whose digit is equal, so after the pass by a higher
    # digit those are still sorted by the lower ones.
    for shift in range(0, bits, DIGIT_BITS):
        mask = (1 << min(DIGIT_BITS, bits - shift)) - 1
        begin[:] = 0
        for row in range(n):
            begin[((keys[row] >> shift) & mask) + 1] += 1
        for digit in range(mask + 1):
            begin[digit + 1] += begin[digit]
        for i in range(n):
            digit = (keys[now[i]] >> shift) & mask
            following[begin[digit]] = now[i]
            begin[digit] += 1
        now, following = following, now
    return now


@inner_kernel
def sort_in_place(values: Any) -> None:
    """Sort the values in ascending order."""
    n = len(values)
    for i in range(n):
        value, at = values[i], i
        while at % SHORT_RUN > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
    if n <= SHORT_RUN:
        return
    now, spare = values, np.empty_like(values)
    run = SHORT_RUN
    while run < n:
        for begin in range(0, n, 2 * run):
            middle, end = min(begin + run, n), min(begin + 2 * run, n)
            left, right = begin, middle
            for at in range(begin, end):
                if right == end or (left < middle and now[left] <= now[right]):
                    spare[at] = now[left]
                    left += 1
                else:
                    spare[at] = now[right]
                    right += 1
        now, spare = spare, now
        run *= 2
    for i in range(n):
        values[i] = now[i]


@inner_kernel
def kth_smallest(values: Any, k: int) -> Any:
    """The value that stands at position k, counted from 0, once the values are sorted."""
    rest = np.empty_like(values)
    for i in range(len(values)):
        rest[i] = values[i]
    low, high = 0, len(values) - 1
    # Quickselect: only the side of the pivot that holds position k is looked at further, which costs O(n) in all.
    while low < high:
        pivot = rest[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while rest[left] < pivot:
                left += 1
            while rest[right] > pivot:
                right -= 1
            if left <= right:
                rest[left], rest[right] = rest[right], rest[left]
                left += 1
                right -= 1
        if k <= right:
            high = right
        elif k >= left:
            low = left
        else:
            return rest[k]
    return rest[k]


@inner_kernel
def lowest_positions(values: Floats, k: int) -> Int64:
    """Positions of the k lowest values, ascending, int64 (k,); of equal values the first ones are taken, in order."""
    if k >= len(values):
        return stable_positions(values)
    limit, chosen, n_chosen = kth_smallest(values, k - 1), np.empty(k, np.int64), 0
    for turn in range(2):
        for i in range(len(values)):
            if n_chosen < k and (values[i] < limit if turn == 0 else values[i] == limit):
                chosen[n_chosen] = i
                n_chosen += 1
    return taken(chosen, stable_positions(taken(values, chosen)))


@inner_kernel
def taken(values: Any, order: Int64) -> Any:
    """The values in an order, (n,)."""
    ordered = np.empty(len(order), values.dtype)
    for i in range(len(order)):
        ordered[i] = values[order[i]]
    return ordered


@inner_kernel
def place_after(values: Any, wanted: Any) -> int:
    """How many of the values, which ascend, are at most the wanted one."""
    begin, end = 0, len(values)
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] <= wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner_kernel
def find_value(values: Int64 | Int32, begin: int, end: int, wanted: int) -> int:
    """First position in begin..end-1 whose value is not below the wanted one; `end` if there is none. Values ascend."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner_kernel
def filled_with(n: int, value: int) -> Int64:
    """An array of `n` times the same number, int64 (n,)."""
    values = np.empty(n, np.int64)
    values[:] = value
    return values
