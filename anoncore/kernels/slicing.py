"""l-diverse slicing, checked incrementally: a split changes only the tuples that match the bucket that is split.

For a tuple t and a bucket B, w(t, s, B) = f(t, B) D(t, B)[s] is the expected share of B's rows, linked at random, that
show t's quasi-identifiers and value s; p(t, s) = sum_B w(t, s, B) / sum_B sum_s' w(t, s', B). Only these sums are kept.
f is the degree of the match and D the distribution of the sensitive value in it (Li et al., Slicing, section 3).

- `rows` int32 (n_rows, n_columns): codes of the quasi-identifiers, then from column `Signatures.first_factor` on the
  cells of every row: a code per factor, then a code per sensitive factor. A bucket is the run of rows lo..hi-1.
- `Masses.counts`, `Masses.pair_counts` int32 (n_codes, 3): the bucket's rows with each cell, one column each for the
  bucket (WHOLE) and for the sides of a split that is tried (LEFT, RIGHT), which are read together. Between two buckets
  all are 0.
- n, n_left, n_right: rows of the bucket and of its sides. `side` is one of WHOLE, LEFT, RIGHT.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel
from anoncore.kernels.rounding import ACCUMULATED, lies_above, lies_below

# Typed constants: a compiled function is compiled anew for every literal number that it is called with.
NONE: int = np.int64(0)  # type: ignore[assignment]
ONE: int = np.int64(1)  # type: ignore[assignment]
WHOLE: int = np.int64(0)  # type: ignore[assignment]
LEFT: int = np.int64(1)  # type: ignore[assignment]
RIGHT: int = np.int64(2)  # type: ignore[assignment]
"""Whose rows are counted: those of the bucket, or of the left or right side of a split of it."""


class Signatures(NamedTuple):
    """What the check sees of a table, one line per signature: people of one signature look alike to the adversary.

    Rows hold, from column `first_factor` on, a code per factor, then a code per sensitive factor. A factor is what a
    column (or a link between overlapping columns) shows of the quasi-identifiers: `power` 1 if its share of the bucket
    counts, -1 if it divides, 0 if it must only occur because a sensitive factor counts it together with the sensitive
    value. A sensitive factor is such a pair of cells and sensitive value; its `pair_power` is 1 or -1.

    `codes` int32 (n_signatures, n_factors). The sensitive values that a signature may have are its entries
    `entry_start[t]:entry_start[t + 1]`, with a pair per sensitive factor in `pairs` int32 (n_entries,
    n_sensitive_factors) and whether the value needs protection in `protected` bool (n_entries,). Counts of factor f
    begin at `factor_start[f]`, those of sensitive factor j at `pair_start[j]`; the signatures with a factor's code v
    are `with_code[code_start[factor_start[f] + v]:code_start[factor_start[f] + v + 1]]`.
    """

    first_factor: int
    power: Int64
    pair_power: Int64
    codes: Int32
    entry_start: Int64
    pairs: Int32
    protected: Bools
    factor_start: Int64
    pair_start: Int64
    code_start: Int64
    with_code: Int32


class Masses(NamedTuple):
    """The sums that are kept, and memory for the bucket at hand.

    `high` + `low` float (n_entries,): the sum of w over all buckets for each entry, as the sum of a large and a small
    number (double-double precision), so that adding a bucket's part and taking it away again leaves no trace. For the
    distinct check: the number of buckets where the entry's value is possible. `peak` float (n_signatures,): the largest
    total that a signature had since the sums were made anew.

    Memory: `rest` float (n_entries,) is an entry's mass without the bucket at hand, `counts` and `pair_counts` are as
    above, `touched` int32 (n_signatures,) lists the signatures that match the bucket. `seen` int32 (n_codes,) lists the
    bucket's codes of each factor, from where its counts begin.
    """

    high: Floats
    low: Floats
    peak: Floats
    rest: Floats
    counts: Int32
    pair_counts: Int32
    touched: Int32
    seen: Int32


def new_masses(table: Signatures) -> Masses:
    """Empty sums and buffers for a table."""
    n_entries, n_signatures = len(table.protected), len(table.codes)
    return Masses(
        high=np.zeros(n_entries),
        low=np.zeros(n_entries),
        peak=np.zeros(n_signatures),
        rest=np.zeros(n_entries),
        counts=np.zeros((int(table.factor_start[-1]), 3), np.int32),
        pair_counts=np.zeros((int(table.pair_start[-1]), 3), np.int32),
        touched=np.empty(n_signatures, np.int32),
        seen=np.empty(int(table.factor_start[-1]), np.int32),
    )


@inner_kernel
def count_row(rows: Int32, row: int, side: int, table: Signatures, masses: Masses, change: int) -> None:
    """Add `change` to the counts of one row's cells."""
    n_factors = len(table.power)
    for f in range(n_factors):
        masses.counts[table.factor_start[f] + rows[row, table.first_factor + f], side] += change
    for j in range(len(table.pair_power)):
        masses.pair_counts[table.pair_start[j] + rows[row, table.first_factor + n_factors + j], side] += change


