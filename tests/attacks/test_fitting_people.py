"""Bounds over everybody who fits a sliced table, against all ways in which people may be in it."""

from __future__ import annotations

from itertools import permutations, product

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, ReleaseError
from anoncore.attacks import sensitive_posterior
from anoncore.attacks.fitting_people import Bounds, level_bounds
from tests.privacy.releases import sliced

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
COLUMNS = [["age"], ["town", "illness"]]


def likeliest(probability):
    return 1 / probability.max(axis=1)


def table(rows):
    return Microdata(pd.DataFrame(rows, columns=["age", "town", "illness"]), roles=ROLES)


def worlds(rows, group):
    """Every table that the sliced one may come from: the ages of each bucket in any order."""
    buckets = [[place for place, one in enumerate(group) if one == bucket] for bucket in sorted(set(group))]
    for orders in product(*(permutations(bucket) for bucket in buckets)):
        changed = list(rows)
        for bucket, order in zip(buckets, orders, strict=True):
            for place, other in zip(bucket, order, strict=True):
                changed[place] = (rows[other][0], *rows[place][1:])
        yield changed


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from("AB"), st.sampled_from("xyz")), min_size=6, max_size=6),
    st.sampled_from([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1]]),
)
def test_the_smallest_level_of_every_possible_table_lies_between_the_bounds(rows, group):
    found = level_bounds(sliced(table(rows), group, COLUMNS), "illness", likeliest)
    for world in worlds(rows, group):
        posterior = sensitive_posterior(sliced(table(world), group, COLUMNS), "illness")
        smallest = likeliest(posterior).min()
        assert found.low - 1e-12 <= smallest <= found.high + 1e-12


def test_bounds_by_hand():
    rows = [(1, "A", "x"), (2, "B", "y"), (3, "A", "x"), (4, "A", "y")]
    found = level_bounds(sliced(table(rows), [0, 0, 1, 1], COLUMNS), "illness", likeliest)
    # In the first bucket town A says x and town B says y, whoever is there; the second has A with x or y.
    assert found == Bounds(1.0, 1.0)


def test_one_column_of_quasi_identifiers_leaves_nothing_open():
    rows = [(1, "A", "x"), (2, "B", "y"), (3, "A", "x"), (4, "A", "y")]
    release = sliced(table(rows), [0, 0, 1, 1], [["age", "town"], ["illness"]])
    assert level_bounds(release, "illness", likeliest) == Bounds(2.0, 2.0)


def test_too_many_people_and_shared_attributes(monkeypatch):
    rows = [(1, "A", "x"), (2, "B", "y"), (3, "A", "x"), (4, "A", "y")]
    overlapping = sliced(table(rows), [0, 0, 1, 1], [["age", "town"], ["town", "illness"]])
    with pytest.raises(ReleaseError, match="share attributes"):
        level_bounds(overlapping, "illness", likeliest)
    monkeypatch.setattr("anoncore.attacks.fitting_people.MOST_PEOPLE", 3)
    assert level_bounds(sliced(table(rows), [0, 0, 1, 1], COLUMNS), "illness", likeliest) is None
