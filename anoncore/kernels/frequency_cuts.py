"""Choosing a cut of a node from the frequency set of one attribute, as the row kernels of Mondrian choose it.

A frequency set is uint32 (n_codes, width): rows with each code of the node's range, then how often each value of each
counted column (sensitive attributes, class) stands beside it (LeFevre and DeWitt, Rothko, section 2: AV, AVS, AVC).
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Counts, Int32, Int64
from anoncore.kernels.checking import KernelChecks, all_hold, side_holds
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sweep import TIE

NONE = -1


@kernel
def median_cut(counts: Counts, n: int, totals: Int64, n_bins: int, checks: KernelChecks) -> int:
    """Place of the last code on the left of the more balanced clean cut beside the median; -1 if not allowable."""
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
    return count * np.log2(max(count, 1.0))


@kernel
def best_cut(
    counts: Counts, n: int, totals: Int64, n_bins: int, gain: bool, bound: float, checks: KernelChecks
) -> tuple[float, int]:
    """Cheapest allowable cut of cost below `bound` and the place of its last code on the left, -1 if there is none.

    Cost: the entropy of the class on both sides, in bits times rows (`gain`), or how unequal the sides are. The values
    of the class are counted after the first `n_bins` counted values.
    """
    left = np.zeros(totals.shape[0], np.int64)
    best, place = bound, NONE
    tie = TIE * n
    n_left = 0
    for code in range(counts.shape[0]):
        if counts[code, 0] == 0:
            continue
        n_left += int(counts[code, 0])
        for b in range(totals.shape[0]):
            left[b] += np.int64(counts[code, 1 + b])
        n_right = n - n_left
        if n_left < checks.minimum_rows or n_right < checks.minimum_rows or n_right == 0:
            continue
        cost = float(abs(2 * n_left - n))
        if gain:
            cost = _xlogx(n_left) + _xlogx(n_right)
            for b in range(n_bins, totals.shape[0]):
                cost -= _xlogx(left[b]) + _xlogx(totals[b] - left[b])
        if cost >= best - tie:
            continue
        if all_hold(checks, left[:n_bins], n_left) and all_hold(checks, (totals - left)[:n_bins], n_right):
            best, place = cost, code
    return best, place


@kernel
def children_cut(counts: Counts, side: Int32, n_children: int, n_bins: int, checks: KernelChecks) -> tuple[bool, float]:
    """Whether all non-empty children of a hierarchy node satisfy the checks, and the entropy of the class in them.

    `side` is the child of each code of the range; the entropy is in bits times rows.
    """
    n_columns = counts.shape[1]
    sums = np.zeros((n_children, n_columns), np.int64)
    for code in range(counts.shape[0]):
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
