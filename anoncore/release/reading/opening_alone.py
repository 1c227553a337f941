"""Published tables as the parts of a release of a table that is not given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes, Int64
from anoncore.release.reading.mentioned_values import domain_of
from anoncore.release.reading.opening import Opened, OpenedTable, ReadTable, opened_table, suppressed_group
from anoncore.release.reading.published_frames import PublishedFrame, is_joining
from anoncore.release.reading.published_values import ASSUMED, PublishedValues
from anoncore.release.reading.read_columns import read_column
from anoncore.release.reading.region_texts import set_parts
from anoncore.release.reading.tags import Tags
from anoncore.release.reading.unknown_widths import uncounted_cells, unknown_widths
from anoncore.table.domain import Domain, Kind
from anoncore.table.given_table import given_table
from anoncore.table.microdata import Role


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
