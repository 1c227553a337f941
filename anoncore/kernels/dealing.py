"""Handing out rows to classes whose counts are given, so that every class is small in quasi-identifier space.

Each class needs a given number of rows of every bucket. A node is a run of rows that a run of classes shares; it is
split into two halves of its classes until every node is one class. At a split every bucket gives its lowest rows by one
attribute to the left half, as many as the left half needs of it (the bucket's quota).

- `codes` int32 (n_rows, n_attributes): codes of the quasi-identifiers of every row of the table.
- `bucket` int32 (n_rows,): bucket of every row of the table.
- `rows` int64 (n,): row numbers of a node, bucket by bucket.
- `slot` int32 (n,): the class of each place to fill, bucket by bucket as well: entry i is for a row of the bucket of
  `rows[i]`.
- `runs` int64 (n_runs, 3): for each bucket that the node has, where its rows begin and end in `rows`, and its quota.
- `tally` int64: memory for counts by code, as in `Draft`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.attributes import HIERARCHY, NUMBER, Attributes, largest_domain, widest
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.rounding import ACCUMULATED, lies_below
from anoncore.kernels.sorting import DIGIT_BITS, place_after, sort_in_place

SAMPLE = 512
"""Rows on which a large node compares the attributes it may be split by."""
NO_CODE = np.int64(2**31 - 1)
"""Above every code."""
CANDIDATES = 8
"""Attributes that are tried at a cut, the widest of the node first."""
SHORT_RUN = 16
"""Run length up to which insertion beats counting."""


WHOLE, LEFT, RIGHT = 0, 1, 2
"""What `Draft.counts` counts: a node, and the two sides that an attribute would give it."""


class Deal(NamedTuple):
    """The rows that are handed out and the places that they fill: `rows`, `slot`, `bucket` and `codes` as above."""

    rows: Int64
    slot: Int32
    bucket: Int32
    codes: Int32


class Draft(NamedTuple):
    """Memory for weighing the attributes of one node, whose rows are counted by its distinct codes.

    `tally` int64 (most codes of any attribute, or of a digit,): memory for counts; all 0 before and after every call.
    `rank` int32 (d, most rows): of every row, how many of the attribute's distinct codes are lower. `counts` int64 (3,
    d, most rows): rows with each distinct code in the node and on its two sides. `gap` float (d, most rows): how far
    each distinct code lies from the one before, for numbers. `n_distinct` int64 (d, 2): how many distinct codes there
    are, and how many nodes of a hierarchy below the root hold any. These nodes stand from the attribute's `node_start`
    on in `inside` int64 (n_nodes, 2), from which distinct code on and up to which each holds them, and `saved` float
    (n_nodes,), by how many codes it is smaller than its parent. `before` int64 (most rows + 1,): memory.
    """

    tally: Int64
    rank: Int32
    counts: Int64
    gap: Floats
    n_distinct: Int64
    inside: Int64
    saved: Floats
    before: Int64


@inner_kernel
def new_draft(attributes: Attributes, n_rows: int) -> Draft:
    """Memory for weighing nodes of up to `n_rows` rows, or of the sample that is drawn from a larger one."""
    d, most = len(attributes.form), min(n_rows, 2 * SAMPLE)
    n_nodes = attributes.node_start[d]
    return Draft(
        np.zeros(max(largest_domain(attributes), 1 << DIGIT_BITS), np.int64),
        np.empty((d, most), np.int32),
        np.empty((3, d, most), np.int64),
        np.empty((d, most)),
        np.empty((d, 2), np.int64),
        np.empty((n_nodes, 2), np.int64),
        np.empty(n_nodes),
        np.empty(most + 1, np.int64),
    )


@inner_kernel
def chances(n: int, drawn: int) -> Floats:
    """Chance that `drawn` random rows of n all lie among c of them, float (n + 1,) by c; for 0, all rows: 0, at n 1."""
    chance = np.zeros(n + 1)
    for c in range(1, n):
        left, share, power = drawn, c / n, 1.0
        # Squaring: as many steps as the number of draws has bits.
        while left > 0:
            if left & 1:
                power *= share
            share *= share
            left >>= 1
        chance[c] = power if drawn > 0 else 0.0
    chance[n] = 1.0
    return chance


@inner_kernel
def spreads(attributes: Attributes, draft: Draft, side: int, n: int, chance: Floats, widths: Floats) -> float:
    """Expected width of every attribute in random rows of a node or of a side, which has n rows; their sum.

    Writes the widths, 0 to 1 each, into `widths` float (d,). `chance` is what `chances` gives for n. A number's range
    passes a gap unless all draws fall on one side of it; a category is met unless all draws miss it; a hierarchy node
    is the common ancestor if all draws lie in it.
    """
    # All attributes in one function that calls no other: at every call numba counts references to all arrays.
    counts, before, result = draft.counts, draft.before, 0.0
    for a in range(len(widths)):
        n_distinct, form = draft.n_distinct[a, 0], attributes.form[a]
        widths[a] = 0.0
        if n_distinct < 2:
            continue
        total = 0.0
        if form == NUMBER:
            below = counts[side, a, 0]
            for i in range(1, n_distinct):
                total += draft.gap[a, i] * (1.0 - chance[below] - chance[n - below])
                below += counts[side, a, i]
        elif form == HIERARCHY:
            # The root's size, less what each deeper node saves if it holds all draws.
            base = attributes.node_start[a]
            before[0] = 0
            for i in range(n_distinct):
                before[i + 1] = before[i] + counts[side, a, i]
            total = attributes.last[base] - attributes.first[base] + 0.0
            for node in range(base, base + draft.n_distinct[a, 1]):
                held = before[draft.inside[node, 1]] - before[draft.inside[node, 0]]
                total -= chance[held] * draft.saved[node]
        else:
            for i in range(n_distinct):
                total += 1.0 - chance[n - counts[side, a, i]]
            # One category has width 0, so the width is the number of categories that are met, less 1.
            total = max(total - 1.0, 0.0)
        widths[a] = total / attributes.span[a]
        result += widths[a]
    return result


@inner_kernel
def rank_codes(attributes: Attributes, codes: Int32, rows: Int64, draft: Draft) -> None:
    """Write what `spreads` reads of a node into the draft: distinct codes, how many rows have them, their distances."""
    n, tally, keys = len(rows), draft.tally, draft.before
    for a in range(len(attributes.form)):
        begin, n_distinct = attributes.code_start[a], 0
        size = attributes.code_start[a + 1] - begin
        if size == 1:
            draft.n_distinct[a, 0] = 1
            continue
        for i in range(n):
            code = codes[rows[i], a]
            if tally[code] == 0 and size > 4 * n:
                keys[n_distinct] = code
                n_distinct += 1
            tally[code] += 1
        # Looking through all codes of the attribute costs O(size); sorting those that occur is faster where there are
        # many more codes than rows.
        if size <= 4 * n:
            for code in range(size):
                if tally[code] > 0:
                    keys[n_distinct] = code
                    n_distinct += 1
        else:
            sort_in_place(keys[:n_distinct])
        for i in range(n_distinct):
            draft.counts[WHOLE, a, i] = tally[keys[i]]
            tally[keys[i]] = i
        for i in range(n):
            draft.rank[a, i] = tally[codes[rows[i], a]]
        for i in range(n_distinct):
            tally[keys[i]] = 0
        draft.n_distinct[a, 0] = n_distinct
        if attributes.form[a] == NUMBER:
            for i in range(1, n_distinct):
                draft.gap[a, i] = attributes.position[begin + keys[i]] - attributes.position[begin + keys[i - 1]]
        elif attributes.form[a] == HIERARCHY:
            base, end = attributes.node_start[a], attributes.node_start[a + 1]
            found = base
            # The nodes below the root that hold any of the codes.
            for node in range(base + 1, end):
                low, high = attributes.first[node], attributes.last[node]
                first, last = place_after(keys[:n_distinct], low - 1), place_after(keys[:n_distinct], high)
                if first == last:
                    continue
                parent = base + attributes.parent[node]
                draft.inside[found, 0], draft.inside[found, 1] = first, last
                draft.saved[found] = attributes.last[parent] - attributes.first[parent] - (high - low)
                found += 1
            draft.n_distinct[a, 1] = found - base


@inner_kernel
def find_runs(rows: Int64, slot: Int32, bucket: Int32, middle: int) -> tuple[Int64, int]:
    """The node's runs, int64 (n_runs, 3), and how many rows go left: those for places of classes before `middle`."""
    n = len(rows)
    runs = np.empty((n, 3), np.int64)
    n_runs, n_left = -1, 0
    before = np.int32(-1)
    for i in range(n):
        mine = bucket[rows[i]]
        if mine != before or i == 0:
            n_runs += 1
            runs[n_runs, 0], runs[n_runs, 2] = i, 0
            before = mine
        goes_left = int(slot[i] < middle)
        runs[n_runs, 1] = i + 1
        runs[n_runs, 2] += goes_left
        n_left += goes_left
    return runs[: n_runs + 1], n_left


