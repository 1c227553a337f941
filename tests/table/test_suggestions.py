"""Suggested roles and their reasons."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, Role, datasets
from anoncore.table.column_words import KNOWABLE, SENSITIVE, name_words
from anoncore.table.suggestions import separating_sets, suggest, uniqueness
from anoncore.table.summary import summarize
from tests.shared_data import require

N = 400


def _role(column: object, name: str = "c") -> tuple[Role, str]:
    suggestion = suggest(pd.DataFrame({name: column}))[0]
    return suggestion.role, suggestion.reason


def test_the_census_is_tagged_as_its_makers_did_where_names_tell() -> None:
    entry = datasets.table("census")
    found = {suggestion.attribute: suggestion.role for suggestion in suggest(entry.load(n_rows=3000))}
    for name in ("person-id", "name", "age", "sex", "race", "education", "diagnosis"):
        assert found[name] == entry.roles[name]


@pytest.mark.parametrize(
    ("name", "column", "role"),
    [
        ("c", [f"x{i}" for i in range(N)], Role.IDENTIFIER),
        ("c", range(1, N + 1), Role.IDENTIFIER),
        ("c", np.arange(N) * 977 + 100_000, Role.IDENTIFIER),
        ("c", np.arange(N) * 37.25, Role.INSENSITIVE),
        ("c", (np.arange(N) * 7919) % 1_000_003, Role.INSENSITIVE),
        ("customerName", [f"A{i % 90}" for i in range(N)], Role.IDENTIFIER),
        ("Patient", [f"A{i % 90}" for i in range(N)], Role.IDENTIFIER),
        ("patient", [i % 90 for i in range(N)], Role.IDENTIFIER),
        ("patient", ["in", "out"] * (N // 2), Role.INSENSITIVE),
        ("patient_age", [i % 90 for i in range(N)], Role.QUASI_IDENTIFIER),
        ("product name", [f"A{i % 9}" for i in range(N)], Role.INSENSITIVE),
        ("diagnosis", ["flu", "cold"] * (N // 2), Role.SENSITIVE),
        ("HIV_status", ["yes", "no"] * (N // 2), Role.SENSITIVE),
        ("diagnosis", ["flu"] * N, Role.INSENSITIVE),
        ("zip", ["10115", "80331"] * (N // 2), Role.QUASI_IDENTIFIER),
        ("image", ["a", "b"] * (N // 2), Role.INSENSITIVE),
        ("nothing", [None] * N, Role.INSENSITIVE),
    ],
)
def test_one_column_by_itself(name: str, column: object, role: Role) -> None:
    found, reason = _role(column, name)
    assert found == role, reason
    assert reason.endswith(".")


@pytest.mark.parametrize(
    ("name", "column", "is_weight"),
    [
        ("fnlwgt", [77_516 + 977 * (i % 150) for i in range(N)], True),
        ("fnlwgt", np.arange(N) * 977 + 100_000, True),  # also where every row has its own
        ("PWGTP12", [20 + i % 90 for i in range(N)], True),
        ("pweight", [1 + i % 9 / 10 for i in range(N)], True),
        ("Haushaltsgewicht", [1 + i % 9 / 10 for i in range(N)], True),
        ("sample weight", [40 + i % 90 for i in range(N)], True),
        # A weight by itself is one of bodies where bodies weigh as much.
        ("weight", [40 + i % 90 for i in range(N)], False),
        ("weight_lbs", [110 + i % 190 for i in range(N)], False),
        ("Gewicht", [40 + i % 90 for i in range(N)], False),
        ("birth weight", [2_500 + 20 * (i % 90) for i in range(N)], False),
        ("Geburtsgewicht", [2_500 + 20 * (i % 90) for i in range(N)], False),
        ("weight", [1_000 + 7 * (i % 90) for i in range(N)], True),
        ("wt", [0.4 + i % 90 / 30 for i in range(N)], True),
        ("weight", ["light", "heavy"] * (N // 2), False),
        ("fnlwgt", ["low", "high"] * (N // 2), False),
    ],
)
def test_a_survey_weight_is_known_to_nobody_and_left_out(name: str, column: object, is_weight: bool) -> None:
    found, reason = _role(column, name)
    assert ("a survey weight" in reason) is is_weight, reason
    assert not is_weight or found is Role.INSENSITIVE


PEOPLES_NAMES = """Name Nachname Vorname Patientenname Mitarbeitername Vorname_Mutter Familienname voornaam
achternaam name first_name lastName surname fullname patient_name given_name middle_name name_of_patient nom prénom
nom_de_famille nom_patient nombre apellido apellidos nombre_completo nombre_paciente cognome sobrenome"""
NAMES_OF_THINGS = """product_name countryName Stationsname Ortsname drug_name file_name Produktname Firmenname Bankname
nom_produit nom_commune nom_hopital nombre_producto nombre_hospital hospital_name school_name Straßenname
Medikamentenname namensart username_type Markenname"""


@pytest.mark.parametrize("name", PEOPLES_NAMES.split())
def test_peoples_names_are_an_identifier_however_many_rows_share_them(name: str) -> None:
    """Where one person has several rows, and others the same name, a name of 40 rows is one of several people."""
    names = ["Becker, Anna", "Weiß, Jürgen", "García Pérez, José", "O'Neill, Zoë", "Lefèvre, Léa", "Yılmaz, Ömer"]
    assert _role(names * 200, name)[0] is Role.IDENTIFIER
    # Numbers are nobody's name, whatever they are called.
    assert _role([3, 1, 4, 1, 5] * 200, name)[0] is not Role.IDENTIFIER
    assert _role(["B-12", "A-3", "C-7"] * 400, name)[0] is not Role.IDENTIFIER


@pytest.mark.parametrize("name", NAMES_OF_THINGS.split())
def test_names_of_things_are_no_identifiers(name: str) -> None:
    assert _role(["Alpha", "Beta", "Gamma", "Delta", "Omega"] * 200, name)[0] is not Role.IDENTIFIER


def test_a_survey_weight_makes_no_other_column_known() -> None:
    """A set that singles people out by a weight tells nothing of what others know of them."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"fnlwgt": rng.integers(10_000, 90_000, N) // 900, "hours": rng.integers(1, 60, N)})
    assert {one.attribute: one.role for one in suggest(frame)} == dict.fromkeys(frame, Role.INSENSITIVE)
    assert suggest(frame.rename(columns={"fnlwgt": "points"}))[0].role is Role.QUASI_IDENTIFIER


