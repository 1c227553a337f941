"""Shifted dates and pseudonyms: one number of days per person, all of them drawn, intervals kept, misuse refused."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata
from anoncore.base.errors import DataError, ParameterError
from anoncore.table.part import rows_of
from anoncore.table.people import alike_people
from anoncore.table.preparation import DateShift, prepared
from anoncore.table.pseudonyms import Pseudonyms

VISITS = pd.DataFrame(
    {
        "patient": [7, 3, 7, 3, 5],
        "admitted": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01", "2024-02-08", "2024-05-05"]),
        "left": pd.to_datetime(["2024-01-04", None, "2024-03-02", "2024-02-09", "2024-05-05"]),
        "age": [40, 50, 40, 50, 60],
    }
)
BY_PATIENT = {name: DateShift(shift=30, by="patient") for name in ("admitted", "left")}
ROLES = {"age": "quasi-identifier", "admitted": "quasi-identifier", "left": "sensitive"}
PSEUDONYMS = {"patient": Pseudonyms(b"0123456789abcdef")}


def days_of(table: pd.DataFrame, name: str = "admitted") -> list[int]:
    return (table[name] - VISITS[name]).dt.days.tolist()


def test_all_dates_of_a_person_are_shifted_by_one_number() -> None:
    table = prepared(VISITS, BY_PATIENT, seed=1)
    days = days_of(table.frame)
    assert days[0] == days[2]
    assert days[1] == days[3]
    assert days == table.shifts.days.tolist()
    moved = table.frame["left"] - VISITS["left"]
    assert moved.dt.days.dropna().tolist() == [days[0], days[2], days[3], days[4]]
    assert table.frame["left"].isna().tolist() == VISITS["left"].isna().tolist()
    assert table.unit == "patient"
    assert VISITS["admitted"][0] == pd.Timestamp("2024-01-01"), "the table itself is not changed"


def test_a_person_is_shifted_alike_in_every_table_of_a_seed() -> None:
    tests = pd.DataFrame(
        {"patient": ["3", "9", "7"], "taken": pd.to_datetime(["2024-02-03", "2024-02-03", "2024-01-02"])}
    )
    shift = {"taken": DateShift(shift=30, by="patient")}
    for seed in range(20):
        visits = days_of(prepared(VISITS, BY_PATIENT, seed=seed).frame)
        taken = (prepared(tests, shift, seed=seed).frame["taken"] - tests["taken"]).dt.days.tolist()
        assert (taken[0], taken[2]) == (visits[1], visits[0])


def test_every_number_of_days_is_drawn_for_people_and_none_beyond() -> None:
    people = pd.DataFrame({"id": range(7_000), "day": pd.to_datetime(["2024-01-01"] * 7_000)})
    days = prepared(people, {"day": DateShift(shift=3, by="id")}).shifts.days
    counts = np.bincount(days + 3, minlength=7)
    assert len(counts) == 7
    assert (abs(counts - 1_000) < 6 * np.sqrt(7_000 * 6 / 49)).all()


def test_every_number_of_days_is_drawn_and_none_beyond() -> None:
    people = pd.DataFrame({"day": pd.to_datetime(["2024-01-01"] * 7_000)})
    days = prepared(people, {"day": DateShift(shift=3)}).shifts.days
    counts = np.bincount(days + 3, minlength=7)
    assert len(counts) == 7
    # A count of 7,000 draws of probability 1/7 lies within 6 standard deviations of 1,000 but once in 10^9 times.
    assert (abs(counts - 1_000) < 6 * np.sqrt(7_000 * 6 / 49)).all()


def test_shifts_are_drawn_anew_at_every_call() -> None:
    people = pd.DataFrame({"day": pd.to_datetime(["2024-01-01"] * 50)})
    first, second = (prepared(people, {"day": DateShift(shift=1_000)}).shifts.days for _ in range(2))
    assert first.tolist() != second.tolist()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5_000)), min_size=1, max_size=30), st.integers(1, 400))
def test_intervals_of_a_person_are_kept(rows: list[tuple[int, int]], most: int) -> None:
    frame = pd.DataFrame(rows, columns=["who", "number"])
    frame["day"] = pd.Timestamp("2000-01-01") + pd.to_timedelta(frame["number"], unit="D")
    shifted = prepared(frame, {"day": DateShift(shift=most, by="who")}).frame
    moved = (shifted["day"] - frame["day"]).dt.days
    assert all(len(set(days)) == 1 for _, days in moved.groupby(frame["who"]))
    assert (moved.abs() <= most).all()


def test_dates_of_every_type() -> None:
    zoned = VISITS["admitted"].dt.tz_localize("Europe/Berlin")
    table = prepared(VISITS.assign(admitted=zoned, left=[date(2024, 1, day) for day in range(1, 6)]), BY_PATIENT)
    moved = table.frame["admitted"] - zoned
    assert moved.dt.days.tolist() == table.shifts.days.tolist()
    assert pd.api.types.is_datetime64_any_dtype(table.frame["left"])


def test_a_pseudonym_is_the_unit_and_is_published() -> None:
    data = prepared(VISITS, BY_PATIENT, PSEUDONYMS).microdata(roles=ROLES)
    assert data.unit == data.pseudonym == "patient"
    assert "patient" in data.insensitive
    assert data.identifiers == ()
    assert data.n_people == 3
    assert data.domain["patient"].values == tuple(sorted(PSEUDONYMS["patient"].of(VISITS["patient"]).unique()))
    assert data.shifts.columns == ("admitted", "left")


def test_without_a_pseudonym_the_unit_stays_an_identifier() -> None:
    data = prepared(VISITS, BY_PATIENT).microdata(roles=ROLES)
    assert (data.unit, data.pseudonym, data.identifiers) == ("patient", None, ("patient",))


def test_parts_keep_what_was_shifted() -> None:
    data = prepared(VISITS, BY_PATIENT, PSEUDONYMS, seed=2).microdata(roles=ROLES)
    assert rows_of(data, np.array([4, 0])).shifts.days.tolist() == data.shifts.days[[4, 0]].tolist()
    part, rest = data.split(control=1 / 3, seed=1)
    assert part.pseudonym == rest.pseudonym == "patient"
    assert part.n_rows + rest.n_rows == 5
    assert sorted([*part.shifts.days, *rest.shifts.days]) == sorted(data.shifts.days)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"dates": {"admited": DateShift(shift=3)}}, "no column 'admited' to prepare.*Did you mean 'admitted'"),
        ({"dates": {"admitted": DateShift(shift=3, by="doctor")}}, "no column 'doctor'"),
        ({"dates": {"age": DateShift(shift=3)}}, "'age' is to be shifted, and holds integer instead of dates"),
        (
            {"dates": BY_PATIENT | {"left": DateShift(shift=7, by="patient")}},
            "by up to 7 and 30 days.*name the same shift",
        ),
        ({"dates": BY_PATIENT | {"left": DateShift(shift=30, by="age")}}, "'patient', 'age' are each to say whose row"),
        ({"dates": BY_PATIENT, "unit": "age"}, "'age', 'patient' are each to say whose row"),
        ({"dates": {"left": DateShift(shift=3, by="left")}}, "'left' is to say whose row it is"),
        ({"pseudonyms": {"age": PSEUDONYMS["patient"]} | PSEUDONYMS}, "Pseudonyms are made for 'age', 'patient'"),
        ({"dates": BY_PATIENT, "pseudonyms": {"age": PSEUDONYMS["patient"]}}, "'age', 'patient' are each"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        prepared(VISITS, **arguments)


def test_a_row_that_is_nobodys_is_refused() -> None:
    with pytest.raises(DataError, match="1 row does not say whose it is in 'patient'"):
        prepared(VISITS.assign(patient=[7, 3, None, 3, 5]), BY_PATIENT)


def test_dates_at_the_end_of_time_are_refused() -> None:
    ends = pd.DataFrame({"day": [pd.Timestamp.max.floor("D")] * 40}, dtype="datetime64[ns]")
    with pytest.raises(DataError, match="'day' has dates so far off"):
        prepared(ends, {"day": DateShift(shift=36_500)})


@pytest.mark.parametrize("shift", [0, -1, 36_501])
def test_shifts_out_of_range_are_refused(shift: int) -> None:
    with pytest.raises(ParameterError, match="date shift: shift should be"):
        DateShift(shift=shift)


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive"])
def test_a_pseudonym_has_no_other_role(role: str) -> None:
    with pytest.raises(DataError, match="is published as a pseudonym, so it cannot be"):
        Microdata(VISITS, {"patient": role}, pseudonym="patient")


def test_a_pseudonym_is_the_only_unit() -> None:
    with pytest.raises(DataError, match="which cannot be 'age' too"):
        Microdata(VISITS, {"age": "quasi-identifier"}, unit="age", pseudonym="patient")


def test_people_whose_rows_are_the_same() -> None:
    """People 0 and 2 have a 1 and a 2 in any order; 1 has two of 1; 3 has a single 1."""
    person = np.array([0, 0, 1, 1, 2, 2, 3], dtype=np.int32)
    assert alike_people(person, np.array([1, 2, 1, 1, 2, 1, 1])).tolist() == [2, 1, 2, 1]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=40))
def test_people_alike_against_plain_python(rows: list[tuple[int, int]]) -> None:
    names, person = np.unique([who for who, _ in rows], return_inverse=True)
    contents = [sorted(what for who, what in rows if who == name) for name in names]
    expected = [contents.count(own) for own in contents]
    assert alike_people(person.astype(np.int32), np.array([what for _, what in rows])).tolist() == expected
