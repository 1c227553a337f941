"""What texts become: numbers, dates, True/False, categories, missing."""

from __future__ import annotations

import io
import math
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import ParameterError
from anoncore.base.pandas_versions import TEXT
from anoncore.sources import TableSource, read_table


def column(*cells: str, separator: str = ",", **options: object) -> tuple[pd.Series, tuple[str, ...]]:
    frame = pd.DataFrame({"x": cells, "other": ["o"] * len(cells)})
    data = frame.to_csv(index=False, sep=separator).encode()
    table: TableSource = read_table(data, "t.csv", **options)  # type: ignore[arg-type]
    return table.frame["x"], table.notes


def values(series: pd.Series) -> list[object]:
    return [None if pd.isna(value) else value for value in series]


NUMBERS = [
    (("1", "-2", "+3"), [1, -2, 3], "int64"),
    ((" 42 ", "7"), [42, 7], "int64"),
    (("1.5", ".5", "2.", "1e3"), [1.5, 0.5, 2.0, 1000.0], "float64"),
    (("1", ""), [1.0, None], "float64"),
    (("0", "0.5"), [0.0, 0.5], "float64"),
    (("9223372036854775807", "-9223372036854775808"), [2**63 - 1, -(2**63)], "int64"),
    (("1,234", "950"), [1234, 950], "int64"),
    (("1,234,567.5", "0.5"), [1234567.5, 0.5], "float64"),
]


@pytest.mark.parametrize(("cells", "expected", "dtype"), NUMBERS)
def test_numbers(cells: tuple[str, ...], expected: list[object], dtype: str) -> None:
    series, _ = column(*cells)
    assert values(series) == expected
    assert series.dtype == dtype


KEPT_AS_TEXT = [
    (("01234", "98765"), "leading zeros"),
    (("-07", "12"), "leading zeros"),
    (("9223372036854775808", "1"), "too long"),
    (("9" * 5000, "1"), "too long"),
    (("9007199254740993", ""), "too long"),
    (("9007199254740993", "1.5"), "too long"),
    (("1.234,5", "2,5"), "comma may mean decimals or thousands"),
    (("0,125", "1,250"), "comma may mean decimals or thousands"),
    (("12 kg", "7"), "not all values are numbers"),
    (("1", "2", "N"), "for example 'N'"),
    (("03/04/2020", "05/06/2020"), "order of day and month"),
    (("01.02.80", "13.04.81"), "years have two digits"),
    (("31/04/2020", "13/05/2020"), "not every date exists in one order"),
    (("13/04/2020", "04/13/2020"), "not every date exists in one order"),
    (("01.02.2020", "03/04/2020"), "order of day and month"),
    (("2024-01-31", "2024-02-30"), "not every date exists"),
    (("2024-01-31T10:00Z", "2024-02-01"), "not every date exists or only some"),
    (("2024-01-31", "soon"), "not all values are dates"),
]


@pytest.mark.parametrize(("cells", "words"), KEPT_AS_TEXT)
def test_kept_as_text_with_a_note(cells: tuple[str, ...], words: str) -> None:
    series, notes = column(*cells)
    assert values(series) == [cell or None for cell in cells]
    assert series.dtype == TEXT
    assert any(words in note and "'x'" in note for note in notes)


DATES = [
    (("01.02.1980", "3.4.1981"), ["1980-02-01", "1981-04-03"], "day, month, year"),
    (("01.02.1980", "", "NA"), ["1980-02-01", None, None], "day, month, year"),
    (("13/04/1980", "1/2/1981"), ["1980-04-13", "1981-02-01"], "day, month, year"),
    (("04/13/1980", "1/2/1981"), ["1980-04-13", "1981-01-02"], "month, day, year"),
    (("4-13-1980 08:15", "1-2-1981 23:59:01"), ["1980-04-13 08:15", "1981-01-02 23:59:01"], "month, day, year"),
    (("1980/4/13", "1981/01/02"), ["1980-04-13", "1981-01-02"], "year, month, day"),
    (("1980.4.13", "1981.1.2T10:00"), ["1980-04-13", "1981-01-02 10:00"], "year, month, day"),
]


@pytest.mark.parametrize(("cells", "expected", "words"), DATES)
def test_dates_in_another_order_that_is_certain(cells: tuple[str, ...], expected: list[str | None], words: str) -> None:
    series, notes = column(*cells)
    assert values(series) == [None if one is None else pd.Timestamp(one) for one in expected]
    assert f"Dates were read as {words} in 'x' (for example {cells[0]!r})." in notes


