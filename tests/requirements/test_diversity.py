"""Size and diversity requirements against slow definitions, by hand, and at their exact thresholds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.errors import DataError, ParameterError
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    VarianceDiversity,
)
from tests.requirements.tables import counted, grouped, plain_entropy, plain_recursive, random_groups

VALUES = ("flu", "ulcer", "cancer", "angina", None)
few = settings(max_examples=25)


def result(requirement, table):
    (check,) = requirement.checks(table.data)
    levels = check.levels(table.partition)
    return levels, check.holds(levels)


def group_counts(table, protected=None):
    return [counted(table.members(group), protected) for group in range(table.partition.n_groups)]


@few
@given(random_groups(VALUES), st.integers(1, 5))
def test_distinct_diversity_counts_different_values_and_missing_is_one(table, l):
    levels, holds = result(DistinctDiversity(l=l), table)
    distinct = [len(counts) for counts in group_counts(table)]
    assert levels.tolist() == distinct
    assert holds.tolist() == [number >= l for number in distinct]


@few
@given(random_groups(VALUES), st.sampled_from([1.0, 1.5, 2.0, 2.5, 3.0]))
def test_frequency_diversity_bounds_the_largest_share(table, l):
    levels, holds = result(FrequencyDiversity(l=l), table)
    counts = group_counts(table)
    np.testing.assert_allclose(levels, [sum(one) / one[0] for one in counts], rtol=1e-12)
    assert holds.tolist() == [one[0] * l <= sum(one) for one in counts]


@few
@given(random_groups(VALUES), st.sampled_from([1.0, 1.3, 2.0, 2.7]))
def test_entropy_diversity_is_exp_of_the_entropy(table, l):
    levels, holds = result(EntropyDiversity(l=l), table)
    plain = np.array([plain_entropy(counts) for counts in group_counts(table)])
    np.testing.assert_allclose(levels, plain, rtol=1e-12)
    assert holds.tolist() == (plain >= l - 1e-9).tolist()


@few
@given(random_groups(VALUES), st.sampled_from([0.5, 1.0, 1.5, 3.0]), st.integers(1, 6))
def test_recursive_diversity_compares_the_top_with_the_tail(table, c, l):
    _, holds = result(RecursiveDiversity(c=c, l=l), table)
    assert holds.tolist() == [plain_recursive(counts, c, l) for counts in group_counts(table)]


@few
@given(
    random_groups(["HIV", "cancer", "flu", "cold", None]),
    st.sampled_from([{"HIV"}, {"HIV", "cancer"}]),
    st.integers(1, 4),
)
def test_with_a_protected_set_it_counts_as_one_value_and_each_other_row_as_its_own(table, protected, l):
    present = protected & set(table.values)
    if not present:
        return
    table = grouped(table.values, table.group, sensitive_values={"s": present})
    counts = group_counts(table, present)
    assert result(DistinctDiversity(l=l), table)[0].tolist() == [len(one) for one in counts]
    np.testing.assert_allclose(result(FrequencyDiversity(l=l), table)[0], [sum(one) / one[0] for one in counts])
    np.testing.assert_allclose(result(EntropyDiversity(l=l), table)[0], [plain_entropy(one) for one in counts])
    recursive = result(RecursiveDiversity(c=1.5, l=l), table)[1]
    assert recursive.tolist() == [plain_recursive(one, 1.5, l) for one in counts]


def test_levels_of_a_group_by_hand():
    # Counts 4, 2, 1, 1: entropy 1/2 ln 2 + 1/4 ln 4 + 2/8 ln 8 = 1.75 ln 2.
    table = grouped(list("aaaabbcd"), [0] * 8)
    assert result(KAnonymity(k=8), table)[0] == [8]
    assert result(DistinctDiversity(l=4), table)[0] == [4]
    assert result(FrequencyDiversity(l=2), table)[0] == [2]
    assert result(EntropyDiversity(l=2), table)[0] == pytest.approx(2**1.75)
    assert [result(RecursiveDiversity(c=1, l=l), table)[0][0] for l in (1, 2, 3, 4)] == [0, 1, 2, 4]
    assert result(RecursiveDiversity(c=1, l=5), table)[0] == [np.inf]


def test_thresholds_that_are_met_exactly():
    table = grouped(list("aab"), [0, 0, 0])
    assert result(KAnonymity(k=3), table)[1] == [True]
    assert result(KAnonymity(k=4), table)[1] == [False]
    assert result(FrequencyDiversity(l=1.5), table)[1] == [True]  # share 2/3 = 1/l
    assert result(FrequencyDiversity(l=1.501), table)[1] == [False]
    assert result(RecursiveDiversity(c=2, l=2), table)[1] == [False]  # 2 < 2 * 1 fails
    assert result(RecursiveDiversity(c=2.001, l=2), table)[1] == [True]
    for m in range(2, 40):
        even = grouped([f"v{value}" for value in range(m)], [0] * m)
        assert result(FrequencyDiversity(l=m), even)[1] == [True]
        assert result(EntropyDiversity(l=m), even)[1] == [True]
        assert result(RecursiveDiversity(c=1 / (m - 1), l=2), even)[1] == [False]


def test_one_value_reaches_l_of_one_only():
    table = grouped(["flu"] * 4, [0, 0, 1, 1])
    for requirement in (DistinctDiversity, FrequencyDiversity, EntropyDiversity):
        assert result(requirement(l=1), table)[1].all()
        assert not result(requirement(l=2), table)[1].any()
    assert not result(RecursiveDiversity(c=100, l=2), table)[1].any()
    assert result(RecursiveDiversity(c=0.1, l=1), table)[1].all()


@few
@given(random_groups((1.0, 2.5, 4.0, 1e9, None), numeric=True))
def test_variance_is_that_of_the_known_numbers(table):
    levels, _ = result(VarianceDiversity(v=1.0), table)
    for group, level in enumerate(levels):
        known = [value for value in table.members(group) if value is not None]
        assert level == pytest.approx(np.var(known) if known else 0.0, rel=1e-9)


def test_variance_needs_numbers_and_no_protected_set():
    with pytest.raises(DataError, match="'s' is not numeric"):
        VarianceDiversity(v=1).checks(grouped(["a", "b"], [0, 0]).data)
    with pytest.raises(DataError, match="drop sensitive_values"):
        VarianceDiversity(v=1).checks(grouped([1, 2], [0, 0], numeric=True, sensitive_values={"s": {1}}).data)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: KAnonymity(k=0), "k should be"),
        (lambda: DistinctDiversity(l=2.5), "l should be"),
        (lambda: FrequencyDiversity(l=0.9), "l should be"),
        (lambda: EntropyDiversity(l=float("nan")), "l should be"),
        (lambda: RecursiveDiversity(c=0, l=2), "c should be"),
        (lambda: VarianceDiversity(), "v is missing"),
    ],
)
def test_a_field_outside_its_range_is_one_sentence(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


def test_a_missing_attribute_is_named():
    with pytest.raises(DataError, match="no attribute 'age'"):
        DistinctDiversity(l=2, attribute="age").checks(grouped(["a"], [0]).data)
