"""Plain values survive the way through TOML text."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.errors import DataError
from anoncore.base.toml import dumps, plain

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = (
    TEXT
    | st.integers(-(2**63), 2**63 - 1)
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.dates()
    | st.datetimes()
    | st.datetimes(timezones=st.just(UTC))
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=12
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_reads_back_as_the_same_values(values: dict[str, object]) -> None:
    assert tomllib.loads(dumps(values)) == values


def test_tables_come_after_values_and_lists_of_tables_get_headers() -> None:
    values = {"algorithm": {"requirements": [{"k": 2}, {"t": 0.5}], "name": "m"}, "a key": {"b": {"c": [1, 2]}}}
    assert dumps(values) == (
        '[algorithm]\nname = "m"\n\n[[algorithm.requirements]]\nk = 2\n\n[[algorithm.requirements]]\nt = 0.5\n\n'
        '["a key".b]\nc = [1, 2]\n'
    )


def test_numpy_and_pandas_values_become_plain_ones() -> None:
    given_values = {1: (np.int64(3), np.float64(0.5), np.bool_(True), np.str_("x")), "when": pd.Timestamp("2020-02-01")}
    assert plain(given_values, "key") == {"1": [3, 0.5, True, "x"], "when": datetime(2020, 2, 1)}
    assert [type(item) for item in plain(given_values, "key")["1"]] == [int, float, bool, str]
    assert plain({"b", "a"}, "key") == ["a", "b"]
    assert plain(date(2020, 2, 1), "key") == date(2020, 2, 1)


@pytest.mark.parametrize("value", [None, float("nan"), pd.NaT, object(), "half a \ud800 character", [1, None]])
def test_what_toml_cannot_hold_is_refused_with_its_key(value: object) -> None:
    with pytest.raises(DataError, match=r"^orders\.age: "):
        plain({"age": value}, "orders")
