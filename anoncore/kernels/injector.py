"""Dealing rows into buckets in which no negative rule forbids a row the values of the others.

A negative rule says that people with certain quasi-identifier values never have a sensitive value. An adversary who
knows the rules crosses out these values in a bucket, so everyone must keep at least l values that no rule forbids.

- `values` int32 (n_rows,): code of the sensitive value of each row.
- `forbidden` uint64 (n_rows or n_types, n_words): the values that the rules forbid a row or a type of rows, one bit per
  code; code v is bit v % 64 of word v // 64.
- `unique`: the code whose rows each count as a value of their own; -1 if there is none.

Source: Li and Li, Injector, ICDE 2008.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import filled_with, stable_positions


@inner_kernel
def _forbids(forbidden: Words, row: int, value: int) -> bool:
    """Whether a rule forbids the row (or type of rows) this value."""
    return (forbidden[row, value >> 6] >> np.uint64(value & 63)) & np.uint64(1) != 0


class Types(NamedTuple):
    """Rows of one value that the rules forbid the same values are one type: rows of a type can stand for each other.

    `value` int32 (n_types,); `forbidden` as above. The types of value v are listed in
    `of_value[value_start[v]:value_start[v + 1]]`, the most restricted first.
    """

    value: Int32
    forbidden: Words
    of_value: Int64
    value_start: Int64


class Rules(NamedTuple):
    """The sensitive value of every row and what the rules forbid it: `values`, `forbidden` and `unique` as above."""

    values: Int32
    forbidden: Words
    unique: int


@inner_kernel
def _fitting(
    types: Types, left: Int64, chosen: Int64, n_chosen: int, value: int, first: Int64, following: Int64
) -> int:
    """The most restricted type of a value with a row left that fits each chosen one, both ways; -1 if there is none.

    `first[value]` is the value's first type and `following[type]` the next one: a linked list, from which types without
    rows left are taken out when they are met. So no call passes the same empty type again.
    """
    before, candidate = -1, first[value]
    while candidate >= 0:
        if left[candidate] == 0:
            if before < 0:
                first[value] = following[candidate]
            else:
                following[before] = following[candidate]
            candidate = following[candidate]
            continue
        fits, taken = True, 0
        for i in range(n_chosen):
            other = chosen[i]
            taken += other == candidate
            if _forbids(types.forbidden, candidate, types.value[other]) or _forbids(types.forbidden, other, value):
                fits = False
                break
        if fits and taken < left[candidate]:
            return candidate
        before, candidate = candidate, following[candidate]
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
    n_values = len(types.value_start) - 1
    value_left = np.zeros(n_values, np.int64)
    first, following = filled_with(n_values, -1), filled_with(len(types.value), -1)
    for value in range(n_values):
        begin, end = types.value_start[value], types.value_start[value + 1]
        for i in range(begin, end):
            value_left[value] += sizes[types.of_value[i]]
            if i + 1 < end:
                following[types.of_value[i]] = types.of_value[i + 1]
        if begin < end:
            first[value] = types.of_value[begin]
    remaining = 0
    for value in range(n_values):
        remaining += value_left[value]
    buckets = np.empty((remaining // l, l), np.int64)
    over = np.empty(remaining, np.int64)
    n_buckets, n_over, asking = 0, 0, 0
    ranked = stable_positions(tie)
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
                partner = _fitting(types, left, chosen, n_chosen, value, first, following)
                if partner < 0:
                    break
                chosen[n_chosen] = partner
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
    """Sort the values by rows left, most first; `tie` decides between equals, `unique` counts as one row."""
    # By insertion: a bucket takes one row each of a few values, so the order of the last bucket is nearly right and a
    # pass over it costs O(n_values).
    for i in range(1, len(ranked)):
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
    """Find the row a value along an augmenting path, moving others; whether there is one.

    `allowed` bool (n, n): which of the bucket's values each of its rows may have. `owner` int64 (n,): the row that has
    each value now, -1 for none. `seen` bool (n,): the values that this search has tried.
    """
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

    `rows` int64 are the rows of the bucket. A value is valid for a row if the rules allow an assignment of the bucket's
    values to its rows in which this row has it. One perfect matching of rows and values tells all of them: the row may
    take the value if a chain of exchanges leads from the value's present owner back to the row.
    """
    size = len(rows)
    allowed = np.empty((size, size), np.bool_)
    for i in range(size):
        for j in range(size):
            allowed[i, j] = not _forbids(forbidden, rows[i], values[rows[j]])
    owner = filled_with(size, -1)
    for i in range(size):
        if not _match(allowed, i, owner, np.zeros(size, np.bool_)):
            return -1
    reaches = np.zeros((size, size), np.bool_)
    for i in range(size):
        reaches[i, i] = True
        for j in range(size):
            if allowed[i, j]:
                reaches[i, owner[j]] = True
    # Transitive closure (Warshall). The loop over the row in between must be the outer one: then `reaches` knows all
    # chains through the rows up to `between` before the next one is allowed on the way.
    for between in range(size):
        for i in range(size):
            if reaches[i, between]:
                for j in range(size):
                    reaches[i, j] |= reaches[between, j]
    fewest = size
    for i in range(size):
        valid = 0
        for j in range(size):
            valid += allowed[i, j] and reaches[owner[j], i]
        fewest = min(fewest, valid)
    return fewest


