"""The hypothesis tests of RothkoSampling: does a side of a split satisfy a requirement, as far as a sample can tell?

Each rejects "not allowable" for one of m sides at significance alpha / m (Bonferroni). N rows are the population, n the
simple random sample without replacement, n_i the sample rows of the side. Source: LeFevre and DeWitt, Rothko (TR 1590),
section 3.1; the tests for entropy and frequency l-diversity and t-closeness are the same idea by the delta method.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def critical_value(alpha: float, n_sides: int) -> float:
    """z with the area alpha / m to its right under the standard normal curve."""
    # scipy.special takes longer to import than most runs take, and only sampling needs it.
    from scipy.special import ndtri

    return -float(ndtri(alpha / n_sides))


def critical_variances(alpha: float, n_sides: int, most_rows: int) -> Floats:
    """Chi-square with the area alpha / m to its right for 1, 2, ..., most_rows - 1 degrees of freedom."""
    return np.asarray(_critical_variance(alpha, n_sides, np.arange(1, max(most_rows, 2))), dtype=np.float64)


def _critical_variance(alpha: float, n_sides: int, freedom: Any) -> Any:
    """Chi-square with the area alpha / m to its right, for one number of degrees of freedom or an array of them."""
    from scipy.special import chdtri

    return chdtri(freedom, alpha / n_sides)


def rows_needed(k: int, n: int, population: int, alpha: float, n_sides: int) -> int:
    """Fewest sample rows with which a side passes the test for k-anonymity (section 3.1.1).

    p_i - p0 >= z sqrt(p0 (1 - p0) / n * (N - n) / (N - 1)) with p_i = n_i / n and p0 = k / N.
    """
    share = min(k / population, 1.0)
    correction = (population - n) / (population - 1) if population > 1 else 0.0
    deviation = sqrt(share * (1 - share) / n * correction)
    return max(ceil(n * (share + critical_value(alpha, n_sides) * deviation) - 1e-9), 1)


def recursive_is_confident(
    counts: Sequence[int], c: float, l: int, n: int, population: int, alpha: float, n_sides: int
) -> bool:
    """Whether a side with these counts of sensitive values passes the test for recursive (c, l)-diversity (3.1.2).

    (c p2 - p1) / sqrt((c^2 p2 (1 - p2) + p1 (1 - p1)) / (n_i - 1) * (N - n) / N) > z with p1 the share of the most
    frequent value and p2 that of the l-th and all later ones. (c, 1) always holds.
    """
    if l <= 1:
        return True
    falling = sorted(counts, reverse=True)
    size = sum(falling)
    if size < 2:
        return False
    p1, p2 = falling[0] / size, sum(falling[l - 1 :]) / size
    variance = (c * c * p2 * (1 - p2) + p1 * (1 - p1)) / (size - 1) * (population - n) / population
    return c * p2 - p1 > critical_value(alpha, n_sides) * sqrt(variance)


def variance_is_confident(
    values: Sequence[float], v: float, n: int, population: int, alpha: float, n_sides: int
) -> bool:
    """Whether a side with these sensitive numbers passes the test for variance diversity (section 3.1.3).

    (n_i - 1) Var / v >= chi2 of n_i - 1 degrees of freedom, Var the sample variance; when the sample is the population
    simply (population variance) >= v.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if n == population or v == 0:
        return bool(numbers.var() >= v)
    if len(numbers) < 2:
        return False
    squares = float(((numbers - numbers.mean()) ** 2).sum())
    return squares / v >= float(_critical_variance(alpha, n_sides, len(numbers) - 1))
