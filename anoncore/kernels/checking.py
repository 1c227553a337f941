"""Requirements inside kernels: levels of groups, and whether a group satisfies every check."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64
from anoncore.kernels.compiler import call_level, inner_kernel, kernel

TOLERANCE = 1e-9


class KernelChecks(NamedTuple):
    """Checks as arrays, one entry per check; `column` is the sensitive column, -1 where only the size counts.

    The counts of sensitive column c stand at `count_start[c]:count_start[c + 1]` of a node's counts. `stride[i]` is how
    far apart the reference numbers of check i for 2, 3, ... sides of a split begin (0: the same ones for any number).
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
    """Compare one level: 0 at least, 1 at most, 2 below the threshold."""
    if comparison == 0:
        return level >= threshold - TOLERANCE
    if comparison == 1:
        return level <= threshold + TOLERANCE
    return level < threshold - TOLERANCE


@kernel
def holds(levels: Floats, threshold: float, comparison: int) -> Bools:
    """Compare an array of levels."""
    result = np.empty(levels.shape[0], np.bool_)
    for i in range(levels.shape[0]):
        result[i] = meets(levels[i], threshold, comparison)
    return result


@inner_kernel
def all_hold(checks: KernelChecks, counts: Int64, size: int) -> bool:
    """Whether a group of `size` rows with these counts of sensitive values satisfies every check."""
    return side_holds(checks, counts, size, 2)


@inner_kernel
def side_holds(checks: KernelChecks, counts: Int64, size: int, n_sides: int) -> bool:
    """Whether one of the `n_sides` sides of a split (2 or more) satisfies every check."""
    if size < checks.minimum_rows:
        return False
    for i in range(checks.address.shape[0]):
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
    """Level of every group, (n_groups,), from rows sorted by group."""
    n_groups = starts.shape[0] - 1
    levels = np.empty(n_groups, np.float64)
    counts = np.zeros(size, np.int64)
    for group in range(n_groups):
        for position in range(starts[group], starts[group + 1]):
            counts[codes[order[position]]] += 1
        levels[group] = call_level(address, counts, starts[group + 1] - starts[group], unique, reference)
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
    """Most frequent code of each listed group (the lowest of several) and its count; code `unique` counts once."""
    values = np.zeros(groups.shape[0], np.int64)
    largest = np.zeros(groups.shape[0], np.int64)
    counts = np.zeros(size, np.int64)
    for place in range(groups.shape[0]):
        begin, end = starts[groups[place]], starts[groups[place] + 1]
        for position in range(begin, end):
            counts[codes[order[position]]] += 1
        for position in range(begin, end):
            code = codes[order[position]]
            count = min(counts[code], 1) if code == unique else counts[code]
            if count > largest[place] or (count == largest[place] and code < values[place]):
                values[place], largest[place] = code, count
        for position in range(begin, end):
            counts[codes[order[position]]] = 0
    return values, largest
