"""The hypothesis tests as checks that the search kernels call on a sample in place of the exact ones."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np
from numba import carray

from anoncore.kernels.arrays import Floats
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.compiler import level_function
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.rounding import ROUNDING, squared_deviations
from anoncore.requirements import (
    Check,
    CheckSet,
    Comparison,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    VarianceDiversity,
)
from anoncore.requirements.diversity import largest_counts


def critical_value(alpha: float, n_sides: int) -> float:
    """z with the area alpha / m to its right under the standard normal curve."""
    # scipy.special takes longer to import than most runs take, and only sampling needs it.
    from scipy.special import ndtri

    return -float(ndtri(alpha / n_sides))


def critical_variances(alpha: float, n_sides: int, most_rows: int) -> Floats:
    """Chi-square with the area alpha / m to its right for 1, 2, ..., most_rows - 1 degrees of freedom."""
    from scipy.special import chdtri

    return np.asarray(chdtri(np.arange(1, max(most_rows, 2)), alpha / n_sides), np.float64)


def rows_needed(k: int, n: int, population: int, alpha: float, n_sides: int) -> int:
    """Fewest sample rows with which a side passes the test for k-anonymity (section 3.1.1).

    p_i - p0 >= z sqrt(p0 (1 - p0) / n * (N - n) / (N - 1)) with p_i = n_i / n and p0 = k / N.
    """
    share = min(k / population, 1.0)
    correction = (population - n) / (population - 1) if population > 1 else 0.0
    deviation = sqrt(share * (1 - share) / n * correction)
    return max(ceil(n * (share + critical_value(alpha, n_sides) * deviation) * (1 - ROUNDING)), 1)


HEADER = 3
"""Every reference begins with z, (N - n) / N and the requirement's threshold."""


