"""Which columns of a table hold identifiers of HIPAA's safe harbor, by their names and their values.

Of dates, ages and places the rule lets the coarse ones stand: years, ages to 89, states, three digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from math import nan
from typing import Any

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.table.column_words import NUMBER_WORDS, QUANTITIES
from anoncore.table.given_table import as_pandas
from anoncore.table.identifiers.allowed_values import first_three_digits, is_above_89
from anoncore.table.identifiers.by_values import seen_in
from anoncore.table.identifiers.column_values import HALF, ColumnValues
from anoncore.table.identifiers.findings import IdentifierFinding, IdentifiersFound
from anoncore.table.identifiers.kind_words import core_words
from anoncore.table.identifiers.kinds import FEW_PEOPLE, MENDS, MOST_YEARS, OLDEST_TOLD, Mend
from anoncore.table.identifiers.named import FEWEST, named_kind
from anoncore.table.identifiers.value_forms import DATES, MONTH
from anoncore.table.identifiers.words import (
    AGES,
    BIRTH,
    CALENDAR_PARTS,
    COORDINATES,
    EPOCHS,
    NAMES,
    PLACES,
    POSTAL_CODES,
)
from anoncore.table.identifiers.words import DATES as DATE_WORDS
from anoncore.table.suggestions import numbers_rows
from anoncore.table.summary import ColumnSummary, summarize

MOST = 0.5
"""Share of the values from which their form and not the name of the column tells what they are."""


@checked
def identifiers(frame: Any, few_people: Sequence[str] = FEW_PEOPLE, year: int | None = None) -> IdentifiersFound:
    """Find which columns of a table hold identifiers of the 18 kinds of HIPAA's safe harbor.

    Columns are judged by their names in English, German, French, Spanish, Italian, Portuguese and Dutch, and by how
    their values are written, with check digits where the kind has them. What is found has to be mended or decided on;
    that nothing is found does not say that the rule is met, because a program cannot see all that it asks for.

    Parameters
    ----------
    frame : DataFrame
        The table, of any kind, with a row per record.
    few_people : sequence of str
        First three digits of the US ZIP codes whose areas together have 20,000 people or fewer. The default is the
        list that the US Department of Health and Human Services published, by the Census of 2000; the rule asks for
        current figures.
    year : int, optional
        The year in which ages are counted from years of birth; by default the present one.

    Returns
    -------
    IdentifiersFound
        A finding for each column and kind, what was looked at, and what cannot be seen.

    Raises
    ------
    ParameterError
        Where `few_people` holds anything but three digits.

    Notes
    -----
    Assumes: a column holds one kind of thing, and its name says which in one of the seven languages, or most of its
    values are written as the kind is.
    Cost: O(n) for n rows; at most 20,000 different values of a column are looked at one by one.
    Use: before a table leaves the house, beside what counts how far people are singled out.
    Avoid: as proof. Paragraph (ii) of the rule also asks what you know yourself.

    References
    ----------
    45 CFR 164.514(b)(2)(i), letters A to R.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import privacy
    >>> people = pd.DataFrame({"PLZ": ["10115", "80331"], "contact": ["ann@example.org", "bob@example.org"]})
    >>> found = privacy.identifiers(people)
    >>> [(one.column, one.letter, one.by, str(one.mend)) for one in found.findings]
    [('PLZ', 'B', 'name and values', 'three digits'), ('contact', 'F', 'values', 'drop')]
    """
    table = as_pandas(frame)
    return identifiers_of(table, summarize(table), few_people, year)


def identifiers_of(
    table: Any, summaries: Sequence[ColumnSummary], few_people: Sequence[str] = FEW_PEOPLE, year: int | None = None
) -> IdentifiersFound:
    """As `identifiers`, of a pandas table whose columns are summarized already."""
    _require_three_digits(few_people)
    year = date.today().year if year is None else year
    findings: list[IdentifierFinding] = []
    free_text = []
    for (_, column), summary in zip(table.items(), summaries, strict=True):
        if summary.type in ("empty", "yes or no"):
            continue
        values = ColumnValues(column, summary).with_numbers_read()
        findings += _in_column(values, few_people, year)
        if values.is_free_text:
            free_text.append(summary.name)
    return IdentifiersFound(
        findings=tuple(findings),
        columns=tuple(summary.name for summary in summaries),
        n_rows=len(table),
        free_text=tuple(free_text),
        year=year,
        few_people=tuple(few_people),
    )


def _require_three_digits(few_people: Sequence[str]) -> None:
    wrong = [one for one in few_people if not (len(one) == 3 and one.isascii() and one.isdigit())]
    if wrong:
        raise ParameterError(f"few_people holds {wrong[0]!r}; give three digits as text, such as '036'.")


def _in_column(values: ColumnValues, few_people: Sequence[str], year: int) -> list[IdentifierFinding]:
    """One finding for each kind that a column holds, those of its values first."""
    special = date_finding(values, year) or place_finding(values, few_people)
    letter = special.letter if special is not None else named_kind(values)
    # A fax number is written as any telephone number; few names and places have a form of their own.
    seen = list(seen_in(values, "" if letter is None or letter in "AB" else "D" if letter == "E" else letter))
    if special is not None:
        return _joined(special, seen)
    if letter is not None:
        return _joined(_finding_by_name(values.name, letter), seen)
    return seen or list(_by_numbering(values))


def _finding_by_name(column: str, letter: str) -> IdentifierFinding:
    """What the name of a column alone tells; how many of its values are identifiers was not measured."""
    return IdentifierFinding(column, letter, "", "name", nan, MENDS[letter])


def _joined(named: IdentifierFinding, seen: list[IdentifierFinding]) -> list[IdentifierFinding]:
    """What a name tells together with what the values tell: one finding for each kind."""
    letters = {one.letter: one for one in seen}
    if named.letter == "E" and "D" in letters:
        fax = replace(letters.pop("D"), letter="E", what="telephone numbers", by="name and values")
        return [fax, *letters.values()]
    if named.letter in letters:
        same = letters.pop(named.letter)
        told = replace(same, by="name and values") if same.share >= MOST or named.letter not in "AB" else named
        return [told, *letters.values()]
    strong = [one for one in seen if one.share >= MOST and one.letter != "R" and not one.is_shape]
    if strong and named.by == "name":
        return seen
    return [named, *(one for one in seen if one.letter != "R" and not one.is_shape)]


def _by_numbering(values: ColumnValues) -> Iterator[IdentifierFinding]:
    is_counted = values.is_whole and QUANTITIES.names(values.words) and not NUMBER_WORDS & set(values.words)
    names_nobody = is_counted or values.is_free_text or may_stand_coarse(values) or values.are_versions
    if numbers_rows(values) and not names_nobody:
        share = values.summary.distinct_share
        yield IdentifierFinding(values.name, "R", "values of nearly every row's own", "values", share, MENDS["R"])


FIRST_YEAR, LAST_YEAR = 1800, 2100
MOST_DEGREES = 180
FEWEST_CELLS = 5
"""Different degrees of a map of cells, and rows at each, at least."""
FIRST_SECOND, LAST_SECOND = 10**8, 4 * 10**9
"""Seconds since 1970 in 1973 and 2096."""
NEARLY_ALL = 0.8
_MONTH_OR_DAY = re.compile(
    rf"{MONTH}|(?:mon|tue|wed|thu|fri|sat|sun|die|mit|don|fre|sam|son|lun|mer|jeu|ven|dim|mi[eé]|jue|vie|s[aá]b|dom|gio"
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
    if EPOCHS.names(words) and _are_seconds(values):
        return IdentifierFinding(values.name, "C", DATES, "name and values", 1.0, Mend.DROP)
    core = core_words(words)
    if core and core <= CALENDAR_PARTS and summary.n_distinct > 1 and _are_parts(values):
        return IdentifierFinding(values.name, "C", "parts of dates", "name", nan, Mend.DROP)
    named = DATE_WORDS.name(words) or any(word.endswith("datum") for word in words)
    if named and (values.is_text or values.is_whole) and not values.is_few(FEWEST):
        return IdentifierFinding(values.name, "C", DATES, "name", nan, Mend.YEAR if values.is_text else Mend.DROP)
    return None


def place_finding(values: ColumnValues, few_people: Sequence[str]) -> IdentifierFinding | None:
    """What a column tells of where somebody lives within a state."""
    summary, words = values.summary, values.words
    if POSTAL_CODES.name(words) and (values.is_text or values.is_whole):
        return _of_postal_codes(values, few_people)
    if COORDINATES.name(words) and summary.type == "number":
        degrees = values.numbers[0]
        if len(degrees) and np.abs(degrees).max() <= MOST_DEGREES and not _is_raster(values):
            return IdentifierFinding(values.name, "B", "coordinates", "name", nan, Mend.DROP)
    if PLACES.name(words - NAMES) and summary.n_distinct > 1:
        # A city in numbers is a code of it; a number beside other words, such as its inhabitants, is none.
        is_code = values.is_whole and all(PLACES.name({word}) for word in core_words(words))
        if values.is_text or is_code:
            return IdentifierFinding(values.name, "B", "", "name", nan, Mend.DROP)
    return None


def _is_raster(values: ColumnValues) -> bool:
    """Whether equally many rows lie at equally spaced degrees, as cells of a map do and homes of people never."""
    degrees, rows = values.numbers
    steps = np.diff(np.sort(degrees))
    return bool(len(degrees) >= FEWEST_CELLS and FEWEST_CELLS <= rows.min() == rows.max() and np.ptp(steps) < 1e-6)


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


def _are_seconds(values: ColumnValues) -> bool:
    """Whether whole numbers may be seconds since 1970, or thousandths or millionths of these."""
    if not values.is_whole:
        return False
    low, high = values.numbers[0].min(), values.numbers[0].max()
    return any(FIRST_SECOND * parts <= low and high <= LAST_SECOND * parts for parts in (1, 10**3, 10**6))


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
    if not POSTAL_CODES.anywhere.names(values.words) and values.share_where(lambda text: len(text) == 5) < NEARLY_ALL:
        return None
    small, lost_zeros = frozenset(few_people), values.is_whole and not values.read_from_text
    share = values.share_where(lambda text: not _is_coarse(text, small, lost_zeros))
    if not share:
        return None
    is_us = values.share_where(lambda text: first_three_digits(text, lost_zeros) is not None) >= NEARLY_ALL
    mend = Mend.THREE_DIGITS if is_us else Mend.DROP
    return IdentifierFinding(values.name, "B", "postal codes", "name and values", share, mend)


def _is_coarse(text: str, few_people: frozenset[str], is_number: bool) -> bool:
    """Whether a code tells no more than three digits, and not those of an area with few people."""
    return _COARSE_CODE.fullmatch(text) is not None and first_three_digits(text, is_number) not in few_people
