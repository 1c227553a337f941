"""The values that published cells mention, from which the domain of an attribute is made without the original."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import MISSING_TEXT, is_missing, value_text
from anoncore.release.reading.published_table import MOMENT, NUMBER
from anoncore.release.reading.region_texts import Everything, OneOf, Span, regions_in, set_parts
from anoncore.table.coding import encode, guess_kind
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import Hierarchy


def domain_of(
    name: str,
    columns: Sequence[pd.Series[Any]],
    has_regions: bool,
    missing_is_value: bool,
    kind: Kind | None,
    order: Sequence[Any] | None,
    hierarchy: Hierarchy | None,
    stated: Collection[Any] | None,
) -> Domain:
    """The domain of an attribute from its cells in all tables, or from all its values where these are stated.

    Parameters
    ----------
    name : str
        Name of the attribute.
    columns : sequence of Series
        Its column in every table that has it.
    has_regions : bool
        Whether cells may be regions; otherwise every cell is a value.
    missing_is_value : bool
        Whether a missing cell is a value of its own; otherwise it was suppressed.
    kind, order, hierarchy
        What is known of the attribute, as for `Microdata`; with a hierarchy its values are the domain.
    stated : collection, optional
        All values that it has in the original, with a missing one where it may be missing.

    Returns
    -------
    Domain
        The values, with the missing one where a cell is missing or names it, and where it is stated.

    Raises
    ------
    DataError
        If no value is stated, or an attribute that is tagged numeric has cells that are no numbers.
    """
    together = pd.concat([column.reset_index(drop=True) for column in columns], ignore_index=True)
    some_missing = missing_is_value and bool(together.isna().any())
    known = together[together.notna()]
    if stated is not None:
        return _stated_domain(name, stated, some_missing, kind, order, hierarchy)
    is_typed = not pd.api.types.is_object_dtype(known.dtype) and not pd.api.types.is_string_dtype(known.dtype)
    if hierarchy is not None:
        values: list[Any] = list(hierarchy.leaves if order is None else order)
        if kind is Kind.NUMERIC:
            # A hierarchy may also list what the table does not have.
            values = [value for value in values if not isinstance(value, str | bool)]
        some_missing |= _names_missing(known)
        kind = kind or _kind_of(values)
        return _encoded(name, values, some_missing, kind, order if kind is not Kind.NUMERIC else None, hierarchy)
    if not has_regions or is_typed:
        column = together if some_missing or not together.isna().any() else known
        return encode(column, name, kind, order, None)[1] if len(column) else _encoded(name, [], True, kind, None, None)
    distinct = list(dict.fromkeys(known))
    numbers = mentioned_numbers(distinct) if kind in (None, Kind.NUMERIC) else None
    if numbers is not None and (numbers or kind is Kind.NUMERIC):
        return _encoded(name, numbers, some_missing | _names_missing(known), Kind.NUMERIC, None, None)
    if kind is Kind.NUMERIC:
        raise DataError(f"'{name}' is tagged numeric, but not all of its cells are numbers or ranges of them.")
    values = mentioned_values(distinct)
    if order is not None:
        values = _by_text(values, order)
    return _encoded(name, values, some_missing | _names_missing(known), kind or Kind.NOMINAL, order, None)


def _stated_domain(
    name: str,
    stated: Collection[Any],
    some_missing: bool,
    kind: Kind | None,
    order: Sequence[Any] | None,
    hierarchy: Hierarchy | None,
) -> Domain:
    """The domain of a table that has these values, each of them."""
    if not len(stated):
        raise DataError(f"values lists nothing for '{name}'; list all that it has, or leave it out.")
    values = [value for value in stated if not is_missing(value)]
    if not values:
        return _encoded(name, [], True, kind, None, None)
    kind = kind or _kind_of(values)
    some_missing |= len(values) < len(stated)
    return _encoded(name, values, some_missing, kind, order if kind is not Kind.NUMERIC else None, hierarchy)


def _by_text(values: Sequence[Any], order: Sequence[Any]) -> list[Any]:
    """The values, each replaced by the value of the order that has the same text, where there is one."""
    of_text = {value_text(value): value for value in order if not is_missing(value)}
    return [of_text.get(value_text(value), value) for value in values]


def _kind_of(values: Sequence[Any]) -> Kind:
    return guess_kind(pd.Series(values))


def _encoded(
    name: str,
    values: Sequence[Any],
    has_missing: bool,
    kind: Kind | None,
    order: Sequence[Any] | None,
    hierarchy: Hierarchy | None,
) -> Domain:
    given = [*values, None] if has_missing or not values else list(values)
    column = pd.Series(given, dtype=object)
    if kind is Kind.NUMERIC:
        column = pd.Series(given) if not has_missing else pd.Series(values).reindex(range(len(given)))
    return encode(column, name, kind, order, hierarchy)[1]


def _names_missing(cells: Iterable[Any]) -> bool:
    """Whether a cell says that a value may be missing, by the text that stands for it."""
    for cell in set(filter(lambda one: isinstance(one, str) and MISSING_TEXT in one, cells)):
        if cell == MISSING_TEXT or cell.endswith(f" or {MISSING_TEXT}"):
            return True
        if MISSING_TEXT in (set_parts(cell) or ()):
            return True
    return False


def mentioned_numbers(cells: Iterable[Any]) -> list[Any] | None:
    """The numbers or dates that cells mention, as values or as ends of ranges; None where some cell has none."""
    found: dict[Any, None] = {}
    for cell in cells:
        numbers = _numbers_in(cell)
        if numbers is None:
            return None
        found.update(dict.fromkeys(numbers))
    kinds = {isinstance(number, pd.Timestamp) for number in found}
    return list(found) if len(kinds) < 2 else None


def _numbers_in(cell: Any) -> list[Any] | None:
    if not isinstance(cell, str | pd.Interval | frozenset | set | list | tuple):
        return [cell] if isinstance(cell, int | float) and not isinstance(cell, bool) else None
    if cell == MISSING_TEXT:
        return []
    number = number_in(cell) if isinstance(cell, str) else None
    if isinstance(cell, str) and number is not None:
        # A text that is written in another way than its number, such as 007, is a label.
        return [number] if value_text(number) == cell.strip() or isinstance(number, pd.Timestamp) else None
    for region in regions_in(cell):
        if isinstance(region, Everything):
            return []
        if isinstance(region, Span):
            ends = _ends(region)
        elif isinstance(region, OneOf):
            each = [_numbers_in(one) for one in region.values]
            ends = None if None in each else [number for one in each for number in one or ()]
        else:
            continue
        if ends is not None:
            return ends
    return None


def _ends(span: Span) -> list[Any] | None:
    """The smallest and largest number of a range. Whole numbers end before an open end, others at it."""
    low, high = (None if end is None else number_in(end) for end in (span.low, span.high))
    if (low is None) != (span.low is None) or (high is None) != (span.high is None):
        return None
    if isinstance(low, pd.Timestamp) != isinstance(high, pd.Timestamp) and None not in (low, high):
        return None
    whole = all(isinstance(end, int) or end is None for end in (low, high))
    if whole:
        low = low + 1 if low is not None and span.low_open else low
        high = high - 1 if high is not None and span.high_open else high
    if low is not None and high is not None and low > high:
        return None
    return [end for end in (low, high) if end is not None]


def number_in(text: str) -> Any:
    """The number or date that a text is; None where it is none."""
    text = text.strip()
    found = NUMBER.fullmatch(text)
    if found is not None:
        return int(text) if not found[1] and not found[2] else float(text)
    if MOMENT.fullmatch(text):
        try:
            return pd.Timestamp(text)
        except ValueError:
            return None
    return None


def mentioned_values(cells: Iterable[Any]) -> list[Any]:
    """The categories that cells mention: members of sets in braces or between bars, and all other cells themselves."""
    found: dict[Any, None] = {}
    for cell in cells:
        if isinstance(cell, frozenset | set | list | tuple):
            found.update(dict.fromkeys(cell))
            continue
        if not isinstance(cell, str):
            found[cell] = None
            continue
        text = cell.strip()
        if isinstance(next(regions_in(cell), None), Everything) or cell == MISSING_TEXT:
            continue
        parts = set_parts(text) or ([part.strip() for part in text.split("|")] if "|" in text else [cell])
        found.update(dict.fromkeys(part for part in parts if part != MISSING_TEXT))
    return [value for value in found if not is_missing(value)]