@inner_kernel
def divide(rows: Int64, runs: Int64, n_left: int, codes: Int32, a: int, tally: Int64) -> None:
    """Divide a node's rows: of every bucket as many as its quota, the lowest by attribute a, go left.

    The rows that go left, `n_left` in all, come first, bucket by bucket, then the others. Rows of equal codes keep
    their order.
    """
    n = len(rows)
    moved, keys = np.empty(n, np.int64), np.empty(n, np.int64)
    to_left, to_right = 0, n_left
    for run in range(len(runs)):
        begin, end, quota = runs[run, 0], runs[run, 1], runs[run, 2]
        # A bucket that goes to one side as a whole needs no order.
        if 0 < quota < end - begin:
            low, high = NO_CODE, np.int64(0)
            for i in range(begin, end):
                code = np.int64(codes[rows[i], a])
                keys[i] = code
                low, high = min(low, code), max(high, code)
            if end - begin <= SHORT_RUN:
                for i in range(begin + 1, end):
                    row, code, j = rows[i], keys[i], i - 1
                    while j >= begin and keys[j] > code:
                        rows[j + 1], keys[j + 1] = rows[j], keys[j]
                        j -= 1
                    rows[j + 1], keys[j + 1] = row, code
            else:
                # Placing the rows behind those of lower codes, by all digits of the code at once, or by one after the
                # other where that takes fewer counters.
                bits = 31 if high - low < max(4 * (end - begin), 1 << DIGIT_BITS) else DIGIT_BITS
                mask, shift = (np.int64(1) << bits) - 1, 0
                while shift == 0 or (high - low) >> shift > 0:
                    n_digits = min(mask, (high - low) >> shift) + 1
                    for i in range(begin, end):
                        moved[i] = rows[i]
                        tally[((keys[i] - low) >> shift) & mask] += 1
                    filled = begin
                    for digit in range(n_digits):
                        count = tally[digit]
                        tally[digit] = filled
                        filled += count
                    for i in range(begin, end):
                        digit = ((keys[i] - low) >> shift) & mask
                        rows[tally[digit]] = moved[i]
                        tally[digit] += 1
                    tally[:n_digits] = 0
                    shift += bits
                    if (high - low) >> shift > 0:
                        for i in range(begin, end):
                            keys[i] = codes[rows[i], a]
    for run in range(len(runs)):
        for i in range(runs[run, 0], runs[run, 1]):
            if i - runs[run, 0] < runs[run, 2]:
                moved[to_left] = rows[i]
                to_left += 1
            else:
                moved[to_right] = rows[i]
                to_right += 1
    for i in range(n):
        rows[i] = moved[i]


