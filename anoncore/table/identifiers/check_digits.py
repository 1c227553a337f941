"""Check digits of numbers that name people, accounts, vehicles and devices."""

from __future__ import annotations

from collections.abc import Iterable

VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
FISCAL_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
"""What a letter of an Italian tax code counts at odd places; digits count as the letters A to J."""
PENSION_WEIGHTS = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)


def plain(text: str) -> str:
    """A number in capitals without spaces, dots, dashes and slashes, which people put into it as they like."""
    return "".join(letter for letter in text.upper() if letter.isalnum())


def has_luhn(text: str) -> bool:
    """Cards and IMEI: ISO/IEC 7812-1, annex B."""
    digits = list(map(int, plain(text)))
    return (sum(digits[-1::-2]) + sum(_cross_sum(2 * digit) for digit in digits[-2::-2])) % 10 == 0


def is_iban(text: str) -> bool:
    """Accounts: ISO 13616, with the check digits of ISO 7064 MOD 97-10."""
    code = plain(text)
    return int("".join(str(int(letter, 36)) for letter in code[4:] + code[:4])) % 97 == 1


def is_vin(text: str) -> bool:
    """Vehicles sold in North America: 49 CFR 565.15 (c); elsewhere the ninth character may be anything."""
    code = plain(text)
    total = sum(weight * VIN_VALUES.get(one, -1) if one.isalpha() else weight * int(one) for one, weight in _vin(code))
    return "0123456789X"[total % 11] == code[8]


def is_german_tax_number(text: str) -> bool:
    """Steuer-Identifikationsnummer: ISO 7064 MOD 11,10, with one of the ten digits there twice or thrice."""
    digits = list(map(int, plain(text)))
    product = 10
    for digit in digits[:10]:
        product = 2 * ((digit + product) % 10 or 10) % 11
    repeated = sorted(digits[:10].count(digit) for digit in set(digits[:10]))
    return digits[0] > 0 and (11 - product) % 10 == digits[10] and repeated[-1] in (2, 3)


def is_german_pension_number(text: str) -> bool:
    """Rentenversicherungsnummer: § 4 VKVV; its letter counts as two digits."""
    code = plain(text)
    digits = map(int, f"{code[:8]}{_place(code[8]):02}{code[9:11]}")
    products = (_cross_sum(weight * digit) for weight, digit in zip(PENSION_WEIGHTS, digits, strict=True))
    return sum(products) % 10 == int(code[11])


def is_german_health_number(text: str) -> bool:
    """Krankenversichertennummer: § 290 SGB V; its letter counts as two digits."""
    code = plain(text)
    digits = map(int, f"{_place(code[0]):02}{code[1:9]}")
    return sum(_cross_sum(digit * (1 + place % 2)) for place, digit in enumerate(digits)) % 10 == int(code[9])


def is_french_person_number(text: str) -> bool:
    """Numéro d'inscription au répertoire: the last two digits are 97 less the rest of the others by 97."""
    code = plain(text).replace("2A", "19", 1).replace("2B", "18", 1)
    return 97 - int(code[:13]) % 97 == int(code[13:])


def is_spanish_person_number(text: str) -> bool:
    """DNI and NIE: the letter is told by the rest of the number by 23; X, Y and Z begin with 0, 1 and 2."""
    code = plain(text)
    number = int(code[:-1].translate(str.maketrans("XYZ", "012")))
    return DNI_LETTERS[number % 23] == code[-1]


def is_italian_tax_code(text: str) -> bool:
    """Codice fiscale: D.M. 23 December 1976, with a letter for the sum of its other characters."""
    code = plain(text)
    places = [int(one) if one.isdigit() else ord(one) - ord("A") for one in code]
    total = sum(FISCAL_ODD[one] for one in places[0:15:2]) + sum(places[1:15:2])
    return total % 26 == places[15]


def is_portuguese_tax_number(text: str) -> bool:
    """NIF: the sum of nine digits with weights from 9 down, by 11."""
    digits = list(map(int, plain(text)))
    return _rest_by_11(digits[:8]) == digits[8]


def is_brazilian_person_number(text: str) -> bool:
    """CPF: two check digits, the second of which covers the first; no number of one digit alone."""
    digits = list(map(int, plain(text)))
    return len(set(digits)) > 1 and all(_rest_by_11(digits[:length]) == digits[length] for length in (9, 10))


def is_dutch_person_number(text: str) -> bool:
    """Burgerservicenummer: the digits with weights from 9 down to 2 and then -1 add up to a multiple of 11."""
    digits = list(map(int, plain(text)))
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    return any(digits) and sum(map(int.__mul__, weights, digits)) % 11 == 0


def is_british_health_number(text: str) -> bool:
    """NHS number: nine digits with weights from 10 down, by 11."""
    digits = list(map(int, plain(text)))
    check = 11 - _weighted(digits[:9]) % 11
    return any(digits) and check % 11 == digits[9] and check != 10


def _vin(code: str) -> Iterable[tuple[str, int]]:
    return zip(code, VIN_WEIGHTS, strict=True)


def _cross_sum(number: int) -> int:
    return sum(divmod(number, 10))


def _place(letter: str) -> int:
    return ord(letter) - ord("A") + 1


def _weighted(digits: list[int]) -> int:
    """The sum with weights that go down to 2."""
    return sum(digit * (len(digits) + 1 - place) for place, digit in enumerate(digits))


def _rest_by_11(digits: list[int]) -> int:
    check = 11 - _weighted(digits) % 11
    return 0 if check >= 10 else check
