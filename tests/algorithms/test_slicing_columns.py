"""Attributes put into columns: phi squared, k-medoids against every choice, the sensitive column."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata
from anoncore.algorithms.slicing.attribute_partition import k_medoids, partition_attributes
from anoncore.base.errors import DataError
from tests.privacy.releases import adult
from tests.requirements.tables import misleading_index

OCC_7 = ("age", "workclass", "education", "marital-status", "race", "sex")


def cost(distance, medoids):
    return distance[:, list(medoids)].min(axis=1).sum()


@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.data())
def test_no_swap_improves_the_medoids(n, seed, data):
    k = data.draw(st.integers(1, n))
    points = np.random.default_rng(seed).random((n, 2))
    distance = np.abs(points[:, None] - points[None]).sum(axis=2)
    medoids = k_medoids(distance, k)
    assert len(set(medoids)) == k
    swapped = [set(medoids) - {old} | {new} for old in medoids for new in range(n) if new not in medoids]
    assert all(cost(distance, medoids) <= cost(distance, one) + 1e-9 for one in swapped)


def test_medoids_of_clear_clusters_are_the_best_of_all():
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.normal(center, 0.1, 4) for center in (0, 5, 9)])
    distance = np.abs(points[:, None] - points[None])
    best = min(combinations(range(12), 3), key=lambda medoids: cost(distance, medoids))
    assert tuple(k_medoids(distance, 3)) == best


def test_equal_attributes_still_fill_every_column():
    frame = pd.DataFrame({"a": [1, 2, 1, 2], "b": [1, 2, 1, 2], "c": [1, 2, 1, 2], "s": [1, 1, 2, 2]})
    data = Microdata(frame, roles=dict.fromkeys("abc", "quasi-identifier") | {"s": "sensitive"})
    columns = partition_attributes(data, 4).columns
    assert sorted(columns) == [("a",), ("b",), ("c",), ("s",)]


def test_correlated_attributes_share_a_column():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, 2_000), rng.integers(0, 4, 2_000)
    frame = pd.DataFrame(
        {"a": a, "a2": (a + rng.integers(0, 2, 2_000)) % 5, "b": b, "b2": b % 2, "s": rng.integers(0, 3, 2_000)},
        index=misleading_index(2_000),
    )
    frame["constant"] = "x"
    roles = dict.fromkeys(["a", "a2", "b", "b2", "constant"], "quasi-identifier") | {"s": "sensitive"}
    found = partition_attributes(Microdata(frame, roles=roles, kinds=dict.fromkeys(frame, "nominal")), 4)
    assert {("a", "a2"), ("b", "b2")} <= set(found.columns)
    assert "s" in found.columns[-1]
    for column, medoid in zip(found.columns, found.medoids, strict=True):
        assert medoid in column
    assert found.association.loc["a", "constant"] == 0


def test_sensitive_column_of_adult():
    """Sex is the attribute closest to occupation; of the others workclass is closer than education."""
    data = adult(OCC_7, "occupation")
    found = partition_attributes(data, 2, sensitive_column_size=2)
    assert found.columns == (OCC_7[:5], ("sex", "occupation"))
    assert found.medoids[-1] is None
    phi = found.association.loc["occupation"]
    assert phi["sex"] == pytest.approx(0.190, abs=0.001)
    assert phi["workclass"] == pytest.approx(0.047, abs=0.001)
    assert phi["education"] == pytest.approx(0.039, abs=0.001)


@pytest.mark.parametrize("alpha", [1, 2, 3])
@pytest.mark.parametrize("columns", [2, 3, 4])
def test_columns_are_a_partition(alpha, columns):
    data = adult(OCC_7, "occupation")
    found = partition_attributes(data, columns, alpha).columns
    assert len(found) == columns
    assert sorted(name for column in found for name in column) == sorted(data.attributes)
    assert "occupation" in found[-1]
    assert len(found[-1]) == alpha
    if (alpha, columns) == (1, 2):
        assert found == (OCC_7, ("occupation",))


def test_intervals_decide_what_correlates():
    data = adult(("age", "marital-status"), "occupation")
    coarse = partition_attributes(data, 1, intervals=2).association
    assert coarse.loc["age", "marital-status"] != partition_attributes(data, 1).association.loc["age", "marital-status"]


def test_a_sensitive_column_has_room_for_all_sensitive_attributes():
    frame = pd.DataFrame({"a": [1, 2], "s": [1, 2], "r": [1, 2]})
    data = Microdata(frame, roles={"a": "quasi-identifier", "s": "sensitive", "r": "sensitive"})
    with pytest.raises(DataError, match=r"all 2 sensitive attributes \(s, r\)"):
        partition_attributes(data, 2, sensitive_column_size=1)
