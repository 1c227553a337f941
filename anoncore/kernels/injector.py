"""Dealing rows into buckets in which no rule forbids a row the values of the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel


@inner_kernel
def _forbids(forbidden: Words, row: int, value: int) -> bool:
    """Whether a rule forbids the row (or type of rows) this value; values are bits of its words."""
    return (forbidden[row, value >> 6] >> np.uint64(value & 63)) & np.uint64(1) != 0


class Types(NamedTuple):
    """Rows of one value that the rules forbid the same values, as one type: `value` int32 and `forbidden` uint64 words.

    The types of value v are listed in `of_value[value_start[v]:value_start[v + 1]]`, the most restricted first.
    """

    value: Int32
    forbidden: Words
    of_value: Int64
    value_start: Int64


@inner_kernel
def _fitting(
    types: Types, left: Int64, chosen: Int64, n_chosen: int, value: int, first: Int64, following: Int64
) -> int:
    """The most restricted type of a value with a row left that fits each chosen one, both ways; -1 if there is none."""
    before, one = -1, first[value]
    while one >= 0:
        if left[one] == 0:
            if before < 0:
                first[value] = following[one]
            else:
                following[before] = following[one]
            one = following[one]
            continue
        fits, taken = True, 0
        for i in range(n_chosen):
            other = chosen[i]
            taken += other == one
            if _forbids(types.forbidden, one, types.value[other]) or _forbids(types.forbidden, other, value):
                fits = False
                break
        if fits and taken < left[one]:
            return one
        before, one = one, following[one]
    return -1


@kernel
def deal_fitting(types: Types, sizes: Int64, order: Int64, unique: int, l: int, tie: Int64) -> tuple[Int64, Int64]:
    """Types of the rows of each bucket (n_buckets, l), and the types of the rows that are left over.

    Buckets hold l rows of different values of which each may have any; rows of the value `unique` count as values of
    their own. `sizes` are the rows of each type, `order` the types in the order in which they ask for a bucket, `tie`
    ranks values of equal count. The first type with a row left asks, unless a value has as many rows left as there will
    be buckets: then that value does. Partners come from the values with most rows left. Who finds none is left over.
    """
    left = sizes.copy()
    n_values = types.value_start.shape[0] - 1
    value_left = np.zeros(n_values, np.int64)
    first, following = np.full(n_values, -1, np.int64), np.full(types.value.shape[0], -1, np.int64)
    for value in range(n_values):
        begin, end = types.value_start[value], types.value_start[value + 1]
        for place in range(begin, end):
            value_left[value] += sizes[types.of_value[place]]
            if place + 1 < end:
                following[types.of_value[place]] = types.of_value[place + 1]
        if begin < end:
            first[value] = types.of_value[begin]
    remaining = value_left.sum()
    buckets = np.empty((remaining // l, l), np.int64)
    over = np.empty(remaining, np.int64)
    n_buckets, n_over, asking = 0, 0, 0
    ranked = np.argsort(tie)
    chosen = np.empty(l, np.int64)
    while remaining > 0:
        _rank(ranked, value_left, tie, unique)
        while left[order[asking]] == 0:
            asking += 1
        seed = order[asking]
        top = ranked[0]
        if top != unique and value_left[top] * l >= remaining:
            seed = _fitting(types, left, chosen, 0, top, first, following)
        chosen[0] = seed
        n_chosen = 1
        for i in range(n_values):
            value = ranked[i]
            if value != unique and value == types.value[seed]:
                continue
            for _ in range(l if value == unique else 1):
                if n_chosen == l:
                    break
                one = _fitting(types, left, chosen, n_chosen, value, first, following)
                if one < 0:
                    break
                chosen[n_chosen] = one
                n_chosen += 1
        if n_chosen < l or _forbids(types.forbidden, seed, types.value[seed]):
            over[n_over] = seed
            n_over += 1
            n_chosen = 1
        else:
            for i in range(l):
                buckets[n_buckets, i] = chosen[i]
            n_buckets += 1
        for i in range(n_chosen):
            left[chosen[i]] -= 1
            value_left[types.value[chosen[i]]] -= 1
        remaining -= n_chosen
    return buckets[:n_buckets].copy(), over[:n_over].copy()


@inner_kernel
def _rank(ranked: Int64, left: Int64, tie: Int64, unique: int) -> None:
    """Sort the values by rows left, most first; nearly sorted already, as a bucket takes one of each of a few."""
    for i in range(1, ranked.shape[0]):
        value = ranked[i]
        weight = min(left[value], 1) if value == unique else left[value]
        j = i - 1
        while j >= 0:
            other = ranked[j]
            heavier = min(left[other], 1) if other == unique else left[other]
            if heavier > weight or (heavier == weight and tie[other] < tie[value]):
                break
            ranked[j + 1] = other
            j -= 1
        ranked[j + 1] = value


@inner_kernel
def _match(allowed: Bools, row: int, owner: Int64, seen: Bools) -> bool:
    """Find the row a value along an augmenting path, moving others."""
    for value in range(allowed.shape[1]):
        if allowed[row, value] and not seen[value]:
            seen[value] = True
            if owner[value] < 0 or _match(allowed, owner[value], owner, seen):
                owner[value] = row
                return True
    return False


@inner_kernel
def fewest_valid(rows: Int64, values: Int32, forbidden: Words) -> int:
    """The smallest number of valid values of a row in a bucket whose values all differ; -1 if no assignment exists.

    A value is valid for a row if the rules allow an assignment of the bucket's values to its rows in which he has it:
    if, from one perfect matching, the value's row reaches this row by exchanging values.
    """
    size = rows.shape[0]
    allowed = np.empty((size, size), np.bool_)
    for i in range(size):
        for j in range(size):
            allowed[i, j] = not _forbids(forbidden, rows[i], values[rows[j]])
    owner = np.full(size, -1, np.int64)
    for i in range(size):
        if not _match(allowed, i, owner, np.zeros(size, np.bool_)):
            return -1
    reaches = np.zeros((size, size), np.bool_)
    for i in range(size):
        reaches[i, i] = True
        for j in range(size):
            if allowed[i, j]:
                reaches[i, owner[j]] = True
    for middle in range(size):
        for i in range(size):
            if reaches[i, middle]:
                for j in range(size):
                    reaches[i, j] |= reaches[middle, j]
    fewest = size
    for i in range(size):
        valid = 0
        for j in range(size):
            valid += allowed[i, j] and reaches[owner[j], i]
        fewest = min(fewest, valid)
    return fewest


@kernel
def valid_values(order: Int64, starts: Int64, values: Int32, forbidden: Words) -> Int64:
    """`fewest_valid` of every bucket, (n_buckets,)."""
    result = np.empty(starts.shape[0] - 1, np.int64)
    for bucket in range(result.shape[0]):
        result[bucket] = fewest_valid(order[starts[bucket] : starts[bucket + 1]], values, forbidden)
    return result


@kernel
def place_leftovers(
    bucket: Int32,
    n_buckets: int,
    leftovers: Int64,
    first_try: Int64,
    values: Int32,
    forbidden: Words,
    unique: int,
    l: int,
    limit: int,
) -> int:
    """Put each leftover row into a bucket that lacks its value and stays valid; returns how many found none.

    Up to `limit` buckets are tried from `first_try` on, those without a leftover first.
    """
    size = np.zeros(n_buckets, np.int64)
    members = np.full((n_buckets, 2 * l), -1, np.int64)
    for row in range(bucket.shape[0]):
        if bucket[row] >= 0:
            members[bucket[row], size[bucket[row]]] = row
            size[bucket[row]] += 1
    lost = 0
    for i in range(leftovers.shape[0]):
        row = leftovers[i]
        found = -1
        for room in range(l, 2 * l):
            for step in range(min(n_buckets, limit)):
                one = (first_try[i] + step) % n_buckets
                if size[one] != room or not _may_join(members[one], size[one], row, values, forbidden, unique, l):
                    continue
                members[one, size[one]] = row
                if fewest_valid(members[one, : size[one] + 1], values, forbidden) >= l:
                    found = one
                    break
            if found >= 0:
                break
        if found < 0:
            lost += 1
            continue
        size[found] += 1
        bucket[row] = found
    return lost


@inner_kernel
def _may_join(members: Int64, size: int, row: int, values: Int32, forbidden: Words, unique: int, l: int) -> bool:
    """Whether the bucket lacks the row's value and has enough values for it, before the whole bucket is matched."""
    allowed = 0 if _forbids(forbidden, row, values[row]) else 1
    for i in range(size):
        if values[members[i]] == values[row] and values[row] != unique:
            return False
        allowed += not _forbids(forbidden, row, values[members[i]])
    return allowed >= l
