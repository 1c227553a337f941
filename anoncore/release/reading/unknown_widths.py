"""What published cells do not tell where the table that they were made of is not given: what share of its domain a
cell covers, and how many values it allows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from anoncore.base.texts import MISSING_TEXT, quoted
from anoncore.kernels.arrays import Bools
from anoncore.release.reading.mentioned_values import number_in
from anoncore.release.reading.opening import ReadTable
from anoncore.release.reading.read_columns import CellReader, ReadColumn
from anoncore.release.reading.region_texts import Masked, OneOf, Region, Span, regions_in
from anoncore.table.domain import Kind
from anoncore.table.microdata import Role

CHANGED = "every cell of what may be known is a single value, and values that were changed look like true ones"


def unknown_widths(
    tables: Sequence[ReadTable], roles: Mapping[str, Role], missing_is_value: bool | None, stated: Collection[str]
) -> dict[str, str]:
    """The attributes whose cells do not tell what share of the domain they cover, each with the reason as half a
    sentence. Of those that are `stated` all values are known.

    A reason is given wherever two originals with the same published cells, none of whose single values was changed,
    would have different domains; and where a single table has nothing but single values, so that some may well be.
    """
    columns = [column for table in tables for column in table.columns.values()]
    known = [column for column in columns if roles[column.domain.name] is Role.QUASI_IDENTIFIER]
    found: dict[str, str] = {}
    if len(tables) == 1 and all(column.is_exact and not column.says_nothing.any() for column in known):
        found = {column.domain.name: CHANGED for column in known}
    for column in columns:
        why = _two_missing(column) or (
            "" if column.domain.name in stated else _reason(column, missing_is_value is True)
        )
        if why:
            found[column.domain.name] = why
    return found


def _two_missing(column: ReadColumn) -> str:
    """Why a missing cell cannot be told from a value; an empty text where it can."""
    domain = column.domain
    if domain.has_missing and domain.texts.tolist().count(MISSING_TEXT) > 1:
        return f"'{domain.name}' has a value called {quoted(MISSING_TEXT)}, which a missing cell is called too"
    return ""


def _reason(column: ReadColumn, missing_is_value: bool) -> str:
    """Why the cells of a column do not tell the domain; an empty text where they do."""
    domain, name = column.domain, column.domain.name
    if domain.tree is not None:
        if column.says_nothing.any() and missing_is_value and not domain.has_missing:
            return f"cells of '{name}' that allow everything may also hide missing values, which no other cell shows"
        return ""
    if column.says_nothing.any():
        return f"some cells of '{name}' allow everything, and values may be hidden there that no other cell shows"
    if domain.kind is not Kind.NUMERIC:
        return _reason_of_categories(name, column)
    for text, region in zip(column.texts, column.read_as, strict=True):
        if isinstance(region, Span) and _has_no_last_number(region):
            return f"cells of '{name}' such as {quoted(text)} do not say at which number they end"
    is_range = column.low < column.high
    if domain.has_missing and is_range.any() and column.form == "interval":
        # Missing lies one mean step above the largest number.
        return f"'{name}' has missing cells, which count by the number of its values, and ranges do not tell it"
    if column.form == "set" and any(
        cell.members is None for cell, wide in zip(column.cells, is_range, strict=True) if wide
    ):
        return f"some cells of '{name}' are sets and others are ranges, which do not tell how many values they hold"
    return ""


def _reason_of_categories(name: str, column: ReadColumn) -> str:
    reader = CellReader(column.domain, None, regions_first=True)
    for text, low, high in zip(column.texts, column.low.tolist(), column.high.tolist(), strict=True):
        if low == high and any(_may_be_several(reader, region) for region in regions_in(text)):
            return f"cells of '{name}' such as {quoted(text)} may stand for several values, which no other cell lists"
    return ""


def _may_be_several(reader: CellReader, region: Region) -> bool:
    """Whether a text that was taken for one category may as well be the name of several."""
    if isinstance(region, Masked):
        return True
    if isinstance(region, Span):
        return all(end is not None and reader.value(end) is not None for end in (region.low, region.high))
    found = reader.region(region)
    return found is not None and found.low < found.high


def _has_no_last_number(span: Span) -> bool:
    """Whether a range goes on without an end, or up to a number that is not in it and has no next one."""
    ends = ((span.low, span.low_open), (span.high, span.high_open))
    if any(end is None for end, _ in ends):
        return True
    whole = all(isinstance(number_in(end), int) for end, _ in ends if end is not None)
    return not whole and any(is_open for _, is_open in ends)


def uncounted_cells(column: ReadColumn, missing_is_value: bool, is_stated: bool) -> Bools:
    """Whether each cell of a column leaves open how many values of the original it allows, bool (n_cells,).

    Of an attribute with `is_stated` all values are known. A range of numbers tells how wide it is, and not how many
    numbers of the original lie in it.
    """
    domain = column.domain
    if _two_missing(column):
        doubtful = domain.texts == MISSING_TEXT
        return np.array([doubtful[cell.codes].any() for cell in column.cells], dtype=np.bool_)
    if is_stated:
        return np.zeros(len(column.cells), dtype=np.bool_)
    if domain.tree is not None:
        # All values are those of the hierarchy, but for missing ones.
        return column.says_nothing & (missing_is_value and not domain.has_missing)
    if domain.kind is Kind.NUMERIC:
        unlisted = [region is not None and not _lists_numbers(region) for region in column.read_as]
        return column.says_nothing | np.array(unlisted, dtype=np.bool_)
    reader = CellReader(domain, None, regions_first=True)
    several = [
        bool(low == high) and any(_may_be_several(reader, region) for region in regions_in(text))
        for text, low, high in zip(column.texts, column.low, column.high, strict=True)
    ]
    return column.says_nothing | np.array(several, dtype=np.bool_)


def _lists_numbers(region: Region) -> bool:
    """Whether a region names every number that it allows."""
    if isinstance(region, OneOf):
        return all(map(_is_one_number, region.values))
    if not isinstance(region, Span) or region.low_open or region.high_open:
        return False
    ends = [None if end is None else number_in(end) for end in (region.low, region.high)]
    return ends[0] is not None and ends[0] == ends[1]


def _is_one_number(value: Any) -> bool:
    return not isinstance(value, str) or value == MISSING_TEXT or number_in(value) is not None
