"""Figures of classes hold what pandas counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata
from dashboard.charts.groups import Shares, sensitive_shares, size_bins, size_histogram
from dashboard.charts.layout import Axis, distinct_labels, faint, shortened
from dashboard.charts.palette import ORIGINAL, run_style
from dashboard.charts.planes import RegionMap, region_map
from dashboard.closer.class_detail import runs_of

STYLE = run_style(0)


def _domain(values: list[object], **kinds: str):
    return Microdata(
        pd.DataFrame({"a": values}), {"a": "insensitive"}, kinds={"a": kinds.get("kind", "nominal")}
    ).domain["a"]


@settings(max_examples=20)
@given(st.lists(st.integers(1, 5000), min_size=1, max_size=200))
def test_size_bars_count_every_group_once(sizes: list[int]) -> None:
    edges = size_bins(np.array(sizes))
    assert edges[0] == min(sizes)
    assert edges[-1] == max(sizes) + 1
    assert (np.diff(edges) > 0).all()
    assert len(edges) <= 42
    figure = size_histogram(np.array(sizes), STYLE)
    binned = pd.cut(pd.Series(sizes), edges, right=False)
    assert list(figure.data[0].y) == binned.value_counts(sort=False).tolist()


def test_few_sizes_have_a_bar_each() -> None:
    figure = size_histogram(np.array([2, 2, 4]), STYLE)
    assert list(figure.data[0].x) == ["2", "3", "4"]
    assert list(figure.data[0].y) == [2, 0, 1]
    assert figure.data[0].customdata.tolist() == [[2, 2], [3, 3], [4, 4]]
    assert figure.layout.xaxis.title.text == "rows in the group"
    assert figure.data[0].marker.color == STYLE.color


def test_far_sizes_have_growing_bars() -> None:
    edges = size_bins(np.array([10] * 50 + [11] * 50 + [20_000]))
    assert (np.diff(np.diff(edges)) >= -1).all()
    assert len(edges) <= 21


def test_shares_keep_the_order_and_join_the_rare() -> None:
    group, table = np.array([1, 0, 3, 0]), np.array([10, 20, 30, 40])
    plain = Shares.of(group, table, ["a", "b", "c", "d"])
    assert plain.texts == ("a", "b", "c", "d")
    assert plain.group.tolist() == [0.25, 0, 0.75, 0]
    assert plain.table.tolist() == [0.1, 0.2, 0.3, 0.4]
    few = Shares.of(group, table, ["a", "b", "c", "d"], most=3)
    assert few.texts == ("c", "d", "2 other values")
    assert few.group == pytest.approx([0.75, 0, 0.25])
    assert few.table == pytest.approx([0.3, 0.4, 0.3])


def test_shares_of_numbers_are_summed_in_bins() -> None:
    values = list(range(100))
    domain = _domain(values, kind="numeric")
    axis = Axis.of(domain, 10)
    group = np.zeros(100, dtype=int)
    group[[3, 5, 95]] = 1
    shares = Shares.binned(axis, group, np.ones(100, dtype=int))
    assert len(shares.texts) == 10
    assert shares.texts[0] == "0 to 9"
    assert shares.group == pytest.approx([2 / 3, *[0] * 8, 1 / 3])
    assert shares.table == pytest.approx([0.1] * 10)


def test_sensitive_bars_set_the_group_against_the_table() -> None:
    shares = Shares(("flu", "cold"), np.array([1.0, 0.0]), np.array([0.25, 0.75]))
    figure = sensitive_shares(shares, STYLE, "group 3")
    table, group = figure.data
    assert list(group.x) == [1.0, 0.0]
    assert list(table.x) == [0.25, 0.75]
    assert list(group.y) == ["flu", "cold"]
    assert (table.marker.color, group.marker.color) == (ORIGINAL, STYLE.color)
    assert group.name == "group 3"


@settings(max_examples=20)
@given(st.lists(st.one_of(st.none(), st.integers(-400, 400)), min_size=2, max_size=120))
def test_axis_bins_hold_the_values_that_lie_between_their_edges(values: list[int | None]) -> None:
    data = Microdata(pd.DataFrame({"a": pd.array(values, dtype="Int64")}), {"a": "insensitive"})
    domain = data.domain["a"]
    axis = Axis.of(domain, 20)
    assert axis.counts(data.codes["a"]).sum() == len(values)
    assert (np.diff(axis.edges) > 0).all()
    inside = axis.edges[axis.bin_of] - 1e-6 <= axis.coordinates
    assert (inside & (axis.coordinates <= axis.edges[axis.bin_of + 1] + 1e-6)).all()
    assert (np.diff(axis.bin_of) >= 0).all()


def test_missing_numbers_are_a_bin_of_their_own_at_the_end() -> None:
    data = Microdata(pd.DataFrame({"a": [*range(50), None]}), {"a": "insensitive"})
    axis = Axis.of(data.domain["a"], 10)
    assert axis.counts(data.codes["a"])[-1] == 1
    assert axis.tick_texts[-1] == "(missing)"
    assert axis.bin_texts[-1] == "(missing)"


def test_axis_of_categories_names_each() -> None:
    axis = Axis.of(_domain(["b", "a", "c", "a"]))
    assert axis.tick_texts == ("a", "b", "c")
    assert axis.edges.tolist() == [-0.5, 0.5, 1.5, 2.5]
    low, high = axis.extent(np.array([0]), np.array([1]))
    assert (low.tolist(), high.tolist()) == ([-0.5], [1.5])


def test_region_map_draws_region_others_and_rows() -> None:
    x, y = Axis.of(_domain(["a", "b", "c"])), Axis.of(_domain(["u", "v"]))
    box = (np.array([-0.5]), np.array([0.5]), np.array([-0.5]), np.array([1.5]))
    other = (np.array([0.5]), np.array([2.5]), np.array([-0.5]), np.array([1.5]))
    counts = np.array([[4, 0, 1], [2, 3, 0]])
    plane = RegionMap(x, y, counts, (np.array([0.0, 0.0]), np.array([0.0, 1.0]), np.array([4, 2])), box, other)
    cells, outlines, region, rows = region_map(plane, STYLE, "group 1").data
    assert cells.customdata.tolist() == counts.tolist()
    assert np.expm1(cells.z) == pytest.approx(counts)
    assert region.x[:5].tolist() == [-0.5, 0.5, 0.5, -0.5, -0.5]
    assert region.y[:5].tolist() == [-0.5, -0.5, 1.5, 1.5, -0.5]
    assert np.isnan(region.x[5])
    assert outlines.x[1] == 2.5
    assert rows.customdata.tolist() == [4, 2]
    assert rows.marker.symbol == STYLE.symbol


def test_runs_of_codes() -> None:
    first, last = runs_of(np.array([0, 1, 2, 5, 7, 8], dtype=np.int32))
    assert (first.tolist(), last.tolist()) == ([0, 5, 7], [2, 5, 8])


def test_labels_are_short_distinct_and_no_markup() -> None:
    assert shortened("x" * 40) == "x" * 25 + "…"
    assert shortened("<b>bold</b>") == "&lt;b>bold&lt;/b>"
    assert distinct_labels(["a\nb", "a b", ""]) == ["a b", "a b (2)", "(blank)"]
    assert faint("#0072B2", 0.5) == "rgba(0,114,178,0.5)"
