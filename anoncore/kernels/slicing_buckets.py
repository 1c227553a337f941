"""Tuple partitioning of slicing: buckets split one after another, first in first out, as Mondrian would."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bytes, Int32, Int64
from anoncore.kernels.attributes import Attributes, width
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
from anoncore.kernels.splitting import SHARED_MEDIAN, THRESHOLD, Split, extent, goes_left, make_split, split_rows

HEAD, TAIL, DONE = 0, 1, 2
STALE = 1e-15
"""A total this small beside its peak is made anew: double-double sums keep 31 digits, the check needs 16."""


class Wanted(NamedTuple):
    """The diversity to keep (`distinct`: number of possible values, else 1 / largest probability), and whether other
    splits are tried after the first. `content` (n_words, n_rows) orders rows by their content.
    """

    l: float
    distinct: bool
    retry: bool
    content: Int64


class Buckets(NamedTuple):
    """Rows moved so that each bucket is a run, `begins` 1 at the first row of each; `queue` (2, 2 n_rows) holds the
    first row and the end of the buckets that wait, `places` the queue's head and tail and the rows in final buckets.
    """

    rows: Int32
    spare: Int32
    begins: Bytes
    queue: Int64
    places: Int64


@inner_kernel
def _median_cut(rows: Int32, lo: int, hi: int, a: int, low: int, high: int, shared: bool) -> Split:
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
def _kept(
    buckets: Buckets, lo: int, hi: int, split: Split, n_touched: int, table: Signatures, masses: Masses, wanted: Wanted
) -> bool:
    """Count the sides of a split; if the check holds, put them in the bucket's place."""
    inside = goes_left(buckets.rows, lo, hi, split, wanted.content)
    for row in range(lo, hi):
        count_row(buckets.rows, row, LEFT if inside[row - lo] else RIGHT, table, masses, ONE)
    n_left, n_right = split.left, hi - lo - split.left
    if split_holds(n_touched, n_left, n_right, table, masses, wanted.l, wanted.distinct):
        return True
    for row in range(lo, hi):
        count_row(buckets.rows, row, LEFT if inside[row - lo] else RIGHT, table, masses, -ONE)
    return False


@inner_kernel
def _find_split(
    buckets: Buckets,
    lo: int,
    hi: int,
    n_touched: int,
    table: Signatures,
    masses: Masses,
    attributes: Attributes,
    wanted: Wanted,
) -> Split:
    """The first split that holds, widest attribute first; its left size is 0 if none does."""
    n_attributes = attributes.form.shape[0]
    low = np.empty(n_attributes, np.int32)
    high = np.empty(n_attributes, np.int32)
    extent(buckets.rows, lo, hi, low, high)
    widths = np.empty(n_attributes, np.float64)
    for a in range(n_attributes):
        widths[a] = width(attributes, a, low[a], high[a])
    for _ in range(n_attributes):
        a = int(np.argmax(widths))
        if widths[a] <= 0.0:
            break
        widths[a] = -1.0
        for shared in range(2):
            split = _median_cut(buckets.rows, lo, hi, a, low[a], high[a], shared == 1)
            if split.left > 0 and _kept(buckets, lo, hi, split, n_touched, table, masses, wanted):
                return split
            if not wanted.retry:
                return make_split(THRESHOLD, 0, 0, 0)
    return make_split(THRESHOLD, 0, 0, 0)


@inner_kernel
def _add_bucket(rows: Int32, lo: int, hi: int, table: Signatures, masses: Masses, distinct: bool) -> None:
    """Add one bucket's part to the masses."""
    n_touched = touch(rows, lo, hi, table, masses)
    for row in range(lo, hi):
        count_row(rows, row, LEFT, table, masses, ONE)
    replace(n_touched, NONE, hi - lo, NONE, table, masses, distinct)
    clear_counts(rows, lo, hi, table, masses)


@inner_kernel
def _sum_masses(buckets: Buckets, table: Signatures, masses: Masses, distinct: bool) -> None:
    """Make the masses anew from all buckets."""
    for entry in range(masses.high.shape[0]):
        masses.high[entry] = 0.0
        masses.low[entry] = 0.0
    for t in range(masses.peak.shape[0]):
        masses.peak[t] = 0.0
    n = buckets.rows.shape[0]
    lo = NONE
    for row in range(1, n + 1):
        if row == n or buckets.begins[row] == 1:
            _add_bucket(buckets.rows, lo, row, table, masses, distinct)
            lo = row


@kernel
def split_buckets(
    buckets: Buckets, table: Signatures, masses: Masses, attributes: Attributes, wanted: Wanted, budget: int, anew: bool
) -> bool:
    """Take buckets from the queue until it is empty (False) or about `budget` rows and signatures were visited (True).

    A bucket is split if the whole table stays diverse; its sides then wait at the end of the queue, left side first.
    With `anew` the masses are first summed over all buckets.
    """
    rows, places = buckets.rows, buckets.places
    ends = np.empty(2, np.int64)
    work = 0
    stale = anew
    while places[HEAD] < places[TAIL] or stale:
        if stale:
            _sum_masses(buckets, table, masses, wanted.distinct)
            stale = False
            continue
        if work >= budget:
            return True
        lo, hi = buckets.queue[0, places[HEAD]], buckets.queue[1, places[HEAD]]
        places[HEAD] += 1
        n_touched = touch(rows, lo, hi, table, masses)
        work += hi - lo + n_touched
        take_away(n_touched, hi - lo, table, masses, wanted.distinct)
        split = _find_split(buckets, lo, hi, n_touched, table, masses, attributes, wanted)
        lowest = 1.0
        if split.left > 0:
            lowest = replace(n_touched, hi - lo, split.left, hi - lo - split.left, table, masses, wanted.distinct)
        clear_counts(rows, lo, hi, table, masses)
        if split.left == 0:
            places[DONE] += hi - lo
            continue
        split_rows(rows, buckets.spare, lo, hi, split, wanted.content, attributes, ends)
        buckets.begins[ends[0]] = 1
        for begin, end in ((lo, ends[0]), (ends[0], hi)):
            buckets.queue[0, places[TAIL]], buckets.queue[1, places[TAIL]] = begin, end
            places[TAIL] += 1
        stale = lowest < STALE
    return False