@kernel
def valid_values(order: Int64, starts: Int64, values: Int32, forbidden: Words) -> Int64:
    """`fewest_valid` of every bucket, int64 (n_buckets,); rows of bucket b are `order[starts[b]:starts[b + 1]]`."""
    result = np.empty(len(starts) - 1, np.int64)
    for bucket in range(len(result)):
        result[bucket] = fewest_valid(order[starts[bucket] : starts[bucket + 1]], values, forbidden)
    return result


@kernel
def place_leftovers(
    bucket: Int32,
    n_buckets: int,
    leftovers: Int64,
    first_try: Int64,
    rules: Rules,
    l: int,
    limit: int,
) -> int:
    """Put each leftover row into a bucket that lacks its value and stays valid; returns how many rows find none.

    `bucket` int32 (n_rows,) is changed; -1 for the `leftovers` int64 (n_leftovers,). Up to `limit` buckets are tried
    from `first_try` int64 (n_leftovers,) on, those without a leftover first. A bucket gets at most 2l rows.
    """
    size = np.zeros(n_buckets, np.int64)
    members = np.empty((n_buckets, 2 * l), np.int64)
    for row in range(len(bucket)):
        if bucket[row] >= 0:
            members[bucket[row], size[bucket[row]]] = row
            size[bucket[row]] += 1
    lost = 0
    for i in range(len(leftovers)):
        row = leftovers[i]
        joined = -1
        for n_members in range(l, 2 * l):
            for step in range(min(n_buckets, limit)):
                candidate = (first_try[i] + step) % n_buckets
                if size[candidate] != n_members or not _may_join(members[candidate, :n_members], row, rules, l):
                    continue
                # The row is written behind the members; it stays there only if the size counts it.
                members[candidate, n_members] = row
                if fewest_valid(members[candidate, : n_members + 1], rules.values, rules.forbidden) >= l:
                    joined = candidate
                    break
            if joined >= 0:
                break
        if joined < 0:
            lost += 1
            continue
        size[joined] += 1
        bucket[row] = joined
    return lost


@inner_kernel
def _may_join(members: Int64, row: int, rules: Rules, l: int) -> bool:
    """Whether the bucket lacks the row's value and has l values for the row: cheap, before the bucket is matched."""
    values = rules.values
    allowed = 0 if _forbids(rules.forbidden, row, values[row]) else 1
    for member in members:
        if values[member] == values[row] and values[row] != rules.unique:
            return False
        allowed += not _forbids(rules.forbidden, row, values[member])
    return allowed >= l
