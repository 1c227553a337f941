from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, InfeasibleError, Microdata, privacy
from anoncore.algorithms import Anatomy
from anoncore.requirements import DistinctDiversity, FrequencyDiversity

ROLES = {"id": "identifier", "x": "quasi-identifier", "s": "sensitive"}


def people(sensitive, known=None, sensitive_values=None):
    n = len(sensitive)
    known = list(range(n)) if known is None else known
    frame = pd.DataFrame({"id": [f"person {i}" for i in range(n)], "x": known, "s": sensitive})
    return Microdata(frame, ROLES, sensitive_values={"s": sensitive_values} if sensitive_values else None)


def buckets(release, attribute="s"):
    """The sensitive codes of each bucket."""
    codes, partition = release.data.codes[attribute], release.partition
    return [codes[partition.rows(group)].tolist() for group in range(partition.n_groups)]


def test_two_exact_tables_joined_by_bucket():
    data = people(["a", "a", "b", "b", "c", "c"])
    release = Anatomy(l=3, seed=0).anonymize(data)
    assert [fragment.name for fragment in release.fragments] == ["quasi-identifiers", "sensitive"]
    assert [fragment.attributes for fragment in release.fragments] == [("x",), ("s",)]
    assert release.group_word == "bucket"
    assert release.partition.sizes.tolist() == [3, 3]
    assert all(sorted(bucket) == [0, 1, 2] for bucket in buckets(release))
    tables = release.tables()
    assert list(tables["sensitive"].columns) == ["group", "s"]
    assert sorted(tables["quasi-identifiers"]["x"]) == list(range(6))


def test_insensitive_attributes_stay_with_the_quasi_identifiers():
    frame = pd.DataFrame({"x": [1, 2], "note": ["u", "v"], "s": ["a", "b"]})
    release = Anatomy(l=2).anonymize(Microdata(frame, {"x": "quasi-identifier", "s": "sensitive", "*": "insensitive"}))
    assert release.fragments[0].attributes == ("x", "note")


@st.composite
def eligible_tables(draw):
    """l and counts per value of which none has more than n / l rows."""
    l = draw(st.integers(2, 5))
    counts = draw(st.lists(st.integers(1, 7), min_size=l, max_size=10))
    while max(counts) * l > sum(counts):
        counts[counts.index(max(counts))] -= 1
    return l, [count for count in counts if count]


@pytest.mark.slow
@settings(max_examples=30)
@given(eligible_tables(), st.integers(0, 3))
def test_every_eligible_table_gets_buckets_of_l_or_more_different_values(case, seed):
    l, counts = case
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    release = Anatomy(l=l, seed=seed).anonymize(people(values))
    found = buckets(release)
    assert all(len(set(bucket)) == len(bucket) for bucket in found)
    assert min(map(len, found)) >= l
    assert len(found) == len(values) // l or max(map(len, found)) > l
    leftovers = len(values) - l * len(found)
    assert 0 <= leftovers < l
    if max(counts) + l <= len(found):
        assert max(map(len, found)) <= l + 1


def test_larger_buckets_only_where_they_are_forced():
    # Five values once each at l = 3: one bucket, both leftovers must join it.
    release = Anatomy(l=3, seed=0).anonymize(people(list("abcde")))
    assert release.partition.sizes.tolist() == [5]
    # Eight rows a b b c c d d e at l = 3: the first bucket is b c d. If two of them are left over, both lack only the
    # second bucket; otherwise each leftover can have a bucket of its own.
    sizes = Counter()
    for seed in range(40):
        release = Anatomy(l=3, seed=seed).anonymize(people(list("abbccdde")))
        sizes[tuple(sorted(release.partition.sizes.tolist()))] += 1
        if release.partition.sizes.max() > 4:
            small, large = sorted(buckets(release), key=len)
            assert (sorted(small), sorted(large)) == ([1, 2, 3], [0, 1, 2, 3, 4])
    assert set(sizes) == {(4, 4), (3, 5)}


def test_the_boundary_of_feasibility_is_n_over_l():
    release = Anatomy(l=2, seed=0).anonymize(people(["a", "a", "a", "b", "c", "d"]))
    assert release.partition.sizes.tolist() == [2, 2, 2]
    with pytest.raises(InfeasibleError, match="l = 3 is not possible: 'a' has 3 of 6 rows of 's'") as caught:
        Anatomy(l=3).anonymize(people(["a", "a", "a", "b", "c", "d"]))
    assert caught.value.nearest == 2
    with pytest.raises(InfeasibleError, match="choose l at most 3") as caught:
        Anatomy(l=4).validate_data(people(["a", "b", None]))
    assert caught.value.nearest == 3


@pytest.mark.parametrize("sensitive", [["a"], ["a", "a", "b"], [None, None]])
def test_where_no_l_works_the_message_says_so(sensitive):
    with pytest.raises(InfeasibleError, match="no l works") as caught:
        Anatomy(l=2).anonymize(people(sensitive))
    assert caught.value.nearest is None