def test_the_weight_of_adult_is_left_out() -> None:
    frame = pd.read_csv(require("adult.csv"), skipinitialspace=True)
    found = {one.attribute: one for one in suggest(frame)}
    assert found["fnlwgt"].role is Role.INSENSITIVE
    assert "survey weight" in found["fnlwgt"].reason


@pytest.mark.parametrize("last", ["target", "Outcome", "num", "stage_of_stenosis"])
def test_what_is_predicted_of_people_is_a_secret(last: str) -> None:
    rng = np.random.default_rng(1)
    measured = {f"m{place}": rng.normal(size=N).round(3) for place in range(8)}
    frame = pd.DataFrame({**measured, last: rng.integers(0, 5, N)})
    assert suggest(frame)[-1].role == Role.SENSITIVE
    few = suggest(frame[["m0", "m1", last]])[-1].role
    assert few == (Role.SENSITIVE if last in ("target", "Outcome") else Role.INSENSITIVE)


@pytest.mark.parametrize(("file", "column"), [("heart.csv", "target"), ("heart_cleveland.csv", "num")])
def test_the_diagnosis_of_a_public_table_is_a_secret(file: str, column: str) -> None:
    found = {one.attribute: one.role for one in suggest(pd.read_csv(require(file)))}
    assert found[column] == Role.SENSITIVE


