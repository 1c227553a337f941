"""The finder of identifiers: cases by hand, planted ones in tables of seven languages, and tables without any."""

from __future__ import annotations

import json
from math import isnan
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import ParameterError, datasets, privacy
from anoncore.table.identifiers.kinds import ADVICE, FEW_PEOPLE, KINDS, MENDS, Mend
from tests.shared_data import require
from tests.table.identifiers import drawn
from tests.table.identifiers.planted import tables

N = 60
RNG = np.random.default_rng(11)
YEAR = 2024


def found(column: Any, name: str = "c", **options: Any) -> list[tuple[str, str]]:
    findings = privacy.identifiers(pd.DataFrame({name: column}), year=YEAR, **options).findings
    return [(one.letter, one.by) for one in findings]


def many(draw: drawn.Draw, n: int = N) -> list[Any]:
    return [draw(RNG) for _ in range(n)]


@pytest.mark.slow
def test_what_is_planted_in_tables_of_seven_languages_is_found_and_nothing_else() -> None:
    planted, seen, false = set(), set(), set()
    for table in tables(seed=20):
        findings = privacy.identifiers(table.frame, year=YEAR).findings
        planted |= {(table.name, *one) for one in table.letters.items()}
        seen |= {(table.name, one.column, one.letter) for one in findings}
    missed, false = planted - seen, seen - planted
    assert len(planted) == 231
    assert missed == set()
    # The location that somebody came from is a room of a hospital, which its name does not tell.
    assert false == {("public mimic", "admission_location", "B")}
    assert {letter for _, _, letter in planted} == set(KINDS), "every kind is planted"


HARMLESS = ["census.csv.gz", "heart.csv", "heart_cleveland.csv", "adult.csv", "EIA.csv", "CASCrefmicrodata.csv"]
HARMLESS += ["Tarragona.csv", "musk.csv.gz"]


@pytest.mark.parametrize(
    ("file", "columns"),
    [(name, {"adult.csv": ["age"], "EIA.csv": ["MONTH"]}.get(name, [])) for name in HARMLESS],
)
def test_a_public_table_without_identifiers_has_at_most_one_finding(file: str, columns: list[str]) -> None:
    # Adult has people of 90, which may be all who are older; nobody can tell by the number.
    frame = pd.read_csv(require(file), nrows=50_000)
    assert [one.column for one in privacy.identifiers(frame).findings] == columns


@pytest.mark.parametrize(
    "name",
    [name for name, table in datasets.tables().items() if not table.external and name not in ("census", "wide")],
)
def test_a_built_in_table_has_no_finding_but_what_it_has(name: str) -> None:
    # Papers show how people are found: these columns are the identifiers and postal codes of their examples.
    known = {"name", "record", "ssn", "zipcode"}
    assert {one.column for one in privacy.identifiers(datasets.table(name).load()).findings} <= known


