"""Expected numbers of people with the sensitive value x in a group, over its weighted possible worlds.

A world says which n of the group's N people have x. Its weight is the product, over the people, of the probability f
that a person of this signature has x, or of 1 - f for those who lack it in this world.

- `f` float (n_signatures,): share of x among the people of each signature, before the group is seen.
- `classes` int32 (m,), `counts` int64 (m,): the group's people; entry e stands for `counts[e]` of signature
  `classes[e]`.
- `expected` float (m,): expected number of people of each entry who have x, written here.
- `entries` int64: the entries whose f lies strictly between 0 and 1; the people of the others are certain.
- `left`: people of these entries who have x. A polynomial is an array of its coefficients, of which only those in the
  range `first`..`last` are kept.

Source: Wong, Fu, Wang, Xu and Yu, Can the Utility of Anonymized Data be used for Privacy Breaches?, 2009, section 3.
"""

from __future__ import annotations

import math

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel

NEGLIGIBLE = 1e-40
"""Coefficients below this share of the largest are left out: they are far from any world that matters."""
BISECTIONS = 24
OF_GROUP = -1.0
"""Stands in place of the share of x among people of rare signatures where that is their own group's: n / N."""


@inner_kernel
def set_share_of_group(f: Floats, counts: Int64, n: int) -> None:
    """Give the last signature the share of x in a group of which n people have x; entry e has `counts[e]` of them."""
    people = 0
    for e in range(len(counts)):
        people += counts[e]
    f[len(f) - 1] = n / people


@inner_kernel
def expected_counts(f: Floats, classes: Int32, counts: Int64, n: int, marked: int, expected: Floats) -> bool:
    """Write how many people of each entry are expected to have x, in a group of whom n have it.

    With `marked` an entry (else -1), every world is weighted by that entry's people with x as well: then expected[e] is
    E[T_e T_marked] / E[T_marked], T_e the people of entry e with x. Returns False if f contradicts n; then every person
    has x with probability n / N.
    """
    total, sure, never = 0, 0, 0
    for e in range(len(counts)):
        total += counts[e]
        if f[classes[e]] >= 1.0:
            sure += counts[e]
        elif f[classes[e]] <= 0.0:
            never += counts[e]
    left, free = n - sure, total - sure - never
    if left < 0 or left > free:
        for e in range(len(counts)):
            expected[e] = counts[e] * n / total
        return False
    open_entries = np.empty(len(counts), np.int64)
    n_open = 0
    for e in range(len(counts)):
        share = f[classes[e]]
        expected[e] = counts[e] if share >= 1.0 or (share > 0.0 and left == free) else 0.0
        if 0.0 < share < 1.0 and 0 < left < free:
            open_entries[n_open] = e
            n_open += 1
    if n_open == 0:
        return True
    # The cases that groups of l people with different values mostly are have closed forms; they cost O(m).
    if n_open == 1:
        expected[open_entries[0]] = left
    elif left == 1 and marked < 0:
        _one_with(f, classes, counts, open_entries[:n_open], expected)
    elif left == free - 1 and marked < 0:
        _one_without(f, classes, counts, open_entries[:n_open], expected)
    else:
        _by_polynomials(f, classes, counts, open_entries[:n_open], left, marked, expected)
    return True


@inner_kernel
def _one_with(f: Floats, classes: Int32, counts: Int64, entries: Int64, expected: Floats) -> None:
    """One person has x: each with a probability in proportion to their odds f / (1 - f)."""
    total = 0.0
    for e in entries:
        share = f[classes[e]]
        expected[e] = counts[e] * (share / (1.0 - share))
        total += expected[e]
    for e in entries:
        expected[e] /= total


@inner_kernel
def _one_without(f: Floats, classes: Int32, counts: Int64, entries: Int64, expected: Floats) -> None:
    """One person lacks x: each with a probability in proportion to their inverse odds (1 - f) / f."""
    total = 0.0
    for e in entries:
        share = f[classes[e]]
        expected[e] = counts[e] * ((1.0 - share) / share)
        total += expected[e]
    for e in entries:
        expected[e] = counts[e] - expected[e] / total


@inner_kernel
def _tilt(log_odds: Floats, counts: Int64, entries: Int64, left: int, free: int) -> float:
    """What to add to all log-odds so that about `left` of the `free` people are expected to have x.

    All worlds of the group have the same number of x, so this multiplies their weights by one number and changes no
    probability. It puts the coefficients that are needed near the largest ones, where they do not underflow.
    """
    base = np.log(left / (free - left))
    least, most = log_odds[0], log_odds[0]
    for i in range(len(log_odds)):
        least, most = min(least, log_odds[i]), max(most, log_odds[i])
    low, high = base - most, base - least
    middle = base
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        mass = 0.0
        for i in range(len(entries)):
            mass += counts[entries[i]] / (1.0 + np.exp(-(log_odds[i] + middle)))
        if abs(mass - left) < 0.25:
            break
        if mass < left:
            low = middle
        else:
            high = middle
    return middle


@inner_kernel
def _mode(count: int, odds: float, low: int, high: int) -> int:
    """Which of the coefficients low..high of (1 + odds z)^count is the largest."""
    return min(max(int((count + 1) * odds / (1.0 + odds)), low), high)


