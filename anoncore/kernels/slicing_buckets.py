"""Tuple partitioning of slicing: buckets split one after another, first in first out, as Mondrian would.

A bucket is a run of rows lo..hi-1 of `Buckets.rows` int32 (n_rows, n_columns). Its columns are the codes of the
quasi-identifiers; then the cells that the `slicing.Signatures` of each sensitive attribute describe, attribute after
attribute; then the sensitive values that requirements count; last the row's number in the input table. A split moves
the bucket's rows so that each side is a run again. `l` is met by the whole table or not at all, so every split is tried
on the sums of `slicing.Masses`, which each sensitive attribute has for itself, before a row is moved.

Source: Li et al., Slicing, TKDE 2012, sections 3.2 and 4.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Bytes, Floats, Int32, Int64
from anoncore.kernels.attributes import Attributes, widest, width
from anoncore.kernels.checking import KernelChecks, all_hold, count_cells
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.mondrian import median_code
from anoncore.kernels.slicing import (
    LEFT,
    NONE,
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
from anoncore.kernels.splitting import SHARED_MEDIAN, THRESHOLD, Split, extent, make_split, mark_left, split_rows

HEAD, TAIL, DONE = 0, 1, 2
STALE = 1e-15
"""A total this small beside its peak is made anew: double-double sums keep 31 digits, the check needs 16."""


class Guards(NamedTuple):
    """What every split must keep, and how far a split is looked for.

    `l` float (n_sensitive,): the diversity of every signature in each sensitive attribute, that is its number of
    possible values (`distinct`), or else 1 / its largest probability. `retry`: further attributes are tried where the
    widest one has no allowable split. `content` int64 (n_words, n_rows) orders rows by their content. `first_view`: the
    column of the rows from which on stand the sensitive values that the requirements count.
    """

    l: Floats
    distinct: bool
    retry: bool
    content: Int64
    first_view: int


class Buckets(NamedTuple):
    """The rows of a table while they are cut into buckets.

    `rows` int32 (n_rows, n_columns): moved so that each bucket is a run; `spare` is memory of its shape. `begins` uint8
    (n_rows,): 1 at the first row of each bucket. `queue` int64 (2, 2 n_rows): first row and end of the buckets that
    wait to be split. `places` int64 (3,): the queue's HEAD and TAIL, and the number of rows that are DONE, in buckets
    that are final.
    """

    rows: Int32
    spare: Int32
    begins: Bytes
    queue: Int64
    places: Int64


@inner_kernel
def median_cut(rows: Int32, lo: int, hi: int, a: int, low: int, high: int, shared: bool) -> Split:
    """Mondrian's cut of an attribute: the more balanced clean cut beside its median, or (shared) the halves.

    The left size of the halves is 0 where the clean cut below the median value is as good.
    """
    n = hi - lo
    value, below, up_to = median_code(rows, lo, hi, a, low, high)
    if shared:
        return make_split(SHARED_MEDIAN, a, value, n // 2 if below < n // 2 else 0)
    if min(below, n - below) >= min(up_to, n - up_to):
        return make_split(THRESHOLD, a, value - 1, below)
    return make_split(THRESHOLD, a, value, up_to)


@inner_kernel
def _sides_hold(
    rows: Int32, lo: int, hi: int, is_left: Bools, n_left: int, first_view: int, checks: KernelChecks
) -> bool:
    """Whether both sides of a split satisfy the requirements."""
    if n_left < checks.minimum_rows or hi - lo - n_left < checks.minimum_rows:
        return False
    if len(checks.address) == 0:
        return True
    counts = np.zeros((2, checks.count_start[-1]), np.int64)
    cells = rows[:, first_view : rows.shape[1] - 1]
    for row in range(lo, hi):
        count_cells(counts[int(is_left[row - lo])], cells[row], 1)
    return all_hold(checks, counts[1], n_left) and all_hold(checks, counts[0], hi - lo - n_left)


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
    n_attributes = len(attributes.form)
    low, high = np.empty(n_attributes, np.int32), np.empty(n_attributes, np.int32)
    extent(rows, lo, hi, low, high)
    widths = np.empty(n_attributes)
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


@inner_kernel
def _add_bucket(rows: Int32, lo: int, hi: int, table: Signatures, masses: Masses, distinct: bool) -> None:
    """Add one bucket's rows to the masses."""
    # The bucket counts as the left side of a split of nothing.
    n_touched = touch(rows, lo, hi, table, masses)
    for row in range(lo, hi):
        count_row(rows, row, LEFT, table, masses, ONE)
    replace(n_touched, NONE, hi - lo, NONE, table, masses, distinct)
    clear_counts(rows, lo, hi, table, masses)


@inner_kernel
def sum_masses(buckets: Buckets, table: Signatures, masses: Masses, distinct: bool) -> None:
    """Make the masses anew from all buckets."""
    for entry in range(len(masses.high)):
        masses.high[entry] = 0.0
        masses.low[entry] = 0.0
    masses.peak[:] = 0.0
    n = len(buckets.rows)
    lo = NONE
    for row in range(1, n + 1):
        if row == n or buckets.begins[row] == 1:
            _add_bucket(buckets.rows, lo, row, table, masses, distinct)
            lo = row


@kernel
def split_buckets(
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

    A bucket is split if the whole table stays diverse; its sides then wait at the end of the queue, left side first.
    `tables` and `masses` have an entry per sensitive attribute. With `anew` all masses are first summed over all
    buckets.
    """
    rows, places = buckets.rows, buckets.places
    n_touched = np.zeros(len(tables), np.int64)
    is_left, ends = np.empty(len(rows), np.bool_), np.empty(2, np.int64)
    work, stale = 0, anew
    # Stale sums are made anew before the next bucket is judged by them, also where the queue has just become empty:
    # whoever reads the masses afterwards finds them exact.
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
