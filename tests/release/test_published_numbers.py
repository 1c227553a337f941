"""Ranges of numbers as text, bounds or midpoints: what the columns say, and that it is what the texts say."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anoncore import Hierarchy, Microdata, Release
from anoncore.algorithms import (
    Anatomy,
    Incognito,
    Mondrian,
    Slicing,
    Suppression,
    VerticalFragmentation,
)
from anoncore.base.texts import MISSING_TEXT, range_text
from anoncore.publishing import Certificate, new_key, packed, release_files, unpacked, verify
from anoncore.publishing.export import FileFormat
from anoncore.release.published_numbers import Numbers
from anoncore.requirements import KAnonymity

KNOWN = {"age": "quasi-identifier", "born": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}


def people(n: int = 60, missing: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    ages = rng.integers(18, 80, n).astype(float)
    ages[:missing] = np.nan
    return pd.DataFrame(
        {
            "age": ages,
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9_000, n), "D"),
            "town": rng.choice(["Ulm", "Bonn"], n),
            "illness": rng.choice(["flu", "cold", "gout"], n),
        }
    )


def by_mondrian(frame: Any, k: int = 5) -> Release:
    return Mondrian(requirements=[KAnonymity(k=k)]).anonymize(Microdata(frame, roles=KNOWN))


def texts_of(table: pd.DataFrame, name: str) -> list[str]:
    """The texts that bounds stand for."""
    may_miss = table[f"{name}_or_missing"] if f"{name}_or_missing" in table else [False] * len(table)
    texts = []
    for low, high, or_missing in zip(table[f"{name}_low"], table[f"{name}_high"], may_miss, strict=True):
        if pd.isna(low):
            assert pd.isna(high)
            assert or_missing
            texts.append(MISSING_TEXT)
        else:
            texts.append(range_text(low, high) + (f" or {MISSING_TEXT}" if or_missing else ""))
    return texts


def test_bounds_and_midpoints_by_hand() -> None:
    frame = pd.DataFrame({"age": [44, 21, 22, 46], "weight": [70.5, 60.0, 61.0, 70.5], "sex": ["f", "f", "m", "m"]})
    data = Microdata(frame, roles=dict.fromkeys(frame, "quasi-identifier"), kinds={"weight": "numeric"})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    bounds = release.tables(numbers="bounds")["release"]
    assert bounds.to_dict("list") == {
        "age_low": [21, 21, 44, 44],
        "age_high": [22, 22, 46, 46],
        "weight_low": [60.0, 60.0, 70.5, 70.5],
        "weight_high": [61.0, 61.0, 70.5, 70.5],
        "sex": ["{f, m}"] * 4,
    }
    assert bounds.dtypes[["age_low", "age_high"]].tolist() == [np.dtype("int64")] * 2
    middle = release.tables(numbers="midpoints")["release"]
    assert middle.to_dict("list") == {
        "age": [21.5, 21.5, 45.0, 45.0],
        "weight": [60.5, 60.5, 70.5, 70.5],
        "sex": ["{f, m}"] * 4,
    }
    assert list(release.tables()["release"]) == ["age", "weight", "sex"], "the release itself stays as it is"
    assert list(replace(release, numbers="bounds").linked()) == list(bounds)


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("missing", [0, 1, 4, 59])
def test_bounds_say_what_the_texts_say(k: int, missing: int) -> None:
    release = by_mondrian(people(missing=missing), k)
    texts, bounds = (release.tables(form)["release"] for form in ("text", "bounds"))
    assert texts_of(bounds, "age") == texts["age"].tolist()
    assert texts_of(bounds, "born") == texts["born"].tolist()
    assert bounds[["town", "illness"]].equals(texts[["town", "illness"]])
    assert ("age_or_missing" in bounds) == (missing > 0)
    assert bounds["born_low"].dtype.kind == "M"


def test_midpoints_are_the_middle_of_the_bounds() -> None:
    release = by_mondrian(people())
    bounds, middle = (release.tables(form)["release"] for form in ("bounds", "midpoints"))
    assert np.allclose(middle["age"], (bounds["age_low"] + bounds["age_high"]) / 2, equal_nan=True)
    assert (middle["born"] - bounds["born_low"]).equals(bounds["born_high"] - middle["born"])


@given(st.lists(st.floats(-1e150, 1e150) | st.integers(-(2**70), 2**70), min_size=4, max_size=9))
def test_midpoints_of_any_numbers_lie_between_their_bounds(numbers: list[float]) -> None:
    # Numbers that are one in double precision are refused.
    assume(len(set(numbers)) == len({float(one) for one in numbers}))
    data = Microdata(pd.DataFrame({"x": pd.Series(numbers, dtype=object)}), {"x": "quasi-identifier"}, {"x": "numeric"})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    bounds, middle = (release.tables(form)["release"] for form in ("bounds", "midpoints"))
    for low, high, between in zip(bounds["x_low"], bounds["x_high"], middle["x"], strict=True):
        assert float(low) <= between <= float(high)


def by_levels(values: list[float], tree: Hierarchy) -> tuple[list[str], pd.DataFrame]:
    """The texts of a column that is recoded by a hierarchy, and its table with bounds."""
    data = Microdata(pd.DataFrame({"x": values}), {"x": "quasi-identifier"}, {"x": "numeric"}, hierarchies={"x": tree})
    release = Incognito(requirements=[KAnonymity(k=2)]).anonymize(data)
    return release.tables()["release"]["x"].tolist(), release.tables(numbers="bounds")["release"]


def test_labels_of_hierarchies_become_the_bounds_that_they_say_and_not_those_of_the_values_inside() -> None:
    texts, bounds = by_levels([21, 24, 41, 47], Hierarchy.by_width([21, 24, 41, 47], 10, fanout=3))
    assert texts == ["20-29", "20-29", "40-49", "40-49"]
    assert bounds.to_dict("list") == {"x_low": [20, 20, 40, 40], "x_high": [29, 29, 49, 49]}
    texts, bounds = by_levels([0.1, 0.2, 0.5, 0.9], Hierarchy.by_width([0.1, 0.2, 0.5, 0.9], 0.5))
    assert texts == ["[0, 0.5)", "[0, 0.5)", "[0.5, 1)", "[0.5, 1)"]
    assert bounds.to_dict("list") == {"x_low": [0.0, 0.0, 0.5, 0.5], "x_high": [0.5, 0.5, 1.0, 1.0]}
    tree = Hierarchy({-7: ["-9 to -5"], -6: ["-9 to -5"], 3: ["1-4"], 4: ["1-4"]})
    assert by_levels([-7, -6, 3, 4], tree)[1].to_numpy().tolist() == [[-9, -5], [-9, -5], [1, 4], [1, 4]]


@pytest.mark.parametrize(
    "labels", [("early", "late"), ("7-8", "9-10"), ("*", "*"), ("1-2", "late"), ("1-2", "4-5"), ("2-1", "4-3")], ids=str
)
def test_labels_that_are_no_ranges_of_their_values_stay_text(labels: tuple[str, str]) -> None:
    tree = Hierarchy({1: [labels[0]], 2: [labels[0]], 3: [labels[1]], 4: [labels[1]]})
    texts, bounds = by_levels([1, 2, 3, 4], tree)
    assert texts == [labels[0]] * 2 + [labels[1]] * 2
    assert bounds["x"].tolist() == texts


def test_a_label_of_any_value_has_no_bounds() -> None:
    frame = pd.DataFrame({"age": [21, 24, 41, 47, 95], "sex": ["f", "f", "m", "m", "x"]})
    data = Microdata(
        frame,
        roles=dict.fromkeys(frame, "quasi-identifier"),
        hierarchies={"age": Hierarchy.by_width(frame["age"], 20, start=20)},
    )
    release = Suppression(method=Mondrian(requirements=[KAnonymity(k=2)]), max_suppression=0.3).anonymize(data)
    texts, bounds = (release.tables(form)["release"] for form in ("text", "bounds"))
    assert "*" in set(texts["age"])
    for text, low, high in zip(texts["age"], bounds["age_low"], bounds["age_high"], strict=True):
        assert (pd.isna(low) and pd.isna(high)) if text == "*" else text == f"{low}-{high}"


def test_columns_of_bounds_have_names_of_their_own() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "age_low": [9, 9, 8, 8], "group": [1, 1, 2, 2]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "age_low": "identifier", "*": "insensitive"})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    assert list(release.tables("bounds")["release"]) == ["age_low_", "age_high", "group"]


@pytest.mark.parametrize("numbers", get_args(Numbers))
def test_polars_gets_numbers_in_polars(numbers: Numbers) -> None:
    frame = people().assign(age=lambda table: table["age"].fillna(30).astype(int))
    ours, theirs = by_mondrian(frame), by_mondrian(pl.from_pandas(frame))
    table = theirs.tables(numbers)["release"]
    assert isinstance(table, pl.DataFrame)
    expected = ours.tables(numbers)["release"]
    assert table.columns == list(expected)
    for name in expected:
        assert table[name].to_list() == expected[name].tolist(), name
    if numbers == "bounds":
        assert table.schema["age_low"] == pl.Int64


METHODS = {
    "mondrian": Mondrian(requirements=[KAnonymity(k=5)]),
    "suppression": Suppression(method=Mondrian(requirements=[KAnonymity(k=5)]), max_suppression=0.2),
    "slicing": Slicing(l=2, requirements=[KAnonymity(k=4)], intervals=4),
    "vertical": VerticalFragmentation(k=4, fragments=2),
    "anatomy": Anatomy(l=2),
}


@pytest.mark.parametrize("numbers", ["bounds", "midpoints"])
@pytest.mark.parametrize("method", list(METHODS))
def test_certificates_hold_and_notice_a_moved_bound(method: str, numbers: Numbers) -> None:
    made = METHODS[method].anonymize(Microdata(people(), roles=KNOWN))
    release = replace(made, numbers=numbers)
    files = release_files(release, "people", new_key())
    certificate = Certificate.loads(files.pop("people-certificate.json"))
    assert certificate.numbers == numbers
    found = verify(certificate, files)
    assert not found.of("fails")
    # Slicing keeps k in its buckets, inside which the known columns of one table tell rows apart.
    claimed = [one.sentence.partition(";")[0] for one in found.of("claimed")]
    told = "k-anonymity (k = 4) holds only of the groups that join the tables"
    assert claimed == ([told] if method == "slicing" else [])
    as_text = Certificate.loads(release_files(made, "people", new_key())["people-certificate.json"])
    if numbers == "bounds":
        assert [table.group_sizes for table in certificate.tables] == [table.group_sizes for table in as_text.tables]
        assert [one.reached for one in certificate.requirements] == [one.reached for one in as_text.requirements]
    ((name, content),) = files.items()
    if method == "mondrian":
        table = pd.read_csv(io.BytesIO(content))
        moved = "age_high" if numbers == "bounds" else "age"
        table.loc[table[moved].first_valid_index(), moved] += 1
        assert not verify(certificate, {name: table.to_csv(index=False, lineterminator="\r\n").encode()}).holds


@pytest.mark.parametrize("format", get_args(FileFormat))
@pytest.mark.parametrize("numbers", get_args(Numbers))
def test_certificates_hold_in_every_format(numbers: Numbers, format: FileFormat) -> None:
    release = replace(by_mondrian(people()), numbers=numbers)
    files = release_files(release, "people", new_key(), format)
    certificate = Certificate.loads(files.pop("people-certificate.json"))
    assert Certificate.loads(certificate.dumps()) == certificate
    assert verify(certificate, files).holds
    parts = {one.name: one.part_of for one in certificate.attributes if one.part_of is not None}
    ages, births = ["age_low", "age_high", "age_or_missing"], ["born_low", "born_high"]
    expected = dict.fromkeys(ages, "age") | dict.fromkeys(births, "born")
    assert parts == (expected if numbers == "bounds" else {})
    if numbers == "text":
        assert "part_of" not in certificate.dumps()
        assert "numbers" not in certificate.dumps()


def test_a_kept_release_keeps_the_form_of_its_numbers() -> None:
    release = replace(by_mondrian(people()), numbers="bounds")
    again = unpacked(*packed(release), release.data, release.algorithm)
    assert again.tables()["release"].equals(release.tables()["release"])
    description, arrays = packed(release)
    del description["numbers"]
    assert unpacked(description, arrays, release.data, None).numbers == "text", "as it was before there was a choice"
