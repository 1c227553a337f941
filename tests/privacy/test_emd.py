"""Distances of a release's groups from the table."""

import numpy as np
import pandas as pd
import pytest

from anoncore import Distorted, Exact, Fragment, Microdata, Partition, Release, privacy
from anoncore.base.errors import DataError, ParameterError, ReleaseError
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


def test_fragments_with_partitions_of_their_own_have_distances_of_their_own():
    data = Microdata(pd.DataFrame({"a": [1, 2, 3, 4], "s": list("xxyy")}), roles={"a": "quasi-identifier"})
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
    with pytest.raises(ParameterError, match="no ground distance 'taxicab'"):
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
