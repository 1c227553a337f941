"""Values of an attribute as few as a model can learn from: ranges of numbers, and the most frequent categories."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Codes, Int64
from anoncore.table.domain import Domain, Kind

MOST_RANGES = 32
MOST_CATEGORIES = 256
"""Ranges of an ordered attribute and categories of another one, of which all rare ones are the last."""


def coarse_values(domain: Domain, codes: Codes | Int64) -> Codes:
    """The range or category of each code of an attribute, int32 (n_codes,), from 0 without gaps.

    Numbers and ranked categories with more than `MOST_RANGES` values become that many ranges with about as many of the
    given `codes` int (n,), a missing value a range of its own; of more than `MOST_CATEGORIES` categories the rare ones
    become one. All others stay.
    """
    n_codes = len(domain)
    count = np.bincount(codes, minlength=n_codes)
    if domain.kind is not Kind.NOMINAL:
        ordered = n_codes - domain.has_missing
        if ordered <= MOST_RANGES:
            return np.arange(n_codes, dtype=np.int32)
        before = np.cumsum(count[:ordered]) - count[:ordered]
        numbers = np.arange(n_codes)
        numbers[:ordered] = before * MOST_RANGES // max(int(count[:ordered].sum()), 1)
    else:
        if n_codes <= MOST_CATEGORIES:
            return np.arange(n_codes, dtype=np.int32)
        numbers = np.full(n_codes, MOST_CATEGORIES - 1)
        frequent = np.argsort(-count, kind="stable")[: MOST_CATEGORIES - 1]
        numbers[frequent] = np.arange(len(frequent))
    return np.unique(numbers, return_inverse=True)[1].astype(np.int32)