def test_the_order_of_dates_can_be_said() -> None:
    cells = ("03/04/2020", "05/06/2020")
    for order, expected in (
        ("day-month-year", ["2020-04-03", "2020-06-05"]),
        ("month-day-year", ["2020-03-04", "2020-05-06"]),
    ):
        assert values(column(*cells, dates=order)[0]) == [pd.Timestamp(one) for one in expected]
    # Only the day can stand first here, whatever is said.
    assert values(column("13/04/1980", dates="month-day-year")[0]) == [pd.Timestamp("1980-04-13")]
    with pytest.raises(ParameterError, match="dates is 'dmy'; use one of 'day-month-year'"):
        column(*cells, dates="dmy")


@settings(max_examples=20)
@given(
    st.lists(st.dates(), min_size=1, max_size=6),
    st.sampled_from(["%d.%m.%Y", "%d/%m/%Y", "%m-%d-%Y", "%Y/%m/%d"]),
)
def test_dates_are_never_read_in_a_wrong_order(days: list[date], written: str) -> None:
    """Written in any order they are read as what they are, or stay text where another order is possible."""
    cells = [day.strftime(written.replace("%Y", f"{day.year:04d}")) for day in days]
    series, _ = column(*cells)
    assert values(series) in ([pd.Timestamp(day) for day in days], cells)
    if any(day.day > 12 for day in days) or "." in written or written.startswith("%Y"):
        assert series.dtype.kind == "M"


@pytest.mark.parametrize(
    ("separator", "options", "cells", "expected"),
    [
        ("\t", {}, ("1,5", "1.250,75"), [1.5, 1250.75]),
        ("|", {}, ("1,5", "-2"), [1.5, -2.0]),
        ("\t", {}, ("1,500", "2,250"), [1500, 2250]),
        ("\t", {"decimal": ","}, ("1,500", "2,250"), [1.5, 2.25]),
        (";", {"decimal": ","}, ("1,500", "2,250"), [1.5, 2.25]),
        (";", {"decimal": "."}, ("1,500", "2,250"), [1500, 2250]),
        (",", {"decimal": ","}, ("1,5", "2"), [1.5, 2.0]),
        (",", {"decimal": ","}, ("1.5", "2"), [1.5, 2.0]),
    ],
)
def test_commas_where_no_separator_is_one_or_where_people_say_what_they_are(
    separator: str, options: dict[str, object], cells: tuple[str, ...], expected: list[float]
) -> None:
    assert values(column(*cells, separator=separator, **options)[0]) == expected


def test_another_column_tells_what_commas_mean() -> None:
    """In one file 1,500 is not a thousand and a half where 1,5 is one and a half."""
    table = read_table(b"a\tb\n1,5\t1,500\n2,25\t2,250\n", "t.tsv")
    assert values(table.frame["a"]) == [1.5, 2.25]
    assert values(table.frame["b"]) == ["1,500", "2,250"]
    assert any("comma may mean decimals or thousands" in note and "'b'" in note for note in table.notes)


RESEMBLING = [("12 kg", "7 kg"), ("+491234567", "+4987654321"), ("1_000", "2_000"), ("5-9", "10-14"), ("0x1F", "0x2F")]


@pytest.mark.parametrize("cells", RESEMBLING)
def test_text_that_only_resembles_numbers(cells: tuple[str, ...]) -> None:
    assert values(column(*cells)[0]) == list(cells)


def test_decimal_commas_between_semicolons() -> None:
    series, notes = column("1.234,5", "2,25", "7", separator=";")
    assert values(series) == [1234.5, 2.25, 7.0]
    assert any("decimal marks" in note for note in notes)
    series, notes = column("1,234", "2,500", separator=";")
    assert values(series) == ["1,234", "2,500"]
    assert any("may mean" in note for note in notes)
    series, notes = column("1,234,567", "2,500", separator=";")
    assert values(series) == [1234567, 2500]


def test_thousands_are_noted() -> None:
    assert any("thousands separators" in note for note in column("1,234", "950")[1])


def test_booleans_are_two_texts() -> None:
    series, notes = column("true", "FALSE", "", "True")
    assert values(series) == ["True", "False", None, "True"]
    assert notes == ()


def test_infinities_are_missing() -> None:
    series, notes = column("1.5", "inf", "-Infinity", "1e999")
    assert values(series) == [1.5, None, None, None]
    assert any("'x' (3 rows)" in note and "Infinite" in note for note in notes)