@inner_kernel
def _binomial(coefficients: Floats, count: int, odds: float, low: int, high: int) -> tuple[int, int]:
    """Write coefficients low..high of (1 + odds z)^count, in units of the largest; returns the range that matters."""
    # From the largest coefficient outwards, each from its neighbour: no power and no factorial, so nothing overflows.
    mode = _mode(count, odds, low, high)
    coefficients[mode] = 1.0
    last = mode
    while last < high and coefficients[last] > NEGLIGIBLE:
        coefficients[last + 1] = coefficients[last] * (count - last) / (last + 1) * odds
        last += 1
    first = mode
    while first > low and coefficients[first] > NEGLIGIBLE:
        coefficients[first - 1] = coefficients[first] * first / (count - first + 1) / odds
        first -= 1
    return first, last


@inner_kernel
def _multiply(left: Floats, a: Int64, right: Floats, b: Int64, product: Floats, bounds: Int64, degree: int) -> float:
    """Write the product of two polynomials up to `degree`, in units of its largest coefficient, which is returned.

    `a`, `b` and `bounds` int64 (2,) are the ranges of the factors and, written here, of the product.
    """
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
    return largest


@inner_kernel
def _by_polynomials(
    f: Floats,
    classes: Int32,
    counts: Int64,
    entries: Int64,
    left: int,
    marked: int,
    expected: Floats,
) -> None:
    """Expected counts from generating polynomials.

    The coefficient of z^k in ((1 - f) + f z)^count is the weight of an entry having x k times; in the product over all
    entries that of z^left is the weight of all worlds. What an entry contributes to it follows from its own polynomial
    and the product of all others. Costs O(N n) for groups of different signatures.
    """
    m = len(entries)
    log_odds = np.empty(m)
    free = 0
    for i in range(m):
        share = f[classes[entries[i]]]
        log_odds[i] = np.log(share) - np.log1p(-share)
        free += counts[entries[i]]
    tilt = _tilt(log_odds, counts, entries, left, free)
    own, own_range = np.zeros((m, left + 1)), np.empty((m, 2), np.int64)
    for i in range(m):
        count = counts[entries[i]]
        low, high = max(0, left - (free - count)), min(count, left)
        own_range[i] = _binomial(own[i], count, np.exp(log_odds[i] + tilt), low, high)
        if entries[i] == marked:
            for k in range(own_range[i, 0], own_range[i, 1] + 1):
                own[i, k] *= k
    # before[i] is the product of entries 0..i-1 and after[i] of entries i..m-1. So the product without entry i is
    # before[i] * after[i + 1]: no division, which would lose digits, and no product of m - 1 factors for each entry.
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


@inner_kernel
def log_weight(f: Floats, classes: Int32, counts: Int64, n: int) -> float:
    """Logarithm of the weight of all worlds of a group of whom n have x, -inf if f contradicts n.

    The unit is the weight of the world in which nobody has x whose own f lies strictly between 0 and 1. Times that
    unit, it is how likely n people with x are if everyone has x with their own probability f.
    """
    sure, free, odds, n_open = 0, 0, 0.0, 0
    entries = np.empty(len(counts), np.int64)
    for e in range(len(counts)):
        share = f[classes[e]]
        if share >= 1.0:
            sure += counts[e]
        elif share > 0.0:
            entries[n_open] = e
            n_open += 1
            free += counts[e]
            odds += counts[e] * (share / (1.0 - share))
    left = n - sure
    if left < 0 or left > free:
        return -np.inf
    if left == 0:
        return 0.0
    if left == 1:
        return np.log(odds)
    return _log_coefficient(f, classes, counts, entries[:n_open], left, free)


@inner_kernel
def _log_coefficient(f: Floats, classes: Int32, counts: Int64, entries: Int64, left: int, free: int) -> float:
    """Logarithm of the coefficient of z^left in the product of (1 + odds z)^count over the entries."""
    m = len(entries)
    log_odds = np.empty(m)
    everybody = 0.0
    for i in range(m):
        share = f[classes[entries[i]]]
        log_odds[i] = np.log(share) - np.log1p(-share)
        everybody += counts[entries[i]] * log_odds[i]
    if left == free:
        return everybody
    tilt = _tilt(log_odds, counts, entries, left, free)
    # Every polynomial is kept in units of one of its coefficients; `scale` is the logarithm of all these units.
    scale = -left * tilt
    product, bounds = np.zeros(left + 1), np.zeros(2, np.int64)
    product[0] = 1.0
    for i in range(m):
        count, odds = counts[entries[i]], np.exp(log_odds[i] + tilt)
        low, high = max(0, left - (free - count)), min(count, left)
        own, own_range = np.zeros(left + 1), np.empty(2, np.int64)
        own_range[0], own_range[1] = _binomial(own, count, odds, low, high)
        mode = _mode(count, odds, low, high)
        scale += math.lgamma(count + 1.0) - math.lgamma(mode + 1.0) - math.lgamma(count - mode + 1.0)
        scale += mode * (log_odds[i] + tilt)
        longer, longer_bounds = np.zeros(left + 1), np.zeros(2, np.int64)
        scale += np.log(_multiply(product, bounds, own, own_range, longer, longer_bounds, left))
        product, bounds = longer, longer_bounds
    return scale + np.log(product[left])