@pytest.mark.parametrize(
    ("name", "column", "expected"),
    [
        # A name tells where values do not, and share is not measured then.
        ("name", ["Ann", "Bob", "Cem"], [("A", "name")]),
        ("product name", ["nut", "bolt", "nail"], []),
        ("first name", ["Ann", "Bob", "Cem"], [("A", "name")]),
        ("e_mail", ["yes", "no", "unknown"], []),
        ("phone", ["Nokia", "Apple", "none"], []),
        ("IP address", ["10.0.0.1", "10.0.0.2", "10.0.0.7"], [("O", "name and values")]),
        ("email address", ["a@x.org", "b@x.org", "c@x.org"], [("F", "name and values")]),
        ("address", ["Ulm", "Bonn", "Trier"], [("B", "name")]),
        ("fax", ["+49 30 1234567", "+49 30 1234568", "+49 30 1234569"], [("E", "name and values")]),
        # Places: states and countries may stand.
        ("city", ["Ulm", "Bonn"], [("B", "name")]),
        ("state", ["NY", "CA"], []),
        ("country", ["France", "Spain"], []),
        ("city_population", [1000, 2000], []),
        ("city code", [11, 12], [("B", "name")]),
        ("lat", [48.1, 52.5], [("B", "name")]),
        ("lat", [480.1, 5200.5], []),
        ("zip", [10115, 80331], [("B", "name and values")]),
        ("zip", ["101", "803"], []),
        ("zip", ["101**", "803**"], []),
        ("zip", ["1****", "*"], []),
        ("zip", [f"{place}" for place in range(104, 150)], []),
        ("birth year", [f"{year}" for year in range(1940, 1990)], []),
        ("zip", ["036", "803"], [("B", "name and values")]),
        ("zip", [36, 803], [("B", "name and values")]),
        ("post", [36, 63, 59], []),
        ("cp", [0, 1, 2, 3], []),
        # Dates: years may stand.
        ("visit", ["2020-03-01", "2020-05-07"], [("C", "values")]),
        ("visit", ["2020-03", "2020-05"], [("C", "values")]),
        ("visit", ["2020", "2021"], []),
        ("visit date", [2020, 2021], []),
        ("visit date", [43_831, 43_920, 43_999], [("C", "name")]),
        ("Datum", ["1.2.2020", "17.3.2021"], [("C", "name and values")]),
        ("born", [1934, 1990], [("C", "name and values")]),
        ("born", [1935, 1990], []),
        ("when", pd.to_datetime(["2020-01-01", "2021-01-01"]), []),
        ("when", pd.to_datetime(["2020-01-01", "2021-01-02"]), [("C", "values")]),
        ("month", [1, 12], [("C", "name")]),
        ("month", [1, 40], []),
        ("Monat", ["Januar", "März"], [("C", "name")]),
        ("tag", ["red", "blue"], []),
        ("months", [3, 12], []),
        # Ages: 90+ may stand, and wider groups.
        ("age", [34, 89], []),
        ("age", [34, 90], [("C", "name and values")]),
        ("age", ["34", "90+"], []),
        ("age", ["80-89", "90 or older"], []),
        ("age", ["85-94", "18-30"], [("C", "name and values")]),
        ("age", ["[80, 90)", "[20, 30)"], []),
        ("age", ["[80, 90]", "[20, 30]"], [("C", "name and values")]),
        ("age", [">85", "85+"], []),
        ("agegroup", pd.cut([20, 95], [0, 50, 85, 100]), [("C", "name and values")]),
        ("Alter", ["91 Jahre", "34 Jahre"], [("C", "name and values")]),
        # Keys of kinds of things are no numbers of people.
        ("ward_id", [1, 2, 3] * 20, []),
        ("patient", [1, 2, 3, 4, 5] * 12, []),
        ("case_id", ["A1", "A2", "A3"], [("H", "name")]),
        # Words of several meanings name a kind of numbers only beside numbers that may be codes.
        ("account", [120, 15_000, 7], []),
        ("account", [120_455, 150_001, 770_002], [("J", "name")]),
        ("account number", [120, 15_000, 7], [("J", "name")]),
        ("insurance", ["AOK", "TK", "DAK"], []),
        ("card type", ["1234", "2345", "3456"], []),
        ("plate", ["P01", "P02", "P03"], []),
        ("nothing", [None, None], []),
        ("flag", [True, False], []),
    ],
)
def test_one_column_by_hand(name: str, column: Any, expected: list[tuple[str, str]]) -> None:
    column = list(column)
    # Each value stands in four rows, so that none is alone because the table is small.
    assert found(column * (1 if len(column) > 40 else 4), name) == expected


@pytest.mark.parametrize(
    ("letter", "draw"),
    [
        ("Q", drawn.one_of("data:image/png;base64,iVBORw0", "x/face_12.jpeg")),
        ("I", drawn.pattern("1EG4-TE5-MK73")),
        ("H", lambda rng: drawn.completed(drawn.digits(rng, 9) + "{}", ["0123456789"], _nhs) or "9434765919"),
        ("B", drawn.pattern("SW1A 1AA")),
        ("B", drawn.pattern("52.5###, 13.4###")),
        ("B", drawn.pattern("1####-####")),
        ("O", drawn.hexed([4] * 8, ":")),
        ("C", lambda rng: drawn.day("%b %d, %Y")(rng)),
        ("R", drawn.hexed([64], "")),
    ],
)
def test_values_tell_more_kinds_whatever_their_column_is_called(letter: str, draw: drawn.Draw) -> None:
    assert found(many(draw)) == [(letter, "values")]


def _nhs(text: str) -> bool:
    return sum(int(digit) * weight for digit, weight in zip(text, [*range(10, 1, -1), 1], strict=True)) % 11 == 0


def test_numbers_that_pass_no_check_digit_more_often_than_by_chance_are_none() -> None:
    # All of one length: a random number of nine digits passes one of two checks by 11 with chance 1 - (10/11)^2.
    numbers = np.repeat(np.random.default_rng(2).integers(10**8, 10**9, 3000), 2)
    assert found(numbers) == []
    assert found([123456782, 111222333] * 20) == [], "two are no more than chance"
    assert found([drawn.dutch_number(RNG) for _ in range(5)] * 4) == [("G", "values")]


def test_e_mail_addresses_are_found_in_the_middle_of_texts_and_free_text_is_named() -> None:
    notes = [f"Patient {row} came on a rainy day and told about pains in the chest" for row in range(99)]
    result = privacy.identifiers(pd.DataFrame({"notes": [*notes, "Write to ann@example.org before the next visit."]}))
    (finding,) = result.findings
    assert (finding.letter, finding.share, result.free_text) == ("F", 0.01, ("notes",))
    assert any("free text is in notes" in one for one in result.cannot_see)


