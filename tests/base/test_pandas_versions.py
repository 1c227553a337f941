"""Columns of text, numbers and points in time are the same whichever pandas is installed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anoncore.base.pandas_versions import TEXT, frame_of, is_arrow_text, moments_of, numbers_of, own_copy, with_text


def test_texts_have_one_type_and_missing_ones_are_nan():
    cells = pd.Series(["a", None, 7], dtype=object).astype(TEXT)
    assert cells.tolist()[::2] == ["a", "7"]
    assert np.isnan(cells[1])
    assert is_arrow_text(cells.dtype)
    assert not is_arrow_text(np.dtype(object))


def test_a_copy_does_not_see_later_changes():
    frame = pd.DataFrame({"age": [31, 20]})
    copy = own_copy(frame)
    frame.loc[0, "age"] = 99
    assert copy["age"].tolist() == [31, 20]


def test_arrow_tables_have_columns_of_text():
    table = pa.table({"town": ["Ulm", None], "large": pa.array(["a", "b"], pa.large_string()), "age": [1, 2]})
    assert frame_of(table).dtypes.tolist() == [TEXT, TEXT, np.dtype("int64")]


def test_objects_that_are_texts_become_columns_of_text():
    objects = pd.DataFrame(
        {"town": ["Ulm", None], "mixed": ["1", 1], "age": [1, 2], "none": [None, None]}, dtype=object
    )
    assert with_text(objects).dtypes.tolist() == [TEXT, np.dtype(object), np.dtype(object), TEXT]


def test_integers_beyond_64_bits_are_read_as_numbers():
    cells = pd.Series(["18446744073709551616", " -18446744073709551617 ", "7", "x", None, "9" * 18 + "x"], dtype=object)
    numbers = numbers_of(cells)
    assert numbers[:3].tolist() == [2.0**64, -(2.0**64), 7.0]
    assert numbers[3:].isna().all()


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (["2024-05-31", "1999-01-01 14:30"], "us"),
        (["0001-01-01T00:00:00.5", "9999-12-31"], "us"),
        (["2024-05-31 12:00:00.123456789"], "ns"),
    ],
)
def test_points_in_time_have_the_coarsest_unit_that_keeps_them(texts: list[str], unit: str):
    moments = moments_of(texts, utc=False)
    assert moments.dtype == f"datetime64[{unit}]"
    assert list(moments) == [pd.Timestamp(text) for text in texts]


def test_points_in_time_with_a_zone_are_those_of_utc():
    moments = moments_of(["2024-05-31T12:00:00+02:00", "0002-01-01T00:30:00+01:00"], utc=True)
    assert moments.dtype == "datetime64[us, UTC]"
    assert [str(moment) for moment in moments] == ["2024-05-31 10:00:00+00:00", "0001-12-31 23:30:00+00:00"]


@pytest.mark.parametrize("texts", [["2024-02-30"], ["0001-01-01", "2024-05-31 12:00:00.123456789"]])
def test_what_no_calendar_and_no_type_has_is_refused(texts: list[str]):
    with pytest.raises(ValueError, match=r"."):
        moments_of(texts, utc=False)
