"""The hypothesis tests of RothkoSampling: does a side of a split satisfy a requirement, as far as a sample can tell?

Each rejects "not allowable" for one of m sides at significance alpha / m (Bonferroni). N rows are the population, n the
simple random sample without replacement, n_i the sample rows of the side. Source: LeFevre and DeWitt, Rothko (TR 1590),
section 3.1; the tests for entropy and frequency l-diversity and t-closeness are the same idea by the delta method.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from anoncore.kernels.arrays import Floats
from anoncore.kernels.rounding import ROUNDING


def critical_value(alpha: float, n_sides: int) -> float:
    """z with the area alpha / m to its right under the standard normal curve."""
    # scipy.special takes longer to import than most runs take, and only sampling needs it.
    from scipy.special import ndtri

    return -float(ndtri(alpha / n_sides))


def critical_variances(alpha: float, n_sides: int, most_rows: int) -> Floats:
    """Chi-square with the area alpha / m to its right for 1, 2, ..., most_rows - 1 degrees of freedom."""
    from scipy.special import chdtri

    return np.asarray(chdtri(np.arange(1, max(most_rows, 2)), alpha / n_sides), dtype=np.float64)


def rows_needed(k: int, n: int, population: int, alpha: float, n_sides: int) -> int:
    """Fewest sample rows with which a side passes the test for k-anonymity (section 3.1.1).

    p_i - p0 >= z sqrt(p0 (1 - p0) / n * (N - n) / (N - 1)) with p_i = n_i / n and p0 = k / N.
    """
    share = min(k / population, 1.0)
    correction = (population - n) / (population - 1) if population > 1 else 0.0
    deviation = sqrt(share * (1 - share) / n * correction)
    return max(ceil(n * (share + critical_value(alpha, n_sides) * deviation) * (1 - ROUNDING)), 1)
