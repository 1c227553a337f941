"""Requirements against exact fractions: what holds exactly is never refused, and what fails by more than rounding is
never said to hold, whatever the unit and the size of the numbers."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Hierarchy, Microdata, Partition
from anoncore.base.pandas_versions import TEXT
from anoncore.requirements import (
    Comparison,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    VarianceDiversity,
)

few = settings(max_examples=30)
NOTICED = Fraction(1, 10**11)
"""A share of the threshold that is more than rounding."""
TREE = {"low": [0, 1], "middle": [2], "high": [3, 4, 5]}


def data_of(values, dtype=None, **tags):
    return Microdata(pd.DataFrame({"s": pd.Series(values, dtype=dtype)}), roles={"s": "sensitive"}, **tags)


def answers(requirement, data, group):
    (check,) = requirement.checks(data)
    levels = check.levels(Partition(np.array(group)))
    return levels.tolist(), check.holds(levels).tolist()


def assert_judged(requirement, level, holds):
    """The answer about a group whose exact level is a fraction; the threshold is the decimal that is written."""
    threshold = Fraction(repr(requirement.threshold))
    slack = NOTICED * threshold
    if requirement.comparison is Comparison.AT_LEAST:
        sure, false = level >= threshold, level < threshold - slack
    elif requirement.comparison is Comparison.AT_MOST:
        sure, false = level <= threshold, level > threshold + slack
    else:
        sure, false = level < threshold - slack, level >= threshold
    assert not (sure and not holds), f"{requirement.label()} is refused at {float(level)!r}"
    assert not (false and holds), f"{requirement.label()} is said to hold at {float(level)!r}"


def around(level):
    """Thresholds at a level and near it, as somebody may write them."""
    level = float(level)
    near = [level * (1 + sign * share) for share in (1e-15, 1e-10, 1e-6, 0.1) for sign in (-1, 1)]
    return st.sampled_from([level, float(np.nextafter(level, 9)) if level else 1e-12, *near, float(f"{level:.3g}")])


groups = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=14)


def dense(rows):
    values, group = zip(*rows, strict=True)
    return list(values), np.unique(group, return_inverse=True)[1].tolist()


def members(values, group, number):
    return [value for value, one in zip(values, group, strict=True) if one == number]


def exact_distance(inside, whole, ground):
    """The earth mover's distance by its definition on a path, between equals or on `TREE`."""
    domain = sorted(set(whole))
    surplus = {x: Fraction(inside.count(x), len(inside)) - Fraction(whole.count(x), len(whole)) for x in domain}
    if len(domain) == 1:
        return Fraction(0)
    if ground == "ordered":
        running = [sum(surplus[x] for x in domain[: i + 1]) for i in range(len(domain) - 1)]
        return sum(map(abs, running)) / (len(domain) - 1)
    if ground == "interval":
        areas = [
            abs(sum(surplus[x] for x in domain if x <= below)) * (above - below) for below, above in pairwise(domain)
        ]
        return sum(areas) / (domain[-1] - domain[0])
    if ground == "equal":
        return sum(map(abs, surplus.values())) / 2
    leaves = [abs(surplus[x]) for x in domain]
    branches = [abs(sum(surplus[x] for x in branch if x in surplus)) for branch in TREE.values()]
    return (sum(leaves) + sum(branches)) / 4


@few
@given(rows=groups, ground=st.sampled_from(["ordered", "interval", "equal", "hierarchical"]), data=st.data())
def test_closeness_is_judged_as_by_fractions(rows, ground, data):
    values, group = dense(rows)
    table = data_of(values, hierarchies={"s": Hierarchy.from_nested(TREE)})
    exact = [exact_distance(members(values, group, number), values, ground) for number in range(max(group) + 1)]
    t = data.draw(around(data.draw(st.sampled_from(exact))) | st.just(0.0))
    requirement = TCloseness(t=min(t, 1.0), ground=ground)
    levels, holds = answers(requirement, table, group)
    for level, found, holding in zip(exact, levels, holds, strict=True):
        assert found == pytest.approx(float(level), rel=1e-14, abs=0)
        assert_judged(requirement, level, holding)


@few
@given(rows=groups, l=st.integers(1, 4), data=st.data())
def test_diversity_is_judged_as_by_fractions(rows, l, data):
    values, group = dense(rows)
    table = data_of([f"v{value}" for value in values])
    counts = [sorted(Counter(members(values, group, number)).values())[::-1] for number in range(max(group) + 1)]
    shares = [Fraction(sum(one), one[0]) for one in counts]
    frequency = FrequencyDiversity(l=max(data.draw(around(data.draw(st.sampled_from(shares)))), 1.0))
    for level, holding in zip(shares, answers(frequency, table, group)[1], strict=True):
        assert_judged(frequency, level, holding)
    ratios = [Fraction(one[0], sum(one[l - 1 :])) if len(one) >= l else None for one in counts]
    known = [ratio for ratio in ratios if ratio is not None]
    if l > 1 and known:
        recursive = RecursiveDiversity(c=data.draw(around(data.draw(st.sampled_from(known)))), l=l)
        for level, holding in zip(ratios, answers(recursive, table, group)[1], strict=True):
            assert level is not None or not holding
            if level is not None:
                assert_judged(recursive, level, holding)


