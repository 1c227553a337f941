"""Recodings that make a column coarse enough for the rule: the year of a date, three digits of a ZIP code, 90+."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any

import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.pandas_versions import TEXT
from anoncore.base.showing import clean
from anoncore.base.texts import is_missing, value_text
from anoncore.table.hierarchy import ROOT, Hierarchy
from anoncore.table.identifiers.allowed_values import first_three_digits, is_above_89, year_of
from anoncore.table.identifiers.kinds import FEW_PEOPLE, OLDEST_TOLD, Mend

NO_AREA = "000"
"""What stands in place of the first three digits of an area with few people."""
OLDEST = f"{OLDEST_TOLD + 1}+"
"""The group of all ages above 89."""


def mending_hierarchy(
    values: Iterable[Any], mend: Mend, few_people: Sequence[str] = FEW_PEOPLE, year: int | None = None
) -> Hierarchy:
    """Groups of values as coarse as the rule lets them stand, with `*` above.

    Parameters
    ----------
    values : iterable
        The values. Missing ones are passed over.
    mend : Mend
        `year`, `three digits`, `90+` or `oldest years`.
    few_people : sequence of str
        First three digits of ZIP codes that become 000.
    year : int, optional
        The year in which ages are counted from years of birth; by default the present one.

    Returns
    -------
    Hierarchy
        Level 1 is what may stand.

    Raises
    ------
    DataError
        Where a value cannot be recoded, or the mend is none that recodes.

    Examples
    --------
    >>> from anoncore.table.identifiers.kinds import Mend
    >>> from anoncore.table.identifiers.mends import mending_hierarchy
    >>> groups = mending_hierarchy([10115, 3601], Mend.THREE_DIGITS)
    >>> groups.path_of(10115), groups.path_of(3601)
    (('101', '*'), ('000', '*'))
    """
    different = {value for value in values if not is_missing(value)}
    label = _label(mend, frozenset(few_people), date.today().year if year is None else year)
    groups = {value: label(value) for value in different}
    without = sum(group is None for group in groups.values())
    if without:
        raise DataError(f"{without:,} values cannot be recoded to {mend.value}; drop the column, or mend them first.")
    return Hierarchy((value, (group, ROOT)) for value, group in groups.items() if group is not None)


def recoded(
    column: pd.Series[Any], mend: Mend, few_people: Sequence[str] = FEW_PEOPLE, year: int | None = None
) -> pd.Series[Any]:
    """A column as coarse as the rule lets it stand.

    Parameters
    ----------
    column : Series
        The column, one cell per row.
    mend : Mend
        `year`, `three digits`, `90+` or `oldest years`.
    few_people : sequence of str
        First three digits of ZIP codes that become 000.
    year : int, optional
        The year in which ages are counted from years of birth; by default the present one.

    Returns
    -------
    Series
        Texts, and missing cells where they were.

    Raises
    ------
    DataError
        Where a value cannot be recoded, or the mend is none that recodes.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore.table.identifiers.kinds import Mend
    >>> from anoncore.table.identifiers.mends import recoded
    >>> recoded(pd.Series([34, 90, 103]), Mend.NINETY).tolist()
    ['34', '90+', '90+']
    """
    try:
        groups = mending_hierarchy(column.dropna().unique(), mend, few_people, year)
    except DataError as error:
        raise DataError(f"'{clean(str(column.name))}': {error}") from None
    labels = {value: (groups.path_of(value) or ("",))[0] for value in column.dropna().unique()}
    return column.astype(object).map(labels, na_action="ignore").astype(TEXT)


def _label(mend: Mend, few_people: frozenset[str], year: int) -> Callable[[Any], str | None]:
    """The group of a value, or None where it has none."""
    oldest = year - OLDEST_TOLD
    if mend in (Mend.YEAR, Mend.OLDEST_YEARS):
        return lambda value: _year_label(value, oldest)
    if mend is Mend.THREE_DIGITS:
        return lambda value: _zip_label(value, few_people)
    if mend is Mend.NINETY:
        return _age_label
    raise DataError(f"'{mend.value}' recodes no values; use year, three digits, 90+ or oldest years.")


def _year_label(value: Any, oldest: int) -> str | None:
    year = year_of(value)
    if year is None:
        return None
    return f"{oldest - 1} or earlier" if year < oldest else str(year)


def _zip_label(value: Any, few_people: frozenset[str]) -> str | None:
    digits = first_three_digits(value_text(value).strip(), not isinstance(value, str))
    return NO_AREA if digits in few_people else digits


def _age_label(value: Any) -> str:
    text = value_text(value)
    return OLDEST if is_above_89(text.strip()) else text