def test_missing_is_a_sensitive_value_like_any_other():
    release = Anatomy(l=2, seed=0).anonymize(people(["a", "a", None, None]))
    assert all(sorted(bucket) == [0, 1] for bucket in buckets(release))


def test_only_protected_values_count_where_some_are_named():
    # HS has 6 of 9 rows, too many for l = 3 over all values; only the two low ones need protection, as one value.
    education = ["HS"] * 6 + ["1st", "5th", "BA"]
    with pytest.raises(InfeasibleError):
        Anatomy(l=3).anonymize(people(education))
    release = Anatomy(l=3, seed=1).anonymize(people(education, sensitive_values={"1st", "5th"}))
    low = [release.data.domain["s"].code_of(value) for value in ("1st", "5th")]
    assert all(sum(code in low for code in bucket) <= 1 for bucket in buckets(release))
    assert release.partition.sizes.tolist() == [3, 3, 3]
    with pytest.raises(InfeasibleError, match=r"'\{1st, 5th\}' has 2 of 9 rows.*at most 4") as caught:
        Anatomy(l=5).validate_data(people(education, sensitive_values={"1st", "5th"}))
    assert caught.value.nearest == 4


def test_it_keeps_what_it_promises():
    data = people(list("aabbccdde"))
    release = Anatomy(l=3, seed=0).anonymize(data)
    promises = Anatomy(l=3).promises(data)
    assert promises == (FrequencyDiversity(l=3, attribute="s"), DistinctDiversity(l=3, attribute="s"))
    assert privacy.check(release, promises) == ()


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"x": "quasi-identifier"}, "No attribute is tagged as sensitive"),
        ({"s": "sensitive"}, "No attribute is tagged as quasi-identifier"),
        ({"x": "quasi-identifier", "s": "sensitive", "id": "sensitive"}, r"one sensitive attribute, but 2 .*\(id, s\)"),
    ],
)
def test_roles_that_it_needs(roles, message):
    frame = pd.DataFrame({"id": [1, 2], "x": [1, 2], "s": ["a", "b"]})
    with pytest.raises(DataError, match=message):
        Anatomy(l=2).anonymize(Microdata(frame, roles))


def linked_pairs(release):
    """The buckets as a multiset of multisets of (x, s), which row order and bucket numbers don't change."""
    frame = release.data.frame
    rows = list(zip(frame["x"].tolist(), frame["s"].tolist(), strict=True))
    groups = (release.partition.rows(group) for group in range(release.partition.n_groups))
    return Counter(tuple(sorted(rows[row] for row in group)) for group in groups)


def test_a_seed_gives_the_same_buckets_for_every_row_order_and_index():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.integers(0, 6, 60), "s": rng.choice(list("abcdef"), 60)})
    roles = {"x": "quasi-identifier", "s": "sensitive"}
    expected = linked_pairs(Anatomy(l=3, seed=5).anonymize(Microdata(frame, roles)))
    for _ in range(5):
        shuffled = frame.iloc[rng.permutation(60)].set_axis(rng.integers(0, 9, 60))
        assert linked_pairs(Anatomy(l=3, seed=5).anonymize(Microdata(shuffled, roles))) == expected
    others = [linked_pairs(Anatomy(l=3, seed=seed).anonymize(Microdata(frame, roles))) for seed in range(5)]
    assert all(one != other for one, other in combinations(others, 2))


def test_without_a_seed_every_run_differs():
    data = people([value for value in "abcdefgh" for _ in range(20)])
    runs = [Anatomy(l=4).anonymize(data).partition.group.tolist() for _ in range(4)]
    assert all(one != other for one, other in combinations(runs, 2))


@pytest.mark.slow
def test_rows_are_drawn_evenly():
    # Two rows of a, two of b at l = 2: the first row of a shares its bucket with either row of b equally often.
    partners = Counter()
    for seed in range(400):
        release = Anatomy(l=2, seed=seed).anonymize(people(["a", "a", "b", "b"]))
        group = release.partition.group
        partners[int(np.flatnonzero(group[2:] == group[0])[0])] += 1
    assert abs(partners[0] - 200) < 60


@pytest.mark.slow
def test_a_leftover_joins_any_bucket_that_lacks_its_value_equally_often():
    # a a b b c at l = 2: the first bucket is {a, b}; of the three single rows left, each is the leftover equally often.
    # c may then join either bucket, a or b only the second. So the bucket of three is the first one, which is {a, b, c}
    # with c left over, in 1/3 * 1/2 of the runs; else it is the second: a b c too. Which rows of a and b are in it
    # is even.
    rows = Counter()
    for seed in range(400):
        release = Anatomy(l=2, seed=seed).anonymize(people(list("aabbc")))
        (large,) = np.flatnonzero(release.partition.sizes == 3)
        rows[tuple(release.partition.rows(large).tolist())] += 1
    assert set(rows) == {(0, 2, 4), (0, 3, 4), (1, 2, 4), (1, 3, 4)}
    assert min(rows.values()) > 60
