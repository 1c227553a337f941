"""What type the texts of a column have: what they show, gathered piece by piece, and what follows from it.

Every reader of text decides by these rules, whether it holds the whole table or streams a file that is larger than the
memory: all that the rules need to know of a column takes a few hundred bytes, however many rows the column has.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.texts import counted
from anoncore.sources import numerals
from anoncore.sources.notes import Notes, shown
from anoncore.sources.numerals import (
    DATE_ORDERS,
    Bools,
    DateFacts,
    DateOrder,
    NumberFacts,
    all_match,
    iso_dates,
    matches,
)

# What pandas.read_csv takes as missing, without "None".
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NULL", "NaN", "n/a", "nan", "null"),
)
# Missing or a value, as the other values of the column suggest.
DOUBTFUL = ("?", "NA", "None")
FEWEST_CODES = 3

Rows = npt.NDArray[np.int64]
DecimalMark = Literal[".", ","]


@dataclass(frozen=True)
class TextRules:
    """What is known of a file's texts.

    `comma_is_decimal` says whether commas in numbers are likely decimal marks, `missing` are further texts that mean
    missing. What people say counts more: the mark of decimals in `decimal`, and the order of dates in `dates`.
    """

    comma_is_decimal: bool = False
    missing: Collection[str] = ()
    decimal: DecimalMark | None = None
    dates: DateOrder | None = None


@dataclass(frozen=True)
class ColumnType:
    """How the texts of a column become values.

    Texts of `missing` are missing. The others are texts as they are, `True` or `False` in any spelling of case,
    numbers (whole: int64, else float64) whose commas stand as `commas` says, or dates in `unit`, from their time zones
    (`zoned`) to UTC, written in another order than 2024-05-31 where `order` says so.
    """

    kind: Literal["text", "boolean", "whole", "fraction", "date"]
    missing: frozenset[str]
    commas: Literal["none", "thousands", "decimal"] = "none"
    zoned: bool = False
    unit: str = "us"
    order: DateOrder | None = None


@lru_cache(maxsize=64)
def as_texts(texts: tuple[str, ...]) -> pa.Array:
    """The texts as an array, made once for all columns."""
    return pa.array(texts, pa.large_string())


class Evidence:
    """What the texts of one column show; texts are added in the order of the rows.

    A way to read the column is given up with the first text that speaks against it, and costs no time from then on.
    """

    def __init__(self, rules: TextRules) -> None:
        self._rules = rules
        self._special = as_texts((*MISSING, *rules.missing, *DOUBTFUL))
        self.trimmed = False
        """Whether a text had spaces around it."""
        self.special_rows: dict[str, int] = {}
        """Rows of each text that means missing, or may."""
        self.first: str | None = None
        """The first of the other texts, about which is all that follows."""
        self.rows = 0
        self._booleans = True
        self._codes: set[str] | None = set()
        self._number_rows = self._date_rows = 0
        self._not_number: str | None = None
        self._not_date: str | None = None
        self._infinite = True
        self._with_comma: str | None = None
        self._surely_grouped = False
        self._plain: NumberFacts | None = NumberFacts()
        self._grouped: NumberFacts | None = NumberFacts()
        self._decimal: NumberFacts | None = NumberFacts()
        self._dates: DateFacts | None = DateFacts()
        self._other_dates = self._dotted = True
        self._ordered: dict[DateOrder, DateFacts] = dict.fromkeys(DATE_ORDERS, DateFacts())

    def add(self, texts: pa.Array, rows: Rows, *, trimmed: bool) -> None:
        """Take in texts (m,) without surrounding spaces that stand in so many rows (m,) each.

        They are best distinct, as that saves time, but need not be.
        """
        self.trimmed |= trimmed
        special: Bools = pc.is_in(texts, self._special).to_numpy(zero_copy_only=False)
        if not special.any():
            numbers, dates = self._add_other(texts, rows)
            self._not_number = self._not_number or _first(texts, ~numbers)
            self._not_date = self._not_date or _first(texts, ~dates)
            return
        self._add_special(texts.filter(pa.array(special)), rows[special])
        numbers, dates = np.zeros(len(texts), np.bool_), np.zeros(len(texts), np.bool_)
        if not special.all():
            numbers[~special], dates[~special] = self._add_other(texts.filter(pa.array(~special)), rows[~special])
        # Where the column stays text, "None" is one of its texts; "?" and "NA" are missing beside numbers and dates.
        is_text = ~special | pc.equal(texts, "None").to_numpy(zero_copy_only=False)
        self._not_number = self._not_number or _first(texts, is_text & ~numbers)
        self._not_date = self._not_date or _first(texts, is_text & ~dates)

    def _add_special(self, texts: pa.Array, rows: Rows) -> None:
        encoded = texts.dictionary_encode()
        found_rows = np.bincount(encoded.indices.to_numpy(), weights=rows).astype(np.int64)
        for text, found in zip(encoded.dictionary.to_pylist(), found_rows.tolist(), strict=True):
            self.special_rows[text] = self.special_rows.get(text, 0) + found

    def _add_other(self, texts: pa.Array, rows: Rows) -> tuple[Bools, Bools]:
        """Take in texts that cannot mean missing; which ones are plain numbers, and which ones dates."""
        self.first = self.first or texts[0].as_py()
        self.rows += int(rows.sum())
        self._booleans = self._booleans and all_match(texts, numerals.BOOLEAN)
        if self._codes is not None:
            capitals = all_match(texts, numerals.TWO_CAPITALS)
            self._codes = self._codes | set(texts.to_pylist()) if capitals else None
        plain = self._plain
        common = None if plain is None else NumberFacts.of_common(texts, whole=plain.whole)
        numbers = dates = np.zeros(len(texts), np.bool_)
        if common is not None:
            numbers = ~numbers
        elif plain is None and self._dates is not None and all_match(texts, numerals.ISO_DATE):
            dates = ~dates
        else:
            numbers, dates = _numbers_and_dates(texts)
        self._number_rows += int(rows[numbers].sum())
        self._date_rows += int(rows[dates].sum())
        self._add_numbers(texts, common, plain=bool(numbers.all()))
        self._add_dates(texts, iso=bool(dates.all()))
        return numbers, dates

    def _add_numbers(self, texts: pa.Array, facts: NumberFacts | None, *, plain: bool) -> None:
        """Take in texts that are all numbers (`plain`) or not; `facts` are theirs, where they are known."""
        self._infinite = self._infinite and facts is None and all_match(texts, numerals.INFINITE)
        if facts is None and plain and (self._plain or self._grouped or self._decimal):
            facts = NumberFacts.of(texts)
        self._plain = self._plain.and_of(facts) if self._plain is not None and plain and facts is not None else None
        if self._grouped is None and self._decimal is None:
            return
        if not plain and self._with_comma is None:
            self._with_comma = _first(texts, pc.match_substring(texts, ",").to_numpy(zero_copy_only=False))
        if self._grouped is not None:
            self._grouped = self._grouped_with(texts, facts)
        if self._decimal is not None:
            self._decimal = self._decimal_with(texts, facts)

    def _grouped_with(self, texts: pa.Array, facts: NumberFacts | None) -> NumberFacts | None:
        """What the column shows with these texts, if its commas separate thousands; `facts` are those of plain ones."""
        assert self._grouped is not None
        if facts is not None and facts.is_short:
            return self._grouped.and_of(facts)
        if not all_match(texts, numerals.GROUPED):
            return None
        if facts is None:
            self._surely_grouped = self._surely_grouped or bool(matches(texts, numerals.SURELY_GROUPED).any())
            facts = NumberFacts.of(numerals.ungrouped(texts))
        return self._grouped.and_of(facts)

    def _decimal_with(self, texts: pa.Array, facts: NumberFacts | None) -> NumberFacts | None:
        """What the column shows with these texts, if its commas are decimal marks; `facts` are those of plain ones."""
        assert self._decimal is not None
        if facts is not None and facts.whole:
            return self._decimal.and_of(facts)
        if not all_match(texts, numerals.DECIMAL_COMMA):
            return None
        return self._decimal.and_of(NumberFacts.of(numerals.with_point(texts)))

    def _add_dates(self, texts: pa.Array, *, iso: bool) -> None:
        self._dates = self._dates.and_of(DateFacts.of(texts)) if self._dates is not None and iso else None
        self._other_dates = self._other_dates and all_match(texts, numerals.OTHER_DATE)
        if not self._other_dates:
            self._ordered = {}
            return
        self._dotted = self._dotted and all_match(texts, numerals.DOTTED_DATE)
        for order, facts in tuple(self._ordered.items()):
            written = iso_dates(texts, order)
            found = facts.and_of(DateFacts.of(written)) if all_match(written, numerals.ISO_DATE) else None
            if found is not None and found.exist:
                self._ordered[order] = found
            else:
                del self._ordered[order]

    def column_type(self, name: str, notes: Notes) -> ColumnType:
        """The type that all texts so far have; the notes say what is worth knowing about it.

        Missing are empty cells, the texts of `MISSING`, those of the rules, and of the doubtful ones: "?" unless
        nothing else is there, "None" in columns of numbers, dates or True/False only, "NA" unless the other values are
        codes of two capital letters (NA is Namibia).
        """
        sure = frozenset([*MISSING, *self._rules.missing])
        everything = sure | frozenset(DOUBTFUL)
        found = self._typed(everything, name, notes) if self.rows else None
        missing = everything if found is not None else sure | self._missing_in_text(name, notes)
        self._note_missing(missing, name, notes)
        if found is not None and found.kind == "whole" and not self._fits_beside_missing(found):
            too_big(name, notes)
            found = ColumnType("text", missing)
        if found is not None:
            return found
        self._note_mixture(missing, name, notes)
        return ColumnType("text", missing)

    def is_read_by(self, kind: ColumnType) -> bool:
        """Whether the type that all texts so far have reads every one of them as this type does."""
        return self.without_unseen(self.column_type("", Notes())) == self.without_unseen(kind)

    def without_unseen(self, kind: ColumnType) -> ColumnType:
        """The type with those texts alone that mean missing and occur."""
        return replace(kind, missing=kind.missing.intersection(self.special_rows))

    def has_missing(self, missing: Collection[str]) -> bool:
        """Whether a cell is missing if these texts mean that."""
        return any(text in missing for text in self.special_rows)

    @property
    def is_blank(self) -> bool:
        """Whether no cell holds more than spaces."""
        return self.rows == 0 and not any(self.special_rows)

    def _typed(self, missing: frozenset[str], name: str, notes: Notes) -> ColumnType | None:
        """The type, if all texts are True/False, numbers or dates."""
        if self._booleans:
            return ColumnType("boolean", missing)
        return self._numbers(missing, name, notes) or self._moments(missing, name, notes)

    def _numbers(self, missing: frozenset[str], name: str, notes: Notes) -> ColumnType | None:
        """Numbers as int64 when all are whole, else float64.

        Kept as text, with a note: leading zeros, whole numbers that neither int64 nor (beside fractions) float64 holds
        exactly, and thousands or decimal commas whose meaning is open. `1,234` is 1234 in a file whose separator isn't
        the semicolon; there (`comma_is_decimal`) `1.234,5` is 1234.5.
        """
        if self._plain is not None and not self._infinite:
            return _number_type(self._plain, "none", missing, name, notes)
        if self._with_comma is None:
            return None
        said = self._rules.decimal
        decimal = self._rules.comma_is_decimal if said is None else said == ","
        if self._grouped is not None and said != "," and (not decimal or self._surely_grouped):
            notes.about("Commas in numbers were read as thousands separators (1,234 is 1234) in {columns}.", name)
            return _number_type(self._grouped, "thousands", missing, name, notes)
        if self._decimal is None:
            return None
        if not decimal or (self._grouped is not None and said is None):
            notes.about(
                "Numbers with commas are kept as text in {columns}, because the comma may mean decimals or thousands; "
                'write them with a decimal point, or say decimal = ",", to have numbers.',
                name,
                f"for example {shown(self._with_comma)}",
            )
            return None
        notes.about("Commas in numbers were read as decimal marks (1.234,5 is 1234.5) in {columns}.", name)
        return _number_type(self._decimal, "decimal", missing, name, notes)

    def _moments(self, missing: frozenset[str], name: str, notes: Notes) -> ColumnType | None:
        """Dates and times as datetime64 when all are written as 2024-05-31 or 2024-05-31 14:00; zones become UTC.

        Also when all are written in another order that is certain: 31.05.2024 has the day first, of 05/31/2024 only the
        month can stand first, and people may have said which order it is.
        """
        if self._dates is None:
            return self._ordered_moments(missing, name, notes) if self._other_dates else None
        if not self._dates.holds:
            notes.about("Kept as text, because not every date exists or only some have a time zone: {columns}.", name)
            return None
        if self._dates.zoned:
            zone_dropped(name, notes)
        return ColumnType("date", missing, zoned=self._dates.zoned, unit=self._dates.unit)

    def _ordered_moments(self, missing: frozenset[str], name: str, notes: Notes) -> ColumnType | None:
        """Dates that are written in another order than 2024-05-31."""
        possible = [order for order, facts in self._ordered.items() if facts.holds]
        order = next(iter(possible), None)
        if len(possible) > 1:
            order = self._rules.dates if self._rules.dates in possible else "day-month-year" if self._dotted else None
        if order is None:
            why = (
                "their order of day and month is not certain; write them as 2024-05-31, or say dates = "
                '"day-month-year" or "month-day-year", to have dates'
                if possible
                else "not every date exists in one order of day and month, or years have two digits; write them as "
                "2024-05-31 to have dates"
            )
            notes.about(
                f"Dates are kept as text in {{columns}}, because {why}.", name, f"for example {shown(self.first)}"
            )
            return None
        words = order.replace("-", ", ")
        notes.about(f"Dates were read as {words} in {{columns}}.", name, f"for example {shown(self.first)}")
        return ColumnType("date", missing, unit=self._ordered[order].unit, order=order)

    def _missing_in_text(self, name: str, notes: Notes) -> set[str]:
        """Which of the doubtful texts mean missing in a column whose other values are text."""
        missing = {"?", "NA"} if self.rows else {"NA"}
        if self._codes is not None and len(self._codes) >= FEWEST_CODES:
            missing.discard("NA")
            if "NA" in self.special_rows and "NA" not in self._rules.missing:
                notes.about(
                    "'NA' is kept as a value, because the other values are two-letter codes too: {columns}.", name
                )
        if "None" in self.special_rows and "None" not in self._rules.missing:
            notes.about("'None' is kept as a category, not read as missing: {columns}.", name)
        return missing

    def _fits_beside_missing(self, found: ColumnType) -> bool:
        """Whether whole numbers stay exact in the float64 that holds missing values as well."""
        facts = {"none": self._plain, "thousands": self._grouped, "decimal": self._decimal}[found.commas]
        return facts is None or not self.has_missing(found.missing) or facts.is_exact(as_float=True)

    def _note_missing(self, missing: frozenset[str], name: str, notes: Notes) -> None:
        for text, rows in self.special_rows.items():
            if text and text in missing:
                notes.about(f"The text {shown(text)} was read as missing in {{columns}}.", name, counted(rows, "row"))
        if self.rows == 0 and all(text in missing for text in self.special_rows):
            notes.about("Without any value, kept as missing throughout: {columns}.", name)
        if self.trimmed:
            notes.about("Spaces around values were removed in {columns}.", name)

    def _note_mixture(self, missing: frozenset[str], name: str, notes: Notes) -> None:
        kept = sum(rows for text, rows in self.special_rows.items() if text not in missing)
        for typed, other, kind in (
            (self._number_rows, self._not_number, "numbers"),
            (self._date_rows, self._not_date, "dates"),
        ):
            if typed and other is not None:
                others = counted(self.rows - typed + kept, "row")
                detail = f"{others} with other text, for example {shown(other)}"
                notes.about(f"Kept as text, because not all values are {kind}: {{columns}}.", name, detail)
                return


def _numbers_and_dates(texts: pa.Array) -> tuple[Bools, Bools]:
    """Which texts are plain numbers, and which ones dates."""
    begins = matches(texts, numerals.FIRST_CHARACTER)
    numbers, dates = begins.copy(), begins.copy()
    likely = texts if begins.all() else texts.filter(pa.array(begins))
    numbers[begins] = numerals.plain_numbers(likely)
    dates[begins] = False if numbers[begins].all() else matches(likely, numerals.ISO_DATE)
    return numbers, dates


def _first(texts: pa.Array, wanted: Bools) -> str | None:
    """The first of the wanted texts."""
    text: str | None = texts[int(np.argmax(wanted))].as_py() if wanted.any() else None
    return text


def _number_type(
    facts: NumberFacts,
    commas: Literal["none", "thousands", "decimal"],
    missing: frozenset[str],
    name: str,
    notes: Notes,
) -> ColumnType | None:
    if facts.leading_zero is not None:
        example = f"for example {shown(facts.leading_zero)}"
        notes.about("Kept as text because of leading zeros: {columns}.", name, example)
        return None
    if not facts.is_exact(as_float=not facts.whole):
        too_big(name, notes)
        return None
    return ColumnType("whole" if facts.whole else "fraction", missing, commas)


def too_big(name: str, notes: Notes) -> None:
    """Note that a column stays text because its whole numbers would lose digits as numbers."""
    notes.about("Kept as text, because the whole numbers are too long to be held exactly: {columns}.", name)


def zone_dropped(name: str, notes: Notes) -> None:
    """Note that times with a zone are now UTC."""
    notes.about("Times with a time zone were turned into UTC in {columns}.", name)
