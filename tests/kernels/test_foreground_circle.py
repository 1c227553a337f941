"""Expected numbers of people with x by the sum around a circle, against whole numbers without any rounding."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.kernels.foreground_circle import POINTS, WIDTH, expect_around
from tests.kernels.from_python import from_python

around = from_python(expect_around)


def found(odds: list[float], counts: list[int], n: int) -> tuple[np.ndarray, float]:
    """What the kernel writes and returns for a group in which every entry is of its own signature."""
    expected = np.full(len(odds), -1.0)
    classes = np.arange(len(odds), dtype=np.int32)
    points = np.empty((WIDTH, POINTS))
    log_weight = around(np.array(odds, dtype=float), classes, np.array(counts), n, expected, points, True)
    return expected, log_weight


def product(factors: list[list[int]], degree: int) -> list[int]:
    """The product of polynomials with whole coefficients, up to a degree."""
    result = [1] + [0] * degree
    for factor in factors:
        result = [sum(factor[k] * result[i - k] for k in range(min(i, len(factor) - 1) + 1)) for i in range(degree + 1)]
    return result


def by_definition(odds: list[Fraction], counts: list[int], n: int) -> tuple[list[Fraction], float]:
    """Expected numbers and the logarithm of the weight, by multiplying the polynomials (1 + odds z)^count out."""
    bottom = 64
    assert all((one * bottom).denominator == 1 for one in odds)
    tops = [int(one * bottom) for one in odds]
    # (64 + top z)^count has whole coefficients; the 64s are taken out at the end.
    factors = [
        [comb(count, k) * top**k * bottom ** (count - k) for k in range(min(count, n) + 1)]
        for top, count in zip(tops, counts, strict=True)
    ]
    total = product(factors, n)[n]
    expected = []
    for e, factor in enumerate(factors):
        with_x = [k * number for k, number in enumerate(factor)]
        expected.append(Fraction(product([*factors[:e], with_x, *factors[e + 1 :]], n)[n], total))
    return expected, log(total) - sum(counts) * log(bottom)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    entries=st.lists(st.tuples(st.integers(0, 640), st.integers(1, 120)), min_size=2, max_size=4),
    part=st.floats(0.05, 0.95),
)
def test_it_is_the_sum_over_all_worlds(entries: list[tuple[int, int]], part: float) -> None:
    odds, counts = [Fraction(top, 64) for top, _ in entries], [count for _, count in entries]
    n = max(1, min(int(part * sum(counts)), sum(count for top, count in entries if top > 0)))
    expected, log_weight = found([float(one) for one in odds], counts, n)
    if np.isnan(log_weight):
        assert (expected == -1.0).all()
        return
    exact, exact_log_weight = by_definition(odds, counts, n)
    assert expected == pytest.approx([float(one) for one in exact], rel=1e-12, abs=0)
    assert log_weight == pytest.approx(exact_log_weight, rel=1e-12, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_hundreds_of_people_of_three_signatures(scale: float) -> None:
    odds, counts, n = [Fraction(3, 64), Fraction(9, 64), Fraction(80, 64)], [250, 200, 150], 120
    exact, exact_log_weight = by_definition(odds, counts, n)
    expected, log_weight = found([float(one) * scale for one in odds], counts, n)
    # A common factor of all odds leaves the expected numbers as they are, and multiplies every world by scale^n.
    assert expected == pytest.approx([float(one) for one in exact], rel=1e-12, abs=0)
    assert log_weight == pytest.approx(exact_log_weight + n * log(scale), rel=1e-12)


def test_the_certain_stay_certain() -> None:
    expected, log_weight = found([np.inf, 0.5, 0.0, 2.0], [30, 200, 50, 300], 230)
    others, others_log_weight = found([0.5, 2.0], [200, 300], 200)
    assert expected[[0, 2]].tolist() == [30.0, 0.0]
    assert expected[[1, 3]] == pytest.approx(others, rel=1e-13)
    assert log_weight == pytest.approx(others_log_weight, rel=1e-13)


@pytest.mark.parametrize(
    ("odds", "counts", "n"),
    [
        ([0.5, 2.0], [10, 10], 7),  # few people: a variance below 5
        ([0.5, 2.0], [900, 900], 3),  # few with x
        ([0.5, 2.0], [900, 900], 1797),  # few without
        ([np.inf, 0.5], [300, 300], 200),  # fewer with x than have it for certain
        ([np.inf, 0.0], [300, 300], 300),  # nobody is uncertain
        ([0.0, 0.5], [300, 300], 400),  # more with x than can have it
        ([1e-300, 1e300], [300, 300], 300),  # the world is certain but for rounding
    ],
)
def test_it_leaves_to_others_what_has_few_worlds(odds: list[float], counts: list[int], n: int) -> None:
    expected, log_weight = found(odds, counts, n)
    assert np.isnan(log_weight)
    assert (expected == -1.0).all()
