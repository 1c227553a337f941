"""Exchanging rows between classes to make the classes closer to the table and smaller.

An exchange swaps two rows of one bucket between their classes, so that no class changes its count of any bucket.

- `codes` int32 (n_rows, n_attributes): codes of the quasi-identifiers.
- `cells` int32 (n_rows, n_sensitive): where the sensitive values of a row are counted, as in `checking`.
- `members` int64 (n_members,): row numbers of the class at hand.
- `counts` int64 (n_counts,): memory for counts of sensitive values, laid out as in `KernelChecks`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.attributes import CATEGORY, NUMBER, Attributes
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.compiler import call_level, inlined_kernel, inner_kernel, kernel
from anoncore.kernels.grouping import ones
from anoncore.kernels.rounding import ROUNDING, lies_above

LEAST_GAIN = 1e-9
"""An exchange helps only if it lowers the cost by more: rounding must not bring two rows to and fro."""
NO_CODE = np.int64(2**31 - 1)
"""Above every code, and all the bits of a code."""
BLOCK = 32
"""Rows whose partners are drawn before the first of them is tried."""
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


class Outlines(NamedTuple):
    """What a class's information loss depends on, so that a changed row costs a look at the class, not at its rows.

    `words` int64 (n_classes, d, 2). Of categories: a bit, number code & 63, for each that occurs, and for each that
    occurs twice. Else: the lowest code and, from bit 32 on, the second lowest row's (`NO_CODE` without one); the
    highest code and, from bit 32 on, 1 more than the second highest row's (0 without one). `distinct` int32 (n_classes,
    d): how many categories there are, read where there are too many for the bits. `seen` int64 (n_codes,): memory for
    `write_outline`, all attributes' codes one after the other.
    """

    words: Int64
    distinct: Int32
    seen: Int64


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
    for i in range(len(checks.address)):
        column = checks.column[i]
        begin, end = checks.count_start[column], checks.count_start[column + 1]
        reference = checks.reference[checks.reference_start[i] : checks.reference_start[i + 1]]
        level = call_level(checks.address[i], counts[begin:end], size, checks.unique[column], reference)
        if lies_above(level, checks.threshold[i], ROUNDING / 2):
            total += level - checks.threshold[i]
    return total


@inner_kernel
def class_excess(cells: Int32, checks: KernelChecks, members: Int64, out: int, into: int, counts: Int64) -> float:
    """Excess of a class with row `out` exchanged for row `into` (-1, -1: as it is)."""
    if len(checks.address) == 0:
        return 0.0
    counts[:] = 0
    for member in members:
        row = into if member == out else member
        # Not by `count_cells`: a call here makes the loop of all exchanges a sixth slower.
        for column in range(cells.shape[1]):
            counts[cells[row, column]] += 1
    return worst_excess(checks, counts, len(members))


@inner_kernel
def write_outline(
    codes: Int32, attributes: Attributes, members: Int64, c: int, outlines: Outlines, stamp: int
) -> float:
    """Write the outline of class c, whose rows are `members`; its information loss, summed over rows and attributes.

    `outlines.seen` has no entry above `stamp`; afterwards it may hold stamp + 1 .. stamp + attributes. Marks that rise
    from call to call tell which categories this call has met, so that nobody has to clear `seen`.
    """
    total = 0.0
    for a in range(len(attributes.form)):
        begin = attributes.code_start[a]
        if attributes.code_start[a + 1] - begin == 1:
            continue
        if attributes.form[a] == CATEGORY:
            mark = stamp + 1 + a
            distinct, met, met_twice = 0, np.int64(0), np.int64(0)
            for member in members:
                code = np.int64(codes[member, a])
                bit = np.int64(1) << (code & 63)
                met_twice |= met & bit
                met |= bit
                if outlines.seen[begin + code] != mark:
                    outlines.seen[begin + code] = mark
                    distinct += 1
            outlines.distinct[c, a] = distinct
            outlines.words[c, a, 0], outlines.words[c, a, 1] = met, met_twice
            total += (distinct - 1) / attributes.span[a]
            continue
        low, second_low, high, second_high = NO_CODE, NO_CODE, np.int64(-1), np.int64(-1)
        for member in members:
            code = np.int64(codes[member, a])
            if code < low:
                low, second_low = code, low
            else:
                second_low = min(second_low, code)
            if code > high:
                high, second_high = code, high
            else:
                second_high = max(second_high, code)
        outlines.words[c, a, 0] = low | second_low << 32
        outlines.words[c, a, 1] = high | (second_high + 1) << 32
        total += _width(attributes, a, int(low), int(high))
    return total * len(members)


@inner_kernel
def _width(attributes: Attributes, a: int, low: int, high: int) -> float:
    """`attributes.width` of an attribute that is no category, so short that it becomes a part of the loops above.

    numba counts references to all arrays at every call of a function that calls another one, which takes longer than
    the work itself.
    """
    begin = attributes.code_start[a]
    if attributes.form[a] == NUMBER:
        return (attributes.position[begin + high] - attributes.position[begin + low]) / attributes.span[a]
    base, node = attributes.node_start[a], attributes.leaf[begin + low]
    while attributes.last[base + node] < high:
        node = attributes.parent[base + node]
    return (attributes.last[base + node] - attributes.first[base + node]) / attributes.span[a]


@inlined_kernel
def loss_after(
    codes: Int32,
    attributes: Attributes,
    classes: Classes,
    outlines: Outlines,
    c: int,
    out: int,
    into: int,
) -> float:
    """Information loss of class c with row `out` exchanged for row `into`, summed over rows and attributes."""
    form, span, code_start, words = attributes.form, attributes.span, attributes.code_start, outlines.words
    total = 0.0
    for a in range(len(form)):
        size = code_start[a + 1] - code_start[a]
        if size == 1:
            continue
        gone, new = np.int64(codes[out, a]), np.int64(codes[into, a])
        first, second = words[c, a, 0], words[c, a, 1]
        if form[a] == CATEGORY:
            if size <= 64:
                left = first ^ (~second & (np.int64(1) << gone)) if gone != new else first
                distinct = ones(np.uint64(left | np.int64(1) << new))
            else:
                distinct = int(outlines.distinct[c, a])
                if gone != new:
                    # Several codes share a bit: that it is set says only that one of them may be there.
                    left = (second >> (gone & 63)) & 1 == 1 and _has(codes, a, classes, c, int(gone), out)
                    there = (first >> (new & 63)) & 1 == 1 and _has(codes, a, classes, c, int(new), out)
                    distinct += int(not there) - int(not left)
            total += (distinct - 1) / span[a]
            continue
        # The lowest and highest code of the others: where the row that goes has the edge, the second one.
        low, high = first & NO_CODE, second & NO_CODE
        low = first >> 32 if gone == low else low
        high = (second >> 32) - 1 if gone == high else high
        total += _width(attributes, a, min(low, new), max(high, new))
    return total * (classes.starts[c + 1] - classes.starts[c])


@inner_kernel
def _has(codes: Int32, a: int, classes: Classes, c: int, code: int, without: int) -> bool:
    """Whether class c has a row with this code of attribute a, other than the row `without`."""
    for i in range(classes.starts[c], classes.starts[c + 1]):
        member = classes.members[i]
        if member != without and codes[member, a] == code:
            return True
    return False


@kernel
def exchange(
    classes: Classes,
    by_bucket: ClassesByBucket,
    codes: Int32,
    attributes: Attributes,
    cells: Int32,
    checks: KernelChecks,
    trials: Trials,
) -> float:
    """Try exchanges for every row and keep those that help; the excess that is left in all classes.

    An exchange helps if it lowers the excess of the two classes or, at the same excess, their information loss.
    """
    np.random.seed(trials.seed)  # noqa: NPY002  (the compiled generator, which has no other form)
    group, members, starts = classes.group, classes.members, classes.starts
    n, n_classes = len(group), len(starts) - 1
    # Where each row stands in `members`, and where in `by_bucket.rows`: the inverses of both lists.
    in_class, in_bucket = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        in_class[members[i]] = i
        in_bucket[by_bucket.rows[i]] = i
    d = len(attributes.form)
    outlines = Outlines(
        np.zeros((n_classes, d, 2), np.int64),
        np.zeros((n_classes, d), np.int32),
        np.zeros(attributes.code_start[-1], np.int64),
    )
    counts = np.zeros(checks.count_start[-1], np.int64)
    stamp = 0
    loss, excess = np.empty(n_classes), np.empty(n_classes)
    for c in range(n_classes):
        mine = members[starts[c] : starts[c + 1]]
        loss[c] = write_outline(codes, attributes, mine, c, outlines, stamp)
        excess[c] = class_excess(cells, checks, mine, -1, -1, counts)
        stamp += d
    # Without checks no excess decides whom a row may be exchanged with. Then partners are drawn ahead, and what is read
    # about both classes is read once for the whole block: a processor fetches many places of memory at a time, but
    # waits for each that the next step depends on.
    checked = len(checks.address) > 0
    partners, fetched = np.empty(BLOCK, np.int64), np.zeros(1, np.int64)
    for trial in range(trials.per_row):
        for row in range(n):
            if row % BLOCK == 0 and not checked:
                end_of_block = min(row + BLOCK, n)
                for i in range(row, end_of_block):
                    bucket = by_bucket.bucket[i]
                    first, end = by_bucket.starts[bucket], by_bucket.starts[bucket + 1]
                    partners[i - row] = _partner(in_bucket[i], first, end, False, trials.window)
                found = np.int64(0)
                for i in range(row, end_of_block):
                    other = by_bucket.rows[max(partners[i - row], 0)]
                    found ^= codes[other, 0] ^ codes[other, d - 1]
                    for a in range(0, d, 3):
                        found ^= outlines.words[group[i], a, 0] ^ outlines.words[group[other], a, 0]
                fetched[0] ^= found
            c = group[row]
            if trials.only_excess and excess[c] == 0:
                continue
            partner = partners[row % BLOCK]
            if checked:
                bucket = by_bucket.bucket[row]
                first, end = by_bucket.starts[bucket], by_bucket.starts[bucket + 1]
                anywhere = excess[c] > 0 and trial % 2 == 0
                partner = _partner(in_bucket[row], first, end, anywhere, trials.window)
            if partner < 0:
                continue
            other = by_bucket.rows[partner]
            e = group[other]
            if c == e:
                continue
            # The parts of the new cost are computed one after the other, the cheap and telling ones first, and the
            # exchange is given up as soon as they exceed the present cost: most exchanges do not help.
            now = loss[c] + loss[e] + PENALTY * (excess[c] + excess[e])
            loss_c = loss_after(codes, attributes, classes, outlines, c, row, other)
            if loss_c >= now:
                continue
            loss_e = loss_after(codes, attributes, classes, outlines, e, other, row)
            if loss_c + loss_e >= now - LEAST_GAIN:
                continue
            members_c, members_e = members[starts[c] : starts[c + 1]], members[starts[e] : starts[e + 1]]
            excess_c = class_excess(cells, checks, members_c, row, other, counts)
            excess_e = class_excess(cells, checks, members_e, other, row, counts)
            if loss_c + loss_e + PENALTY * (excess_c + excess_e) >= now - LEAST_GAIN:
                continue
            excess[c], excess[e] = excess_c, excess_e
            members[in_class[row]], members[in_class[other]] = other, row
            in_class[row], in_class[other] = in_class[other], in_class[row]
            group[row], group[other] = e, c
            loss[c] = write_outline(codes, attributes, members_c, c, outlines, stamp)
            loss[e] = write_outline(codes, attributes, members_e, e, outlines, stamp + d)
            stamp += 2 * d
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