def test_values_that_only_identifiers_have_make_one_whatever_the_name_and_however_often_they_repeat() -> None:
    mails = [f"p{place % 5}@example.org" for place in range(N)]
    assert _role(mails) == (Role.IDENTIFIER, "Its values look like e-mail addresses.")
    assert _role([*mails[: N // 4], *["none"] * N])[0] is not Role.IDENTIFIER
    # Dates and postal codes are what others know of people.
    assert _role([f"2020-0{1 + place % 9}-11" for place in range(N)])[0] is not Role.IDENTIFIER


def test_few_rows_prove_no_uniqueness() -> None:
    assert _role(["a", "b", "c"])[0] == Role.INSENSITIVE


def test_free_text_is_told_apart() -> None:
    texts = [f"Patient {i} came in on a rainy day and told about pains in the chest" for i in range(N)]
    assert "free text" in _role(texts)[1]


def test_attributes_that_single_rows_out_together_are_suggested_with_their_share() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"u": rng.integers(0, 30, N), "v": rng.integers(0, 30, N), "w": rng.integers(0, 2, N)})
    found = {suggestion.attribute: suggestion for suggestion in suggest(frame)}
    alone = (~frame.duplicated(["u", "v"], keep=False)).mean()
    assert found["u"].role == Role.QUASI_IDENTIFIER
    assert found["u"].reason == f"With 'v' it makes {alone:.0%} of the rows unique."
    assert found["w"].role == Role.INSENSITIVE


def test_columns_that_were_not_counted_say_so_instead_of_that_nothing_speaks_for_them() -> None:
    """Of many columns of one form some are suggested and others are not; the reason is that they were not looked at."""
    rng = np.random.default_rng(0)
    few = {f"q{place}": rng.integers(0, 12, N) for place in range(12)}
    many = {f"q{place}": rng.integers(0, 12, N) for place in range(12, 30)}
    assert {one.role for one in suggest(pd.DataFrame(few))} == {Role.QUASI_IDENTIFIER}
    frame = pd.DataFrame({**few, **many, "bit": rng.integers(0, 2, N), "constant": 1})
    found = suggest(frame)
    known = [one for one in found if one.role is Role.QUASI_IDENTIFIER]
    not_counted = [one for one in found if one.reason.startswith("Not counted")]
    assert len(known) == 12
    assert len(not_counted) == 30 + 1 - 12
    assert all("the 12 with the most values only" in one.reason for one in not_counted)
    assert {one.role for one in not_counted} == {Role.INSENSITIVE}
    assert not [one for one in suggest(pd.DataFrame(few)) if one.reason.startswith("Not counted")]


columns = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 7), st.integers(0, 1)), min_size=10, max_size=60
)


@pytest.mark.slow
@settings(max_examples=20)
@given(columns)
def test_separating_sets_are_all_the_minimal_ones(rows: list[tuple[int, ...]]) -> None:
    frame = pd.DataFrame(rows, columns=list("abcd"))
    summaries = summarize(frame)
    able = [s.name for s in summaries if s.n_distinct > 1 and s.distinct_share <= 0.5]

    def share(names: tuple[str, ...]) -> float:
        return float((~frame.duplicated(list(names), keep=False)).mean())

    wanted = {
        frozenset(names)
        for size in (1, 2, 3)
        for names in combinations(able, size)
        if share(names) >= 0.2
        and not any(share(inner) >= 0.2 for part in range(1, size) for inner in combinations(names, part))
    }
    found = separating_sets(frame, summaries, range(4))
    assert {frozenset(one.attributes) for one in found} == wanted
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)


@settings(max_examples=20)
@given(columns)
def test_uniqueness_counts_rows_groups_and_pairs(rows: list[tuple[int, ...]]) -> None:
    frame = pd.DataFrame(rows, columns=list("abcd"), index=range(7, 7 + len(rows)))
    data = Microdata(frame, {"a": "quasi-identifier", "c": "quasi-identifier", "*": "insensitive"})
    found = uniqueness(data)
    keys = list(zip(frame["a"], frame["c"], strict=True))
    assert found.attributes == ("a", "c")
    assert found.n_unique == sum(keys.count(key) == 1 for key in keys)
    assert found.n_groups == len(set(keys))
    pairs = list(combinations(keys, 2))
    assert found.separation == pytest.approx(sum(one != other for one, other in pairs) / len(pairs))
    assert uniqueness(data, ["a", "b", "c", "d"]).n_unique >= found.n_unique


