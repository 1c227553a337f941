"""Grouping a table at a combination of levels, from the groups of a finer combination.

A combination of levels (a node of the lattice) is one level of generalization per quasi-identifier. A group is rows
whose values generalize to the same; it has entries, its rows by their combination of sensitive values.

- `node` int64 (d,): the level of every quasi-identifier.
- `codes` int32 (n_groups, d): the codes of any one row of each group; its other rows generalize to the same.
- `word` uint64 (n_groups,): the sum of the group's words in `salt`, by which groups are told apart.
- `rows` int64 (n_groups,): rows of each group.
- `sensitive` int32, `weight` int64 (n_entries,): combination of sensitive values and number of rows of each entry;
  group g has the entries `starts[g]`..`starts[g + 1]` - 1, by ascending combination.
- `number` int32 (n_groups,): the coarser group that each group becomes a part of.

How little groups of rows can lose once their ranges are cut further.

A range of an attribute is cut at some points already, and may be cut at others. The finest ranges, cut at all of them,
are blocks. A group of equal ranges has its rows in some of the blocks that its range consists of. Whatever is cut,
rows of it that are published stand together with at least k rows of it in every attribute, so that the range of each
covers neighboring blocks in which k rows of the group lie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64, Words
from anoncore.kernels.compiler import kernel
from anoncore.kernels.grouping import group_starts, number_of, rows_by_group, word_table
from anoncore.kernels.sorting import taken


class LevelTables(NamedTuple):
    """What becomes of every code at every level, one attribute after the other.

    What belongs to code c of attribute a at a level stands at `begin[a] + level * size[a] + c`: in `loss` float
    the loss of its generalized value as a cell, and in `salt` a random 64-bit word of that value. Different
    combinations of values have the same sum of words with a probability of 2^-64.
    """

    loss: Floats
    salt: Words
    begin: Int64
    size: Int64


@kernel
def coarser_groups(
    tables: LevelTables, codes: Int32, word: Words, rows: Int64, was: Int64, node: Int64
) -> tuple[Int32, Int64, Words, Int64]:
    """The groups of a node, made of the groups of the finer node `was`.

    Returns `number`, a finer group of each coarser one int64 (n_coarser,), and the coarser groups' `word` and `rows`.
    """
    n, n_coarser = len(codes), 0
    table = word_table(n)
    number, finer = np.empty(n, np.int32), np.empty(n, np.int64)
    words, sums = np.empty(n, np.uint64), np.zeros(n, np.int64)
    # Only the attributes that change their level change a group's word.
    changed, n_changed = np.empty(len(node), np.int64), 0
    before, after = np.empty(len(node), np.int64), np.empty(len(node), np.int64)
    for a in range(len(node)):
        if was[a] != node[a]:
            changed[n_changed] = a
            before[n_changed] = tables.begin[a] + was[a] * tables.size[a]
            after[n_changed] = tables.begin[a] + node[a] * tables.size[a]
            n_changed += 1
    for g in range(n):
        key = word[g]
        for i in range(n_changed):
            code = codes[g, changed[i]]
            key += tables.salt[after[i] + code] - tables.salt[before[i] + code]
        number[g] = number_of(table, key, n_coarser)
        if number[g] == n_coarser:
            words[n_coarser], finer[n_coarser] = key, g
            n_coarser += 1
        sums[number[g]] += rows[g]
    return number, finer[:n_coarser].copy(), words[:n_coarser].copy(), sums[:n_coarser].copy()


@kernel
def published_loss(tables: LevelTables, codes: Int32, rows: Int64, kept: Bools, node: Int64) -> float:
    """Sum of the losses of the cells of all rows in the groups that are `kept`, bool (n_groups,), at a node."""
    total = 0.0
    begin = tables.begin + node * tables.size
    for g in range(len(codes)):
        if kept[g]:
            loss = 0.0
            for a in range(codes.shape[1]):
                loss += tables.loss[begin[a] + codes[g, a]]
            total += rows[g] * loss
    return total


@kernel
def joined_entries(
    number: Int32, n_coarser: int, starts: Int64, sensitive: Int32, weight: Int64, n_combinations: int
) -> tuple[Int64, Int32, Int64]:
    """The entries of coarser groups: `starts`, `sensitive` and `weight`, equal combinations of a group as one entry."""
    n = len(sensitive)
    # Two stable sorts by counting, by combination and then by group, leave every group's entries in order.
    of_entry = np.empty(n, np.int32)
    for g in range(len(number)):
        for i in range(starts[g], starts[g + 1]):
            of_entry[i] = number[g]
    by_value = rows_by_group(sensitive, group_starts(sensitive, n_combinations))
    of_entry = taken(of_entry, by_value)
    coarser_starts = group_starts(of_entry, n_coarser)
    order = taken(by_value, rows_by_group(of_entry, coarser_starts))
    joined_starts = np.zeros(n_coarser + 1, np.int64)
    values, sums = np.empty(n, np.int32), np.zeros(n, np.int64)
    n_joined, at = 0, 0
    for g in range(n_coarser):
        joined_starts[g] = n_joined
        while at < coarser_starts[g + 1]:
            entry = order[at]
            if n_joined == joined_starts[g] or values[n_joined - 1] != sensitive[entry]:
                values[n_joined] = sensitive[entry]
                n_joined += 1
            sums[n_joined - 1] += weight[entry]
            at += 1
    joined_starts[n_coarser] = n_joined
    return joined_starts, values[:n_joined].copy(), sums[:n_joined].copy()


@kernel
def least_losses(
    codes: Int32,
    rows: Int64,
    group: Int32,
    n_groups: int,
    begin: Int64,
    first: Int32,
    last: Int32,
    share: Floats,
    k: int,
) -> Floats:
    """At least what a cell of each combination of values loses in a class of at least k rows, summed over attributes.

    `codes` int32 (n, d): combinations of values, of `rows` int64 (n,) rows each, in the groups `group` int32 (n,). Code
    c of attribute a stands at `begin[a] + c`: `first` and `last` are the ends of its block, and `share` float says
    where it lies between the first code (0) and the last (1). Returns float (n,), infinite in groups of less than k
    rows.
    """
    n, d = codes.shape
    starts = group_starts(group, n_groups)
    losses = np.zeros(n)
    begins, ends, counts = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for a in range(d):
        n_codes = (begin[a + 1] if a + 1 < d else len(first)) - begin[a]
        by_code = codes[:, a].copy()
        order = rows_by_group(by_code, group_starts(by_code, n_codes))
        of_group = rows_by_group(taken(group, order), starts)
        for g in range(n_groups):
            n_blocks = 0
            for i in range(starts[g], starts[g + 1]):
                row = order[of_group[i]]
                at = begin[a] + codes[row, a]
                if n_blocks == 0 or begins[n_blocks - 1] != first[at]:
                    begins[n_blocks], ends[n_blocks], counts[n_blocks] = first[at], last[at], 0
                    n_blocks += 1
                counts[n_blocks - 1] += rows[row]
            block, loss = -1, np.inf
            for i in range(starts[g], starts[g + 1]):
                row = order[of_group[i]]
                if block < 0 or begins[block] != first[begin[a] + codes[row, a]]:
                    block += 1
                    loss = _narrowest(begins, ends, counts, n_blocks, block, share[begin[a] :], k)
                losses[row] += loss
    return losses


@kernel
def _narrowest(begins: Int64, ends: Int64, counts: Int64, n_blocks: int, block: int, share: Floats, k: int) -> float:
    """The narrowest run of blocks with at least k rows that has a given block in it; infinite where there is none."""
    least, inside = np.inf, 0
    low = block
    # The run begins ever earlier; it ends at the block where the rows up to there are enough, and ever earlier too.
    high = block
    inside = counts[block]
    while high + 1 < n_blocks and inside < k:
        high += 1
        inside += counts[high]
    while True:
        if inside >= k:
            while high > block and inside - counts[high] >= k:
                inside -= counts[high]
                high -= 1
            least = min(least, share[ends[high]] - share[begins[low]])
            if high == block:
                break
        if low == 0:
            break
        low -= 1
        inside += counts[low]
    return least
