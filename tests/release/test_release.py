from collections import Counter

import numpy as np
import pandas as pd
import pytest

from anoncore import Distorted, Exact, Fragment, Generalized, GroupValues, Microdata, Partition, Release, ReleaseError
from anoncore.base.pandas_versions import TEXT

PEOPLE = pd.DataFrame(
    {
        "name": ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay"],
        "age": [25, 60, 20, 65, 25, 60],
        "job": ["cook", "judge", "baker", "judge", "cook", "cook"],
        "disease": ["flu", "gout", "flu", "flu", None, "gout"],
    },
    index=[5, 5, 3, 2, 1, 0],
)
ROLES = {"name": "identifier", "age": "quasi-identifier", "job": "quasi-identifier", "disease": "sensitive"}
GROUPS = [0, 1, 0, 1, 0, 1]


def people(**settings):
    return Microdata(PEOPLE, ROLES, **settings)


def exact(data, name, partition):
    return Exact(data.domain[name], partition, data.codes[name])


def generalized(data=None, groups=GROUPS):
    data = data or people()
    partition = Partition(np.array(groups))
    recodings = {
        name: Generalized.of_rows(data.domain[name], partition, data.codes[name]) for name in data.quasi_identifiers
    }
    recodings["disease"] = exact(data, "disease", partition)
    return Release(data, (Fragment("release", partition, recodings),))


def bucketized(data=None, groups=GROUPS):
    data = data or people()
    partition = Partition(np.array(groups))
    known = {name: exact(data, name, partition) for name in data.quasi_identifiers}
    return Release(
        data,
        (
            Fragment("known", partition, known),
            Fragment("secret", partition, {"disease": exact(data, "disease", partition)}),
        ),
    )


def vertical(data=None, first=(0, 0, 1, 1, 1, 0), second=(0, 1, 1, 0, 0, 1)):
    """Two fragments with partitions of their own; both carry the disease."""
    data = data or people()
    fragments = []
    for name, groups in (("age", first), ("job", second)):
        partition = Partition(np.array(groups))
        region = Generalized.of_rows(data.domain[name], partition, data.codes[name])
        fragments.append(Fragment(name, partition, {name: region, "disease": exact(data, "disease", partition)}))
    return Release(data, tuple(fragments))


def test_attributes_fragments_and_recodings():
    release = vertical()
    assert release.attributes == ("age", "job", "disease")
    assert release.fragments[0].attributes == ("age", "disease")
    assert release.fragment_of("disease") is release.fragments[0]
    assert release.fragment_of("job") is release.fragments[1]
    assert isinstance(release.recoding("job"), Generalized)
    assert release.group_word == "group"
    with pytest.raises(ReleaseError, match="does not publish 'name'; it has 'age', 'job', 'disease'"):
        release.recoding("name")


def test_a_shared_partition_or_an_error():
    assert generalized().partition.n_groups == 2
    assert bucketized().is_shared
    with pytest.raises(ReleaseError, match="groups of its own"):
        _ = vertical().partition
    same = (0, 1, 0, 1, 0, 1)
    assert vertical(first=same, second=same).partition.sizes.tolist() == [3, 3]


def test_published_codes_are_exact_or_distorted_values_only():
    release = generalized()
    assert release.published_codes("disease").tolist() == [0, 1, 0, 0, 2, 1]
    with pytest.raises(ReleaseError, match="'age' is generalized"):
        release.published_codes("age")


def test_a_generalized_table():
    table = generalized().tables()["release"]
    # Both groups: ages 20-25 and 60-65, jobs {baker, cook} and {cook, judge}; then by disease, missing last.
    assert table.to_dict("list") == {
        "age": ["20-25"] * 3 + ["60-65"] * 3,
        "job": ["{baker, cook}"] * 3 + ["{cook, judge}"] * 3,
        "disease": ["flu", "flu", table["disease"].iloc[2], "flu", "gout", "gout"],
    }
    assert pd.isna(table["disease"].iloc[2])
    assert table.index.tolist() == [0, 1, 2, 3, 4, 5]


def test_tables_that_are_joined_share_random_group_numbers():
    release = bucketized()
    seen = set()
    for _ in range(40):
        tables = release.tables()
        assert list(tables) == ["known", "secret"]
        assert list(tables["known"].columns) == ["group", "age", "job"]
        assert list(tables["secret"].columns) == ["group", "disease"]
        joined = tables["known"].merge(tables["secret"], on="group")
        assert len(joined) == 3 * 3 * 2
        young = tables["known"].loc[tables["known"]["age"] == 20, "group"].item()
        seen.add(young)
        assert sorted(tables["known"].loc[tables["known"]["group"] == young, "age"]) == [20, 25, 25]
        diseases = tables["secret"].loc[tables["secret"]["group"] == young, "disease"]
        assert Counter(diseases.dropna()) == {"flu": 2}
    assert seen == {0, 1}


