"""Exchanging rows of one bucket between classes to make the classes closer and smaller."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.attributes import CATEGORY, Attributes, width
from anoncore.kernels.checking import TOLERANCE, KernelChecks
from anoncore.kernels.compiler import call_level, kernel

PENALTY = 1e6
"""Weight of an excess over the threshold against information loss: closeness comes first."""


@kernel
def worst_excess(checks: KernelChecks, counts: Int64, size: int) -> float:
    """By how much a group's levels exceed their thresholds (at most), in total; 0 if they all hold."""
    total = 0.0
    for i in range(checks.address.shape[0]):
        column = checks.column[i]
        begin, end = checks.count_start[column], checks.count_start[column + 1]
        reference = checks.reference[checks.reference_start[i] : checks.reference_start[i + 1]]
        level = call_level(checks.address[i], counts[begin:end], size, checks.unique[column], reference)
        if level > checks.threshold[i] + TOLERANCE / 2:
            total += level - checks.threshold[i]
    return total


@kernel
def class_excess(
    checks: KernelChecks, sensitive: Int32, members: Int64, lo: int, hi: int, out: int, into: int, counts: Int64
) -> float:
    """Excess of the class members[lo:hi] with row `out` exchanged for row `into` (-1, -1: as it is)."""
    if checks.address.shape[0] == 0:
        return 0.0
    counts[:] = 0
    for i in range(lo, hi):
        row = members[i]
        if row == out:
            row = into
        for column in range(sensitive.shape[1]):
            counts[checks.count_start[column] + sensitive[row, column]] += 1
    return worst_excess(checks, counts, hi - lo)


@kernel
def class_loss(
    attributes: Attributes, codes: Int32, members: Int64, lo: int, hi: int, out: int, into: int, seen: Int64, stamp: int
) -> float:
    """Information loss of a class, summed over rows and attributes, with row `out` exchanged for row `into`.

    `seen` has one entry per code and none above `stamp`; afterwards it may hold stamp + 1 .. stamp + attributes.
    """
    total = 0.0
    for a in range(attributes.form.shape[0]):
        begin = attributes.code_start[a]
        if attributes.code_start[a + 1] - begin == 1:
            continue
        mark = stamp + 1 + a
        distinct, low, high = 0, np.int64(1) << 40, np.int64(-1)
        for i in range(lo, hi):
            row = members[i]
            if row == out:
                row = into
            code = np.int64(codes[row, a])
            if attributes.form[a] == CATEGORY:
                if seen[begin + code] != mark:
                    seen[begin + code] = mark
                    distinct += 1
            else:
                low, high = min(low, code), max(high, code)
        if attributes.form[a] == CATEGORY:
            total += (distinct - 1) / attributes.span[a]
        else:
            total += width(attributes, a, int(low), int(high))
    return total * (hi - lo)


@kernel
def exchange(
    group: Int32,
    members: Int64,
    starts: Int64,
    bucket: Int32,
    bucket_start: Int64,
    by_bucket: Int64,
    codes: Int32,
    attributes: Attributes,
    sensitive: Int32,
    checks: KernelChecks,
    trials: int,
    window: int,
    needy: bool,
    seed: int,
) -> float:
    """Try exchanges for every row, `trials` times, and keep those that help; the excess that is left in all classes.

    An exchange swaps two rows of one bucket between their classes, so that no class changes its count of any bucket.
    It helps if it lowers the excess of the two classes or, at the same excess, their information loss. Partners are up
    to `window` places away in `by_bucket` (rows by bucket, then class); for a class in excess also any. If `needy`,
    only rows of classes in excess look for a partner.
    """
    np.random.seed(seed)  # noqa: NPY002  (the compiled generator, which has no other form)
    n, n_classes = group.shape[0], starts.shape[0] - 1
    where, place = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        where[members[i]] = i
        place[by_bucket[i]] = i
    seen = np.zeros(attributes.code_start[-1], np.int64)
    counts = np.zeros(checks.count_start[-1], np.int64)
    stamp, step = 0, attributes.form.shape[0]
    loss, excess = np.empty(n_classes), np.empty(n_classes)
    for c in range(n_classes):
        loss[c] = class_loss(attributes, codes, members, starts[c], starts[c + 1], -1, -1, seen, stamp)
        excess[c] = class_excess(checks, sensitive, members, starts[c], starts[c + 1], -1, -1, counts)
        stamp += step
    for trial in range(trials):
        for row in range(n):
            if needy and excess[group[row]] == 0:
                continue
            first, end = bucket_start[bucket[row]], bucket_start[bucket[row] + 1]
            partner = _partner(row, place[row], first, end, excess[group[row]] > 0 and trial % 2 == 0, window)
            if partner < 0:
                continue
            other = by_bucket[partner]
            c, d = group[row], group[other]
            if c == d:
                continue
            now = loss[c] + loss[d] + PENALTY * (excess[c] + excess[d])
            lo, hi, to, up = starts[c], starts[c + 1], starts[d], starts[d + 1]
            new_c = class_loss(attributes, codes, members, lo, hi, row, other, seen, stamp)
            stamp += step
            if new_c >= now:
                continue
            new_d = class_loss(attributes, codes, members, to, up, other, row, seen, stamp)
            stamp += step
            if new_c + new_d >= now - TOLERANCE:
                continue
            over_c = class_excess(checks, sensitive, members, lo, hi, row, other, counts)
            over_d = class_excess(checks, sensitive, members, to, up, other, row, counts)
            if new_c + new_d + PENALTY * (over_c + over_d) >= now - TOLERANCE:
                continue
            loss[c], loss[d], excess[c], excess[d] = new_c, new_d, over_c, over_d
            members[where[row]], members[where[other]] = other, row
            where[row], where[other] = where[other], where[row]
            group[row], group[other] = d, c
    return excess.sum()


@kernel
def _partner(row: int, place: int, first: int, end: int, anywhere: bool, window: int) -> int:
    """A random place of the row's bucket within reach, -1 if it is outside the bucket."""
    if end - first < 2:
        return -1
    if anywhere or end - first <= window:
        return first + np.random.randint(0, end - first)  # noqa: NPY002
    step = np.random.randint(1, window + 1)  # noqa: NPY002
    partner = place + step if np.random.random() < 0.5 else place - step  # noqa: NPY002
    return partner if first <= partner < end else -1
