"""Expected numbers of people with the sensitive value in a group, over its weighted possible worlds."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel

NEGLIGIBLE = 1e-40
"""Coefficients below this share of the largest are left out: they are far from any world that matters."""
BISECTIONS = 24


@inner_kernel
def expected_counts(f: Floats, classes: Int32, counts: Int64, n: int, marked: int, expected: Floats) -> bool:
    """Rows with x that are expected of each entry of a group in which n rows have x; writes `expected` (len(counts),).

    Entry e stands for `counts[e]` rows of signature `classes[e]`, each with x at probability f[classes[e]] before the
    group is seen. With `marked` an entry, every world is weighted by that entry's rows with x as well: then
    expected[e] is E[T_e T_marked] / E[T_marked]. Returns False if f contradicts n; then every row has n / N.
    """
    total, sure, never = 0, 0, 0
    for e in range(counts.shape[0]):
        total += counts[e]
        if f[classes[e]] >= 1.0:
            sure += counts[e]
        elif f[classes[e]] <= 0.0:
            never += counts[e]
    left, free = n - sure, total - sure - never
    if left < 0 or left > free:
        for e in range(counts.shape[0]):
            expected[e] = counts[e] * n / total
        return False
    open_entries = np.empty(counts.shape[0], np.int64)
    n_open = 0
    for e in range(counts.shape[0]):
        share = f[classes[e]]
        expected[e] = counts[e] if share >= 1.0 or (share > 0.0 and left == free) else 0.0
        if 0.0 < share < 1.0 and 0 < left < free:
            open_entries[n_open] = e
            n_open += 1
    if n_open == 0:
        return True
    if n_open == 1:
        expected[open_entries[0]] = left
    elif left == 1 and marked < 0:
        _one_with(f, classes, counts, open_entries[:n_open], expected)
    elif left == free - 1 and marked < 0:
        _one_without(f, classes, counts, open_entries[:n_open], expected)
    else:
        _by_polynomials(f, classes, counts, open_entries[:n_open], left, free, marked, expected)
    return True


@inner_kernel
def _one_with(f: Floats, classes: Int32, counts: Int64, entries: Int64, expected: Floats) -> None:
    """One row has x: each in proportion to its odds."""
    total = 0.0
    for e in entries:
        share = f[classes[e]]
        expected[e] = counts[e] * (share / (1.0 - share))
        total += expected[e]
    for e in entries:
        expected[e] /= total


@inner_kernel
def _one_without(f: Floats, classes: Int32, counts: Int64, entries: Int64, expected: Floats) -> None:
    """One row lacks x: each in proportion to its inverse odds."""
    total = 0.0
    for e in entries:
        share = f[classes[e]]
        expected[e] = counts[e] * ((1.0 - share) / share)
        total += expected[e]
    for e in entries:
        expected[e] = counts[e] - expected[e] / total


@inner_kernel
def _tilt(log_odds: Floats, counts: Int64, entries: Int64, left: int, free: int) -> float:
    """What to add to all log-odds so that about `left` rows are expected to have x.

    All worlds of the group have the same number of x, so this changes no probability; it keeps the numbers in range.
    """
    base = np.log(left / (free - left))
    low, high = base - log_odds.max(), base - log_odds.min()
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        mass = 0.0
        for i in range(entries.shape[0]):
            mass += counts[entries[i]] / (1.0 + np.exp(-(log_odds[i] + middle)))
        if mass < left:
            low = middle
        else:
            high = middle
        if abs(mass - left) < 0.25:
            break
    return (low + high) / 2


@inner_kernel
def _binomial(row: Floats, count: int, odds: float, low: int, high: int) -> tuple[int, int]:
    """Coefficients low..high of (1 + odds z)^count, in units of the largest; returns the part that matters."""
    mode = min(max(int((count + 1) * odds / (1.0 + odds)), low), high)
    row[mode] = 1.0
    last = mode
    while last < high and row[last] > NEGLIGIBLE:
        row[last + 1] = row[last] * (count - last) / (last + 1) * odds
        last += 1
    first = mode
    while first > low and row[first] > NEGLIGIBLE:
        row[first - 1] = row[first] * first / (count - first + 1) / odds
        first -= 1
    return first, last


@inner_kernel
def _multiply(left: Floats, a: Int64, right: Floats, b: Int64, product: Floats, bounds: Int64, degree: int) -> None:
    """Product of two polynomials up to `degree`, in units of its largest coefficient; a and b are their ranges."""
    first, last = a[0] + b[0], min(a[1] + b[1], degree)
    largest = 0.0
    for k in range(first, last + 1):
        total = 0.0
        for i in range(max(a[0], k - b[1]), min(a[1], k - b[0]) + 1):
            total += left[i] * right[k - i]
        product[k] = total
        largest = max(largest, total)
    while first < last and product[first] <= NEGLIGIBLE * largest:
        first += 1
    while last > first and product[last] <= NEGLIGIBLE * largest:
        last -= 1
    for k in range(first, last + 1):
        product[k] /= largest
    bounds[0], bounds[1] = first, last


@inner_kernel
def _by_polynomials(
    f: Floats,
    classes: Int32,
    counts: Int64,
    entries: Int64,
    left: int,
    free: int,
    marked: int,
    expected: Floats,
) -> None:
    """Each entry is the polynomial ((1 - f) + f z)^count; its rows with x follow from it and the product of the rest.

    `before[i]` is the product of entries 0..i-1, `after[i]` of i..; O(N n) for groups of different signatures.
    """
    m = entries.shape[0]
    log_odds = np.empty(m)
    for i in range(m):
        share = f[classes[entries[i]]]
        log_odds[i] = np.log(share) - np.log1p(-share)
    tilt = _tilt(log_odds, counts, entries, left, free)
    own, own_range = np.zeros((m, left + 1)), np.empty((m, 2), np.int64)
    for i in range(m):
        count = counts[entries[i]]
        low, high = max(0, left - (free - count)), min(count, left)
        own_range[i] = _binomial(own[i], count, np.exp(log_odds[i] + tilt), low, high)
        if entries[i] == marked:
            for k in range(own_range[i, 0], own_range[i, 1] + 1):
                own[i, k] *= k
    before, before_range = np.zeros((m + 1, left + 1)), np.zeros((m + 1, 2), np.int64)
    after, after_range = np.zeros((m + 1, left + 1)), np.zeros((m + 1, 2), np.int64)
    before[0, 0] = after[m, 0] = 1.0
    for i in range(m):
        _multiply(before[i], before_range[i], own[i], own_range[i], before[i + 1], before_range[i + 1], left)
        j = m - 1 - i
        _multiply(after[j + 1], after_range[j + 1], own[j], own_range[j], after[j], after_range[j], left)
    for i in range(m):
        weight, mass = 0.0, 0.0
        for k in range(own_range[i, 0], own_range[i, 1] + 1):
            rest = 0.0
            need = left - k
            first = max(before_range[i, 0], need - after_range[i + 1, 1])
            for j in range(first, min(before_range[i, 1], need - after_range[i + 1, 0]) + 1):
                rest += before[i, j] * after[i + 1, need - j]
            weight += own[i, k] * rest
            mass += k * (own[i, k] * rest)
        expected[entries[i]] = mass / weight
