"""Attacks on shifted dates: by hand, against a slow plain twin on random tables, and where nothing was shifted."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, ParameterError, Release, ReleaseError, attacks
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.release.unchanged import unchanged
from anoncore.requirements import KAnonymity
from anoncore.table.preparation import DateShift, prepared
from anoncore.table.pseudonyms import Pseudonyms
from tests.many_tables import few_and_many

KEY = {"who": Pseudonyms(b"0123456789abcdef")}
JANUARY = pd.Timestamp("2024-01-01")


def days(*numbers: int | None) -> list[pd.Timestamp | None]:
    return [None if number is None else JANUARY + timedelta(days=number) for number in numbers]


def shifted(
    frame: pd.DataFrame, most: int, pseudonym: bool = True, roles: dict[str, str] | None = None, seed: int = 1
) -> Microdata:
    dates = {name: DateShift(shift=most, by="who") for name in frame if name in ("came", "left")}
    roles = {"came": "insensitive", "left": "insensitive", "age": "quasi-identifier"} | (roles or {})
    table = prepared(frame, dates, KEY if pseudonym else None, seed=seed)
    return table.microdata(roles={name: role for name, role in roles.items() if name in frame})


THREE = pd.DataFrame({"who": list("AABBCC"), "came": days(0, 3, 100, 110, 200, 210), "age": [1, 2, 1, 2, 1, 2]})


def test_intervals_by_hand() -> None:
    """A has an interval of 3 days and is alone with it; B and C both have one of 10 days."""
    found = attacks.shifted_dates(unchanged(shifted(THREE, 5)))
    assert sorted(found.by_intervals.tolist()) == [0.5, 0.5, 1.0]
    assert float(found.intervals) == pytest.approx(2 / 3)
    assert found.intervals.baseline == pytest.approx(1 / 3)
    assert found.notes == ()


def test_without_a_pseudonym_rows_have_no_interval_between_them() -> None:
    found = attacks.shifted_dates(unchanged(shifted(THREE, 5, pseudonym=False)))
    assert found.by_intervals.tolist() == pytest.approx([1 / 3] * 3)
    assert "intervals are those inside single rows" in found.notes[0]


def test_a_person_with_one_row_has_no_interval() -> None:
    found = attacks.shifted_dates(unchanged(shifted(THREE.iloc[[0, 2, 4]].reset_index(drop=True), 5)))
    assert found.by_intervals.tolist() == pytest.approx([1 / 3] * 3)


def test_two_dates_of_one_row_have_an_interval() -> None:
    stays = pd.DataFrame({"who": list("ABC"), "came": days(0, 50, 90), "left": days(1, 52, 92), "age": 1})
    found = attacks.shifted_dates(unchanged(shifted(stays, 5, pseudonym=False)))
    assert found.by_intervals.tolist() == [1.0, 0.5, 0.5]


def test_dates_far_apart_are_found_whatever_the_shift() -> None:
    """Dates a hundred days apart are told apart after shifts of at most 5 days, and not after those of 300."""
    alone = THREE.iloc[[0, 2, 4]].reset_index(drop=True).assign(age=1)
    near = attacks.shifted_dates(unchanged(shifted(alone, 5)))
    assert near.by_date.tolist() == [1.0, 1.0, 1.0]
    assert near.within.baseline == pytest.approx(1 / 3)
    far = attacks.shifted_dates(unchanged(shifted(alone, 10_000)))
    assert far.by_date.tolist() == pytest.approx([1 / 3] * 3)


def test_what_is_known_beside_the_date_counts() -> None:
    same_day = pd.DataFrame({"who": list("ABC"), "came": days(0, 0, 0), "age": [1, 1, 2]})
    found = attacks.shifted_dates(unchanged(shifted(same_day, 3)))
    assert sorted(found.by_date.tolist()) == [0.5, 0.5, 1.0]


def test_both_dates_of_a_row_are_shifted_by_one_number() -> None:
    """Stays of 1 and of 2 days begin on one day: the stay tells them apart, and each date alone does not."""
    stays = pd.DataFrame({"who": list("AB"), "came": days(0, 0), "left": days(1, 2), "age": 1})
    assert attacks.shifted_dates(unchanged(shifted(stays, 9))).by_date.tolist() == [1.0, 1.0]
    alone = stays.drop(columns="left")
    assert attacks.shifted_dates(unchanged(shifted(alone, 9))).by_date.tolist() == [0.5, 0.5]


def test_ranges_tell_no_interval() -> None:
    data = shifted(THREE, 5, roles={"came": "quasi-identifier"})
    release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    found = attacks.shifted_dates(release)
    assert found.intervals is None
    assert "published as ranges" in found.notes[0]
    assert found.by_date.tolist() == pytest.approx([1 / 3] * 3)


def test_secret_dates_are_known_to_nobody() -> None:
    with pytest.raises(ReleaseError, match="are not published, or are secret"):
        attacks.shifted_dates(unchanged(shifted(THREE, 5, roles={"came": "sensitive"})))


def test_nothing_was_shifted() -> None:
    data = Microdata(THREE, {"age": "quasi-identifier", "came": "sensitive"})
    with pytest.raises(ReleaseError, match="No dates of this table were shifted"):
        attacks.shifted_dates(unchanged(data))
    found = attacks.strongest(unchanged(data), "came", draws=1)
    assert found.not_tried["shifted_dates"] == "No dates of this table were shifted."


def test_all_attacks_try_it() -> None:
    frame = THREE.assign(illness=["flu", "cold"] * 3)
    data = shifted(frame, 5, roles={"illness": "sensitive"})
    found = attacks.strongest(unchanged(data), "illness", draws=1)
    (attack,) = [one for one in found.tried if one.name == "shifted_dates"]
    assert attack.share == pytest.approx(1.0)
    assert attack.control == pytest.approx(1 / 3)


def test_rows_that_are_nobodys_are_refused() -> None:
    data = shifted(THREE, 5)
    synthetic = Release.from_published(THREE.assign(who="x"), original=data, rows="synthetic")
    with pytest.raises(ReleaseError, match="nobody's"):
        attacks.shifted_dates(synthetic)


def test_somebody_is_looked_for() -> None:
    with pytest.raises(ParameterError, match="most is how many people are looked for, at least 1, not 0"):
        attacks.shifted_dates(unchanged(shifted(THREE, 5)), most=0)


def test_of_many_people_a_part_is_looked_for() -> None:
    found = attacks.shifted_dates(unchanged(shifted(THREE, 5)), most=2)
    assert int(np.isnan(found.by_date).sum()) == 1
    assert found.notes[-1] == "2 of 3 people were looked for by a date."
    turned = attacks.shifted_dates(unchanged(shifted(THREE.iloc[::-1].reset_index(drop=True), 5)), most=2)
    assert turned.within == found.within


def random_release(seed: int) -> tuple[Release, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    frame = pd.DataFrame(
        {
            "who": ["0", "1", *rng.integers(0, max(2, n // 2), n - 2).astype(str)],
            "came": [None if rng.random() < 0.1 else day for day in days(*rng.integers(0, 12, n).tolist())],
            "age": rng.integers(0, 2, n),
            "illness": rng.choice(["flu", "cold"], n),
        }
    )
    if seed % 3 == 0:
        frame["left"] = [None if rng.random() < 0.1 else day for day in days(*rng.integers(0, 4, n).tolist())]
    for name in {"came", "left"} & {*frame}:
        frame[name] = pd.to_datetime(frame[name])
    role = "quasi-identifier" if seed % 2 else "insensitive"
    roles = {"came": role, "left": role, "illness": "sensitive"}
    data = shifted(frame, int(rng.integers(1, 8)), pseudonym=seed % 4 < 2, roles=roles, seed=seed)
    if seed % 5 == 1:
        return Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data), frame
    return unchanged(data), frame


def slow(release: Release, frame: pd.DataFrame) -> tuple[list[float] | None, list[float]]:
    """For each person, in the order of the published numbers: found by intervals and by a date, by the definitions."""
    data, fragment = release.data, release.fragments[0]
    names = list(data.shifts.columns)
    person = list(range(data.n_rows)) if data.people is None else data.people.tolist()
    n_people, most = len(set(person)), data.shifts.most
    rows = range(data.n_rows)

    def cell(name: str, row: int) -> list[pd.Timestamp | None]:
        low, high = (int(one[row]) for one in fragment.recodings[name].bounds())
        return [data.domain[name][code] for code in range(low, high + 1)]

    exact = all(len(cell(name, row)) == 1 for name in names for row in rows)
    joined = data.pseudonym is not None
    by_intervals = [1 / n_people] * n_people
    if exact:
        dates = {row: [cell(name, row)[0] for name in names] for row in rows}
        units = (
            [[row for row in rows if person[row] == one] for one in range(n_people)]
            if joined
            else [[row] for row in rows]
        )

        def signature(unit: list[int]) -> Counter[tuple[object, ...]]:
            known = [day for row in unit for day in dates[row] if day is not None]
            first = min(known, default=None)
            return Counter(tuple(None if day is None else day - first for day in dates[row]) for row in unit)

        signatures = [signature(unit) for unit in units]
        for unit, own in zip(units, signatures, strict=True):
            if sum(day is not None for row in unit for day in dates[row]) > 1:
                alike = {person[other[0]] for other, theirs in zip(units, signatures, strict=True) if theirs == own}
                one = person[unit[0]]
                by_intervals[one] = max(by_intervals[one], 1 / len(alike))

    known = [name for name in fragment.attributes if name in data.quasi_identifiers and name not in names]
    texts = {name: fragment.recodings[name].texts() for name in known}
    by_date = [0.0] * n_people
    for row in rows:
        true = [None if pd.isna(frame[name][row]) else frame[name][row] for name in names]

        def may_be(other: int, row: int = row, true: list[pd.Timestamp | None] = true) -> bool:
            if any(texts[name][other] != texts[name][row] for name in known):
                return False
            for shift in range(-most, most + 1):
                fits = []
                for name, moment in zip(names, true, strict=True):
                    values = cell(name, other)
                    days_in = [value for value in values if value is not None]
                    if moment is None:
                        fits.append(None in values)
                    else:
                        moved = moment + timedelta(days=shift)
                        fits.append(bool(days_in) and min(days_in) <= moved <= max(days_in))
                if all(fits):
                    return True
            return False

        candidates = {person[other] for other in rows if may_be(other)}
        by_date[person[row]] = max(by_date[person[row]], 1 / len(candidates))
    return (by_intervals if exact else None), by_date


@pytest.mark.parametrize("seed", few_and_many(20))
def test_against_the_slow_twin(seed: int) -> None:
    release, frame = random_release(seed)
    found = attacks.shifted_dates(release)
    by_intervals, by_date = slow(release, frame)
    assert found.by_date.tolist() == pytest.approx(by_date)
    if by_intervals is None:
        assert found.intervals is None
    else:
        assert found.by_intervals.tolist() == pytest.approx(by_intervals)
        assert float(found.intervals) == pytest.approx(sum(by_intervals) / len(by_intervals))


def test_a_release_of_two_tables() -> None:
    frame = THREE.assign(illness=["flu", "flu", "cold", "cold", "gout", "gout"])
    data = shifted(frame, 5, roles={"illness": "sensitive", "came": "quasi-identifier"})
    found = attacks.shifted_dates(Anatomy(l=2, seed=1).anonymize(data))
    assert sorted(found.by_intervals.tolist()) == [0.5, 0.5, 1.0]