@few
@given(groups, st.integers(1, 6))
def test_whole_entropies_and_whole_levels_are_judged_exactly(rows, l):
    """exp(entropy) >= l for a whole l: size^size >= l^size times the product of count^count."""
    values, group = dense(rows)
    table = data_of([f"v{value}" for value in values])
    counts = [Counter(members(values, group, number)).values() for number in range(max(group) + 1)]
    sizes = [sum(one) for one in counts]
    entropy = [size**size >= l**size * prod(one) for size, one in zip(sizes, counts, strict=True)]
    assert answers(EntropyDiversity(l=l), table, group)[1] == entropy
    assert answers(DistinctDiversity(l=l), table, group)[1] == [len(one) >= l for one in counts]
    assert answers(KAnonymity(k=l), table, group)[1] == [size >= l for size in sizes]


def prod(counts):
    product = 1
    for count in counts:
        product *= count**count
    return product


@pytest.mark.slow
@pytest.mark.parametrize("m", [10, 1_000, 100_000])
def test_levels_of_many_values_are_as_exact_as_those_of_few(m):
    table = data_of([f"v{value}" for value in range(m)] * 2)
    for group in ([0] * (2 * m), [0] * m + [1] * m):
        assert answers(EntropyDiversity(l=m), table, group)[1] == [True] * (max(group) + 1)
        for ground in ("ordered", "equal"):
            assert answers(TCloseness(t=0, ground=ground), table, group)[0] == [0.0] * (max(group) + 1)


tens = st.integers(-9, 9).map(lambda power: (f"1e{power}", 10))
twos = st.integers(-30, 30).map(lambda power: (power, 2))


def scaled(number, scale):
    """A whole number in another unit, as it is written there: 3 in thousandths is 0.003."""
    power, base = scale
    return float(f"{number}{power[1:]}") if base == 10 else number * 2.0**power


def factor(scale):
    power, base = scale
    return Fraction(power) if base == 10 else Fraction(2) ** power


def exact_variance(numbers):
    mean = sum(numbers) / len(numbers)
    return sum((number - mean) ** 2 for number in numbers) / len(numbers)


@few
@given(
    rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2)), min_size=1, max_size=12),
    shift=st.sampled_from([0, 1, -7, 10**6, 10**12]),
    scale=tens | twos,
    data=st.data(),
)
def test_variance_is_judged_as_by_fractions_in_every_unit(rows, shift, scale, data):
    values, group = dense(rows)
    # A number is what is written, in sixteen digits: a large one in units of a power of two has more, and would be
    # another number there.
    power, base = scale
    is_written = int(power) >= 0 if base == 2 else Fraction(power) < 1
    values = [value + (shift if is_written else shift % (10**4 if base == 10 else 100)) for value in values]
    exact = [exact_variance([Fraction(one) for one in members(values, group, i)]) for i in range(max(group) + 1)]
    v = data.draw(around(data.draw(st.sampled_from(exact))))
    whole, holds = answers(VarianceDiversity(v=v), data_of(values), group)
    for level, holding in zip(exact, holds, strict=True):
        assert_judged(VarianceDiversity(v=v), level, holding)
    assert whole == pytest.approx([float(level) for level in exact], rel=1e-14, abs=0)
    unit = factor(scale)
    written = [scaled(value, scale) for value in values]
    requirement = VarianceDiversity(v=float(Fraction(repr(v)) * unit**2))
    levels, again = answers(requirement, data_of(written), group)
    assert levels == pytest.approx([float(level * unit**2) for level in exact], rel=1e-12, abs=0)
    assert again == holds


def test_small_numbers_are_judged_in_their_own_unit():
    """Two equal numbers of a millionth have no variance, however small the variance that is asked."""
    table = data_of([1e-6, 1e-6, 2e-6, 3e-6])
    levels, holds = answers(VarianceDiversity(v=5e-10), table, [0, 0, 1, 1])
    assert holds == [False, False]
    levels, holds = answers(VarianceDiversity(v=2.5e-13), table, [0, 0, 1, 1])
    assert levels[0] == 0
    assert holds == [False, True]


