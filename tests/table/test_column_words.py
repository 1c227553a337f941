"""The words of columns' names, and how words for number and name are parted from what they stand at."""

from __future__ import annotations

import pytest

from anoncore.table.column_words import PEOPLE, Vocabulary, parted_words, says_whose_row

STEMS = Vocabulary.of("case account compte", de="fall gerat serie patient mitglied versicherung")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("caseno", {"case", "no"}),
        ("Fallnummer", {"fall", "nummer"}),
        ("FallNr", {"fall", "nr"}),
        ("Patientennr", {"patient", "nr"}),
        ("Patienten-Nr", {"patient", "nr"}),
        ("Mitglieds-ID", {"mitglied", "id"}),
        ("Gerätenummer", {"gerat", "nummer"}),
        ("geraetenr", {"gerat", "nr"}),
        ("geraet", {"gerat"}),
        ("Seriennummer", {"serie", "nummer"}),
        ("Krankenversicherungsnr", {"krankenversicherung", "nr"}),
        ("ncompte", {"n", "compte"}),
        ("numerocompte", {"numero", "compte"}),
        ("patientname", {"patient", "name"}),
        # Words that only end alike, and counts, stay as they are.
        ("casino", {"casino"}),
        ("covid", {"covid"}),
        ("Anzahl Patienten", {"anzahl", "patienten"}),
        ("no_of_cases", {"no", "of", "cases"}),
    ],
)
def test_words_are_parted_from_those_for_number_and_name(name: str, words: set[str]) -> None:
    assert parted_words(name, STEMS) == words


@pytest.mark.parametrize("name", ["patient", "Patientennr", "Kunden-ID", "owner", "Fahrzeughalter", "pid", "Schüler"])
def test_a_column_says_whose_row_it_is(name: str) -> None:
    assert says_whose_row(name)


@pytest.mark.parametrize("name", ["patient_age", "number", "Haltung", "ownership"])
def test_a_column_says_something_of_the_person_or_else(name: str) -> None:
    assert not says_whose_row(name)
    assert not PEOPLE.names({"haltung", "ownership"})