def test_a_column_may_be_called_group():
    frame = pd.DataFrame({"group": [1, 2], "group_": ["x", "y"], "s": ["a", "b"]})
    data = Microdata(frame, {"group": "quasi-identifier", "group_": "identifier", "s": "sensitive"})
    partition = Partition(np.array([0, 0]))
    release = Release(
        data,
        (
            Fragment("known", partition, {"group": exact(data, "group", partition)}),
            Fragment("secret", partition, {"s": exact(data, "s", partition)}),
        ),
    )
    tables = release.tables()
    assert list(tables["known"].columns) == ["group__", "group"]
    assert list(tables["secret"].columns) == ["group__", "s"]


def test_no_trace_of_the_original_order_or_of_group_numbers():
    data = people()
    turned = Microdata(PEOPLE.iloc[::-1], ROLES)
    one, other = generalized(data), generalized(turned, [1 - group for group in GROUPS[::-1]])
    pd.testing.assert_frame_equal(one.tables()["release"], other.tables()["release"])


def test_no_identifiers_in_any_table():
    for release in (generalized(), bucketized(), vertical()):
        for table in (*release.tables().values(), release.linked()):
            assert "name" not in table.columns
            assert not set(PEOPLE["name"]) & set(table.astype(str).to_numpy().ravel())


def test_columns_keep_their_types_and_missing_cells():
    frame = pd.DataFrame(
        {
            "whole": pd.Series([2, None, 1], dtype="Int64"),
            "day": pd.to_datetime(["2020-01-02", None, "2020-01-01"]),
            "flag": pd.Series([True, None, False], dtype="boolean"),
            "text": pd.Series(["b", None, "a"], dtype=TEXT),
            "level": pd.Categorical(["low", None, "high"], categories=["low", "high"], ordered=True),
            "number": [2.5, np.nan, 1.5],
            "mixed": pd.Series(["b", None, 1], dtype="object"),
        }
    ).set_axis(["a", "a", "b"])
    data = Microdata(frame, {"*": "insensitive"})
    partition = Partition(np.array([0, 0, 0]))
    release = Release(
        data, (Fragment("all", partition, {name: exact(data, name, partition) for name in data.attributes}),)
    )
    for table in (release.tables()["all"], release.linked(np.random.default_rng(0))):
        pd.testing.assert_series_equal(table.dtypes, frame.dtypes)
        assert table.isna().sum().tolist() == [1] * 7
    sorted_frame = frame.iloc[[2, 0, 1]].reset_index(drop=True)
    pd.testing.assert_frame_equal(release.tables()["all"], sorted_frame)


def test_equal_cells_of_different_looks_are_published_as_one():
    data = Microdata(pd.DataFrame({"x": pd.Series(["01", "1", "2"])}), {"*": "insensitive"}, kinds={"x": "numeric"})
    partition = Partition(np.array([0, 0, 0]))
    release = Release(data, (Fragment("all", partition, {"x": exact(data, "x", partition)}),))
    assert release.tables()["all"]["x"].tolist() == [1, 1, 2]
    looks = Microdata(pd.DataFrame({"x": pd.Series([None, np.nan, pd.NA, "a"], dtype=object)}), {"*": "insensitive"})
    partition = Partition(np.array([0, 0, 0, 0]))
    release = Release(looks, (Fragment("all", partition, {"x": exact(looks, "x", partition)}),))
    assert release.tables()["all"]["x"].tolist() == ["a", None, None, None]


def test_distorted_and_group_values_in_tables():
    data = people()
    partition = Partition(np.array(GROUPS))
    changed = data.codes["disease"].copy()
    changed[0] = 1
    members = partition.value_sets(data.codes["disease"], 3)
    recodings = {
        "disease": Distorted(data.domain["disease"], partition, changed, data.codes["disease"]),
        "job": GroupValues(data.domain["job"], partition, *partition.value_sets(data.codes["job"], 3)),
    }
    table = Release(data, (Fragment("release", partition, recodings),)).tables()["release"]
    assert Counter(table["disease"].dropna()) == {"flu": 2, "gout": 3}
    assert Counter(table["job"]) == {"{baker, cook}": 3, "{cook, judge}": 3}
    assert members[0].tolist() == [0, 2, 4]


