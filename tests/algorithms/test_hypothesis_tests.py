"""The hypothesis tests of RothkoSampling against the formulas of the paper, and as the kernels call them."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, norm

from anoncore import Microdata
from anoncore.algorithms.rothko.confident_checks import confident_checks, rows_needed
from anoncore.kernels.checking import KernelChecks, side_holds
from anoncore.kernels.compiler import kernel
from anoncore.requirements import (
    CheckSet,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)


@kernel
def kernel_answer(checks: KernelChecks, counts: np.ndarray, size: int, n_sides: int) -> bool:
    return side_holds(checks, counts, size, n_sides)


def table(counts: list[int]) -> Microdata:
    frame = pd.DataFrame({"age": np.zeros(sum(counts), int), "pay": np.repeat(np.arange(len(counts)), counts)})
    return Microdata(frame, {"age": "quasi-identifier", "pay": "sensitive"}, kinds={"pay": "numeric"})


def passes(requirement: Requirement, counts: list[int], n: int, population: int, alpha: float, sides: int) -> bool:
    """What the kernel says about a side of a sample; the domain has every value of `counts`."""
    checks = CheckSet((requirement,), table([max(count, 1) for count in counts]))
    arrays = confident_checks(checks, n, population, alpha, 4)
    wanted = counts if checks.views else []
    return bool(kernel_answer(arrays, np.array([*wanted], dtype=np.int64), sum(counts), sides))


@given(
    k=st.integers(1, 500),
    n=st.integers(10, 900),
    population=st.integers(1_000, 10**7),
    alpha=st.sampled_from([0.01, 0.05, 0.4]),
    sides=st.integers(2, 4),
)
@settings(max_examples=30)
def test_rows_needed_is_where_the_papers_test_turns(k, n, population, alpha, sides):
    p0 = k / population
    bound = norm.isf(alpha / sides) * sqrt(p0 * (1 - p0) / n * (population - n) / (population - 1))
    needed = rows_needed(k, n, population, alpha, sides)
    assert needed / n - p0 >= bound - 1e-9
    assert needed == 1 or (needed - 1) / n - p0 < bound


def test_rows_needed_by_hand():
    # p0 = 0.01, sqrt(0.01 * 0.99 / 1000 * 9000 / 9999) = 0.002985, z of 0.025 = 1.95996: 1000 * 0.015851 -> 16
    assert rows_needed(100, 1_000, 10_000, 0.05, 2) == 16
    # the whole table: the finite population correction leaves k itself
    assert rows_needed(100, 10_000, 10_000, 0.05, 2) == 100
    # Bonferroni: four sides need more than two
    assert rows_needed(100, 1_000, 10_000, 0.05, 4) == 17


@pytest.mark.slow
@given(
    counts=st.lists(st.integers(0, 60), min_size=2, max_size=6).filter(sum),
    c=st.sampled_from([0.5, 1.0, 3.0]),
    l=st.integers(1, 4),
    sides=st.integers(2, 4),
)
@settings(max_examples=30)
def test_the_recursive_test_is_the_papers(counts, c, l, sides):
    n, population, alpha = 1_000, 5_000, 0.05
    x = sorted(counts, reverse=True)
    size = sum(x)
    expected = l == 1
    if l > 1 and size > 1:
        p1, p2 = x[0] / size, sum(x[l - 1 :]) / size
        deviation = sqrt((c**2 * p2 * (1 - p2) + p1 * (1 - p1)) / (size - 1) * (population - n) / population)
        expected = c * p2 - p1 > norm.isf(alpha / sides) * deviation
    if size >= l:
        assert passes(RecursiveDiversity(c=c, l=l), counts, n, population, alpha, sides) == expected


@pytest.mark.slow
@given(counts=st.lists(st.integers(0, 30), min_size=2, max_size=8).filter(sum), v=st.sampled_from([0.5, 1.0, 3.0]))
@settings(max_examples=25)
def test_the_variance_test_is_the_papers(counts, v):
    n, population, alpha, sides = 400, 5_000, 0.05, 3
    values = np.repeat(np.arange(len(counts)), counts)
    expected = len(values) > 1 and bool(
        (len(values) - 1) * values.var(ddof=1) / v >= chi2.isf(alpha / sides, len(values) - 1)
    )
    assert passes(VarianceDiversity(v=v), counts, n, population, alpha, sides) == expected
    assert passes(VarianceDiversity(v=v), counts, population, population, alpha, sides) == (values.var() >= v)


def test_the_entropy_and_frequency_tests_by_hand():
    n, population = 200, 1_000
    z, correction = norm.isf(0.025), 0.8
    shares = np.array([60, 30, 10]) / 100
    entropy = -(shares * np.log(shares)).sum()
    deviation = sqrt(((shares * np.log(shares) ** 2).sum() - entropy**2) / 99 * correction)
    edge = float(np.exp(entropy - z * deviation))
    assert passes(EntropyDiversity(l=edge - 1e-6), [60, 30, 10], n, population, 0.05, 2)
    assert not passes(EntropyDiversity(l=edge + 1e-6), [60, 30, 10], n, population, 0.05, 2)
    share = 0.6 + z * sqrt(0.6 * 0.4 / 99 * correction)
    assert passes(FrequencyDiversity(l=1 / share - 1e-6), [60, 30, 10], n, population, 0.05, 2)
    assert not passes(FrequencyDiversity(l=1 / share + 1e-6), [60, 30, 10], n, population, 0.05, 2)
    assert log(3) > entropy


@pytest.mark.slow
def test_the_closeness_test_by_hand():
    # Equal distance on two values: EMD = |share - overall share|; its deviation is that of a share.
    checks = CheckSet((TCloseness(t=0.3),), table([500, 500]))
    deviation = sqrt(0.6 * 0.4 / 99 * 0.8)
    for t, expected in ((0.1 + 1.95997 * deviation, True), (0.1 + 1.95995 * deviation, False)):
        checks = CheckSet((TCloseness(t=t),), table([500, 500]))
        arrays = confident_checks(checks, 200, 1_000, 0.05, 2)
        assert kernel_answer(arrays, np.array([60, 40]), 100, 2) == expected


def test_values_seen_in_a_sample_are_in_the_population():
    assert passes(DistinctDiversity(l=3), [5, 1, 1], 50, 500, 0.05, 2)
    assert not passes(DistinctDiversity(l=3), [5, 1, 0], 50, 500, 0.05, 2)


@pytest.mark.parametrize("requirement", [KAnonymity(k=7), RecursiveDiversity(c=1.0, l=2), VarianceDiversity(v=0.2)])
def test_a_sample_of_everything_is_judged_exactly(requirement):
    checks = CheckSet((requirement,), table([6, 4]))
    assert confident_checks(checks, 10, 10, 0.05, 3) == checks.kernel


def test_k_in_the_kernel_turns_at_the_rows_needed():
    needed = rows_needed(100, 1_000, 10_000, 0.05, 3)
    assert passes(KAnonymity(k=100), [needed], 1_000, 10_000, 0.05, 3)
    assert not passes(KAnonymity(k=100), [needed - 1], 1_000, 10_000, 0.05, 3)
