"""Plain values survive the way through TOML text."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Recipe
from anoncore.algorithms import Mondrian
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.toml import dumps, plain
from anoncore.base.toml_reading import MOST_PARTS, toml_values
from anoncore.requirements import KAnonymity

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


@pytest.mark.slow
@settings(max_examples=75)
@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_reads_back_as_the_same_values(values: dict[str, object]) -> None:
    assert tomllib.loads(dumps(values)) == values


def test_tables_come_after_values_and_short_ones_of_a_list_stand_inline() -> None:
    values = {"algorithm": {"requirements": [{"k": 2}, {"t": 0.5}], "name": "m"}, "a key": {"b": {"c": [1, 2]}}}
    assert dumps(values) == (
        '[algorithm]\nrequirements = [{ k = 2 }, { t = 0.5 }]\nname = "m"\n\n["a key".b]\nc = [1, 2]\n'
    )


def test_short_arrays_stand_on_one_line_and_long_ones_have_a_line_per_item() -> None:
    town = ["a town's name", "its region", "its country"]
    values = {"short": town, "long": [town, town, ["]", "[", "x,"]], "deep": [[[{"a": [1, 2]}, "]"]]]}
    line = '["a town\'s name", "its region", "its country"]'
    assert dumps(values) == (
        f'short = {line}\nlong = [\n    {line},\n    {line},\n    ["]", "[", "x,"],\n]\n'
        'deep = [[[{ a = [1, 2] }, "]"]]]\n'
    )


@pytest.mark.slow
@settings(max_examples=75)
@given(
    st.recursive(
        st.text('[]{},\n" \u2028#=', max_size=50) | st.integers(),
        lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text("a[]\n", max_size=9), inner, max_size=3),
        max_leaves=40,
    )
)
def test_brackets_in_texts_and_deep_arrays_read_back_as_the_same_values(value: object) -> None:
    assert tomllib.loads(dumps({"key": value})) == {"key": value}


def test_what_was_written_before_is_read() -> None:
    """Lists of tables had a header per table."""
    before = '[algorithm]\nname = "mondrian"\n\n[[algorithm.requirements]]\nname = "k-anonymity"\nk = 7\n'
    recipe = Recipe.loads(f'[source]\npath = "a.csv"\n\n{before}\n[[measures]]\nname = "utility.information_loss"\n')
    assert Recipe.loads(recipe.dumps()) == recipe
    assert recipe.algorithm == Mondrian(requirements=[KAnonymity(k=7)])


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


MANY = ".".join("a" * 1_000)


@pytest.mark.parametrize(
    "text",
    [
        f"{MANY} = 1",
        f"[{MANY}]",
        f'["a=b".{MANY}]',
        f"x = {{ {MANY} = 1 }}",
        f'x = {{ y = 1, {MANY}."b,c" = 1 }}',
        f'"a=b".{MANY} = 1',
    ],
)
def test_a_key_of_many_parts_is_refused_before_it_takes_minutes(text: str) -> None:
    with pytest.raises(ParameterError, match=f"more than {MOST_PARTS} parts"):
        toml_values(text, "policy")


def test_texts_may_have_as_many_dots_as_they_like() -> None:
    text = f'x = "{MANY}"\ny = ["{MANY}", "a,{MANY}"]  # {MANY}'
    assert toml_values(text, "policy") == {"x": MANY, "y": [MANY, f"a,{MANY}"]}
