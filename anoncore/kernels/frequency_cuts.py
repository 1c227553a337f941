"""Choosing a cut of a node from the frequency set of one attribute, as the row kernels of Mondrian choose it.

The rows of such a node lie on disk or on other machines; its frequency sets are all that is known of them.

- `counts` uint32 (n_codes, 1 + n_values): the frequency set of an attribute in a node. Line c is for the c-th code of
  the node's range: how many rows have it, then how many of them have each value of each counted column. Counted are the
  sensitive attributes (the first `n_bins` values) and then the class, where the search has one.
- `n`: rows of the node; `totals` int64 (n_values,): how many of them have each value of each counted column.

Source: LeFevre and DeWitt, Rothko (TR 1590), section 2: the frequency sets AV, AVS and AVC.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Counts, Int32, Int64
from anoncore.kernels.checking import KernelChecks, all_hold, side_holds
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sweep import TIE

NONE = -1
"""No cut is allowable."""


@kernel
def median_cut(counts: Counts, n: int, totals: Int64, n_bins: int, checks: KernelChecks) -> int:
    """Line of the last code on the left of the more balanced clean cut beside the median; NONE if not allowable."""
    middle = n // 2
    below, code = 0, 0
    while below + counts[code, 0] <= middle:
        below += int(counts[code, 0])
        code += 1
    up_to = below + int(counts[code, 0])
    n_left = up_to
    if min(below, n - below) > min(up_to, n - up_to):
        code, n_left = code - 1, below
    if n_left < checks.minimum_rows or n - n_left < checks.minimum_rows:
        return NONE
    left = np.zeros(n_bins, np.int64)
    for value in range(code + 1):
        for b in range(n_bins):
            left[b] += np.int64(counts[value, 1 + b])
    if all_hold(checks, left, n_left) and all_hold(checks, totals[:n_bins] - left, n - n_left):
        return code
    return NONE


@inner_kernel
def _xlogx(count: float) -> float:
    """x log2 x, and 0 for 0."""
    return count * np.log2(max(count, 1.0))


@kernel
def best_cut(
    counts: Counts, n: int, totals: Int64, n_bins: int, gain: bool, bound: float, checks: KernelChecks
) -> tuple[float, int]:
    """Cost of the cheapest allowable cut below cost `bound`, and the line of its last code on the left, or NONE.

    Cost: the entropy of the class on both sides, in bits times rows (`gain`), or how unequal the sides are.
    """
    left = np.zeros(len(totals), np.int64)
    best, last = bound, NONE
    tie = TIE * n
    n_left = 0
    for code in range(len(counts)):
        if counts[code, 0] == 0:
            continue
        n_left += int(counts[code, 0])
        for b in range(len(totals)):
            left[b] += np.int64(counts[code, 1 + b])
        n_right = n - n_left
        if n_left < checks.minimum_rows or n_right < checks.minimum_rows or n_right == 0:
            continue
        cost = float(abs(2 * n_left - n))
        if gain:
            cost = _xlogx(n_left) + _xlogx(n_right)
            for b in range(n_bins, len(totals)):
                cost -= _xlogx(left[b]) + _xlogx(totals[b] - left[b])
        if cost >= best - tie:
            continue
        if all_hold(checks, left[:n_bins], n_left) and all_hold(checks, (totals - left)[:n_bins], n_right):
            best, last = cost, code
    return best, last


@kernel
def children_cut(counts: Counts, side: Int32, n_children: int, n_bins: int, checks: KernelChecks) -> tuple[bool, float]:
    """Whether all non-empty children of a hierarchy node satisfy the checks, and the entropy of the class in them.

    `side` int32 (n_codes,) is the child of each code of the range; the entropy is in bits times rows.
    """
    n_columns = counts.shape[1]
    sums = np.zeros((n_children, n_columns), np.int64)
    for code in range(len(counts)):
        for column in range(n_columns):
            sums[side[code], column] += np.int64(counts[code, column])
    n_sides = 0
    for child in range(n_children):
        n_sides += sums[child, 0] > 0
    cost = 0.0
    for child in range(n_children):
        size = sums[child, 0]
        if size == 0:
            continue
        if size < checks.minimum_rows or not side_holds(checks, sums[child, 1 : 1 + n_bins], size, max(n_sides, 2)):
            return False, cost
        if n_columns > 1 + n_bins:
            cost += _xlogx(size)
            for column in range(1 + n_bins, n_columns):
                cost -= _xlogx(sums[child, column])
    return True, cost
