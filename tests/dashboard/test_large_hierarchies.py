"""Hierarchies made on a sample serve all rows: intervals are made anew, lists of values stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Hierarchy, Microdata
from anoncore.recipes.hierarchy_rules import spec_by_rule
from anoncore.table.hierarchy_defaults import calendar_hierarchy, grid_hierarchy, letter_hierarchy, prefix_hierarchy
from dashboard.session import tagging


def data_of(values: Any) -> tuple[pd.DataFrame, Microdata]:
    frame = pd.DataFrame({"x": values})
    return frame, Microdata(frame, {"x": "quasi-identifier"}, kinds={"x": "numeric"})


@given(
    values=st.lists(st.integers(-300, 300), min_size=2, max_size=60),
    width=st.sampled_from([2.0, 5.0, 10.0, 7.5, 0.5]),
    fanout=st.integers(2, 4),
    tenths=st.booleans(),
)
@settings(max_examples=30)
def test_intervals_of_equal_width_are_given_by_their_width(values, width, fanout, tenths):
    frame, data = data_of(np.array(values) / (10 if tenths else 1))
    hierarchy = tagging.intervals_by_width(data.domain["x"], width, fanout)
    spec = spec_by_rule(hierarchy, frame["x"])
    if spec.levels is None:
        assert spec.build(frame["x"], None).paths == hierarchy.paths
    else:
        # The text of the first interval does not always tell its width: then all its values are listed.
        assert len({path[0] for path in hierarchy.paths.values()}) < 4


@pytest.mark.parametrize("numbers", [np.arange(500), np.arange(500) / 4, np.arange(-90, 90) * 3])
def test_usual_intervals_take_numbers_that_the_sample_lacks(numbers):
    frame, data = data_of(np.random.default_rng(2).choice(numbers, 200))
    for hierarchy in (
        tagging.intervals_by_width(data.domain["x"], 10.0, 2),
        tagging.intervals_by_quantile(data, "x", 8, 3),
    ):
        spec = spec_by_rule(hierarchy, frame["x"])
        assert spec.levels is None
        assert spec.build(frame["x"], None).paths == hierarchy.paths
        everything = pd.Series(numbers)
        assert set(spec.build(everything, None).paths) == set(everything.tolist())


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (calendar_hierarchy, pd.date_range("1950-01-01", periods=900, freq="17D")),
        (
            lambda days: calendar_hierarchy(days, ["year", "decade"]),
            pd.date_range("1950-01-01", periods=900, freq="17D"),
        ),
        (prefix_hierarchy, [f"{10_000 + 91 * row:05}" for row in range(900)]),
        (lambda codes: prefix_hierarchy(codes, [3, 1]), [10_000 + 91 * row for row in range(900)]),
        (grid_hierarchy, [47 + row / 100 for row in range(900)]),
        (
            lambda places: grid_hierarchy(places, [0.1]),
            [f"{47 + row % 90 / 50:.2f}, {7 + row / 99:.2f}" for row in range(900)],
        ),
        (letter_hierarchy, [f"{chr(65 + row % 26)}town {row % 200}" for row in range(900)]),
    ],
)
def test_ready_made_hierarchies_take_values_that_the_sample_lacks(make, values):
    sample = pd.Series(list(values)).sample(300, random_state=1)
    hierarchy = make(sample)
    spec = spec_by_rule(hierarchy, sample)
    assert spec.levels is None
    assert spec.build(sample, None).paths == hierarchy.paths
    assert len(spec.build(pd.Series(list(values)), None).paths) == len(set(values))


def test_a_day_that_no_calendar_has_is_no_date():
    listed = Hierarchy({"2020-02-31": ["2020-02"], "2020-02-30": ["2020-02"], "2020-03-01": ["other"]})
    assert spec_by_rule(listed, pd.Series(list(listed.paths))).levels is not None


def test_other_hierarchies_are_listed():
    taxonomy = Hierarchy.from_nested({"few": [1, 2], "many": [3, 4]})
    assert spec_by_rule(taxonomy, pd.Series([1, 2, 3, 4])).build(pd.Series([1]), None).paths == taxonomy.paths
    towns = Hierarchy.from_nested({"South": ["Ulm"], "Rhine": ["Bonn"]})
    assert spec_by_rule(towns, pd.Series(["Ulm", "Bonn"])).levels is not None