def test_dates() -> None:
    series, _ = column("2024-05-31", "", "1899-12-31 14:30", "0001-01-01T00:00:00.5")
    assert series.dtype.kind == "M"
    assert values(series)[::2] == [pd.Timestamp("2024-05-31"), pd.Timestamp("1899-12-31 14:30")]
    series, notes = column("2024-05-31T12:00:00+02:00", "2024-05-31T12:00:00Z")
    assert values(series) == [pd.Timestamp("2024-05-31 10:00"), pd.Timestamp("2024-05-31 12:00")]
    assert any("UTC" in note for note in notes)


def test_missing_texts_are_named_with_their_columns() -> None:
    series, notes = column("Private", "?", "NA", "", "n/a", "?")
    assert values(series) == ["Private", None, None, None, None, None]
    assert "The text '?' was read as missing in 'x' (2 rows)." in notes
    assert "The text 'NA' was read as missing in 'x' (1 row)." in notes


@pytest.mark.parametrize("text", ["?", "NA", "None", "NaN", "null"])
def test_missing_among_numbers(text: str) -> None:
    assert values(column("1", text, "2")[0]) == [1.0, None, 2.0]


def test_none_stays_a_category_among_texts() -> None:
    series, notes = column("Bachelors", "None")
    assert values(series) == ["Bachelors", "None"]
    assert any("'None' is kept" in note for note in notes)


def test_namibia() -> None:
    series, notes = column("DE", "NA", "US", "FR")
    assert values(series) == ["DE", "NA", "US", "FR"]
    assert any("'NA' is kept as a value" in note for note in notes)
    assert values(column("Ann", "NA", "Bob", "Cy")[0]) == ["Ann", None, "Bob", "Cy"]


def test_question_marks_alone_are_a_value() -> None:
    assert values(column("?", "?")[0]) == ["?", "?"]


def test_further_missing_texts() -> None:
    series, _ = column("1", "N", "2", missing=["N"])
    assert values(series) == [1.0, None, 2.0]


def test_column_without_values_is_kept() -> None:
    series, notes = column("", "NA", "")
    assert values(series) == [None, None, None]
    assert any("Without any value" in note and "'x'" in note for note in notes)


def test_spaces_around_texts_go() -> None:
    series, notes = column(" a", "a ", "a", "b c")
    assert values(series) == ["a", "a", "a", "b c"]
    assert "Spaces around values were removed in 'x'." in notes


def test_many_columns_make_one_note() -> None:
    names = [f"c{i}" for i in range(20)]
    data = ",".join(names) + "\n" + ",".join(["?"] * 20) + "\n" + ",".join(["a"] * 20) + "\n"
    notes = read_table(data.encode()).notes
    assert sum("read as missing" in note for note in notes) == 1
    assert any("'c5' (1 row) and 14 more" in note for note in notes)


@settings(max_examples=25)
@given(st.lists(st.one_of(st.none(), st.integers(-(2**53), 2**53)), min_size=1, max_size=20))
def test_integers_round_trip(numbers: list[int | None]) -> None:
    series, _ = column(*["" if number is None else str(number) for number in numbers])
    assert values(series) == numbers


@settings(max_examples=25)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_round_trip(numbers: list[float]) -> None:
    series, _ = column(*map(repr, numbers))
    assert series.to_numpy(dtype=float).tolist() == numbers


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.sampled_from(["1", "2.5", "", "NA", "?", "x", "None", "1,000", "007", "true", "inf", "2024-01-01"])))
def test_same_value_for_same_text_in_any_row_order(cells: list[str]) -> None:
    cells = [*cells, "1"]
    forward, _ = column(*cells)
    backward, _ = column(*cells[::-1])
    pd.testing.assert_series_equal(forward, backward[::-1].reset_index(drop=True))
    assert all(
        (a == b) or (isinstance(a, float) and math.isnan(a) and pd.isna(b))
        for text in set(cells)
        for a, b in [(v, forward.iloc[cells.index(text)]) for v, c in zip(forward, cells, strict=True) if c == text]
    )


def test_what_pandas_reads_as_numbers() -> None:
    texts = ["3", "-4", "5e-3", "6.25", "1E2"]
    expected = pd.read_csv(io.StringIO("x\n" + "\n".join(texts)))["x"].to_numpy()
    np.testing.assert_array_equal(column(*texts)[0].to_numpy(), expected)
