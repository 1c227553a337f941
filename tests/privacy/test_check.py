"""Violations: which groups, and what their sentences say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from anoncore import Distorted, Fragment, Microdata, Partition, Release, privacy
from anoncore.base.errors import DataError
from anoncore.privacy.published import published_levels
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    VarianceDiversity,
)
from tests.privacy.releases import builtin, fragment, generalized, sliced, value_sets
from tests.requirements.tables import random_groups

# Table 2.9 of the dissertation: everyone of the first class has heart disease.
HEARTS = (0, 0, 0, 1, 1, 1, 2, 2, 2)


def one_sentence(release, requirement):
    (violation,) = privacy.check(release, [requirement])
    return violation.sentence


def test_a_sentence_names_group_attribute_level_and_threshold():
    release = generalized(builtin("t-closeness-table-2.8"), HEARTS)
    (violation,) = privacy.check(release, [KAnonymity(k=3), DistinctDiversity(l=2)])
    assert (violation.group, violation.size, violation.level, violation.attribute) == (0, 3, 1.0, "disease")
    assert violation.sentence == (
        "Group 0 (3 rows) has 1 different value of 'disease', but distinct l-diversity (l = 2) asks for at least 2; "
        "its most frequent value 'Heart Disease' has 100% of it and 56% of the table."
    )


def test_many_violations_show_the_first_and_how_many_are_left():
    release = generalized(builtin("t-closeness-table-2.8"), range(9))
    found = repr(privacy.check(release, [KAnonymity(k=k) for k in (2, 3, 4)])).split("\n")
    assert found[0] == "27 violations"
    assert len(found) == 18
    assert found[1].startswith("  Group 0 (1 row) has size 1, but k-anonymity (k = 2) asks for at least 2")
    assert found[-1] == "  … and 11 more"
    assert repr(privacy.check(release, [KAnonymity(k=1)])) == "()"


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        (FrequencyDiversity(l=1.4), "has its commonest 'disease' in 1 of 1, but frequency l-diversity (l = 1.4)"),
        (
            EntropyDiversity(l=1.5),
            "has exp(entropy) of 'disease' 1, but entropy l-diversity (l = 1.5) asks for at least 1.5",
        ),
        (
            RecursiveDiversity(c=3, l=2),
            "has too few people or different values of 'disease', so that no c is large enough, but recursive",
        ),
        (
            TCloseness(t=0.4),
            "has EMD of 'disease' 0.4444, but t-closeness (t = 0.4, ground = equal) asks for at most 0.4",
        ),
    ],
)
def test_each_requirement_has_its_sentence(requirement, words):
    sentence = one_sentence(generalized(builtin("t-closeness-table-2.8"), HEARTS), requirement)
    assert sentence.startswith("Group 0 (3 rows) ")
    assert words in sentence


def test_levels_next_to_the_threshold_are_told_apart():
    data = Microdata(pd.DataFrame({"s": ["a"] * 50_001 + ["b"] * 49_999}), roles={"s": "sensitive"})
    sentence = one_sentence(generalized(data, [0] * 100_000), FrequencyDiversity(l=2))
    assert "1.99996, but" in sentence
    assert "at most 1 of 2;" in sentence


def test_sizes_have_no_attribute_and_numbers_no_protected_set():
    data = Microdata(pd.DataFrame({"pay": [10, 10, 30]}), roles={"pay": "sensitive"})
    release = generalized(data, [0, 0, 1])
    assert (
        one_sentence(release, KAnonymity(k=2))
        == "Group 1 (1 row) has size 1, but k-anonymity (k = 2) asks for at least 2."
    )
    assert [one.group for one in privacy.check(release, [VarianceDiversity(v=1)])] == [0, 1]


@settings(max_examples=20)
@given(random_groups(("flu", "ulcer", None)))
def test_exactly_the_failing_groups_are_listed(table):
    release = sliced(table.data, table.group, [["s"]])
    failing = [group for group in range(table.partition.n_groups) if len(set(table.members(group))) < 2]
    assert [one.group for one in privacy.check(release, [DistinctDiversity(l=2)])] == failing


def test_a_protected_set_is_named_as_one_value():
    data = builtin("foreground-table-5")
    sentence = one_sentence(sliced(data, [0, 0, 1, 1], [["signature"], ["X"]]), FrequencyDiversity(l=2))
    assert "its most frequent value '{x}' has 100% of it and 50% of the table" in sentence


def test_published_values_count_not_the_original_ones():
    data = Microdata(pd.DataFrame({"s": ["a", "a"]}), roles={"s": "sensitive"})
    other = Microdata(pd.DataFrame({"s": ["a", "b"]}), roles={"s": "sensitive"})
    partition = Partition(np.array([0, 0]))
    published = Distorted(other.domain["s"], partition, other.codes["s"], np.zeros(2, dtype=np.int32))
    release = Release(other, (Fragment("release", partition, {"s": published}),))
    assert privacy.check(release, [DistinctDiversity(l=2)]) == ()
    assert len(privacy.check(generalized(data, [0, 0]), [DistinctDiversity(l=2)])) == 1


def test_every_fragment_with_a_partition_of_its_own_is_checked():
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, 1, 2, 2], "s": list("xyxy")})
    data = Microdata(frame, roles={"a": "quasi-identifier", "b": "quasi-identifier", "s": "sensitive"})
    first, second = Partition(np.array([0, 0, 1, 1])), Partition(np.array([0, 1, 0, 1]))
    release = Release(data, (fragment(data, "one", first, ["s"], ["a"]), fragment(data, "two", second, ["s"], ["b"])))
    found = privacy.check(release, [DistinctDiversity(l=2), KAnonymity(k=3)])
    assert [(one.fragment, one.group, one.attribute) for one in found] == [
        ("two", 0, "s"),
        ("two", 1, "s"),
        ("one", 0, None),
        ("one", 1, None),
        ("two", 0, None),
        ("two", 1, None),
    ]
    assert found[0].sentence.startswith("Group 0 of fragment 'two' (2 rows)")


def test_a_shared_partition_is_checked_once():
    release = sliced(builtin("slicing-table-1"), [0, 0, 0, 0, 1, 1, 1, 1], [["age", "sex"], ["zipcode", "disease"]])
    assert len(privacy.check(release, [KAnonymity(k=5)])) == 2


def test_a_value_set_is_as_diverse_as_its_values():
    data = builtin("fragmentation-table-3")
    partition = Partition(np.zeros(5, dtype=np.int32))
    release = Release(data, (Fragment("release", partition, {"disease": value_sets(data, "disease", partition)}),))
    assert privacy.check(release, [EntropyDiversity(l=3), FrequencyDiversity(l=3), KAnonymity(k=5)]) == ()
    assert len(privacy.check(release, [DistinctDiversity(l=4)])) == 1


def test_a_requirement_that_does_not_fit_the_table_is_refused():
    with pytest.raises(DataError, match="no attribute 'salary'"):
        privacy.check(generalized(builtin("slicing-table-1"), [0] * 8), [DistinctDiversity(l=2, attribute="salary")])


def test_a_set_of_values_of_few_people_counts_no_more_values_than_people():
    # A has both rows of the first group, whose set of two values is therefore theirs; B, C and D have x, y or z.
    frame = pd.DataFrame({"who": [*"AABCD"], "q": [1, 1, 2, 2, 2], "s": [*"xyxyz"]})
    data = Microdata(frame, {"q": "quasi-identifier", "s": "sensitive"}, unit="who")
    release = generalized(data, [0, 0, 1, 1, 1])
    (fragment,) = release.fragments
    sets = {**fragment.recodings, "s": value_sets(data, "s", fragment.partition)}
    release = replace(release, fragments=(replace(fragment, recodings=sets),))
    for requirement, levels in ((DistinctDiversity(l=2), [1, 3]), (FrequencyDiversity(l=2), [1, 3])):
        (condition,) = requirement.checks(data)
        assert published_levels(release, release.fragments[0], condition).tolist() == levels
