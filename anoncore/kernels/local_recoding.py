"""Local recoding: grouping the rows that are left at a node of the lattice, and keeping the groups that hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64, Words
from anoncore.kernels.checking import KernelChecks, all_hold
from anoncore.kernels.compiler import inner_kernel, kernel


class LatticeRows(NamedTuple):
    """The table as the search sees it: `codes` int32 (n, d), `sensitive` int32 (n, s).

    `salt[begin[a] + level * size[a] + code]` is a random 64-bit word, equal for the codes that are one node at that
    level: rows whose words add up to the same have the same generalized quasi-identifiers.
    """

    codes: Int32
    sensitive: Int32
    salt: Words
    begin: Int64
    size: Int64


@inner_kernel
def _number_groups(rows: LatticeRows, left: Int64, node: Int64, number: Int64, sizes: Int64) -> int:
    """Group of every row that is left, into `number`, and the groups' `sizes`; returns how many groups there are."""
    capacity = 64
    while capacity < 2 * left.shape[0]:
        capacity *= 2
    word = np.empty(capacity, np.uint64)
    entry = np.full(capacity, -1, np.int64)
    n_groups = 0
    for i in range(left.shape[0]):
        key = np.uint64(0)
        for a in range(node.shape[0]):
            key += rows.salt[rows.begin[a] + node[a] * rows.size[a] + rows.codes[left[i], a]]
        place = np.int64(key >> np.uint64(20)) & (capacity - 1)
        while entry[place] >= 0 and word[place] != key:
            place = (place + 1) & (capacity - 1)
        if entry[place] < 0:
            entry[place], word[place] = n_groups, key
            sizes[n_groups] = 0
            n_groups += 1
        number[i] = entry[place]
        sizes[number[i]] += 1
    return n_groups


@inner_kernel
def _judge(rows: LatticeRows, left: Int64, number: Int64, sizes: Int64, checks: KernelChecks) -> Bools:
    """Whether each group satisfies every check."""
    verdict = np.zeros(sizes.shape[0], np.bool_)
    counts = np.zeros(checks.count_start[-1], np.int64)
    if rows.sensitive.shape[1] == 0:
        for group in range(sizes.shape[0]):
            verdict[group] = all_hold(checks, counts, sizes[group])
        return verdict
    place = np.zeros(sizes.shape[0] + 1, np.int64)
    for group in range(sizes.shape[0]):
        place[group + 1] = place[group] + (sizes[group] if sizes[group] >= checks.minimum_rows else 0)
    member = np.empty(place[-1], np.int64)
    for i in range(left.shape[0]):
        group = number[i]
        if sizes[group] >= checks.minimum_rows:
            member[place[group]] = left[i]
            place[group] += 1
    begin = 0
    for group in range(sizes.shape[0]):
        if sizes[group] < checks.minimum_rows:
            continue
        for i in range(begin, place[group]):
            for s in range(rows.sensitive.shape[1]):
                counts[checks.count_start[s] + rows.sensitive[member[i], s]] += 1
        verdict[group] = all_hold(checks, counts, sizes[group])
        for i in range(begin, place[group]):
            for s in range(rows.sensitive.shape[1]):
                counts[checks.count_start[s] + rows.sensitive[member[i], s]] = 0
        begin = place[group]
    return verdict


@kernel
def place_rows(
    rows: LatticeRows, nodes: Int64, left: Int64, n_left: int, group: Int32, n_groups: int, checks: KernelChecks
) -> tuple[int, int]:
    """At each node (levels, (n_nodes, d)) in turn, make every group of the rows left that holds a class.

    `left[:n_left]` are the rows left, `group` (n,) gets the classes' numbers from `n_groups` on; both are changed.
    Returns the new `n_left` and `n_groups`.
    """
    number = np.empty(n_left, np.int64)
    sizes = np.empty(n_left, np.int64)
    for at in range(nodes.shape[0]):
        if n_left < max(checks.minimum_rows, 1):
            break
        found = _number_groups(rows, left[:n_left], nodes[at], number, sizes)
        verdict = _judge(rows, left[:n_left], number, sizes[:found], checks)
        for one in range(found):
            if verdict[one]:
                sizes[one] = n_groups
                n_groups += 1
        kept = 0
        for i in range(n_left):
            if verdict[number[i]]:
                group[left[i]] = sizes[number[i]]
            else:
                left[kept] = left[i]
                kept += 1
        n_left = kept
    return n_left, n_groups


@kernel
def count_placed(rows: LatticeRows, node: Int64, left: Int64, checks: KernelChecks) -> int:
    """How many of the rows left lie in a group that holds at this node."""
    number = np.empty(left.shape[0], np.int64)
    sizes = np.empty(left.shape[0], np.int64)
    found = _number_groups(rows, left, node, number, sizes)
    verdict = _judge(rows, left, number, sizes[:found], checks)
    placed = 0
    for one in range(found):
        if verdict[one]:
            placed += sizes[one]
    return placed
