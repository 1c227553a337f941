"""Buckets of one size, at random or spread."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, attacks
from anoncore.algorithms import RandomBuckets
from anoncore.base.errors import DataError, ParameterError
from anoncore.kernels.slicing_spread import spread
from tests.privacy.releases import adult

OCC_7 = ("age", "workclass", "education", "marital-status", "race", "sex")


@pytest.mark.parametrize("grouping", ["random", "spread"])
@pytest.mark.parametrize(("size", "last"), [(10, 1), (7, 4), (501, 501), (2, 1)])
def test_all_buckets_but_the_last_are_full(grouping, size, last):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 501), "b": rng.integers(0, 3, 501)})
    data = Microdata(frame, roles={"a": "quasi-identifier", "b": "quasi-identifier"})
    sizes = RandomBuckets(size=size, grouping=grouping, seed=1).anonymize(data).partition.sizes
    assert sorted(sizes, reverse=True)[:-1] == [size] * (len(sizes) - 1)
    assert min(sizes) == last


@pytest.mark.parametrize("grouping", ["random", "spread"])
def test_a_seed_repeats_the_buckets_for_any_order_of_rows(grouping):
    frame = adult(OCC_7, "occupation").frame.iloc[:2_000]
    roles = dict.fromkeys(OCC_7, "quasi-identifier") | {"occupation": "sensitive"}
    order = np.random.default_rng(3).permutation(2_000)
    model = RandomBuckets(size=50, grouping=grouping, seed=7)

    def buckets(release):
        content = release.data.frame.to_numpy()
        return sorted(sorted(map(tuple, content[release.partition.rows(g)].tolist())) for g in range(40))

    first = model.anonymize(Microdata(frame, roles=roles))
    assert buckets(first) == buckets(model.anonymize(Microdata(frame.iloc[order], roles=roles)))
    assert buckets(first) != buckets(model.replace(seed=8).anonymize(Microdata(frame, roles=roles)))


def plain_spread(values, order, size):
    """Every row to the bucket with room that shows the fewest of its column values, the first of several."""
    n = len(values)
    members = [[] for _ in range(-(-n // size))]
    room = [size] * (len(members) - 1) + [n - size * (len(members) - 1)]
    group = np.empty(n, dtype=np.int32)
    for row in order:
        opened = [b for b in range(len(members)) if len(members[b]) < room[b]]
        best = min(
            opened, key=lambda b: sum(any(values[o, c] == v for o in members[b]) for c, v in enumerate(values[row]))
        )
        members[best].append(row)
        group[row] = best
    return group


@settings(max_examples=20)
@given(st.integers(1, 40), st.integers(2, 9), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_spreading_against_a_plain_twin(n, size, c, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, (n, c)) + 5 * np.arange(c)
    order = rng.permutation(n)
    assert spread(values, 5 * c, order, size).tolist() == plain_spread(values, order, size).tolist()


def test_more_buckets_than_are_open_at_once_are_all_filled():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 50, (5_000, 1))
    assert (np.bincount(spread(values, 50, np.arange(5_000), 2)) == 2).all()


@pytest.mark.parametrize("beside", [["education"], ["age"], ["workclass"], ["sex", "occupation"]])
def test_spreading_hides_members_better_than_chance(beside):
    """The paper's two measures: more fake tuples, and more of them that match more than 10 or 20 buckets."""
    data = adult(OCC_7, "occupation")
    columns = [beside, [name for name in data.attributes if name not in beside]]
    model = RandomBuckets(size=100, attribute_columns=columns, seed=0)
    by_chance = attacks.membership(model.anonymize(data))
    found = attacks.membership(model.replace(grouping="spread").anonymize(data))
    assert found.fake > by_chance.fake
    assert found.histogram["fake"]["more than 20"] > by_chance.histogram["fake"]["more than 20"]
    assert found.belief < by_chance.belief


def test_columns_are_clustered_without_a_sensitive_attribute():
    data = adult(OCC_7, "occupation")
    data = Microdata(data.frame, roles=dict.fromkeys(data.attributes, "quasi-identifier"))
    columns = RandomBuckets(columns=3).anonymize(data).fragments
    assert len(columns) == 3
    assert sorted(name for column in columns for name in column.attributes) == sorted(data.attributes)


def test_what_does_not_fit_is_refused():
    frame = pd.DataFrame({"a": [1, 2]})
    with pytest.raises(DataError, match="quasi-identifier"):
        RandomBuckets().anonymize(Microdata(frame))
    with pytest.raises(ParameterError, match="size should be"):
        RandomBuckets(size=1)
