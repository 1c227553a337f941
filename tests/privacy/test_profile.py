"""Profiles against pandas, by hand, and on the real table."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Fragment, Microdata, Partition, Release, privacy
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from tests.privacy.releases import adult, builtin, fragment, generalized, sliced, value_sets
from tests.requirements.tables import counted, grouped, plain_entropy, random_groups

few = settings(max_examples=20)


def by_pandas(values, group):
    """Levels of each group by value_counts."""
    table = values.value_counts(normalize=True, dropna=False)
    rows = []
    for number, inside in values.groupby(group):
        counts = inside.value_counts(dropna=False)
        shares = counts / counts.sum()
        tail = counts.sum() - counts.iloc[0]
        rows.append(
            {
                "group": number,
                "size": len(inside),
                "s: distinct l": inside.nunique(dropna=False),
                "s: entropy l": np.exp(-(shares * np.log(shares)).sum()),
                "s: frequency l": 1 / shares.iloc[0],
                "s: largest share": shares.iloc[0],
                "s: recursive c": counts.iloc[0] / tail if tail else np.inf,
                "s: t (equal)": shares.sub(table, fill_value=0).abs().sum() / 2,
            }
        )
    return pd.DataFrame(rows)


@few
@given(random_groups(("flu", "ulcer", "cancer", "none")))
def test_a_profile_is_what_pandas_counts(table):
    release = sliced(table.data, table.group, [["s"]])
    expected = by_pandas(pd.Series(table.values), np.array(table.group))
    pd.testing.assert_frame_equal(privacy.profile(release).frame(), expected, check_dtype=False)


def test_the_profile_of_a_mondrian_like_release_of_adult():
    data = adult(["age", "education"], "occupation")
    group = np.unique(data.codes["age"] // 7 * 4 + data.codes["education"] // 4, return_inverse=True)[1]
    profile = privacy.profile(generalized(data, group))
    expected = by_pandas(data.frame["occupation"].reset_index(drop=True), group)
    expected.columns = [name.replace("s:", "occupation:") for name in expected.columns]
    pd.testing.assert_frame_equal(profile.frame(), expected, check_dtype=False, rtol=1e-9)
    assert profile.k == expected["size"].min()
    assert profile.score("t-equal") == pytest.approx(expected["occupation: t (equal)"].max())


@few
@given(random_groups(("HIV", "flu", "cold", None)), st.integers(1, 4))
def test_a_protected_set_counts_as_one_value(table, l):
    if "HIV" not in table.values:
        return
    table = grouped(table.values, table.group, sensitive_values={"s": {"HIV"}})
    one = privacy.profile(sliced(table.data, table.group, [["s"]]), l=l)["s"]
    counts = [counted(table.members(group), {"HIV"}) for group in range(table.partition.n_groups)]
    assert one.distinct.tolist() == [len(each) for each in counts]
    np.testing.assert_allclose(one.entropy, [plain_entropy(each) for each in counts])
    np.testing.assert_allclose(one.max_share, [each[0] / sum(each) for each in counts])
    tails = [sum(each[l - 1 :]) for each in counts]
    expected = [each[0] / tail if tail else np.inf for each, tail in zip(counts, tails, strict=True)]
    np.testing.assert_allclose(one.recursive, expected if l > 1 else np.zeros(len(counts)))
    assert list(one.distance) == ["equal"]


@few
@given(random_groups((1.0, 5.0, 9.0, None), numeric=True))
def test_the_worst_levels_are_exactly_what_a_requirement_can_ask(table):
    release = sliced(table.data, table.group, [["s"]])
    profile = privacy.profile(release)
    tight = [
        KAnonymity(k=int(profile.k)),
        DistinctDiversity(l=int(profile.score("distinct-l"))),
        EntropyDiversity(l=max(profile.score("entropy-l"), 1.0)),
        FrequencyDiversity(l=profile.score("frequency-l")),
        TCloseness(t=min(profile.score("t-ordered"), 1.0), ground="ordered"),
        TCloseness(t=min(profile.score("t-equal"), 1.0), ground="equal"),
    ]
    assert privacy.check(release, tight) == ()
    beyond = [KAnonymity(k=int(profile.k) + 1), DistinctDiversity(l=int(profile.score("distinct-l")) + 1)]
    beyond.append(FrequencyDiversity(l=profile.score("frequency-l") + 1e-6))
    for requirement in beyond:
        assert privacy.check(release, [requirement])
    c = profile.score("recursive-c")
    if np.isfinite(c):
        assert privacy.check(release, [RecursiveDiversity(c=c + 1e-6, l=2)]) == ()
        assert privacy.check(release, [RecursiveDiversity(c=c, l=2)])


def test_scores_know_where_the_worst_is_and_what_they_mean():
    profile = privacy.profile(generalized(builtin("t-closeness-table-2.8"), (0, 0, 0, 1, 1, 1, 2, 2, 2)))
    worst = profile.score("distinct-l")
    assert (worst, worst.attribute, worst.fragment, worst.group) == (1.0, "disease", "release", 0)
    assert (worst.baseline, worst.higher_is_better, worst.bounds) == (3.0, True, (1.0, None))
    assert worst.meaning == "Fewest different values of 'disease' in any group."
    assert profile.score("max-share").baseline == pytest.approx(5 / 9)
    assert all(one.meaning and one.title for one in profile.scores)
    assert set(profile["disease"].distance) == {"equal", "hierarchical"}


def test_distances_that_fit_the_kind_of_the_attribute():
    data = builtin("t-closeness-table-2.10")
    profile = privacy.profile(generalized(data, (0, 0, 0, 1, 1, 1, 2, 2, 2)))
    assert set(profile["salary"].distance) == {"ordered", "interval", "equal"}
    assert set(profile["disease"].distance) == {"equal", "hierarchical"}
    assert profile.score("t-equal") == max(profile.score("t-equal", "salary"), profile.score("t-equal", "disease"))


def test_a_shared_partition_has_one_part():
    release = sliced(builtin("slicing-table-1"), [0] * 4 + [1] * 4, [["age", "sex"], ["zipcode", "disease"]])
    profile = privacy.profile(release)
    assert profile.size.tolist() == [4, 4]
    assert profile["disease"].distinct.tolist() == [3, 3]
    assert list(profile.frame().columns[:2]) == ["group", "size"]


def two_partitions():
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, 1, 2, 2], "s": list("xyxy")}, index=[9, 9, 0, 1])
    data = Microdata(frame, roles={"a": "quasi-identifier", "b": "quasi-identifier", "s": "sensitive"})
    first, second = Partition(np.array([0, 0, 1, 1])), Partition(np.array([0, 1, 0, 2]))
    return data, (fragment(data, "one", first, ["s"], ["a"]), fragment(data, "two", second, ["s"], ["b"]))


def test_partitions_of_their_own_are_profiled_one_by_one():
    data, fragments = two_partitions()
    profile = privacy.profile(Release(data, fragments))
    assert [part.size.tolist() for part in profile.fragments] == [[2, 2], [2, 1, 1]]
    assert [part.attributes["s"].distinct.tolist() for part in profile.fragments] == [[2, 2], [1, 1, 1]]
    assert (profile.k, profile.k.fragment, profile.k.group) == (1, "two", 1)
    assert profile.score("distinct-l").fragment == "two"
    assert profile.frame()["fragment"].tolist() == ["one"] * 2 + ["two"] * 3
    with pytest.raises(ReleaseError, match=r"read profile.fragments"):
        profile.size  # noqa: B018


def test_a_value_set_is_profiled_by_its_values():
    data = builtin("fragmentation-table-3")
    partition = Partition(np.zeros(5, dtype=np.int32))
    release = Release(data, (Fragment("release", partition, {"disease": value_sets(data, "disease", partition)}),))
    profile = privacy.profile(release)
    assert profile.k == 5
    assert profile["disease"].distinct.tolist() == [3]
    assert profile["disease"].max_share == pytest.approx([1 / 3])


def test_what_is_not_published_value_by_value_is_noted():
    data = builtin("slicing-table-1")
    partition = Partition(np.zeros(8, dtype=np.int32))
    release = Release(data, (fragment(data, "release", partition, ["sex"], ["age", "disease"]),))
    profile = privacy.profile(release)
    assert profile.notes == ("'disease' is not published value by value, so nothing is said about it.",)
    assert list(profile.frame().columns) == ["group", "size"]
    with pytest.raises(ReleaseError, match="no attribute 'disease'"):
        profile["disease"]
    with pytest.raises(ReleaseError, match="no level 'distinct-l'"):
        profile.score("distinct-l")


def test_a_table_without_sensitive_attribute_has_sizes_only():
    data = Microdata(pd.DataFrame({"age": [1, 2, 2]}), roles={"age": "quasi-identifier"})
    assert privacy.profile(generalized(data, [0, 1, 1])).size.tolist() == [1, 2]


def test_l_below_one_is_refused():
    with pytest.raises(ParameterError, match="l should be"):
        privacy.profile(generalized(builtin("slicing-table-1"), [0] * 8), l=0)
