"""What is in a column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.table.summary import summarize, summarize_column


def test_whole_numbers_fall_into_ranges_of_equal_width() -> None:
    summary = summarize_column(pd.Series([*range(100), 99, None], name="age"), bins=5)
    assert summary.type == "whole number"
    assert (summary.n_rows, summary.n_distinct, summary.n_missing) == (102, 100, 1)
    assert (summary.lowest, summary.highest, summary.top, summary.top_count) == ("0", "99", "99", 2)
    assert summary.bin_texts == ("0-19", "20-39", "40-59", "60-79", "80-99")
    assert summary.bin_counts == (20, 20, 20, 20, 21)


def test_categories_are_shown_by_frequency() -> None:
    summary = summarize_column(pd.Series(["b", "a", "b", "c", "b", "a"], name="x"), bins=2)
    assert summary.type == "text"
    assert summary.bin_texts == ("b", "a")
    assert summary.bin_counts == (3, 2)
    assert summary.n_in_bins == 5
    assert summary.distinct_share == pytest.approx(0.5)
    assert summary.mean_length == 1


def test_few_numbers_are_shown_in_their_order() -> None:
    summary = summarize_column(pd.Series([3, 1, 3, 2], name="x"))
    assert (summary.bin_texts, summary.bin_counts) == (("1", "2", "3"), (1, 1, 2))


def test_dates_fall_into_ranges() -> None:
    days = pd.Series(pd.date_range("2020-01-01", periods=100), name="when")
    summary = summarize_column(days, bins=4)
    assert summary.type == "date"
    assert (summary.lowest, summary.highest) == ("2020-01-01", "2020-04-09")
    assert sum(summary.bin_counts) == 100
    assert summary.bin_texts[0] == "2020-01-01 to 2020-01-25"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([None, None], "empty"),
        ([], "empty"),
        ([True, False], "yes or no"),
        ([1.5, 2.0], "number"),
        ([1.0, None], "whole number"),
        ([np.inf, 1.0], "whole number"),
        (["", "x"], "text"),
    ],
)
def test_types_are_told_in_words(values: list[object], kind: str) -> None:
    assert summarize_column(pd.Series(values, name="x")).type == kind


def test_infinities_stay_out_of_the_range() -> None:
    summary = summarize_column(pd.Series([np.inf, *range(50)], name="x", dtype="float64"), bins=5)
    assert (summary.lowest, summary.highest) == ("0", "49")
    assert summary.n_in_bins == 50


def test_a_range_beyond_all_floats_is_shown_by_value() -> None:
    summary = summarize_column(pd.Series([-1.7e308, 1.7e308, *range(30)], name="x"))
    assert summary.highest == "1.7e+308"
    assert summary.n_in_bins == 20


def test_column_names_may_occur_twice() -> None:
    frame = pd.DataFrame([[1, "a"], [2, "b"]], columns=["x", "x"])
    assert [summary.type for summary in summarize(frame)] == ["whole number", "text"]


@settings(max_examples=30)
@given(
    st.lists(
        st.one_of(st.none(), st.integers(-(10**6), 10**6), st.floats(allow_nan=True, allow_infinity=False, width=32))
    )
)
def test_bins_count_every_row_with_a_value(values: list[float | None]) -> None:
    column = pd.Series(values, name="x", dtype="float64")
    summary = summarize_column(column)
    assert summary.n_missing == int(column.isna().sum())
    assert summary.n_distinct == column.nunique()
    assert len(summary.bin_texts) == len(summary.bin_counts)
    assert summary.n_in_bins == len(column) - summary.n_missing
