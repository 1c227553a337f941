"""Mutual information of pairs of attributes, from their contingency counts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anoncore.base.errors import ParameterError
from anoncore.kernels.arrays import Codes, Floats
from anoncore.kernels.information import pair_information
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

BINS = 10
"""Intervals into which numbers are cut unless others are asked for."""


def mutual_information(data: Microdata, bins: int = BINS) -> pd.DataFrame:
    """Mutual information I(x; y) of every pair of attributes, in nats, a symmetric frame of attributes by attributes.

    I(x; x) is the entropy of x. Numbers are cut into `bins` of about equal frequency, missing values are a category of
    their own; other attributes count value by value. Raises ParameterError for fewer than 2 bins.
    Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section 3.2.
    """
    if bins < 2:
        raise ParameterError(f"Numbers are cut into at least 2 bins of equal frequency, not {bins}.")
    names = list(data.attributes)
    cells = np.stack([equal_frequency(data.codes[name], data.domain[name], bins) for name in names])
    sizes = cells.max(axis=1).astype(np.int64) + 1
    return pd.DataFrame(pair_information(cells, sizes, xlogx(data.n_rows)), index=names, columns=names)


def equal_frequency(codes: Codes, domain: Domain, bins: int) -> Codes:
    """The bin of each row, int32 (n_rows,), numbered from 0 without gaps.

    A number's bin is its rank among the known numbers, scaled to `bins` steps; equal numbers share a bin. The missing
    value has a bin of its own, and so has every value of an attribute that is not numeric.
    """
    counts = np.bincount(codes, minlength=len(domain))
    bin_of_code = np.arange(len(domain))
    known = len(domain.values)
    if domain.kind is Kind.NUMERIC and known > bins:
        before = np.cumsum(counts[:known]) - counts[:known]
        bin_of_code[:known] = before * bins // max(int(counts[:known].sum()), 1)
        bin_of_code[known:] = bins
    occurring = counts > 0
    dense = np.zeros(len(domain), np.int32)
    dense[occurring] = np.unique(bin_of_code[occurring], return_inverse=True)[1]
    return dense[codes]


def xlogx(n: int) -> Floats:
    """x ln x for x = 0..n, float (n + 1,)."""
    counts = np.arange(n + 1, dtype=np.float64)
    return counts * np.log(np.maximum(counts, 1))
