"""Check digits: numbers that others have published, every changed digit, and drawn numbers of the tests' own code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from anoncore.table.identifiers import check_digits
from tests.table.identifiers import drawn

PUBLISHED: dict[Callable[[str], bool], list[str]] = {
    check_digits.has_luhn: ["79927398713", "4111 1111 1111 1111", "378282246310005", "49-015420-323751-8"],
    check_digits.is_iban: ["DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "FR1420041010050500013M02606"],
    check_digits.is_vin: ["1M8GDM9AXKP042788", "11111111111111111"],
    check_digits.is_german_tax_number: ["86095742719", "47 036 892 816"],
    check_digits.is_german_pension_number: ["15 070649 C 10 3", "65170839J003"],
    check_digits.is_german_health_number: ["A123456780"],
    check_digits.is_french_person_number: ["2 55 08 14 168 025 38"],
    check_digits.is_spanish_person_number: ["12345678Z", "X1234567L"],
    check_digits.is_italian_tax_code: ["RSSMRA85T10A562S", "MRTMTT91D08F205J"],
    check_digits.is_portuguese_tax_number: ["123456789"],
    check_digits.is_brazilian_person_number: ["529.982.247-25", "111.444.777-35"],
    check_digits.is_dutch_person_number: ["111222333", "123456782"],
    check_digits.is_british_health_number: ["943 476 5919", "401 023 2137"],
}
"""Examples of standards, authorities and textbooks."""
CASES = [
    pytest.param(holds, text, id=f"{holds.__name__} {text}") for holds, texts in PUBLISHED.items() for text in texts
]


NO_SUM = ("11111111111111111", "86095742719", "47 036 892 816")
"""Numbers in which a changed digit may keep to the rules: ones alone, and rules beside the sum."""


@pytest.mark.parametrize(("holds", "text"), CASES)
def test_a_published_number_holds_and_with_another_digit_does_not(holds: Callable[[str], bool], text: str) -> None:
    assert holds(text)
    plain = check_digits.plain(text)
    for place, digit in enumerate(plain if text not in NO_SUM else ""):
        if digit.isdigit() and not (holds is check_digits.is_german_pension_number and place == 4):
            # Four times the weight 7 of that place has the cross sum 10, as good as none.
            changed = [f"{plain[:place]}{other}{plain[place + 1 :]}" for other in "0123456789" if other != digit]
            assert [one for one in changed if holds(one)] == []


@pytest.mark.parametrize(
    ("draw", "holds"),
    [
        (drawn.card, check_digits.has_luhn),
        (drawn.imei, check_digits.has_luhn),
        (drawn.iban("DE", 18), check_digits.is_iban),
        (drawn.vin, check_digits.is_vin),
        (drawn.german_tax, check_digits.is_german_tax_number),
        (drawn.french_number, check_digits.is_french_person_number),
        (drawn.spanish_number, check_digits.is_spanish_person_number),
        (drawn.italian_number, check_digits.is_italian_tax_code),
        (drawn.brazilian_number, check_digits.is_brazilian_person_number),
        (drawn.dutch_number, check_digits.is_dutch_person_number),
    ],
)
def test_numbers_of_plain_code_hold(draw: drawn.Draw, holds: Callable[[str], bool]) -> None:
    rng = np.random.default_rng(3)
    assert all(holds(draw(rng)) for _ in range(40))


@pytest.mark.parametrize(
    ("holds", "length", "chance"),
    [
        (check_digits.has_luhn, 16, 0.1),
        (check_digits.is_dutch_person_number, 9, 1 / 11),
        (check_digits.is_portuguese_tax_number, 9, 1 / 11),
        (check_digits.is_british_health_number, 10, 1 / 11),
        (check_digits.is_brazilian_person_number, 11, 1 / 100),
        (check_digits.is_french_person_number, 15, 1 / 97),
    ],
)
def test_a_random_number_holds_as_rarely_as_its_form_says(
    holds: Callable[[str], bool], length: int, chance: float
) -> None:
    rng = np.random.default_rng(4)
    held = sum(holds(drawn.digits(rng, length)) for _ in range(2_000)) / 2_000
    assert held == pytest.approx(chance, abs=4 * (chance / 2_000) ** 0.5)
