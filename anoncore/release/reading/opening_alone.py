"""Published tables as the parts of a release of a table that is not given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import MISSING_TEXT, listing, quoted
from anoncore.kernels.arrays import Bools, Codes, Int64
from anoncore.release.reading.mentioned_values import domain_of, number_in
from anoncore.release.reading.opening import Opened, OpenedTable, ReadTable, opened_table, suppressed_group
from anoncore.release.reading.published_frames import PublishedFrame, is_joining
from anoncore.release.reading.published_values import ASSUMED, PublishedValues
from anoncore.release.reading.read_columns import CellReader, ReadColumn, read_column
from anoncore.release.reading.region_texts import Masked, OneOf, Region, Span, regions_in, set_parts
from anoncore.release.reading.tags import Tags
from anoncore.table.domain import Domain, Kind
from anoncore.table.given_table import given_table
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
        return np.array([doubtful[cell.codes].any() for cell in column.cells], np.bool_)
    if is_stated:
        return np.zeros(len(column.cells), np.bool_)
    if domain.tree is not None:
        # All values are those of the hierarchy, but for missing ones.
        return column.says_nothing & (missing_is_value and not domain.has_missing)
    if domain.kind is Kind.NUMERIC:
        unlisted = [region is not None and not _lists_numbers(region) for region in column.read_as]
        return column.says_nothing | np.array(unlisted, np.bool_)
    reader = CellReader(domain, None, regions_first=True)
    several = [
        bool(low == high) and any(_may_be_several(reader, region) for region in regions_in(text))
        for text, low, high in zip(column.texts, column.low, column.high, strict=True)
    ]
    return column.says_nothing | np.array(several, np.bool_)


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


def opened_alone(frames: Sequence[PublishedFrame], tags: Tags, missing_is_value: bool | None) -> Opened:
    """The release of tables whose original is not given: rows are the lines of each table, and of joined tables those
    of one group stand side by side.
    """
    names = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    given = {**tags.roles, **tags.kinds, **tags.orders, **tags.hierarchies, **tags.values}
    unknown = [name for name in given if name not in names]
    if unknown:
        raise DataError(f"No published table has the columns {listing(unknown)}; there is {listing(names, 30)}.")
    lengths = {frame.n_rows for frame in frames}
    if len(lengths) > 1:
        sizes = ", ".join(f"{frame.n_rows:,} in '{frame.name}'" for frame in frames)
        raise DataError(f"The tables have different numbers of rows, {sizes}; all of them publish the same people.")
    roles = {name: tags.roles.get(name, Role.INSENSITIVE) for name in names}
    attributes = [name for name in names if roles[name] is not Role.IDENTIFIER]
    if not attributes:
        raise DataError("The tables publish nothing but identifiers.")
    domains = {name: _domain(name, frames, tags, roles[name], missing_is_value) for name in attributes}
    tables = [_read(frame, domains, tags, roles, missing_is_value) for frame in frames]
    line = [_by_group(table) for table in tables]
    counted: dict[str, Codes] = {}
    for table, lines in zip(tables, line, strict=True):
        for name, column in table.columns.items():
            if column.is_exact and name not in counted:
                counted[name] = column.low[column.cell[lines]]
    frame = pd.DataFrame(dict(frames[0].columns)) if frames[0].columns else pd.DataFrame(index=range(frames[0].n_rows))
    data = PublishedValues(
        given_table(frame.iloc[line[0]]),
        roles,
        domains,
        counted,
        tags.hierarchies,
        tags.sensitive_values,
        unknown_widths(tables, roles, missing_is_value, tags.values),
        {
            (table.name, name): uncounted_cells(column, missing_is_value is True, name in tags.values)[
                column.cell[lines]
            ]
            for table, lines in zip(tables, line, strict=True)
            for name, column in table.columns.items()
        },
        [name for name in names if name not in tags.roles],
    )
    opened: list[OpenedTable] = []
    for table, lines in zip(tables, line, strict=True):
        opened.append(opened_table(table, lines, data, opened, tells_changes=False))
    return Opened(
        data, tuple(opened), _notes(names, roles, tables, tags), suppressed_group(tables, opened, line[0], data)
    )


def _notes(names: Sequence[str], roles: Mapping[str, Role], tables: Sequence[ReadTable], tags: Tags) -> tuple[str, ...]:
    notes = ["The original is not given: what is measured is what the published tables show by themselves. " + ASSUMED]
    identifiers = [name for name in names if roles[name] is Role.IDENTIFIER]
    joining = [name for name in names if roles[name] is Role.INSENSITIVE and is_joining(name)]
    if len(tables) == 1 and joining:
        notes.append(
            f"'{joining[0]}' is called like a column that joins several tables of one release. If there are others, "
            "what they tell of these people is in none of the numbers; give all of them together."
        )
    if identifiers:
        notes.append(f"The tables publish {listing(identifiers)}, which names people; it is left out of all numbers.")
    plain = [
        name
        for table in tables
        for name, column in table.columns.items()
        if roles[name] is Role.QUASI_IDENTIFIER
        and name not in tags.hierarchies
        and column.domain.kind is not Kind.NUMERIC
        and (column.low == column.high).all()
    ]
    if plain:
        notes.append(
            f"Every cell of {listing(list(dict.fromkeys(plain)))} was read as one value. Where cells are groups of "
            "values, give the hierarchy, so that what they lose counts."
        )
    return tuple(notes)


def _columns(name: str, frames: Sequence[PublishedFrame]) -> list[pd.Series[Any]]:
    return [frame.columns[name] for frame in frames if name in frame.columns]


def _are_sets(columns: Sequence[pd.Series[Any]]) -> bool:
    """Whether all cells of an attribute that nobody knows are sets in braces."""
    cells = [cell for column in columns for cell in column.unique()]
    return all(isinstance(cell, str) and set_parts(cell.strip()) is not None for cell in cells)


def _missing_is_value(role: Role, missing_is_value: bool | None) -> bool:
    """Whether a missing cell is a value: what may be known of people was suppressed, unless the caller knows better."""
    return role is not Role.QUASI_IDENTIFIER if missing_is_value is None else missing_is_value


def _missing_codes(domain: Domain, role: Role, missing_is_value: bool | None) -> tuple[int, ...]:
    is_value = _missing_is_value(role, missing_is_value) and domain.missing_code is not None
    return (len(domain) - 1,) if is_value else ()


def _domain(
    name: str, frames: Sequence[PublishedFrame], tags: Tags, role: Role, missing_is_value: bool | None
) -> Domain:
    columns = _columns(name, frames)
    return domain_of(
        name,
        columns,
        role is Role.QUASI_IDENTIFIER or _are_sets(columns),
        _missing_is_value(role, missing_is_value),
        tags.kinds.get(name),
        tags.orders.get(name),
        tags.hierarchies.get(name),
        tags.values.get(name),
    )


def _read(
    frame: PublishedFrame,
    domains: Mapping[str, Domain],
    tags: Tags,
    roles: Mapping[str, Role],
    missing_is_value: bool | None,
) -> ReadTable:
    columns = {
        name: read_column(
            frame.name,
            name,
            series,
            domains[name],
            tags.hierarchies.get(name),
            None,
            regions_first=False,
            missing_codes=_missing_codes(domains[name], roles[name], missing_is_value),
        )
        for name, series in frame.columns.items()
        if name in domains
    }
    if not columns:
        raise DataError(f"The table '{frame.name}' publishes nothing but identifiers; leave it out.")
    return ReadTable(frame.name, columns, frame.group, frame.n_rows)


def _by_group(table: ReadTable) -> Int64:
    """The lines of a table, those of one group side by side where tables are joined."""
    if table.group is None:
        return np.arange(table.n_lines, dtype=np.int64)
    return np.argsort(table.group, kind="stable").astype(np.int64)
