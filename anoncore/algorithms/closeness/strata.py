"""Strata of rows sorted by sensitive value, and the worst distance of clusters that take one row of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from anoncore.algorithms.closeness.locality import Places
from anoncore.kernels.arrays import Codes, Floats, Rows
from anoncore.kernels.rounding import ROUNDING, stays_within
from anoncore.requirements.t_closeness import Ground, ground_reference
from anoncore.table.microdata import Microdata

STEP = 1.02
"""Factor by which the number of strata grows from one try to the next, where that is more than one stratum."""


@dataclass(frozen=True, eq=False)
class Strata:
    """The rows, sorted by sensitive value and cut into `size` runs; `of_row`, int32 (n_rows,), is the run of every row.

    Each stratum has `n_clusters` rows; the middle one also has the `extra` rows that are left over.
    """

    of_row: Codes
    size: int
    n_clusters: int
    extra: int

    @property
    def middle(self) -> int:
        """The stratum that may have extra rows."""
        return self.size // 2

    @cached_property
    def places(self) -> Places:
        """What every cluster takes: one row of each stratum, the first `extra` clusters two of the middle one."""
        held = np.full(self.size, self.n_clusters)
        held[self.middle] += self.extra
        bucket = np.repeat(np.arange(self.size, dtype=np.int32), held)
        begins = np.concatenate(([0], np.cumsum(held)))[:-1]
        return Places(bucket, ((np.arange(len(bucket)) - begins[bucket]) % self.n_clusters).astype(np.int32))

    @classmethod
    def within(cls, data: Microdata, attribute: str, ground: Ground, t: float, k: int, rows: Rows) -> Strata:
        """The fewest strata, at least k, whose clusters are t-close whichever row they take of each.

        The paper's bound, (n - k) / (2 (n - 1) k), assumes that every value occurs once. Here the bound is
        `worst_distance`, which is the same in that case and otherwise counts equal values as they are. `rows` gives the
        order of rows with equal values.
        """
        values = data.sensitive_view(attribute)
        n = data.n_rows
        codes = values.codes[rows]
        reference = ground_reference(data, values, ground)
        along_order = ground in ("ordered", "interval") and values.unique < 0
        wanted = k
        if ground == "ordered" and along_order and values.size == n > 1:
            wanted = max(k, ceil(n / (2 * (n - 1) * t + 1)))
        while True:
            n_clusters = n // wanted
            size = n // n_clusters
            extra = n - size * n_clusters
            worst = worst_distance(reference, values.size, size, n_clusters, extra, along_order)
            if stays_within(worst, t, ROUNDING / 2):
                break
            wanted = min(max(size + 1, ceil(size * STEP)), n)
        stratum = np.repeat(np.arange(size, dtype=np.int32), _held(size, n_clusters, extra))
        of_row = np.empty(n, dtype=np.int32)
        of_row[rows[np.argsort(codes, kind="stable")]] = stratum
        return cls(of_row, size, n_clusters, extra)


def _held(size: int, n_clusters: int, extra: int) -> Rows:
    held = np.full(size, n_clusters)
    held[size // 2] += extra
    return held


def worst_distance(
    reference: Floats, n_values: int, size: int, n_clusters: int, extra: int, along_order: bool = True
) -> float:
    """The largest distance from the table of a cluster that takes one row of each stratum, or two of the middle one.

    Along the order, a prefix of the values cuts at most one stratum. The distance is largest if that stratum's row lies
    at one of its two ends, so the bound is reached. For other ground distances each edge is taken at its worst, which
    may be more than any cluster reaches.
    """
    kinds = [np.ones(size)]
    if extra > 0:
        kinds.append(np.ones(size))
        kinds[1][size // 2] = 2
    if extra == n_clusters:
        kinds = kinds[1:]
    begins = np.concatenate(([0], np.cumsum(_held(size, n_clusters, extra))))
    edges = reference[n_values + 1 :].reshape(-1, 3)
    below = np.concatenate(([0], np.cumsum(reference[:n_values]))).astype(np.int64)
    first, last = below[edges[:, 0].astype(np.int64)], below[edges[:, 1].astype(np.int64) + 1]
    return max(_worst(taken, begins, first, last, edges[:, 2], along_order) for taken in kinds)


def _worst(taken: Floats, begins: Rows, first: Rows, last: Rows, weight: Floats, along_order: bool) -> float:
    """The largest distance of a cluster that takes `taken` rows of each stratum.

    The edges separate the sorted rows from `first` to `last` from the others.
    """
    total = taken.sum()
    before = np.concatenate(([0.0], np.cumsum(taken)))
    cut = np.searchsorted(begins, last, "right") - 1
    sure = np.maximum(before[cut] - before[np.searchsorted(begins, first, "left")], 0.0)
    high_cut = np.searchsorted(begins, last, "left")
    possible = before[high_cut] - before[np.searchsorted(begins, first, "right") - 1]
    # In units of 1 / (total * n) the surplus of an edge is a whole number.
    n = begins[-1]
    share = (last - first) * total
    least, most = weight * np.abs(sure * n - share), weight * np.abs(possible * n - share)
    if not along_order:
        return float(np.maximum(least, most).sum() / total / n)
    size = len(taken)
    whole = begins[cut] == last
    stratum = np.minimum(cut, size - 1)
    low = np.bincount(stratum[~whole], weights=least[~whole], minlength=size)
    high = np.bincount(stratum[~whole], weights=most[~whole], minlength=size)
    return float((least[whole].sum() + np.maximum(low, high).sum()) / total / n)
