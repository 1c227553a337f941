"""How shares are written for people."""

from __future__ import annotations

import pytest

from anoncore.base.texts import rows_for_people, share_text, shown_difference, size_text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (0.0001, "less than 0.1%"),
        (0.0004, "less than 0.1%"),
        (0.0005, "0.1%"),
        (0.0006, "0.1%"),
        (0.9995, "more than 99.9%"),
        (0.051, "5.1%"),
        (0.5, "50.0%"),
        (0.9999, "more than 99.9%"),
        (1.0, "100%"),
    ],
)
def test_rounding_makes_neither_all_nor_nothing_of_a_share(share: float, text: str) -> None:
    assert share_text(share) == text


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (15_600, "15.6 kB"),
        (200_000_000, "200.0 MB"),
        (1_250_000_000, "1.25 GB"),
        (12_345_678_901_234, "12,345.68 GB"),
    ],
)
def test_bytes_are_told_in_the_unit_that_fits(n_bytes: int, text: str) -> None:
    assert size_text(n_bytes) == text


def test_a_difference_agrees_with_the_shares_beside_it() -> None:
    share, chance = 0.96149, 0.76451
    assert (share_text(share), share_text(chance)) == ("96.1%", "76.5%")
    assert share_text(share - chance) == "19.7%"
    assert share_text(shown_difference(share, chance)) == "19.6%"
    assert shown_difference(0.1504, 0.1) == 0.05, "a difference that is rounded is at the limit and not above it"


def test_a_sentence_about_people_is_said_of_rows():
    told = "Everybody is found: 2 of 9 people, and every person of 'people' too; somebody is found by people's 'age'."
    assert rows_for_people(told) == (
        "Every row is found: 2 of 9 rows, and every row of 'people' too; some row is found by rows' 'age'."
    )
