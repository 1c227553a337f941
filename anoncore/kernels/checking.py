"""Requirements inside kernels: levels of groups, and whether a group satisfies every check.

A requirement has one level per group (its largest share of a value, its distance from the table, ...), computed from
the counts of a sensitive attribute in the group, and a threshold that the level must keep.

- `counts` int64 (n_counts,): rows of a group with each sensitive value; the codes of all sensitive attributes that are
  counted stand one after the other, those of attribute c at `count_start[c]:count_start[c + 1]`.
- `size`: number of rows of a group, or in functions over all groups the number of codes.
- `unique`: the code whose rows each count as a value of their own; -1 if there is none.
- `reference` float: what the requirement compares the group with, such as the shares in the whole table.
- `address`: where the requirement's compiled level function lies in memory (see `compiler.call_level`).
- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import call_level, inner_kernel, kernel
from anoncore.kernels.rounding import lies_below, reaches, stays_within


class KernelChecks(NamedTuple):
    """The checks of a search as arrays, one entry per check.

    `address` int64: the level function. `column` int64: the sensitive attribute, -1 where only the size counts.
    `threshold` float and `comparison` int64: as in `meets`. Reference numbers of check i are at
    `reference_start[i]:reference_start[i + 1]` of `reference` float; `stride[i]` is how far apart those for 2, 3, ...
    sides of a split begin there (0: the same ones for any number). `unique` int64, per sensitive attribute, and
    `count_start` int64 as above. `minimum_rows`: a group with fewer rows fails whatever its counts.
    """

    address: Int64
    column: Int64
    threshold: Floats
    comparison: Int64
    reference: Floats
    reference_start: Int64
    stride: Int64
    unique: Int64
    count_start: Int64
    minimum_rows: int


@inner_kernel
def meets(level: float, threshold: float, comparison: int) -> bool:
    """Whether one level keeps the threshold: by `comparison` 0 is at least, 1 at most, 2 below it."""
    if comparison == 0:
        return reaches(level, threshold)
    if comparison == 1:
        return stays_within(level, threshold)
    return lies_below(level, threshold)


@inner_kernel
def all_hold(checks: KernelChecks, counts: Int64, size: int) -> bool:
    """Whether a group of `size` rows with these counts of sensitive values satisfies every check."""
    return side_holds(checks, counts, size, 2)


@inner_kernel
def side_holds(checks: KernelChecks, counts: Int64, size: int, n_sides: int) -> bool:
    """Whether one of the `n_sides` sides of a split (2 or more) satisfies every check.

    Tests on a sample depend on how many sides are tested at once; all other checks ignore the number.
    """
    # Small groups are the most frequent reason for a refusal and the cheapest to see.
    if size < checks.minimum_rows:
        return False
    for i in range(len(checks.address)):
        column = checks.column[i]
        unique = -1
        begin, end = 0, 0
        if column >= 0:
            unique = checks.unique[column]
            begin, end = checks.count_start[column], checks.count_start[column + 1]
        first = checks.reference_start[i] + checks.stride[i] * (n_sides - 2)
        reference = checks.reference[first : checks.reference_start[i + 1]]
        level = call_level(checks.address[i], counts[begin:end], size, unique, reference)
        if not meets(level, checks.threshold[i], checks.comparison[i]):
            return False
    return True


@kernel
def group_levels(
    order: Int64, starts: Int64, codes: Int32, size: int, address: int, unique: int, reference: Floats
) -> Floats:
    """Level of every group, float (n_groups,); `codes` int32 (n_rows,) are those of the sensitive attribute."""
    n_groups = len(starts) - 1
    levels = np.empty(n_groups)
    counts = np.zeros(size, np.int64)
    for group in range(n_groups):
        for position in range(starts[group], starts[group + 1]):
            counts[codes[order[position]]] += 1
        levels[group] = call_level(address, counts, starts[group + 1] - starts[group], unique, reference)
        # Only the codes of this group are set back: the attribute may have many more.
        for position in range(starts[group], starts[group + 1]):
            counts[codes[order[position]]] = 0
    return levels


@kernel
def counts_level(counts: Int64, size: int, address: int, unique: int, reference: Floats) -> float:
    """Level of one group from the counts of its sensitive values."""
    return call_level(address, counts, size, unique, reference)


@kernel
def most_frequent(
    order: Int64, starts: Int64, codes: Int32, size: int, unique: int, groups: Int64
) -> tuple[Int64, Int64]:
    """Most frequent code of each listed group (the lowest of several) and its count, both int64 (n_listed,).

    `groups` int64 (n_listed,) are the numbers of the groups. Code `unique` counts once.
    """
    values = np.zeros(len(groups), np.int64)
    largest = np.zeros(len(groups), np.int64)
    counts = np.zeros(size, np.int64)
    for i in range(len(groups)):
        begin, end = starts[groups[i]], starts[groups[i] + 1]
        for position in range(begin, end):
            counts[codes[order[position]]] += 1
        for position in range(begin, end):
            code = codes[order[position]]
            count = min(counts[code], 1) if code == unique else counts[code]
            if count > largest[i] or (count == largest[i] and code < values[i]):
                values[i], largest[i] = code, count
        for position in range(begin, end):
            counts[codes[order[position]]] = 0
    return values, largest
