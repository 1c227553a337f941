"""Distances of a release's groups from the table."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Distorted, Exact, Fragment, Microdata, Partition, Release, privacy
from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.requirements import TCloseness
from tests.privacy.releases import builtin, fragment, generalized, value_sets

# Section 3.5: five classes dealt in turn from the salaries stacked by descending frequency.
TRUE_DISTANCES = [0.016889, 0.005778, 0.006222, 0.006222, 0.004889]
STACK_ORDER_DISTANCES = [0.009778, 0.005778, 0.005333, 0.006667, 0.008]


def dealt_salaries(**changes):
    data = builtin("t-closeness-salaries", **changes)
    salary = data.frame["salary"]
    stacked = salary.map(salary.value_counts()).to_numpy().argsort(kind="stable")[::-1]
    group = np.empty(data.n_rows, dtype=np.int32)
    group[stacked] = np.arange(data.n_rows) % 5
    return generalized(data, group)


def test_the_dealt_salaries_of_section_3_5_in_salary_order():
    np.testing.assert_allclose(privacy.emd(dealt_salaries(), "salary"), TRUE_DISTANCES, atol=5e-7)


def test_the_printed_distances_of_table_3_4_are_those_in_stack_order():
    counts = builtin("t-closeness-salaries").frame["salary"].value_counts()
    release = dealt_salaries(kinds={"salary": "ordinal"}, orders={"salary": list(counts.index)})
    np.testing.assert_allclose(privacy.emd(release, "salary", ground="ordered"), STACK_ORDER_DISTANCES, atol=5e-7)


def test_table_2_11_hides_alike_values_from_diversity_but_not_from_the_distance():
    release = generalized(builtin("t-closeness-table-2.10"), (0, 0, 0, 1, 1, 1, 2, 2, 2))
    # Nine salaries; the class of 3K, 4K, 5K: Li et al. 2007, section 5.1, give 0.375.
    assert privacy.emd(release, "salary")[0] == pytest.approx(0.375)
    # One of the three stomach diseases is dealt to another class: shares 1/3 each against 1/9, 2/9, 2/9, and 4/9 lung.
    assert privacy.emd(release, "disease", ground="hierarchical")[0] == pytest.approx(4 / 9)


def test_the_published_distribution_is_compared_with_the_original_table():
    frame = pd.DataFrame({"s": ["a", "a", "b", "b"]}, index=[3, 3, 0, 1])
    data = Microdata(frame, roles={"s": "sensitive"})
    partition = Partition(np.array([0, 0, 1, 1]))
    published = Distorted(data.domain["s"], partition, np.array([0, 1, 1, 1], dtype=np.int32), data.codes["s"])
    release = Release(data, (Fragment("release", partition, {"s": published}),))
    np.testing.assert_allclose(privacy.emd(release, "s", ground="equal"), [0.0, 0.5])


def two_attributes(groups):
    """Pay of 1 to 4 and an illness that the better paid have, in two groups."""
    frame = pd.DataFrame({"pay": [1, 2, 3, 4], "ill": [0, 0, 1, 1]})
    return generalized(Microdata(frame, roles={"pay": "sensitive", "ill": "sensitive"}), groups)


def test_two_attributes_are_combined_as_the_largest_or_as_the_root_of_the_sum_of_squares():
    # By hand: pay 1/4 + 1/2 + 1/4 over three steps, 1/3; illness all or nobody, of half the table, 1/2.
    release = two_attributes([0, 0, 1, 1])
    assert privacy.closeness(release) == pytest.approx(1 / 2)
    assert privacy.closeness(release, combine="euclidean") == pytest.approx(sqrt(1 / 9 + 1 / 4))
    # One of each illness: 0. Pay 1 and 4 in a class: 1/4 + 0 + 1/4 over three steps.
    mixed = two_attributes([0, 1, 1, 0])
    assert privacy.closeness(mixed) == privacy.closeness(mixed, combine="euclidean") == pytest.approx(1 / 6)


def test_each_attribute_counts_with_the_group_that_is_farthest_in_it():
    frame = pd.DataFrame({"a": [0, 0, 0, 0, 1, 1], "b": [0, 1, 0, 1, 1, 1]})
    release = generalized(Microdata(frame, roles={"a": "sensitive", "b": "sensitive"}), [0, 0, 1, 1, 2, 2])
    # a: 1/3 in the first two, 2/3 in the last; b: |1/2 - 1/3| in the first two, 1/3 in the last.
    assert privacy.closeness(release, "equal") == pytest.approx(2 / 3)
    assert privacy.closeness(release, "equal", "euclidean") == pytest.approx(sqrt(4 / 9 + 1 / 9))
    # Now the group that is farthest in b is not that in a.
    frame["b"] = [0, 0, 1, 1, 0, 1]
    release = generalized(Microdata(frame, roles={"a": "sensitive", "b": "sensitive"}), [0, 0, 1, 1, 2, 2])
    assert privacy.closeness(release, "equal", "euclidean") == pytest.approx(sqrt(4 / 9 + 1 / 4))


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_largest_is_the_least_t_that_every_attribute_keeps(seed):
    rng = np.random.default_rng(seed)
    names = ["a", "b", "c"][: rng.integers(1, 4)]
    frame = pd.DataFrame({name: rng.integers(0, 5, 12) for name in names}).assign(**{names[0]: range(12)})
    release = generalized(Microdata(frame, roles=dict.fromkeys(names, "sensitive")), np.arange(12) % 4)
    largest = privacy.closeness(release)
    for t, keeps in ((largest + 1e-9, True), (largest - 1e-6, False)):
        every = [privacy.check(release, [TCloseness(t=max(t, 0), ground="ordered", attribute=name)]) for name in names]
        assert all(not one for one in every) == keeps
    root = privacy.closeness(release, combine="euclidean")
    assert largest - 1e-12 <= root <= largest * sqrt(len(names)) + 1e-12


def test_ways_to_combine_that_there_are_not_are_refused():
    with pytest.raises(ParameterError, match="combine is 'sum'; use one of 'largest', 'euclidean'"):
        privacy.closeness(two_attributes([0, 0, 1, 1]), combine="sum")
    nothing = Microdata(pd.DataFrame({"a": [1, 2]}), roles={"a": "quasi-identifier"})
    with pytest.raises(DataError, match="no sensitive attribute"):
        privacy.closeness(generalized(nothing, [0, 0]))


def test_fragments_with_partitions_of_their_own_have_distances_of_their_own():
    data = Microdata(
        pd.DataFrame({"a": [1, 2, 3, 4], "s": list("xxyy")}), roles={"a": "quasi-identifier", "*": "insensitive"}
    )
    first, second = Partition(np.array([0, 0, 1, 1])), Partition(np.array([0, 1, 0, 1]))
    release = Release(data, (fragment(data, "one", first, ["s"], ["a"]), fragment(data, "two", second, ["s"])))
    np.testing.assert_allclose(privacy.emd(release, "s", ground="equal"), [0.5, 0.5])
    np.testing.assert_allclose(privacy.emd(release, "s", ground="equal", fragment="two"), [0, 0])
    with pytest.raises(ParameterError, match="No fragment 'three' publishes 's'; one, two"):
        privacy.emd(release, "s", fragment="three")


def test_a_value_set_counts_each_value_once():
    data = builtin("fragmentation-table-3")
    partition = Partition(np.zeros(5, dtype=np.int32))
    sets = {"disease": value_sets(data, "disease", partition)}
    release = Release(data, (Fragment("release", partition, sets),))
    # Flu and pneumonia have 2/5 each in the table, dyspepsia 1/5: all 1/3 in what is published.
    assert privacy.emd(release, "disease", ground="equal")[0] == pytest.approx(1 / 3 - 1 / 5)


def test_what_cannot_be_measured_is_said():
    release = generalized(builtin("slicing-table-1"), [0] * 8)
    with pytest.raises(ParameterError, match="ground is 'taxicab'; use one of 'ordered'"):
        privacy.emd(release, "disease", ground="taxicab")
    with pytest.raises(ReleaseError, match="'age' is generalized"):
        privacy.emd(release, "age")
    with pytest.raises(DataError, match="no attribute 'salary'"):
        privacy.emd(release, "salary")
    partition = Partition(np.zeros(8, dtype=np.int32))
    data = release.data
    hidden = Release(
        data, (Fragment("x", partition, {"sex": Exact(data.domain["sex"], partition, data.codes["sex"])}),)
    )
    with pytest.raises(ReleaseError, match="does not publish 'disease'"):
        privacy.emd(hidden, "disease")