@inner_kernel
def clear_counts(rows: Int32, lo: int, hi: int, table: Signatures, masses: Masses) -> None:
    """Set the counts of the cells of rows lo..hi-1 to 0 on all sides or lines."""
    n_factors = len(table.power)
    for row in range(lo, hi):
        for f in range(n_factors):
            cell = table.factor_start[f] + rows[row, table.first_factor + f]
            for side in range(masses.counts.shape[1]):
                masses.counts[cell, side] = 0
        for j in range(len(table.pair_power)):
            cell = table.pair_start[j] + rows[row, table.first_factor + n_factors + j]
            for side in range(masses.counts.shape[1]):
                masses.pair_counts[cell, side] = 0


@inner_kernel
def degree(table: Signatures, masses: Masses, t: int, side: int, n: int, distinct: bool) -> float:
    """The factors' part of w(t, s, B) for the n rows of a side; 0 if signature t does not match it."""
    product = 1.0
    for f in range(len(table.power)):
        count = masses.counts[table.factor_start[f] + table.codes[t, f], side]
        if count == 0:
            return 0.0
        if table.power[f] > 0:
            product *= count / n
        elif table.power[f] < 0:
            product *= n / count
    return 1.0 if distinct else product


@inner_kernel
def touch(rows: Int32, lo: int, hi: int, table: Signatures, masses: Masses) -> int:
    """Count the bucket's rows and list the signatures that match it, in `masses.touched`; returns their number."""
    n_factors = len(table.power)
    n_seen, listed = np.zeros(n_factors, np.int64), np.zeros(n_factors, np.int64)
    for row in range(lo, hi):
        for f in range(n_factors):
            cell = table.factor_start[f] + rows[row, table.first_factor + f]
            if masses.counts[cell, WHOLE] == 0:
                masses.seen[table.factor_start[f] + n_seen[f]] = cell
                n_seen[f] += 1
                listed[f] += table.code_start[cell + 1] - table.code_start[cell]
            masses.counts[cell, WHOLE] += 1
        for j in range(len(table.pair_power)):
            cell = table.pair_start[j] + rows[row, table.first_factor + n_factors + j]
            masses.pair_counts[cell, WHOLE] += 1
    # A signature matches only if the bucket shows its code of every factor. So it is enough to look at the signatures
    # that share a code of one factor with the bucket, and the leading factor has the fewest of them.
    lead = 0
    for f in range(1, n_factors):
        if listed[f] < listed[lead]:
            lead = f
    n_listed, n_touched = 0, 0
    begin = table.factor_start[lead]
    for i in range(begin, begin + n_seen[lead]):
        cell = masses.seen[i]
        for place in range(table.code_start[cell], table.code_start[cell + 1]):
            masses.touched[n_listed] = table.with_code[place]
            n_listed += 1
    for i in range(n_listed):
        t = masses.touched[i]
        if degree(table, masses, t, WHOLE, hi - lo, hi > lo) > 0.0:
            masses.touched[n_touched] = t
            n_touched += 1
    return n_touched


