"""How realistic values of identifiers are drawn; their check digits come from plain code of the tests' own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd

FIRST = (
    "Anna",
    "Ben",
    "Clara",
    "David",
    "Emma",
    "Finn",
    "Greta",
    "Hugo",
    "Ida",
    "Jonas",
    "Karla",
    "Lukas",
    "Mia",
    "Paul",
)
LAST = ("Müller", "Smith", "Dupont", "García", "Rossi", "Silva", "Jansen", "Weber", "Martin", "López", "Russo", "Braun")

Draw = Callable[[np.random.Generator], Any]


def digits(rng: np.random.Generator, n: int) -> str:
    return "".join(map(str, rng.integers(0, 10, n)))


def letters(rng: np.random.Generator, n: int, of: str = ascii_uppercase) -> str:
    return "".join(rng.choice(list(of), n))


def completed(pattern: str, alphabets: list[str], holds: Callable[[str], bool]) -> str | None:
    """The pattern with its braces filled so that a check holds, tried one after another."""
    filled = (pattern.format(*characters) for characters in product(*alphabets))
    return next((text for text in filled if holds(text)), None)


def luhn(text: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(text)):
        doubled = int(digit) * (2 if place % 2 else 1)
        total += doubled if doubled < 10 else doubled - 9
    return total % 10 == 0


def card(rng: np.random.Generator) -> str:
    return completed("4" + digits(rng, 14) + "{}", ["0123456789"], luhn) or ""


def imei(rng: np.random.Generator) -> str:
    return completed("35" + digits(rng, 12) + "{}", ["0123456789"], luhn) or ""


def iban(country: str, length: int) -> Draw:
    def draw(rng: np.random.Generator) -> str:
        account = digits(rng, length)
        number = int(account + "".join(str(ord(letter) - 55) for letter in country) + "00")
        return f"{country}{98 - number % 97:02}{account}"

    return draw


def vin(rng: np.random.Generator) -> str:
    values = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", [*range(1, 9), 1, 2, 3, 4, 5, 7, 9, *range(2, 10)], strict=True))
    weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2]

    def holds(text: str) -> bool:
        total = sum(w * (int(c) if c.isdigit() else values[c]) for w, c in zip(weights, text, strict=True))
        return "0123456789X"[total % 11] == text[8]

    of = "ABCDEFGHJKLMNPRSTUVWXYZ"
    start, end = "1" + letters(rng, 2, of) + letters(rng, 2, of) + digits(rng, 3), letters(rng, 2, of) + digits(rng, 6)
    return completed(f"{start}{{}}{end}", ["0123456789X"], holds) or ""


def ssn(rng: np.random.Generator) -> str:
    return f"{rng.integers(1, 665):03}-{rng.integers(1, 100):02}-{rng.integers(1, 10_000):04}"


def german_tax(rng: np.random.Generator) -> str:
    def holds(text: str) -> bool:
        rest = 10
        for digit in text[:10]:
            total = (int(digit) + rest) % 10
            rest = (total or 10) * 2 % 11
        return (11 - rest) % 10 == int(text[10])

    ten = list(rng.permutation(10)[:9])
    ten = [ten[0] or 1, *ten[1:], ten[3]] if ten[0] else [*ten[1:], 0, ten[3]]
    return completed("".join(map(str, ten)) + "{}", ["0123456789"], holds) or ""


def french_number(rng: np.random.Generator) -> str:
    thirteen = (
        f"{rng.integers(1, 3)}{rng.integers(0, 100):02}{rng.integers(1, 13):02}{rng.integers(10, 96)}{digits(rng, 6)}"
    )
    return f"{thirteen}{97 - int(thirteen) % 97:02}"


def spanish_number(rng: np.random.Generator) -> str:
    number = int(digits(rng, 8))
    return f"{number:08}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def weighted(weights: list[int]) -> Callable[[str], bool]:
    return lambda text: sum(w * int(d) for w, d in zip(weights, text, strict=True)) % 11 == 0


def dutch_number(rng: np.random.Generator) -> str:
    while True:
        found = completed(digits(rng, 8) + "{}", ["0123456789"], weighted([9, 8, 7, 6, 5, 4, 3, 2, -1]))
        if found:
            return found


def brazilian_number(rng: np.random.Generator) -> str:
    def check(text: str) -> int:
        total = sum(int(digit) * weight for digit, weight in zip(text, range(len(text) + 1, 1, -1), strict=True))
        return 0 if total % 11 < 2 else 11 - total % 11

    nine = digits(rng, 9)
    ten = f"{nine}{check(nine)}"
    eleven = f"{ten}{check(ten)}"
    return f"{eleven[:3]}.{eleven[3:6]}.{eleven[6:9]}-{eleven[9:]}"


def italian_number(rng: np.random.Generator) -> str:
    odd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]
    start = (
        f"{letters(rng, 6, 'BCDFGLMNPRST')}{digits(rng, 2)}{letters(rng, 1, 'ABCDEHLMPRST')}{rng.integers(1, 29):02}"
    )
    start += f"{letters(rng, 1)}{digits(rng, 3)}"
    places = [int(one) if one.isdigit() else ord(one) - 65 for one in start]
    total = sum(odd[place] if not at % 2 else place for at, place in enumerate(places))
    return start + ascii_uppercase[total % 26]


def name(rng: np.random.Generator) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def email(rng: np.random.Generator) -> str:
    return f"{rng.choice(FIRST).lower()}.{digits(rng, 3)}@{rng.choice(['example.org', 'mail.example.com'])}"


def day(style: str, first: str = "1930-01-01", days: int = 32_000) -> Draw:
    return lambda rng: (pd.Timestamp(first) + pd.Timedelta(days=int(rng.integers(0, days)))).strftime(style)


def hexed(groups: list[int], between: str) -> Draw:
    return lambda rng: between.join(letters(rng, size, "0123456789abcdef") for size in groups)


def one_of(*values: Any) -> Draw:
    return lambda rng: rng.choice(values)


def pattern(text: str) -> Draw:
    """Digits for #, letters for A."""
    return lambda rng: "".join(
        digits(rng, 1) if one == "#" else letters(rng, 1, "BCDFGHJKLMNPRSTVWXZ") if one == "A" else one for one in text
    )


def nonzero(text: str) -> Draw:
    draw = pattern(text)
    return lambda rng: f"{rng.integers(1, 10)}{draw(rng)}"


def street(*forms: str) -> Draw:
    return lambda rng: str(rng.choice(forms)).format(rng.integers(1, 200))


AGE: Draw = lambda rng: int(rng.integers(18, 104))  # noqa: E731  # stands in tables beside others
URL = lambda rng: f"https://example.org/people/{digits(rng, 5)}"  # noqa: E731
IP = lambda rng: ".".join(map(str, rng.integers(1, 255, 4)))  # noqa: E731
UUID = hexed([8, 4, 4, 4, 12], "-")
MAC = hexed([2] * 6, ":")
