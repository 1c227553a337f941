import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Domain, Kind, Microdata
from anoncore.base.pandas_versions import TEXT
from anoncore.base.texts import MISSING_TEXT, is_missing, listing, range_text, value_text


def domain_of(values, kind=None, dtype=None):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
    return Microdata(frame, {"*": "insensitive"}, kinds={"x": kind} if kind else None).domain["x"]


def test_missing_is_the_last_code_and_reads_as_none():
    domain = domain_of([5, None, 3])
    assert list(domain) == [3, 5, None]
    assert len(domain) == 3
    assert domain.missing_code == 2
    assert domain[-1] is None
    assert domain[:2] == [3, 5]
    assert domain.texts.tolist() == ["3", "5", MISSING_TEXT]
    assert domain_of([1, 2]).missing_code is None


def test_code_of_finds_values_and_every_form_of_missing():
    domain = domain_of(["b", None, "a"])
    assert [domain.code_of(value) for value in ("a", "b")] == [0, 1]
    for missing in (None, float("nan"), pd.NA, pd.NaT, np.nan):
        assert domain.code_of(missing) == 2


def test_code_of_says_what_there_is():
    with pytest.raises(DataError, match="'x' has no value 'c'; it has 'a', 'b'"):
        domain_of(["a", "b"]).code_of("c")
    with pytest.raises(DataError, match="'x' has no missing values"):
        domain_of(["a"]).code_of(None)
    with pytest.raises(DataError, match="'x' has no value"):
        domain_of(["a"]).code_of(["a"])
    with pytest.raises(IndexError):
        domain_of(["a"])[1]


def test_positions_of_numbers_are_their_values_and_missing_lies_a_mean_step_above():
    assert domain_of([10, 30, 20]).positions.tolist() == [10, 20, 30]
    # Values 10, 20, 40: mean step (40 - 10) / 2 = 15.
    assert domain_of([40, None, 10, 20]).positions.tolist() == [10, 20, 40, 55]
    assert domain_of([7, None]).positions.tolist() == [7, 8]
    assert domain_of([None, None], dtype="float64").positions.tolist() == [0]
    assert domain_of([40, None, 10, 20]).span == 45


@pytest.mark.parametrize("value", [7, 0.25, Decimal("0.25"), pd.Timestamp("2020-01-01")])
def test_missing_lies_one_unit_above_a_single_number(value):
    domain = domain_of([value, None])
    assert domain.span == domain.positions[1] - domain.positions[0] == 1
    assert domain_of([value]).span == 0


def test_positions_of_categories_are_ranks():
    assert domain_of(["b", None, "a"]).positions.tolist() == [0, 1, 2]


def test_positions_of_dates_are_days():
    domain = domain_of(pd.to_datetime(["1970-01-03", "1970-01-01", None]))
    assert domain.is_date
    assert domain.positions.tolist() == [0, 2, 4]


def test_values_that_doubles_cannot_tell_apart_lie_at_their_ranks():
    domain = domain_of([2**53, 2**53 + 1])
    assert list(domain) == [2**53, 2**53 + 1]
    assert domain.span == 1
    assert domain_of([2**53, None], dtype="Int64").positions.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([3, 1, 3], "int64"),
        ([3, None, 1], "Int64"),
        ([0.5, None, 1.0], "float64"),
        ([1.5, None], "Float64"),
        ([True, False], "bool"),
        ([True, None], "boolean"),
        (["b", None, "a"], TEXT),
        (["b", None, 1], "object"),
        (pd.to_datetime(["2020-01-02", None]), "datetime64[ns]"),
        (pd.to_datetime(["2020-01-02", None]).tz_localize("Europe/Berlin"), "datetime64[ns, Europe/Berlin]"),
        (pd.to_timedelta(["1D", None]), "timedelta64[ns]"),
        ([None, None], "float64"),
        ([None, None], "object"),
        ([2**63 + 1, 1], "uint64"),
    ],
)
def test_decoded_gives_the_values_back_in_the_columns_own_type(values, dtype):
    column = pd.Series(values, dtype=dtype)
    data = Microdata(pd.DataFrame({"x": column}), {"*": "insensitive"})
    decoded = pd.Series(data.domain["x"].decoded.take(data.codes["x"]))
    pd.testing.assert_series_equal(decoded, column, check_names=False)


def test_decoded_categories_keep_their_order_and_drop_those_that_do_not_occur():
    column = pd.Categorical(["low", None, "high"], categories=["low", "middle", "high"], ordered=True)
    data = Microdata(pd.DataFrame({"x": column}), {"*": "insensitive"})
    decoded = data.domain["x"].decoded.take(data.codes["x"])
    assert decoded.categories.tolist() == ["low", "high"]
    assert decoded.ordered
    assert decoded.codes.tolist() == [0, -1, 1]


def test_a_domain_made_by_hand_decodes_to_objects():
    domain = Domain("x", Kind.NOMINAL, ("a", "b"), has_missing=True)
    assert domain.decoded.tolist() == ["a", "b", None]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e15, "1000000000000000"),
        (1e20, "1e+20"),
        (2**70, "1180591620717411303424"),
        (True, "True"),
        ("a, b", "a, b"),
        (pd.Timestamp("2020-02-03"), "2020-02-03"),
        (pd.Timestamp("0001-01-01"), "0001-01-01"),
        (pd.Timestamp("2020-02-03 04:05"), "2020-02-03 04:05:00"),
        (dt.date(2020, 2, 3), "2020-02-03"),
        (Decimal("1.50"), "1.50"),
        (float("inf"), "inf"),
    ],
)
def test_text_of_a_value(value, text):
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (20, 29, "20-29"),
        (-5, 3, "-5 to 3"),
        (-5, -3, "-5 to -3"),
        (0.5, 1.5, "0.5-1.5"),
        (1e-7, 1.0, "1e-07 to 1"),
        (pd.Timestamp("2020-01-01"), pd.Timestamp("2020-02-01"), "2020-01-01 to 2020-02-01"),
        (4, 4, "4"),
    ],
)
def test_text_of_a_range_cannot_be_read_as_another_one(low, high, text):
    assert range_text(low, high) == text


def test_missing_values_have_many_looks():
    assert all(map(is_missing, (None, float("nan"), pd.NA, pd.NaT, Decimal("NaN"))))
    assert not any(map(is_missing, ("", 0, "nan", (1, None), [None], False)))


def test_a_listing_is_short():
    assert listing(["a", 1.0]) == "'a', '1'"
    assert listing(list(range(10)), 3) == "'0', '1', '2' and 7 more"
