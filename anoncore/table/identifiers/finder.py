"""Which columns of a table hold identifiers of HIPAA's safe harbor, by their names and their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from math import nan
from typing import Any

from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.table.column_words import NUMBER_WORDS, QUANTITIES
from anoncore.table.given_table import as_pandas
from anoncore.table.identifiers.by_values import seen_in
from anoncore.table.identifiers.column_values import ColumnValues
from anoncore.table.identifiers.dates_and_places import date_finding, may_stand_coarse, place_finding
from anoncore.table.identifiers.findings import IdentifierFinding, IdentifiersFound
from anoncore.table.identifiers.kinds import FEW_PEOPLE, MENDS
from anoncore.table.identifiers.named import named_kind
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
