"""Dates, ages and places, of which the rule lets the coarse ones stand: years, ages to 89, states, three digits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import nan

import numpy as np

from anoncore.table.identifiers.allowed_values import first_three_digits, is_above_89
from anoncore.table.identifiers.column_values import ColumnValues
from anoncore.table.identifiers.findings import IdentifierFinding
from anoncore.table.identifiers.kinds import MOST_YEARS, OLDEST_TOLD, Mend
from anoncore.table.identifiers.named import FEWEST, FEWEST_SHARE
from anoncore.table.identifiers.value_forms import DATES
from anoncore.table.identifiers.words import (
    AGES,
    BIRTH,
    CALENDAR_PARTS,
    COORDINATES,
    PLACES,
    POSTAL_CODES,
    core_words,
)
from anoncore.table.identifiers.words import DATES as DATE_WORDS

FIRST_YEAR, LAST_YEAR = 1800, 2100
MOST_DEGREES = 180
MOST, HALF = 0.8, 0.5
_MONTH_OR_DAY = re.compile(
    r"(?:jan|feb|f[eé]v|m[aä]r|mrt|apr|abr|avr|ma[iyg]|mei|ju[nli]|giu|lug|au?g|ao[uû]|ago|se[pt]|o[ckut]t|nov|de[cz]|d[eé]c"
    r"|dic|ene|gen|mon|tue|wed|thu|fri|sat|sun|die|mit|don|fre|sam|son|lun|mer|jeu|ven|dim|mi[eé]|jue|vie|s[aá]b|dom|gio"
    r"|seg|ter|qua|qui|sex|maa|din|woe|don|vri|zat|zon|q[1-4])\w{0,8}\.?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1[89]|20)\d\d(?: or earlier)?")
_COARSE_CODE = re.compile(r"\d{0,3}[*xX]*")


def date_finding(values: ColumnValues, year: int) -> IdentifierFinding | None:
    """What a column tells of when somebody was born or treated beyond the year, or of an age above 89."""
    summary, words = values.summary, values.words
    if summary.type == "date":
        return _of_dates(values)
    if AGES.name(words) and (values.is_text or summary.is_number):
        return _of_ages(values)
    if _are_years(values):
        return _of_birth_years(values, year) if BIRTH.names(words) else None
    core = core_words(words)
    if core and core <= CALENDAR_PARTS and summary.n_distinct > 1 and _are_parts(values):
        return IdentifierFinding(values.name, "C", "parts of dates", "name", nan, Mend.DROP)
    named = DATE_WORDS.name(words) or any(word.endswith("datum") for word in words)
    if named and (values.is_text or values.is_whole) and not values.is_few(FEWEST, FEWEST_SHARE):
        return IdentifierFinding(values.name, "C", DATES, "name", nan, Mend.YEAR if values.is_text else Mend.DROP)
    return None


def place_finding(values: ColumnValues, few_people: Sequence[str]) -> IdentifierFinding | None:
    """What a column tells of where somebody lives within a state."""
    summary, words = values.summary, values.words
    if POSTAL_CODES.name(words) and (values.is_text or values.is_whole):
        return _of_postal_codes(values, few_people)
    if COORDINATES.name(words) and summary.type == "number":
        degrees = values.numbers[0]
        if len(degrees) and np.abs(degrees).max() <= MOST_DEGREES:
            return IdentifierFinding(values.name, "B", "coordinates", "name", nan, Mend.DROP)
    if PLACES.name(words) and summary.n_distinct > 1:
        # A city in numbers is a code of it; a number beside other words, such as its inhabitants, is none.
        is_code = values.is_whole and all(PLACES.name({word}) for word in core_words(words))
        if values.is_text or is_code:
            return IdentifierFinding(values.name, "B", "", "name", nan, Mend.DROP)
    return None


def may_stand_coarse(values: ColumnValues) -> bool:
    """Whether a column holds years, ages or postal codes: where all of them are coarse, they are no codes of people
    even if nearly all of them differ in a small table.
    """
    words = values.words
    return AGES.anywhere.names(words) or POSTAL_CODES.anywhere.names(words) or _are_years(values)


def _of_dates(values: ColumnValues) -> IdentifierFinding | None:
    moments, rows = values.moments
    # The first day of a year is how a column of dates holds the year alone.
    finer = np.asarray((moments.day_of_year != 1) | (moments.hour != 0))
    if not finer.any():
        return None
    share = float(rows[finer].sum() / rows.sum())
    return IdentifierFinding(values.name, "C", DATES, "values", share, Mend.YEAR)


def _of_ages(values: ColumnValues) -> IdentifierFinding | None:
    if values.is_text:
        share = values.share_where(is_above_89)
    else:
        ages, rows = values.numbers
        old = (ages >= OLDEST_TOLD + 1) & (ages <= MOST_YEARS)
        share = float(rows[old].sum() / rows.sum()) if len(rows) else 0.0
    if not share:
        return None
    return IdentifierFinding(values.name, "C", "ages above 89", "name and values", share, Mend.NINETY)


def _are_years(values: ColumnValues) -> bool:
    if values.is_whole:
        numbers = values.numbers[0]
        return len(numbers) > 0 and numbers.min() >= FIRST_YEAR and numbers.max() <= LAST_YEAR
    return values.is_text and values.share_where(_YEAR.fullmatch) == 1


def _of_birth_years(values: ColumnValues, year: int) -> IdentifierFinding | None:
    share = values.share_where(lambda text: text.isdigit() and int(text) < year - OLDEST_TOLD)
    if not share:
        return None
    what = "years of birth of people above 89"
    return IdentifierFinding(values.name, "C", what, "name and values", share, Mend.OLDEST_YEARS)


def _are_parts(values: ColumnValues) -> bool:
    if values.is_whole:
        numbers = values.numbers[0]
        return bool(numbers.min(initial=1) >= 1 and numbers.max(initial=1) <= 31)
    return values.is_text and values.share_where(_MONTH_OR_DAY.fullmatch) >= HALF


def _of_postal_codes(values: ColumnValues, few_people: Sequence[str]) -> IdentifierFinding | None:
    if values.share_where(lambda text: any(one.isdigit() for one in text) or "*" in text) < HALF:
        return None
    if not POSTAL_CODES.anywhere.names(values.words) and values.share_where(lambda text: len(text) == 5) < MOST:
        return None
    small = frozenset(few_people)
    share = values.share_where(lambda text: not _is_coarse(text, small, values.is_whole))
    if not share:
        return None
    is_us = values.share_where(lambda text: first_three_digits(text, values.is_whole) is not None) >= MOST
    mend = Mend.THREE_DIGITS if is_us else Mend.DROP
    return IdentifierFinding(values.name, "B", "postal codes", "name and values", share, mend)


def _is_coarse(text: str, few_people: frozenset[str], is_number: bool) -> bool:
    """Whether a code tells no more than three digits, and not those of an area with few people."""
    return _COARSE_CODE.fullmatch(text) is not None and first_three_digits(text, is_number) not in few_people
