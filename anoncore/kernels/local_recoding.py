"""Local recoding: grouping the rows that are left at a node of the lattice, and keeping the groups that hold.

A node of the lattice is one level of generalization per quasi-identifier. At a node, rows whose codes generalize to the
same are one group. Groups that satisfy every check become classes; their rows are not looked at again.

- `node` int64 (d,): the level of every quasi-identifier; `nodes` int64 (n_nodes, d).
- `left` int64: row numbers that have no class yet.
- `number` int64 (at least n_left,): group of each of these rows, 0..n_groups-1; `sizes` int64: rows of each group.
- `group` int32 (n_rows,): class of every row, written where a group becomes a class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64, Words
from anoncore.kernels.checking import KernelChecks, KernelPeople, all_hold, new_tally, rows_hold
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.grouping import number_of, word_table


class LatticeRows(NamedTuple):
    """The table as the search sees it: `codes` int32 (n, d), `cells` as in `checking`.

    `salt[begin[a] + level * size[a] + code]` is a random 64-bit word, equal for the codes of attribute a that are one
    value at that level. Rows whose words add up to the same have the same generalized quasi-identifiers: that two
    different ones add up to the same has a probability of 2^-64. `people` says whose rows they are; None
    where every row is another person.
    """

    codes: Int32
    cells: Int32
    salt: Words
    begin: Int64
    size: Int64
    people: KernelPeople | None


@inner_kernel
def _number_groups(rows: LatticeRows, left: Int64, node: Int64, number: Int64, sizes: Int64) -> int:
    """Write the group of every row that is left and the groups' sizes; returns how many groups there are."""
    table, n_groups = word_table(len(left)), 0
    for i in range(len(left)):
        key = np.uint64(0)
        for a in range(len(node)):
            key += rows.salt[rows.begin[a] + node[a] * rows.size[a] + rows.codes[left[i], a]]
        number[i] = number_of(table, key, n_groups)
        if number[i] == n_groups:
            sizes[n_groups] = 0
            n_groups += 1
        sizes[number[i]] += 1
    return n_groups


@inner_kernel
def _groups_hold(rows: LatticeRows, left: Int64, number: Int64, sizes: Int64, checks: KernelChecks) -> Bools:
    """Whether each group satisfies every check, bool (n_groups,)."""
    hold = np.zeros(len(sizes), np.bool_)
    counts = np.zeros(checks.count_start[-1], np.int64)
    if rows.cells.shape[1] == 0 and rows.people is None:
        for group in range(len(sizes)):
            hold[group] = all_hold(checks, counts, sizes[group])
        return hold
    # The members of the groups that are large enough, group by group; the others need no count of sensitive values.
    filled = np.zeros(len(sizes) + 1, np.int64)
    for group in range(len(sizes)):
        filled[group + 1] = filled[group] + (sizes[group] if sizes[group] >= checks.minimum_rows else 0)
    members = np.empty(filled[-1], np.int64)
    for i in range(len(left)):
        group = number[i]
        if sizes[group] >= checks.minimum_rows:
            members[filled[group]] = left[i]
            filled[group] += 1
    tally, begin = new_tally(rows.people), 0
    for group in range(len(sizes)):
        if sizes[group] >= checks.minimum_rows:
            own = members[begin : filled[group]]
            hold[group] = rows_hold(rows.cells, rows.people, own, tally, counts, checks)
            begin = filled[group]
    return hold


@kernel
def place_rows(
    rows: LatticeRows, nodes: Int64, left: Int64, n_left: int, group: Int32, n_groups: int, checks: KernelChecks
) -> tuple[int, int]:
    """At each node in turn, make every group of the rows left that holds a class.

    `left[:n_left]` are the rows left, `group` gets the classes' numbers from `n_groups` on; both are changed. Returns
    the new `n_left` and `n_groups`.
    """
    number = np.empty(n_left, np.int64)
    sizes = np.empty(n_left, np.int64)
    class_of = np.empty(n_left, np.int64)
    for i in range(len(nodes)):
        if n_left < max(checks.minimum_rows, 1):
            break
        n_candidates = _number_groups(rows, left[:n_left], nodes[i], number, sizes)
        hold = _groups_hold(rows, left[:n_left], number, sizes[:n_candidates], checks)
        for candidate in range(n_candidates):
            if hold[candidate]:
                class_of[candidate] = n_groups
                n_groups += 1
        n_kept = 0
        for j in range(n_left):
            if hold[number[j]]:
                group[left[j]] = class_of[number[j]]
            else:
                left[n_kept] = left[j]
                n_kept += 1
        n_left = n_kept
    return n_left, n_groups


@kernel
def count_placed(rows: LatticeRows, node: Int64, left: Int64, checks: KernelChecks) -> int:
    """How many of the rows left lie in a group that holds at this node."""
    number = np.empty(len(left), np.int64)
    sizes = np.empty(len(left), np.int64)
    n_groups = _number_groups(rows, left, node, number, sizes)
    hold = _groups_hold(rows, left, number, sizes[:n_groups], checks)
    n_placed = 0
    for group in range(n_groups):
        if hold[group]:
            n_placed += sizes[group]
    return n_placed
