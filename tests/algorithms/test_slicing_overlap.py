"""Columns that share attributes: the formula against every possible linking of small buckets."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, Partition, attacks
from anoncore.algorithms import RandomBuckets, Slicing
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.algorithms.slicing.slicing import achieved_diversity
from anoncore.base.errors import DataError, ReleaseError
from anoncore.release.overlap import links
from tests.privacy.releases import builtin

SHAPES = [
    [("a", "b"), ("b", "s")],
    [("a", "s"), ("b", "s")],
    [("a", "b"), ("b", "c"), ("c", "s")],
    [("a", "b", "s"), ("b", "c", "s")],
    [("a",), ("b", "c"), ("c", "s")],
]


def linkings(rows, columns):
    """Every table that links a bucket's columns so that they agree on what they share, as tuples of (name, value)."""
    first, *others = columns
    tables = [[{name: row[name] for name in first} for row in rows]]
    for column in others:
        grown = []
        for table, order in product(tables, permutations(range(len(rows)))):
            part = [{name: rows[place][name] for name in column} for place in order]
            if all(
                one[name] == more[name] for one, more in zip(table, part, strict=True) for name in one.keys() & more
            ):
                grown.append([one | more for one, more in zip(table, part, strict=True)])
        tables = grown
    return tables


def enumerated(frame, group, columns, t):
    """p(t, s) from the expected rows that show t's quasi-identifiers and s, over all linkings of each bucket."""
    known = [name for name in "abc" if name in frame]
    mass = {}
    for bucket in np.unique(group):
        rows = frame[group == bucket].to_dict("records")
        tables = linkings(rows, columns)
        for table in tables:
            for one in table:
                if all(one[name] == frame.iloc[t][name] for name in known):
                    mass[one["s"]] = mass.get(one["s"], 0) + 1 / len(tables) / len(rows)
    return {value: weight / sum(mass.values()) for value, weight in mass.items()}


@st.composite
def overlapping(draw):
    columns = draw(st.sampled_from(SHAPES))
    names = sorted({name for column in columns for name in column})
    n = draw(st.integers(1, 7))
    frame = pd.DataFrame({name: [draw(st.sampled_from("xyz")) for _ in range(n)] for name in names})
    group = np.arange(n) // 3
    roles = dict.fromkeys(names, "quasi-identifier") | {"s": "sensitive"}
    return frame, Microdata(frame, roles=roles), group, columns


@pytest.mark.slow
@settings(max_examples=20)
@given(overlapping())
def test_beliefs_are_those_of_all_linkings(case):
    frame, data, group, columns = case
    release = sliced_release(data, Partition(group), columns)
    posterior = attacks.sensitive_posterior(release, "s")
    for t in range(len(frame)):
        expected = enumerated(frame, group, columns, t)
        found = attacks.matching_buckets(release, "s", t)
        for code, value in enumerate(data.domain["s"]):
            assert posterior[t, code] == pytest.approx(expected.get(value, 0), abs=1e-9)
            assert found.probability[value] == pytest.approx(expected.get(value, 0), abs=1e-9)


@settings(max_examples=25)
@given(overlapping(), st.integers(0, 99))
def test_a_random_linking_agrees_on_what_is_shared(case, seed):
    frame, data, group, columns = case
    release = sliced_release(data, Partition(group), columns)
    rows = release.linking(np.random.default_rng(seed))
    for number, column in enumerate(columns):
        assert sorted(rows[number]) == list(range(len(frame)))
        assert (group[rows[number]] == group).all()
        for other in range(number):
            for name in set(column) & set(columns[other]):
                codes = data.codes[name]
                assert (codes[rows[number]] == codes[rows[other]]).all()


@settings(max_examples=20)
@given(overlapping())
def test_fake_tuples_are_those_that_agree(case):
    frame, data, group, columns = case
    release = sliced_release(data, Partition(group), columns)
    names = list(release.attributes)
    rows = list(frame[names].itertuples(index=False, name=None))
    places = [[names.index(name) for name in part] for part in columns]

    def shown(part, buckets):
        return {
            tuple(row[place] for place in part) for row, bucket in zip(rows, group, strict=True) if bucket in buckets
        }

    fake = 0
    for one in product(*(sorted({row[place] for row in rows}) for place in range(len(names)))):
        cells = [(part, tuple(one[place] for place in part)) for part in places]
        in_bucket = [all(cell in shown(part, {bucket}) for part, cell in cells) for bucket in set(group.tolist())]
        fake += any(in_bucket) and one not in rows
    assert attacks.membership(release).fake == fake


def test_the_papers_example_of_overlapping_slicing():
    """{age, sex, disease} and {zipcode, disease}: t1 = (22, M, 47906) shares its age and sex with nobody."""
    columns = (("age", "sex", "disease"), ("zipcode", "disease"))
    data = builtin("slicing-table-1")
    release = sliced_release(data, Partition(np.repeat([0, 1], 4)), columns)
    assert achieved_diversity(release, "disease") == pytest.approx(1)
    model = Slicing(l=1, attribute_columns=columns)
    assert model.anonymize(data).partition.n_groups > 1


def test_overlapping_columns_keep_what_they_promise():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({name: rng.integers(0, 5, 600) for name in "abcd"} | {"s": rng.integers(0, 6, 600)})
    data = Microdata(frame, roles=dict.fromkeys("abcd", "quasi-identifier") | {"s": "sensitive"})
    release = Slicing(l=2, attribute_columns=[["a", "b"], ["b", "c"], ["c", "d", "s"]]).anonymize(data)
    assert achieved_diversity(release, "s") >= 2 - 1e-6
    assert release.partition.n_groups > 3


def test_links_follow_a_tree():
    found = links([{"a", "b"}, {"c"}, {"b", "d"}, {"d", "e"}])
    assert [(one.column, one.parent, set(one.attributes)) for one in found] == [
        (2, 0, {"b"}),
        (3, 2, {"d"}),
        (1, 0, set()),
    ]
    with pytest.raises(ReleaseError, match="in a ring through 'a', 'b', 'c'"):
        links([{"a", "b"}, {"b", "c"}, {"a", "c"}])


def test_what_the_adversary_does_not_know_may_not_be_shared():
    frame = pd.DataFrame({"a": [1, 2], "x": [1, 2], "s": [1, 2]})
    data = Microdata(frame, roles={"a": "quasi-identifier", "s": "sensitive", "*": "insensitive"})
    with pytest.raises(DataError, match="share 'x'"):
        RandomBuckets(size=2, attribute_columns=[["a", "x"], ["x", "s"]]).anonymize(data)
    release = sliced_release(data, Partition(np.zeros(2, dtype=np.int32)), [["a", "x"], ["x", "s"]])
    with pytest.raises(ReleaseError, match="publish 'x'"):
        attacks.sensitive_posterior(release, "s")