def test_of_many_different_values_evenly_many_are_looked_at_and_addresses_in_all() -> None:
    texts = [f"+49 171 {1_000_000 + row}" if row % 10 < 9 else f"call {row}" for row in range(50_000)]
    texts[31_337] = "ann@example.org"
    phones, mail = privacy.identifiers(pd.DataFrame({"c": texts})).findings
    assert phones.letter == "D"
    assert phones.share == pytest.approx(0.9, abs=0.01)
    assert (mail.letter, mail.share) == ("F", 1 / 50_000)


@pytest.mark.parametrize(
    "text", [":" * 100_000, "1" * 100_000, "a-" * 50_000, "via " * 20_000, ", mr" * 20_000, "(1 " * 9_000]
)
def test_no_cell_takes_long(text: str) -> None:
    began = process_time()
    assert found([f"{text}{row}" for row in range(20)] * 2) == []
    assert process_time() - began < 2


def test_letters_and_digits_of_other_scripts_are_no_check_digits() -> None:
    # The sign of Kelvin is a K to patterns that take small letters for capitals, and no letter to a number.
    assert found(["D\u212a89370400440532013000", "de89370400440532013\u212a\u0663"] * 5) == []
    assert found(["\u0664111111111111111"] * 5) == []


def test_where_the_name_tells_a_kind_its_share_is_counted_however_small_it_is() -> None:
    phones = ["+49 171 1234567", "call 1234567 after noon", "ask 7654321 at home", "try 23 45 67 in May"] * 5
    (finding,) = privacy.identifiers(pd.DataFrame({"phone": phones})).findings
    assert (finding.letter, finding.by, finding.share) == ("D", "name and values", 0.25)
    # A few towns that look like streets do not make the others less of a place.
    (place,) = privacy.identifiers(pd.DataFrame({"city": ["Ulm", "Bonn", "Calle 7"] * 5})).findings
    assert (place.letter, place.by, place.mend) == ("B", "name", "drop")


def test_pictures_in_cells_are_found() -> None:
    assert found([b"\xff\xd8\xff\xe0 picture", b"\xff\xd8\xff\xe0 another"] * 3) == [("Q", "values")]


def test_a_column_may_hold_two_kinds_each_with_its_share_of_the_rows() -> None:
    contact = ["ann@example.org"] * 3 + ["+49 171 1234567", "+49 171 1234568", "+49 171 1234569", "+1 555 200 0000"] * 3
    result = privacy.identifiers(pd.DataFrame({"contact": contact}))
    assert [(one.letter, round(one.share, 3)) for one in result.findings] == [("D", 0.8), ("F", 0.2)]


def test_the_order_of_rows_and_columns_and_the_type_of_texts_do_not_matter() -> None:
    table = next(tables(seed=3))
    frame, shuffled = table.frame, table.frame.sample(frac=1, random_state=1)
    expected = set(privacy.identifiers(frame, year=YEAR).frame().itertuples(index=False, name=None))
    for other in (shuffled, frame[frame.columns[::-1]], frame.astype({"city": "category"}), frame.convert_dtypes()):
        result = privacy.identifiers(other, year=YEAR).frame()
        assert {(*one[:5], one[6]) for one in result.itertuples(index=False, name=None)} == {
            (*one[:5], one[6]) for one in expected
        }


def test_the_result_holds_no_value_of_the_table() -> None:
    frame = pd.DataFrame(
        {"name": ["SECRET A", "SECRET B", "SECRET C"], "mail": ["s@secret.org", "t@secret.org", "u@b.de"]}
    )
    result = privacy.identifiers(frame)
    told = [repr(result), *map(repr, result.findings), *result.sentences(), json.dumps(result.to_dict())]
    assert not any("secret" in one.casefold() for one in told)
    assert json.loads(json.dumps(result.to_dict()))["found"][0]["share"] is None
    assert isnan(result.frame().loc[0, "share"])
    assert list(result.frame().columns) == ["column", "letter", "kind", "by", "what", "share", "mend"]


def test_it_never_says_that_the_rule_is_met() -> None:
    result = privacy.identifiers(pd.DataFrame({"sex": ["f", "m"]}))
    assert result.findings == ()
    assert result.headline.endswith("and found none. That does not say that there are none.")
    assert len(result.sentences()) == 1 + 2 + len(result.looked_at) + len(result.cannot_see)
    assert result.frame().empty


def test_areas_with_few_people_are_those_that_are_given() -> None:
    assert found(["101", "803"], "zip", few_people=["803"]) == [("B", "name and values")]
    assert found(["036", "101"], "zip", few_people=[]) == []
    with pytest.raises(ParameterError, match="few_people holds '36'; give three digits as text"):
        found(["101"], "zip", few_people=["36"])


def test_the_list_of_areas_is_as_published() -> None:
    assert len(FEW_PEOPLE) == len(set(FEW_PEOPLE)) == 17
    assert list(FEW_PEOPLE) == sorted(FEW_PEOPLE)


def test_every_kind_has_words_and_every_mend_a_sentence() -> None:
    assert "".join(KINDS) == "ABCDEFGHIJKLMNOPQR"
    assert set(MENDS) == set(KINDS)
    assert set(ADVICE) == set(Mend)
