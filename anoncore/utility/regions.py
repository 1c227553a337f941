"""The region of domain values behind each group's published cell, as runs of neighbouring codes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anoncore.kernels.arrays import Bools, Codes, Floats, Int64
from anoncore.release.recoding import Generalized, GroupValues


@dataclass(frozen=True, eq=False)
class Regions:
    """Runs of codes: group g allows `low[i]..high[i]` (included) for i in `offsets[g]:offsets[g + 1]`.

    `sizes` int64 (n_groups,) is the number of values allowed. As a prefix sum over codes gives the weight of a run by
    one difference, no measure has to walk over a region.
    """

    offsets: Int64
    low: Int64
    high: Int64
    sizes: Int64

    def numbered(self, n_codes: int) -> Int64:
        """A number for each group, int64 (n_groups,); groups have the same one where they allow the same codes."""
        if len(self.low) == len(self.sizes):
            return np.unique(self.low * n_codes + self.high, return_inverse=True)[1].astype(np.int64)
        known: dict[bytes, int] = {}
        runs = np.column_stack((self.low, self.high))
        parts = (runs[begin:end].tobytes() for begin, end in pairwise(self.offsets.tolist()))
        return np.array([known.setdefault(part, len(known)) for part in parts], dtype=np.int64)

    def allow(self, group: Codes, codes: Codes, n_codes: int) -> Bools:
        """Whether the group of each row allows the row's code, bool (n_rows,)."""
        # Runs ascend within a group, so that the last one that begins at or before the code is the only candidate.
        begins = np.repeat(np.arange(len(self.sizes)), np.diff(self.offsets)) * n_codes + self.low
        run = np.searchsorted(begins, group.astype(np.int64) * n_codes + codes, side="right") - 1
        allowed: Bools = (run >= self.offsets[group]) & (codes <= self.high[run])
        return allowed

    def largest(self, values: Floats) -> Floats:
        """The largest value among the codes that each group allows, float (n_groups,), of one value per code."""
        ends = np.column_stack((self.low, self.high + 1)).ravel()
        of_run = np.maximum.reduceat(np.append(values, -np.inf), ends)[::2]
        largest: Floats = np.maximum.reduceat(of_run, self.offsets[:-1])
        return largest


def regions_of(recoding: Generalized | GroupValues) -> Regions:
    """The regions of an attribute that is published by group."""
    if recoding.offsets is not None and recoding.members is not None:
        return _runs(recoding.offsets, recoding.members)
    low, high = recoding.low.astype(np.int64), recoding.high.astype(np.int64)
    return Regions(np.arange(len(low) + 1), low, high, recoding.sizes)


def _runs(offsets: Int64, members: Codes) -> Regions:
    """Turn sets of codes, each ascending, into runs of neighbouring codes."""
    begins = np.ones(len(members), dtype=np.bool_)
    begins[1:] = members[1:] != members[:-1] + 1
    begins[offsets[:-1]] = True
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(members)) - 1
    codes = members.astype(np.int64)
    return Regions(np.searchsorted(first, offsets), codes[first], codes[last], np.diff(offsets))
