"""Buckets of slicing where several sensitive attributes are protected, or a requirement must hold in every bucket.

The same buckets as in `slicing_buckets`, but a split must keep everybody diverse in every sensitive attribute, each by
sums of its own, and both of its sides must satisfy the requirements. Rows hold the codes of the quasi-identifiers; then
the cells of each attribute's `Signatures`, one after the other; then the sensitive values that requirements count; last
the row's number in the input table.

Source: Li et al., Slicing, TKDE 2012, sections 3.2 and 4.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64
from anoncore.kernels.attributes import Attributes, widest, width
from anoncore.kernels.checking import KernelChecks, all_hold
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.slicing import (
    LEFT,
    ONE,
    RIGHT,
    Masses,
    Signatures,
    clear_counts,
    count_row,
    replace,
    split_holds,
    take_away,
    touch,
)
from anoncore.kernels.slicing_buckets import DONE, HEAD, STALE, TAIL, Buckets, median_cut, sum_masses
from anoncore.kernels.splitting import THRESHOLD, Split, extent, make_split, mark_left, split_rows


class Guards(NamedTuple):
    """What every split must keep: l of each sensitive attribute in `l` float (n_sensitive,), and the requirements.

    `first_view`: the column of the rows from which on stand the sensitive values that the checks count. `distinct`,
    `retry` and `content` are as in `slicing_buckets.Wanted`.
    """

    l: Floats
    distinct: bool
    retry: bool
    content: Int64
    first_view: int


@inner_kernel
def _sides_hold(
    rows: Int32, lo: int, hi: int, is_left: Bools, n_left: int, first_view: int, checks: KernelChecks
) -> bool:
    """Whether both sides of a split satisfy the requirements."""
    if n_left < checks.minimum_rows or hi - lo - n_left < checks.minimum_rows:
        return False
    if checks.address.shape[0] == 0:
        return True
    left, right = np.zeros(checks.count_start[-1], np.int64), np.zeros(checks.count_start[-1], np.int64)
    for row in range(lo, hi):
        for view in range(checks.count_start.shape[0] - 1):
            place = checks.count_start[view] + rows[row, first_view + view]
            if is_left[row - lo]:
                left[place] += 1
            else:
                right[place] += 1
    return all_hold(checks, left, n_left) and all_hold(checks, right, hi - lo - n_left)


@inner_kernel
def _is_allowed(
    rows: Int32,
    lo: int,
    hi: int,
    n_touched: Int64,
    split: Split,
    tables: tuple[Signatures, ...],
    masses: tuple[Masses, ...],
    checks: KernelChecks,
    guards: Guards,
    is_left: Bools,
) -> bool:
    """Whether a split keeps everything; if so, the counts of its sides are left in the masses of every attribute.

    `is_left` is memory as in `mark_left`.
    """
    mark_left(rows, lo, hi, split, guards.content, is_left)
    n_left, n_right = split.left, hi - lo - split.left
    if not _sides_hold(rows, lo, hi, is_left, n_left, guards.first_view, checks):
        return False
    for number in range(len(tables)):
        table, sums = tables[number], masses[number]
        for row in range(lo, hi):
            count_row(rows, row, LEFT if is_left[row - lo] else RIGHT, table, sums, ONE)
        if not split_holds(n_touched[number], n_left, n_right, table, sums, guards.l[number], guards.distinct):
            for counted in range(number + 1):
                for row in range(lo, hi):
                    side = LEFT if is_left[row - lo] else RIGHT
                    count_row(rows, row, side, tables[counted], masses[counted], -ONE)
            return False
    return True


@inner_kernel
def _find_split(
    rows: Int32,
    lo: int,
    hi: int,
    n_touched: Int64,
    tables: tuple[Signatures, ...],
    masses: tuple[Masses, ...],
    checks: KernelChecks,
    attributes: Attributes,
    guards: Guards,
    is_left: Bools,
) -> Split:
    """The first allowable split, widest attribute first; its left size is 0 if there is none."""
    n_attributes = attributes.form.shape[0]
    low, high = np.empty(n_attributes, np.int32), np.empty(n_attributes, np.int32)
    extent(rows, lo, hi, low, high)
    widths = np.empty(n_attributes, np.float64)
    for a in range(n_attributes):
        widths[a] = width(attributes, a, low[a], high[a])
    for _ in range(n_attributes):
        a = widest(widths)
        if widths[a] <= 0.0:
            break
        widths[a] = -1.0
        for shared in range(2):
            split = median_cut(rows, lo, hi, a, low[a], high[a], shared == 1)
            if split.left > 0 and _is_allowed(rows, lo, hi, n_touched, split, tables, masses, checks, guards, is_left):
                return split
            if not guards.retry:
                return make_split(THRESHOLD, 0, 0, 0)
    return make_split(THRESHOLD, 0, 0, 0)


@kernel
def split_guarded_buckets(
    buckets: Buckets,
    tables: tuple[Signatures, ...],
    masses: tuple[Masses, ...],
    checks: KernelChecks,
    attributes: Attributes,
    guards: Guards,
    budget: int,
    anew: bool,
) -> bool:
    """Take buckets from the queue until it is empty (False) or about `budget` rows and signatures were visited (True).

    `tables` and `masses` have an entry per sensitive attribute. With `anew` all masses are first summed over all
    buckets.
    """
    rows, places = buckets.rows, buckets.places
    n_touched = np.zeros(len(tables), np.int64)
    is_left, ends = np.empty(rows.shape[0], np.bool_), np.empty(2, np.int64)
    work, stale = 0, anew
    while places[HEAD] < places[TAIL] or stale:
        if stale:
            for number in range(len(tables)):
                sum_masses(buckets, tables[number], masses[number], guards.distinct)
            stale = False
            continue
        if work >= budget:
            return True
        lo, hi = buckets.queue[0, places[HEAD]], buckets.queue[1, places[HEAD]]
        places[HEAD] += 1
        work += hi - lo
        for number in range(len(tables)):
            n_touched[number] = touch(rows, lo, hi, tables[number], masses[number])
            work += n_touched[number]
            take_away(n_touched[number], hi - lo, tables[number], masses[number], guards.distinct)
        split = _find_split(rows, lo, hi, n_touched, tables, masses, checks, attributes, guards, is_left)
        lowest = 1.0
        for number in range(len(tables)):
            table, sums = tables[number], masses[number]
            if split.left > 0:
                left = split.left
                kept = replace(n_touched[number], hi - lo, left, hi - lo - left, table, sums, guards.distinct)
                lowest = min(lowest, kept)
            clear_counts(rows, lo, hi, table, sums)
        if split.left == 0:
            places[DONE] += hi - lo
            continue
        split_rows(rows, buckets.spare, lo, hi, split, guards.content, attributes, is_left, ends)
        buckets.begins[ends[0]] = 1
        for begin, end in ((lo, ends[0]), (ends[0], hi)):
            buckets.queue[0, places[TAIL]], buckets.queue[1, places[TAIL]] = begin, end
            places[TAIL] += 1
        stale = lowest < STALE
    return False