@inner_kernel
def sample_node(rows: Int64, runs: Int64, step: int) -> tuple[Int64, Int64, int]:
    """Every step-th row of a node with runs whose quotas are in proportion, and how many of the sample go left.

    What rounding a bucket's quota down leaves over is owed to the next bucket, so that the quotas add up.
    """
    n = len(rows)
    sample, sample_runs = np.empty(n // step + 1, np.int64), np.empty((n // step + 1, 3), np.int64)
    n_sample, n_runs, n_left, owed = 0, 0, 0, 0.5
    for run in range(len(runs)):
        begin, end = runs[run, 0], runs[run, 1]
        first = n_sample
        for i in range((begin + step - 1) // step * step, end, step):
            sample[n_sample] = rows[i]
            n_sample += 1
        if n_sample > first:
            owed += runs[run, 2] / (end - begin) * (n_sample - first)
            quota = min(int(owed), n_sample - first)
            owed -= quota
            n_left += quota
            sample_runs[n_runs, 0], sample_runs[n_runs, 1], sample_runs[n_runs, 2] = first, n_sample, quota
            n_runs += 1
    return sample[:n_sample], sample_runs[:n_runs], n_left


@inner_kernel
def best_attribute(
    rows: Int64,
    runs: Int64,
    n_left: int,
    codes: Int32,
    attributes: Attributes,
    drawn: tuple[int, int],
    draft: Draft,
) -> int:
    """The attribute by which the two sides of a node get the least expected width; of many, among the widest.

    `drawn`: how many random rows of the left and of the right side a class takes, as `chances` takes them. The rows of
    every bucket that is divided are sorted by each attribute that is tried.
    """
    n, d = len(rows), len(attributes.form)
    n_right = n - n_left
    rank_codes(attributes, codes, rows, draft)
    widths, of_side = np.empty(d), np.empty(d)
    spreads(attributes, draft, WHOLE, n, chances(n, max(drawn[0], drawn[1])), widths)
    if n_left == 0 or n_left == n:
        return widest(widths)
    on_left, on_right = chances(n_left, drawn[0]), chances(n_right, drawn[1])
    # Positions in `rows` are moved about instead of the rows, which the columns of ranks then need not follow.
    order, lefts, spare = np.arange(n), np.empty(n_left, np.int64), np.empty(n, np.int64)
    best, lowest = 0, np.inf
    for _ in range(min(CANDIDATES, d)):
        a = widest(widths)
        if widths[a] <= 0.0:
            break
        widths[a] = -1.0
        _sort_by_rank(order, runs, draft, a, lefts, spare)
        _count_sides(lefts, draft)
        cost = n_left * spreads(attributes, draft, LEFT, n_left, on_left, of_side)
        cost += n_right * spreads(attributes, draft, RIGHT, n_right, on_right, of_side)
        if lowest == np.inf or lies_below(cost, lowest, ACCUMULATED):
            best, lowest = a, cost
    for i in range(n):
        spare[i] = rows[order[i]]
    for i in range(n):
        rows[i] = spare[i]
    return best


@inner_kernel
def _sort_by_rank(order: Int64, runs: Int64, draft: Draft, a: int, lefts: Int64, spare: Int64) -> None:
    """Sort each divided bucket's positions by their rank in attribute a, equal ones as they stand; those that go left.

    `order` int64 (n,) are the positions bucket by bucket; `lefts` int64 (n_left,) is written; `spare` int64 (n,) is
    memory.
    """
    rank, tally, n_ranks, n_left = draft.rank, draft.tally, draft.n_distinct[a, 0], 0
    for run in range(len(runs)):
        begin, end, taken_left = runs[run, 0], runs[run, 1], runs[run, 2]
        n = end - begin
        # A bucket that goes to one side as a whole needs no order.
        if 0 < taken_left < n:
            if n <= SHORT_RUN or n * n <= 4 * n_ranks:
                for i in range(begin + 1, end):
                    place = order[i]
                    j = i - 1
                    while j >= begin and rank[a, order[j]] > rank[a, place]:
                        order[j + 1] = order[j]
                        j -= 1
                    order[j + 1] = place
            else:
                for i in range(begin, end):
                    spare[i] = order[i]
                    tally[rank[a, order[i]]] += 1
                filled = begin
                for i in range(n_ranks):
                    count = tally[i]
                    tally[i] = filled
                    filled += count
                for i in range(begin, end):
                    place = spare[i]
                    order[tally[rank[a, place]]] = place
                    tally[rank[a, place]] += 1
                tally[:n_ranks] = 0
        for i in range(begin, begin + taken_left):
            lefts[n_left] = order[i]
            n_left += 1


@inner_kernel
def _count_sides(lefts: Int64, draft: Draft) -> None:
    """Count the rows of both sides by the node's distinct codes; `lefts` int64 (n_left,): positions of the left one."""
    counts, rank = draft.counts, draft.rank
    for a in range(len(rank)):
        n_distinct = draft.n_distinct[a, 0]
        if n_distinct < 2:
            continue
        for i in range(n_distinct):
            counts[LEFT, a, i] = 0
        for place in lefts:
            counts[LEFT, a, rank[a, place]] += 1
        # What is not on the left is on the right.
        for i in range(n_distinct):
            counts[RIGHT, a, i] = counts[WHOLE, a, i] - counts[LEFT, a, i]


@kernel
def split_classes(deal: Deal, lo: int, hi: int, first: int, end: int, attributes: Attributes) -> int:
    """Split one node, as `split_node` does."""
    return split_node(deal, lo, hi, first, end, attributes, new_draft(attributes, hi - lo))


@inner_kernel
def split_node(deal: Deal, lo: int, hi: int, first: int, end: int, attributes: Attributes, draft: Draft) -> int:
    """Split a node of the classes first..end-1 into halves of its classes; where the right half's rows begin.

    The node's rows and places are `deal.rows[lo:hi]` and `deal.slot[lo:hi]`; both are moved so that the left half's
    come first. Each must have as many of every bucket as the other.
    """
    middle = (first + end) // 2
    n = hi - lo
    rows, slot = deal.rows[lo:hi], deal.slot[lo:hi]
    runs, n_left = find_runs(rows, slot, deal.bucket, middle)
    drawn = (_drawn(n, first, end, middle - first), _drawn(n, first, end, end - middle))
    if n <= 2 * SAMPLE:
        a = best_attribute(rows, runs, n_left, deal.codes, attributes, drawn, draft)
    else:
        sample, sample_runs, sample_left = sample_node(rows, runs, n // SAMPLE)
        a = best_attribute(sample, sample_runs, sample_left, deal.codes, attributes, drawn, draft)
    divide(rows, runs, n_left, deal.codes, a, draft.tally)
    _divide_slots(slot, middle)
    return lo + n_left


@inner_kernel
def _drawn(n: int, first: int, end: int, n_classes: int) -> int:
    """How many rows a class takes of a side with `n_classes` classes, as `spread` takes them.

    0, all of them, where the side is one class. At least 2 elsewhere: one row has no width, so it could not tell the
    attributes apart.
    """
    return 0 if n_classes == 1 else max(n // (end - first), 2)


@inner_kernel
def _divide_slots(slot: Int32, middle: int) -> None:
    """Move the places of the classes before `middle` to the front; the order within both parts stays."""
    n_slots, filled = len(slot), 0
    before = np.empty(n_slots, np.int32)
    for i in range(n_slots):
        before[i] = slot[i]
    for i in range(n_slots):
        if before[i] < middle:
            slot[filled] = before[i]
            filled += 1
    for i in range(n_slots):
        if before[i] >= middle:
            slot[filled] = before[i]
            filled += 1


@inner_kernel
def _push(waiting: Int64, n_waiting: int, lo: int, hi: int, first: int, end: int) -> int:
    """Put a node on the stack; how many wait there now."""
    waiting[n_waiting, 0], waiting[n_waiting, 1] = lo, hi
    waiting[n_waiting, 2], waiting[n_waiting, 3] = first, end
    return n_waiting + 1


@kernel
def hand_out(deal: Deal, lo: int, hi: int, first: int, end: int, attributes: Attributes, group: Int32) -> None:
    """Split the node of rows lo..hi-1 and classes first..end-1 until every node is one class.

    Writes the class of each row into `group` int32 (n_rows,).
    """
    n, d = hi - lo, len(attributes.form)
    rows = deal.rows[lo:hi]
    # The node's rows get numbers and a copy of their codes of their own: reading those of a large table, here and
    # there, would take most of the time.
    codes, bucket = np.empty((n, d), np.int32), np.empty(n, np.int32)
    for i in range(n):
        bucket[i] = deal.bucket[rows[i]]
        for a in range(d):
            codes[i, a] = deal.codes[rows[i], a]
    mine = Deal(np.arange(n), deal.slot[lo:hi], bucket, codes)
    draft = new_draft(attributes, n)
    # A stack of nodes. Every split halves the classes and leaves one node more waiting, so 128 entries are enough for
    # 2^64 classes.
    waiting = np.empty((128, 4), np.int64)
    n_waiting = _push(waiting, 0, 0, n, first, end)
    while n_waiting > 0:
        n_waiting -= 1
        lo, hi = waiting[n_waiting, 0], waiting[n_waiting, 1]
        first, end = waiting[n_waiting, 2], waiting[n_waiting, 3]
        if end - first == 1:
            for i in range(lo, hi):
                group[rows[mine.rows[i]]] = first
            continue
        cut = split_node(mine, lo, hi, first, end, attributes, draft)
        middle = (first + end) // 2
        n_waiting = _push(waiting, n_waiting, lo, cut, first, middle)
        n_waiting = _push(waiting, n_waiting, cut, hi, middle, end)
