"""The region of domain values behind each group's published cell, as runs of neighbouring codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anoncore.kernels.arrays import Codes, Int64
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
