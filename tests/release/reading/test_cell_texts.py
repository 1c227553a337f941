"""The texts of a column at a time are those of its cells one by one, and so is their order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore.base.pandas_versions import TEXT
from anoncore.release.reading.published_table import Column, cell_text, cell_texts, ranked

TEXTS = st.one_of(
    st.text(max_size=4),
    st.text(alphabet="0123456789.-eE'+= ", max_size=7),
    st.sampled_from(["2020-01-01", "2020-01-01 00:00", "'-1", "''=x", "-0", "1e5", "20-29", "007", "1.50"]),
)
FLOATS = st.one_of(st.floats(), st.integers(-(10**17), 10**17).map(float), st.sampled_from([-0.0, 1e16, 1e16 - 2, 2.5]))


@given(st.lists(st.one_of(TEXTS, st.none()), max_size=8))
def test_texts(values: list[str | None]) -> None:
    expected = [cell_text(value) for value in values]
    assert cell_texts(pa.array(values, pa.large_string())) == expected
    assert cell_texts(pa.array(values, pa.string())) == expected
    assert cell_texts(pd.Series(values, dtype=TEXT)) == expected
    assert cell_texts(pd.Series(values, dtype=object)) == expected


@given(st.lists(FLOATS, max_size=8))
def test_numbers_with_a_point(values: list[float]) -> None:
    expected = [cell_text(value) for value in values]
    assert cell_texts(pd.Series(values, dtype=np.float64)) == expected
    assert cell_texts(pa.array(values, pa.float64())) == expected


@given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.none()), max_size=8))
def test_whole_numbers(values: list[int | None]) -> None:
    assert cell_texts(pa.array(values, pa.int64())) == [cell_text(value) for value in values]


@given(st.lists(st.one_of(st.text(max_size=3), st.text(alphabet="019-.\0é", max_size=10)), max_size=8))
def test_the_order_is_that_of_python(texts: list[str]) -> None:
    rank, first = ranked(texts)
    ordered = sorted({*texts})
    assert [ordered[one] for one in rank] == texts
    assert [texts.index(one) for one in ordered] == first.tolist()


def test_half_a_character_is_in_order() -> None:
    texts = ["\ud800x", "a", "\ud800", "a", "\U0001f600"]
    assert [sorted({*texts})[one] for one in ranked(texts)[0]] == texts


@given(st.lists(st.integers(0, 3), max_size=9), st.lists(st.sampled_from("abc"), min_size=4, max_size=4))
def test_a_column_of_codes(codes: list[int], texts: list[str]) -> None:
    column = Column.coded(np.array(codes, dtype=np.int64), texts)
    cells = [texts[code] for code in codes]
    assert column.cells.tolist() == cells
    assert column.texts == tuple(sorted({*cells}))
    assert column.counts.tolist() == [cells.count(text) for text in column.texts]


@pytest.mark.parametrize("values", [pd.Series([True, False]), pd.Series(pd.to_datetime(["2020-01-01"]))])
def test_values_of_other_types(values: pd.Series) -> None:
    assert cell_texts(values) == [cell_text(value) for value in values]
