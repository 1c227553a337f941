"""Which values are one value, by hand and by their laws."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.typed_values import ValueMapping, preferred, sorted_values, value_key

MIDNIGHT = datetime(2020, 2, 1)
ONE_VALUE = [
    [1, 1.0, Decimal(1), Decimal("1.00"), Fraction(1), np.int8(1), np.uint64(1), np.float32(1)],
    [0, 0.0, -0.0, Decimal("-0"), np.float64(-0.0)],
    [0.5, Decimal("0.5"), Fraction(1, 2), np.float16(0.5)],
    [0.1, Decimal("0.1"), Fraction(1, 10), np.float64(0.1)],
    [2.0**60, 2**60, Decimal(2**60)],
    [True, np.True_],
    ["1", np.str_("1")],
    [
        date(2020, 2, 1),
        MIDNIGHT,
        pd.Timestamp(MIDNIGHT),
        np.datetime64("2020-02-01"),
        np.datetime64("2020-02-01", "ns"),
    ],
    [datetime(2020, 2, 1, tzinfo=UTC), pd.Timestamp("2020-02-01 01:00", tz="Europe/Berlin")],
    [timedelta(hours=1), pd.Timedelta("1h"), np.timedelta64(60, "m")],
    [None, float("nan"), pd.NaT, pd.NA, np.datetime64("NaT", "ns"), Decimal("NaN")],
]
DIFFERENT = [
    *(1, True, "1", "True", "1.0", 0, False, "", None, 2**60, 2.0**60 + 2**10, 2**60 + 1, 0.1, Decimal("0.1000001")),
    *("é", "e\u0301", MIDNIGHT, datetime(2020, 2, 1, tzinfo=UTC), "2020-02-01", date(2020, 2, 2), timedelta(0)),
    *(b"1", (1,), 1j, float("inf"), Decimal("1e1000000"), date(1, 1, 1), date(9999, 12, 31)),
]


@pytest.mark.parametrize("same", ONE_VALUE)
def test_forms_of_one_value(same):
    assert len({value_key(value) for value in same}) == 1


def test_different_values():
    assert len({value_key(value) for value in DIFFERENT}) == len(DIFFERENT)


def test_what_cannot_be_compared():
    for value in ([1], {"a": 1}, {1}, ([1],)):
        with pytest.raises(TypeError, match="unhashable"):
            value_key(value)


def test_the_form_that_stands_for_all():
    assert str(preferred([-0.0, 0.0])) == "0.0"
    assert type(preferred([1.0, Decimal(1), 1])) is int
    assert str(preferred([Decimal("1.50"), Decimal("1.5"), 1.5])) == "1.5"
    assert str(preferred([Decimal("2.70"), Decimal("2.7")])) == "2.7"


def test_the_order_by_hand():
    assert sorted_values(["10", 10, 9.5, True, "9", date(2020, 1, 1), False]) == [
        False,
        True,
        9.5,
        10,
        date(2020, 1, 1),
        "10",
        "9",
    ]


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([*DIFFERENT, (1, "a"), ("a", 1), frozenset({1}), frozenset({2})]), unique_by=id), st.data()
)
def test_the_order_does_not_depend_on_that_of_the_values(values, data):
    values = [value for value in values if value is not None]
    again = data.draw(st.permutations(values))
    assert list(map(repr, sorted_values(values))) == list(map(repr, sorted_values(again)))


def test_a_mapping_by_value_tells_apart_what_a_dictionary_mixes_up():
    mapping = ValueMapping([(True, "truth"), (1, "number"), ("1", "text"), (None, "missing")])
    assert [mapping[value] for value in (True, 1, 1.0, Decimal(1), "1", float("nan"))] == [
        *("truth", "number", "number", "number", "text", "missing")
    ]
    assert list(map(repr, mapping)) == ["True", "1", "'1'", "None"]
    assert repr(mapping) == "{True: 'truth', 1: 'number', '1': 'text', None: 'missing'}"
    assert False not in mapping
    assert mapping == ValueMapping(reversed(list(mapping.items())))
    assert mapping != ValueMapping([(True, "number"), (1, "truth"), ("1", "text"), (None, "missing")])
    assert ValueMapping([("a", 1), (2, 2)]) == {"a": 1, 2.0: 2}
    assert ValueMapping([("a", 1)]) != {"a": 1, "b": 2}
    assert ValueMapping([("a", 1)]) != [("a", 1)]
    with pytest.raises(ValueError, match=r"1\.0"):
        ValueMapping([(1, "one"), (1.0, "again")])
    with pytest.raises(TypeError, match="unhashable"):
        ValueMapping([([], "list")])
