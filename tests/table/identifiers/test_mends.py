"""Recodings to what the rule lets stand: by hand, and that nothing is found where they were applied."""

from __future__ import annotations

from datetime import date
from itertools import islice
from typing import Any

import pandas as pd
import pytest

from anoncore import DataError, privacy
from anoncore.table.identifiers.kinds import Mend
from anoncore.table.identifiers.mends import mending_hierarchy, recoded
from tests.table.identifiers.planted import tables

YEAR = 2024


@pytest.mark.parametrize(
    ("mend", "value", "label"),
    [
        (Mend.YEAR, "1987-03-01", "1987"),
        (Mend.YEAR, "1.3.1987", "1987"),
        (Mend.YEAR, "March 1, 1987", "1987"),
        (Mend.YEAR, 19870301, "1987"),
        (Mend.YEAR, date(1987, 3, 1), "1987"),
        (Mend.YEAR, pd.Timestamp("1987-03-01 10:30"), "1987"),
        (Mend.YEAR, "1935-01-01", "1935"),
        (Mend.YEAR, "1934-12-31", "1934 or earlier"),
        (Mend.OLDEST_YEARS, 1920, "1934 or earlier"),
        (Mend.OLDEST_YEARS, 1950.0, "1950"),
        (Mend.THREE_DIGITS, "10115", "101"),
        (Mend.THREE_DIGITS, "10115-1234", "101"),
        (Mend.THREE_DIGITS, "101**", "101"),
        (Mend.THREE_DIGITS, 10115, "101"),
        (Mend.THREE_DIGITS, 3601, "000"),
        (Mend.THREE_DIGITS, 501, "501"),
        (Mend.THREE_DIGITS, "87801", "000"),
        (Mend.NINETY, 89, "89"),
        (Mend.NINETY, 89.5, "89.5"),
        (Mend.NINETY, 90, "90+"),
        (Mend.NINETY, "85-94", "90+"),
        (Mend.NINETY, "90+", "90+"),
        (Mend.NINETY, "80-89", "80-89"),
    ],
)
def test_one_value_by_hand(mend: Mend, value: Any, label: str) -> None:
    assert mending_hierarchy([value], mend, year=YEAR).path_of(value) == (label, "*")


def test_missing_cells_stay_missing_and_the_order_of_rows_stays() -> None:
    ages = pd.Series([95, None, 34], index=[7, 8, 9], name="age")
    result = recoded(ages, Mend.NINETY)
    assert result.fillna("none").tolist() == ["90+", "none", "34"]
    assert list(result.index) == [7, 8, 9]


def test_what_cannot_be_recoded_is_said_by_column_and_count_and_not_by_value() -> None:
    with pytest.raises(DataError) as caught:
        recoded(pd.Series(["1.2.20", "3.4.1987", "1.3.21"], name="visit"), Mend.YEAR)
    assert str(caught.value) == "'visit': 2 values cannot be recoded to year; drop the column, or mend them first."
    with pytest.raises(DataError, match="'drop' recodes no values"):
        recoded(pd.Series(["a"], name="x"), Mend.DROP)


def test_nothing_is_found_in_a_table_that_was_mended() -> None:
    n_recoded = 0
    for table in islice(tables(seed=8), 0, None, 2):
        frame = table.frame.drop(columns="Feld4", errors="ignore")  # years of two digits cannot be recoded
        result = privacy.identifiers(frame, year=YEAR)
        mended = result.mended(frame)
        again = privacy.identifiers(mended, year=YEAR)
        assert again.findings == (), table.name
        assert len(mended) == len(frame)
        n_recoded += sum(one.column in mended for one in result.findings)
    assert n_recoded >= 12


def test_mending_keeps_the_other_columns_as_they_are_and_changes_nothing_given() -> None:
    frame = pd.DataFrame(
        {"sex": ["f", "m"], "zip": [10115, 3601], "name": ["Ann", "Bob"], "age": [34, 93]}, index=[5, 2]
    )
    before = frame.copy()
    mended = privacy.identifiers(frame).mended(frame)
    assert list(mended.columns) == ["sex", "zip", "age"]
    assert mended["zip"].tolist() == ["101", "000"]
    assert mended["sex"].equals(frame["sex"])
    pd.testing.assert_frame_equal(frame, before)