@pytest.mark.parametrize("size", [0.1, 1 / 3, 1e9 + 0.1, 1e17, 12345.678])
def test_equal_numbers_have_exactly_no_variance(size):
    table = data_of([size] * 7 + [size * 2])
    levels, _ = answers(VarianceDiversity(v=1), table, [0] * 7 + [1])
    assert levels == [0.0, 0.0]


FAR = 2**60
NEAR = [0, 0, 10, 30, 30, 30]
LARGE = [FAR + number for number in NEAR]
DAY = 86_400 * 10**9


@pytest.mark.parametrize(
    ("values", "dtype", "unit"),
    [
        (LARGE, "int64", 1),
        (LARGE, "Int64", 1),
        (LARGE, "uint64", 1),
        ([2**63 + number for number in LARGE], "uint64", 1),
        (LARGE, "object", 1),
        ([*map(str, LARGE)], TEXT, 1),
        ([*LARGE, None], "Int64", 1),
        ([*LARGE, None], "object", 1),
        ([*map(str, LARGE), None], TEXT, 1),
        ([-number for number in LARGE], "int64", 1),
        ([*LARGE, 0], "int64", 1),
        ([*LARGE, -(2**62)], "int64", 1),
        ([pd.Timestamp(number) for number in LARGE], "datetime64[ns]", Fraction(1, DAY)),
        ([pd.Timestamp(FAR + 100 * number) for number in NEAR], "datetime64[ns]", Fraction(100, DAY)),
        ([pd.Timestamp(FAR + 100 * number, tz="UTC") for number in NEAR], None, Fraction(100, DAY)),
        ([10**15 + number for number in NEAR], "float64", 1),
        ([1e-3 * (10**12 + number) for number in NEAR], "float64", Fraction(1, 1000)),
    ],
)
def test_numbers_that_a_double_cannot_tell_apart_are_subtracted_exactly(values, dtype, unit):
    group = [0, 0, 0, 1, 1, 1] + [2] * (len(values) - 6)
    levels, _ = answers(VarianceDiversity(v=1), data_of(values, dtype, kinds={"s": "numeric"}), group)
    exact = [exact_variance([Fraction(one) for one in NEAR[half : half + 3]]) * Fraction(unit) ** 2 for half in (0, 3)]
    assert levels[:2] == pytest.approx([float(one) for one in exact], rel=1e-14, abs=0)


@pytest.mark.parametrize(
    "values",
    [
        [Decimal("0.1"), Decimal("0.10000000000000000001")],
        ["0.1", "0.10000000000000000001", None],
        ["18446744073709551616", "18446744073709551617"],
        [2**60, 2**60 + 10, 0.5],
    ],
)
def test_numbers_that_would_become_one_are_refused(values):
    with pytest.raises(DataError, match="in double precision; round them first"):
        data_of(values, "object", kinds={"s": "numeric"})


def test_one_number_may_be_written_in_several_ways():
    data = data_of(["7", "7.0", "007", "7e0", " 8"], "object", kinds={"s": "numeric"})
    assert data.domain["s"].values == (7.0, 8.0)


@few
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True))
def test_steps_are_exact_for_all_integers(numbers):
    axis = data_of(sorted(numbers)).domain["s"].axis
    exact = [(Fraction(step) + Fraction(rest)) * axis.unit for step, rest in zip(axis.steps, axis.rest, strict=True)]
    for (low, first), (high, second) in pairwise(zip(sorted(numbers), exact, strict=True)):
        assert second - first == high - low


@few
@given(
    st.lists(st.floats(-1e12, 1e12, allow_nan=False), min_size=1, max_size=8, unique=True)
    | st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=8, unique=True).map(lambda n: [x / 1000 for x in n])
)
def test_steps_of_fractions_differ_as_the_fractions_do(numbers):
    axis = data_of(sorted(map(float, numbers))).domain["s"].axis
    ordered = sorted({float(number) for number in numbers})
    exact = [(Fraction(step) + Fraction(rest)) * axis.unit for step, rest in zip(axis.steps, axis.rest, strict=True)]
    for (low, first), (high, second) in pairwise(zip(ordered, exact, strict=True)):
        difference = Fraction(high) - Fraction(low)
        # A decimal stands for itself, not for a double that rounding has put beside it.
        assert abs(second - first - difference) <= max(Fraction(abs(low)), Fraction(abs(high))) / 2**50


def test_decimals_have_whole_steps_in_every_unit():
    for power in range(-12, 13):
        axis = data_of([float(f"{number}e{power}") for number in (25, 10, 40)]).domain["s"].axis
        assert axis.steps.tolist() == [0, 1, 2]
        assert axis.unit == 15 * Fraction(10) ** power
        assert data_of([number * 10.0**power for number in (25, 10, 40)]).domain["s"].axis.steps.tolist() == [0, 1, 2]