def test_rows_are_linked_inside_their_group_only():
    release = bucketized()
    rng = np.random.default_rng(0)
    seen = Counter()
    for _ in range(300):
        first, second = release.linking(rng)
        assert first.tolist() == list(range(6))
        assert sorted(second.tolist()) == list(range(6))
        assert (release.partition.group[second] == release.partition.group).all()
        seen[tuple(second[[0, 2, 4]].tolist())] += 1
    # All 3! links of the first group, 50 of 300 expected each.
    assert len(seen) == 6
    assert min(seen.values()) > 20


def test_a_linked_table_has_every_row_once_in_random_order():
    release = bucketized()
    rng = np.random.default_rng(1)
    orders = set()
    for _ in range(20):
        table = release.linked(rng)
        assert list(table.columns) == ["age", "job", "disease"]
        assert Counter(zip(table["age"], table["job"], strict=True)) == Counter(
            zip(PEOPLE["age"], PEOPLE["job"], strict=True)
        )
        assert Counter(table["disease"].dropna()) == {"flu": 3, "gout": 2}
        orders.add(tuple(table["age"]))
    assert len(orders) > 5


def test_fragments_with_partitions_of_their_own_are_linked_within_equal_shared_values():
    release = vertical()
    rng = np.random.default_rng(2)
    disease = release.data.codes["disease"]
    seen = set()
    for _ in range(60):
        _, second = release.linking(rng)
        assert sorted(second.tolist()) == list(range(6))
        assert (disease[second] == disease).all()
        seen.add(tuple(second.tolist()))
    # 3! links of the rows with flu times 2! of those with gout.
    assert len(seen) == 12
    table = release.linked(rng)
    assert list(table.columns) == ["age", "job", "disease"]
    assert len(table) == 6


def test_what_nothing_links_is_refused():
    data = people()
    own = [Partition(np.array([0, 0, 0, 1, 1, 1])), Partition(np.array([0, 1, 0, 1, 0, 1]))]
    apart = Release(
        data,
        tuple(
            Fragment(name, part, {name: exact(data, name, part)})
            for name, part in zip(("age", "job"), own, strict=True)
        ),
    )
    with pytest.raises(ReleaseError, match="Nothing links the rows of 'age' and 'job'"):
        apart.linked()


def test_changed_values_and_value_sets_are_linked_as_far_as_they_go():
    data = people()
    own = [Partition(np.array([0, 0, 0, 1, 1, 1])), Partition(np.array([0, 1, 0, 1, 0, 1]))]
    codes, domain = data.codes["disease"], data.domain["disease"]
    changed = codes.copy()
    changed[codes == codes[0]] = codes[codes != codes[0]][0]
    torn = Release(
        data,
        (
            Fragment("age", own[0], {"disease": exact(data, "disease", own[0])}),
            Fragment("job", own[1], {"disease": Distorted(domain, own[1], changed, codes)}),
        ),
    )
    for seed in range(5):
        first, second = torn.linking(np.random.default_rng(seed))
        assert sorted(second) == sorted(first) == list(range(6))
        enough = np.minimum(np.bincount(codes, minlength=len(domain)), np.bincount(changed, minlength=len(domain)))
        assert (codes[first] == changed[second]).sum() == enough.sum()
    offsets, members = own[1].value_sets(codes, len(domain))
    sets = GroupValues(domain, own[1], offsets, members)
    version = sets.version(np.random.default_rng(0))
    assert all(set(version[own[1].rows(g)]) == set(sets.values(g)) for g in range(2))
    hidden = Release(data, (torn.fragments[0], Fragment("job", own[1], {"disease": sets})))
    assert sorted(hidden.linking(np.random.default_rng(0))[1]) == list(range(6))


def test_many_shared_attributes_link_without_overflow():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({f"a{i}": rng.integers(0, 1000, 50) for i in range(12)})
    data = Microdata(frame, {"*": "insensitive"})
    parts = [Partition(np.arange(50)), Partition(np.zeros(50, dtype=np.int32))]
    release = Release(
        data,
        tuple(
            Fragment(str(i), part, {name: exact(data, name, part) for name in data.attributes})
            for i, part in enumerate(parts)
        ),
    )
    _, second = release.linking(rng)
    for name in data.attributes:
        assert (data.codes[name][second] == data.codes[name]).all()
