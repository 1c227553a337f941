"""Exchanging rows between classes to make the classes closer to the table and smaller.

An exchange swaps two rows of one bucket between their classes, so that no class changes its count of any bucket.

- `codes` int32 (n_rows, n_attributes): codes of the quasi-identifiers.
- `sensitive` int32 (n_rows, n_sensitive): codes of the sensitive attributes that the checks count.
- `members` int64 (n_members,): row numbers of the class at hand.
- `counts` int64 (n_counts,): memory for counts of sensitive values, laid out as in `KernelChecks`.
- `seen` int64 (n_codes,): memory for `class_loss`, all attributes' codes one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.attributes import CATEGORY, Attributes, width
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.compiler import call_level, inner_kernel, kernel
from anoncore.kernels.rounding import ROUNDING, lies_above

LEAST_GAIN = 1e-9
"""An exchange helps only if it lowers the cost by more: rounding must not bring two rows to and fro."""
PENALTY = 1e6
"""Weight of an excess over the threshold against information loss: closeness comes first."""


class Classes(NamedTuple):
    """Rows by class; exchanges change `group` and `members`.

    `group` int32 (n_rows,): class of every row. `members` int64 (n_rows,): rows class by class, those of class c at
    `starts[c]:starts[c + 1]`.
    """

    group: Int32
    members: Int64
    starts: Int64


class ClassesByBucket(NamedTuple):
    """Rows by bucket, and inside a bucket by the class that they had at first.

    `bucket` int32 (n_rows,): bucket of every row. `rows` int64 (n_rows,): those of bucket b are at
    `starts[b]:starts[b + 1]`; rows that stand near each other are of classes that lie near each other.
    """

    bucket: Int32
    rows: Int64
    starts: Int64


class Trials(NamedTuple):
    """Which exchanges are tried.

    `per_row`: how many for every row. `window`: how many places away in its bucket a row's partner is looked for; for
    a row of a class in excess also anywhere in the bucket. `only_excess`: only rows of classes in excess look for a
    partner. `seed` of the random choice of partners.
    """

    per_row: int
    window: int
    only_excess: bool
    seed: int


@inner_kernel
def worst_excess(checks: KernelChecks, counts: Int64, size: int) -> float:
    """By how much a group's levels exceed their thresholds (at most), in total; 0 if they all hold."""
    total = 0.0
    for i in range(checks.address.shape[0]):
        column = checks.column[i]
        begin, end = checks.count_start[column], checks.count_start[column + 1]
        reference = checks.reference[checks.reference_start[i] : checks.reference_start[i + 1]]
        level = call_level(checks.address[i], counts[begin:end], size, checks.unique[column], reference)
        if lies_above(level, checks.threshold[i], ROUNDING / 2):
            total += level - checks.threshold[i]
    return total


@inner_kernel
def class_excess(sensitive: Int32, checks: KernelChecks, members: Int64, out: int, into: int, counts: Int64) -> float:
    """Excess of a class with row `out` exchanged for row `into` (-1, -1: as it is)."""
    if checks.address.shape[0] == 0:
        return 0.0
    for cell in range(counts.shape[0]):
        counts[cell] = 0
    for member in members:
        row = into if member == out else member
        for column in range(sensitive.shape[1]):
            counts[checks.count_start[column] + sensitive[row, column]] += 1
    return worst_excess(checks, counts, members.shape[0])


@inner_kernel
def class_loss(
    codes: Int32, attributes: Attributes, members: Int64, out: int, into: int, seen: Int64, stamp: int
) -> float:
    """Information loss of a class, summed over rows and attributes, with row `out` exchanged for row `into`.

    `seen` has no entry above `stamp`; afterwards it may hold stamp + 1 .. stamp + attributes. Marks that rise from call
    to call tell which categories this call has met, so that nobody has to clear `seen`.
    """
    total = 0.0
    for a in range(attributes.form.shape[0]):
        begin = attributes.code_start[a]
        if attributes.code_start[a + 1] - begin == 1:
            continue
        mark = stamp + 1 + a
        distinct, low, high = 0, np.int64(1) << 40, np.int64(-1)
        for member in members:
            row = into if member == out else member
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
    return total * members.shape[0]