def test_the_count_is_told_in_a_sentence() -> None:
    data = Microdata(pd.DataFrame({"a": [1, 1, 2], "b": [1, 2, 2]}), {"a": "quasi-identifier", "*": "insensitive"})
    assert uniqueness(data).sentence == "1 of 3 rows are unique in this attribute"
    assert uniqueness(data, ["a", "b"]).sentence == "3 of 3 rows are unique in these 2 attributes"


NAMED = {
    Role.IDENTIFIER: "Nachname Straße E-Mail Telefonnummer Prénom Dirección Cognome Endereço Achternaam",
    Role.SENSITIVE: (
        "Hauptdiagnose Aufnahmediagnose Einkommen Medikament Maladie Salaire Diagnóstico Malattia Doença Ziekte "
        "Hoofddiagnose ICD grade Schulnote calificación"
    ),
    Role.QUASI_IDENTIFIER: (
        "Geschlecht PLZ Postleitzahl Geburtsjahr Wohnort Staatsangehörigkeit Körpergröße Naissance Profession "
        "Nacimiento Ocupación Città Nascita Idade Profissão Leeftijd Woonplaats"
    ),
}


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in NAMED.items() for name in names.split()])
def test_names_are_understood_in_seven_languages(role: Role, name: str) -> None:
    few = [f"value {place % 12}" for place in range(120)]
    assert {one.attribute: one.role for one in suggest(pd.DataFrame({name: few, "x": [1, 2] * 60}))}[name] is role


@pytest.mark.parametrize("name", ["Bemerkung", "Freitext", "Commentaire", "observação", "Opmerkingen", "remarks"])
def test_a_column_of_free_text_may_name_people_however_short_it_is(name: str) -> None:
    texts = [f"ok {place % 30}" for place in range(120)]
    (found,) = suggest(pd.DataFrame({name: texts}))
    assert (found.role, found.reason) == (
        Role.IDENTIFIER,
        "Its name says that it is free text, which may name people.",
    )
    # Marks from 1 to 6 are no text, and nor are a few words for all.
    assert suggest(pd.DataFrame({name: [1, 2, 3] * 40}))[0].role is not Role.IDENTIFIER
    assert suggest(pd.DataFrame({name: ["good", "bad"] * 60}))[0].role is not Role.IDENTIFIER


@pytest.mark.parametrize("name", ["patient_nr", "Patient-ID", "kunde_nummer", "client no", "membre"])
def test_a_column_that_numbers_people_is_an_identifier_though_they_have_several_rows(name: str) -> None:
    several_rows = [f"P{place % 60}" for place in range(120)]
    assert suggest(pd.DataFrame({name: several_rows}))[0].role is Role.IDENTIFIER


def test_a_word_counts_at_the_end_of_a_longer_one_only_where_languages_join_words() -> None:
    assert SENSITIVE.has("entlassungsdiagnose")
    assert not SENSITIVE.has("diagnosegruppe")
    assert not KNOWABLE.has("homeoccupation")
    assert not KNOWABLE.has("mage")
    assert name_words("zipCode Straße_Größe2") == {"zip", "code", "strasse", "grosse"}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *((name, Role.QUASI_IDENTIFIER) for name in ("AGEP", "PUMA", "RAC1P", "HISP", "SCHL", "MSP", "OCCP", "INDP")),
        *((name, Role.SENSITIVE) for name in ("PINCP", "WAGP", "POVPIP")),
    ],
)
def test_the_names_of_the_american_community_survey_are_known(name: str, role: Role) -> None:
    """In a wide table the twelve columns with the most values are others, so that only the name speaks."""
    others = {f"m{place}": np.arange(N) % (N // 3) for place in range(12)}
    frame = pd.DataFrame({name: np.arange(N) % 7, **others})
    assert suggest(frame)[0].role is role