@level_function
def _size_margin(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """The number of sample rows above those that the test needs."""
    return size - carray(reference, 4)[3]


@level_function
def _recursive_margin(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """c p2 - p1 less z standard deviations (Rothko, section 3.1.2).

    p1 is the share of the most frequent value, p2 that of the l-th and all later ones, and the variance
    (c^2 p2 (1 - p2) + p1 (1 - p1)) / (n_i - 1) * (N - n) / N. (c, 1) always holds.
    """
    values, numbers = carray(counts, length), carray(reference, 4)
    z, correction, c, l = numbers[0], numbers[1], numbers[2], int(numbers[3])
    if l <= 1:
        return 1.0
    if size < 2:
        return -1.0
    top = largest_counts(values, unique, l - 1)
    p1, p2 = top[0] / size, (size - top.sum()) / size
    if c * p2 <= p1:
        return -1.0
    variance = (c * c * p2 * (1 - p2) + p1 * (1 - p1)) / (size - 1) * correction
    return c * p2 - p1 - z * np.sqrt(variance)


@level_function
def _variance_margin(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """Sum of squares / v less the chi-square of as many degrees of freedom (Rothko, section 3.1.3)."""
    begin = 4 + 2 * length
    values, head = carray(counts, length), carray(reference, begin)
    v, unit = head[2], head[3]
    if v <= 0.0:
        return 1.0
    known, squares = squared_deviations(values, head[4 : 4 + length], head[4 + length : begin])
    if known < 2:
        return -1.0
    critical = carray(reference, begin + known - 1)[begin + known - 2]
    return squares * (unit / v) * unit - critical


@level_function
def _frequency_margin(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """1 / l less the largest share and less z times its standard deviation."""
    values, numbers = carray(counts, length), carray(reference, 3)
    if size < 2:
        return -1.0
    largest = 0
    for value in range(length):
        largest = max(largest, min(values[value], 1) if value == unique else values[value])
    share = largest / size
    return 1.0 / numbers[2] - share - numbers[0] * np.sqrt(share * (1 - share) / (size - 1) * numbers[1])


@level_function
def _entropy_margin(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """Entropy less log l and less z times its standard deviation; the variance is (sum p log^2 p - H^2) / n_i."""
    values, numbers = carray(counts, length), carray(reference, 3)
    if size < 2:
        return -1.0
    entropy, squares = 0.0, 0.0
    for value in range(length):
        share = values[value] / size
        if share > 0.0:
            surprise = np.log(size) if value == unique else -np.log(share)
            entropy += share * surprise
            squares += share * surprise * surprise
    variance = max(squares - entropy * entropy, 0.0) / (size - 1) * numbers[1]
    return entropy - np.log(numbers[2]) - numbers[0] * np.sqrt(variance)


@level_function
def _closeness_margin(counts: Any, length: int, size: int, unique: int, reference: Any) -> float:
    """t less the distance and less z times its standard deviation.

    The distance is nearly linear in the shares of the values; its variance is that of its slope over the sample's
    values.
    """
    values, head = carray(counts, length), carray(reference, length + 4)
    if size < 2:
        return -1.0
    n_edges = int(head[3 + length])
    numbers = carray(reference, length + 4 + 3 * n_edges)
    rows = 0.0
    for value in range(length):
        rows += numbers[3 + value]
    surplus = np.zeros(length + 1)
    for value in range(length):
        surplus[value + 1] = surplus[value] + values[value] / size - numbers[3 + value] / rows
    slope = np.zeros(length + 1)
    distance = 0.0
    for edge in range(n_edges):
        begin = length + 4 + 3 * edge
        first, last, weight = int(numbers[begin]), int(numbers[begin + 1]), numbers[begin + 2]
        crossing = surplus[last + 1] - surplus[first]
        distance += weight * abs(crossing)
        signed = weight if crossing > 0 else -weight
        slope[first] += signed
        slope[last + 1] -= signed
    mean, squares, running = 0.0, 0.0, 0.0
    for value in range(length):
        running += slope[value]
        mean += values[value] / size * running
        squares += values[value] / size * running * running
    variance = max(squares - mean * mean, 0.0) / (size - 1) * head[1]
    return head[2] - distance - head[0] * np.sqrt(variance)


MARGINS: dict[type, Any] = {
    KAnonymity: _size_margin,
    RecursiveDiversity: _recursive_margin,
    VarianceDiversity: _variance_margin,
    FrequencyDiversity: _frequency_margin,
    EntropyDiversity: _entropy_margin,
    TCloseness: _closeness_margin,
}
EXACT_ON_SAMPLE = (DistinctDiversity,)
"""Requirements that hold in the population wherever they hold in a sample of it."""


def confident_checks(checks: CheckSet, n: int, population: int, alpha: float, most_sides: int) -> KernelChecks:
    """The hypothesis tests for splits into 2 to `most_sides` sides, on a sample of n of `population` rows.

    Where the sample is the population, the checks are exact. They are too for requirements without a test of their own;
    pruning undoes what these get wrong.
    """
    exact = checks.kernel
    if n >= population:
        return exact
    address, comparison, threshold = exact.address.copy(), exact.comparison.copy(), exact.threshold.copy()
    stride, references = exact.stride.copy(), []
    least = 1
    for number, check in enumerate(checks.checks):
        margin = MARGINS.get(type(check.requirement))
        if margin is None:
            references.append(check.reference)
            if isinstance(check.requirement, EXACT_ON_SAMPLE):
                least = max(least, check.requirement.minimum_rows())
            continue
        blocks = [_reference(check, n, population, alpha, m) for m in range(2, most_sides + 1)]
        address[number], comparison[number], threshold[number] = margin.address, int(Comparison.AT_LEAST), 0.0
        stride[number] = len(blocks[0])
        references.append(np.concatenate(blocks))
        if isinstance(check.requirement, KAnonymity):
            least = max(least, int(blocks[0][HEADER]))
    return exact._replace(
        address=address,
        comparison=comparison,
        threshold=threshold,
        reference=np.concatenate([*references, np.zeros(0)]),
        reference_start=starts_of(len(numbers) for numbers in references),
        stride=stride,
        minimum_rows=least,
    )


def _reference(check: Check, n: int, population: int, alpha: float, n_sides: int) -> Floats:
    requirement = check.requirement
    z, correction = critical_value(alpha, n_sides), (population - n) / population
    further = check.reference
    if isinstance(requirement, KAnonymity):
        further = np.array([float(rows_needed(requirement.k, n, population, alpha, n_sides))])
    elif isinstance(requirement, VarianceDiversity):
        further = np.concatenate([check.reference, critical_variances(alpha, n_sides, n)])
    return np.concatenate([[z, correction, requirement.threshold], further])