@kernel
def exchange(
    classes: Classes,
    by_bucket: ClassesByBucket,
    codes: Int32,
    attributes: Attributes,
    sensitive: Int32,
    checks: KernelChecks,
    trials: Trials,
) -> float:
    """Try exchanges for every row and keep those that help; the excess that is left in all classes.

    An exchange helps if it lowers the excess of the two classes or, at the same excess, their information loss.
    """
    np.random.seed(trials.seed)  # noqa: NPY002  (the compiled generator, which has no other form)
    group, members, starts = classes.group, classes.members, classes.starts
    n, n_classes = group.shape[0], starts.shape[0] - 1
    # Where each row stands in `members`, and where in `by_bucket.rows`: the inverses of both lists.
    in_class, in_bucket = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        in_class[members[i]] = i
        in_bucket[by_bucket.rows[i]] = i
    seen = np.zeros(attributes.code_start[-1], np.int64)
    counts = np.zeros(checks.count_start[-1], np.int64)
    stamp, n_attributes = 0, attributes.form.shape[0]
    loss, excess = np.empty(n_classes), np.empty(n_classes)
    for c in range(n_classes):
        mine = members[starts[c] : starts[c + 1]]
        loss[c] = class_loss(codes, attributes, mine, -1, -1, seen, stamp)
        excess[c] = class_excess(sensitive, checks, mine, -1, -1, counts)
        stamp += n_attributes
    for trial in range(trials.per_row):
        for row in range(n):
            c = group[row]
            if trials.only_excess and excess[c] == 0:
                continue
            bucket = by_bucket.bucket[row]
            first, end = by_bucket.starts[bucket], by_bucket.starts[bucket + 1]
            anywhere = excess[c] > 0 and trial % 2 == 0
            partner = _partner(in_bucket[row], first, end, anywhere, trials.window)
            if partner < 0:
                continue
            other = by_bucket.rows[partner]
            d = group[other]
            if c == d:
                continue
            # The parts of the new cost are computed one after the other, the cheap and telling ones first, and the
            # exchange is given up as soon as they exceed the present cost: most exchanges do not help.
            now = loss[c] + loss[d] + PENALTY * (excess[c] + excess[d])
            members_c, members_d = members[starts[c] : starts[c + 1]], members[starts[d] : starts[d + 1]]
            loss_c = class_loss(codes, attributes, members_c, row, other, seen, stamp)
            stamp += n_attributes
            if loss_c >= now:
                continue
            loss_d = class_loss(codes, attributes, members_d, other, row, seen, stamp)
            stamp += n_attributes
            if loss_c + loss_d >= now - LEAST_GAIN:
                continue
            excess_c = class_excess(sensitive, checks, members_c, row, other, counts)
            excess_d = class_excess(sensitive, checks, members_d, other, row, counts)
            if loss_c + loss_d + PENALTY * (excess_c + excess_d) >= now - LEAST_GAIN:
                continue
            loss[c], loss[d], excess[c], excess[d] = loss_c, loss_d, excess_c, excess_d
            members[in_class[row]], members[in_class[other]] = other, row
            in_class[row], in_class[other] = in_class[other], in_class[row]
            group[row], group[other] = d, c
    total = 0.0
    for c in range(n_classes):
        total += excess[c]
    return total


@inner_kernel
def _partner(position: int, first: int, end: int, anywhere: bool, window: int) -> int:
    """A random position of a bucket first..end-1 within reach of a row's `position`; -1 if it lies outside."""
    if end - first < 2:
        return -1
    if anywhere or end - first <= window:
        return first + np.random.randint(0, end - first)  # noqa: NPY002
    step = np.random.randint(1, window + 1)  # noqa: NPY002
    partner = position + step if np.random.random() < 0.5 else position - step  # noqa: NPY002
    return partner if first <= partner < end else -1