@inner_kernel
def weight(table: Signatures, masses: Masses, entry: int, side: int, n: int, product: float, distinct: bool) -> float:
    """w(t, s, B) of an entry from its signature's degree; for the distinct check 1 where it is positive."""
    if product == 0.0:
        return 0.0
    for j in range(len(table.pair_power)):
        count = masses.pair_counts[table.pair_start[j] + table.pairs[entry, j], side]
        if count == 0:
            return 0.0
        if distinct:
            continue
        product *= count / n if table.pair_power[j] > 0 else n / count
    return product


@inner_kernel
def _add(high: float, low: float, term: float) -> tuple[float, float]:
    """Double-double plus double (Knuth's exact sum of two doubles, then renormalized)."""
    # In exact arithmetic `error` would be `low`; in doubles it also has the digits of `term` that `total` rounded away.
    total = high + term
    virtual = total - high
    error = (high - (total - virtual)) + (term - virtual) + low
    renormalized = total + error
    return renormalized, error - (renormalized - total)


@inner_kernel
def take_away(n_touched: int, n: int, table: Signatures, masses: Masses, distinct: bool) -> None:
    """Write the masses of the touched signatures without the bucket at hand into `masses.rest`."""
    for i in range(n_touched):
        t = masses.touched[i]
        product = degree(table, masses, t, WHOLE, n, distinct)
        for entry in range(table.entry_start[t], table.entry_start[t + 1]):
            mass = weight(table, masses, entry, WHOLE, n, product, distinct)
            high, low = _add(masses.high[entry], masses.low[entry], -mass)
            masses.rest[entry] = max(high + low, 0.0)


@inner_kernel
def split_holds(
    n_touched: int, n_left: int, n_right: int, table: Signatures, masses: Masses, l: float, distinct: bool
) -> bool:
    """Whether every touched signature is l-diverse once the bucket at hand is replaced by its sides."""
    for i in range(n_touched):
        t = masses.touched[i]
        left = degree(table, masses, t, LEFT, n_left, distinct)
        right = degree(table, masses, t, RIGHT, n_right, distinct)
        total, largest, values = 0.0, 0.0, 0
        for entry in range(table.entry_start[t], table.entry_start[t + 1]):
            mass = masses.rest[entry]
            mass += weight(table, masses, entry, LEFT, n_left, left, distinct)
            mass += weight(table, masses, entry, RIGHT, n_right, right, distinct)
            values += mass > 0.0
            total += mass
            if table.protected[entry]:
                largest = max(largest, mass)
        fails = lies_below(values, l) if distinct else lies_above(largest * l, total, ACCUMULATED)
        if fails:
            # The next split of the bucket that is tried most likely fails for the same people, so they come first then.
            masses.touched[i], masses.touched[0] = masses.touched[0], t
            return False
    return True


@inner_kernel
def replace(
    n_touched: int, n: int, n_left: int, n_right: int, table: Signatures, masses: Masses, distinct: bool
) -> float:
    """Put the sides in the bucket's place; returns the smallest total of a signature relative to its peak.

    The peak tells how many digits of a total may be lost to rounding. With n = 0 the bucket is new and only its left
    side, all of it, is added.
    """
    smallest = 1.0
    for i in range(n_touched):
        t = masses.touched[i]
        whole = degree(table, masses, t, WHOLE, n, distinct) if n > 0 else 0.0
        left = degree(table, masses, t, LEFT, n_left, distinct)
        right = degree(table, masses, t, RIGHT, n_right, distinct) if n > 0 else 0.0
        total = 0.0
        for entry in range(table.entry_start[t], table.entry_start[t + 1]):
            before = weight(table, masses, entry, WHOLE, n, whole, distinct)
            if before > 0.0 or n == 0:
                # A value that the bucket lacks is in neither side, so nothing changes.
                high, low = masses.high[entry], masses.low[entry]
                high, low = _add(high, low, -before)
                high, low = _add(high, low, weight(table, masses, entry, LEFT, n_left, left, distinct))
                high, low = _add(high, low, weight(table, masses, entry, RIGHT, n_right, right, distinct))
                masses.high[entry], masses.low[entry] = high, low
            total += masses.high[entry]
        masses.peak[t] = max(masses.peak[t], total)
        smallest = min(smallest, total / masses.peak[t])
    return smallest
