"""Published tables as the parts of a release of the table that they were made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import listing, share_text
from anoncore.kernels.arrays import Codes, Int64, record
from anoncore.kernels.grouping import distinct
from anoncore.release.partition import Partition, own_numbers
from anoncore.release.reading.alignment import Alignment, align, differing
from anoncore.release.reading.joined_alignment import JoinedTable, align_joined
from anoncore.release.reading.published_frames import PublishedFrame
from anoncore.release.reading.read_columns import ReadColumn, is_guarded, read_column
from anoncore.release.recoding import ColumnRegions, Distorted, Exact, GroupValues, Recoding
from anoncore.sources.inference import DOUBTFUL, MISSING
from anoncore.table.domain import Domain
from anoncore.table.microdata import Microdata
from anoncore.table.part import rows_of

WRITTEN = frozenset((*MISSING, *DOUBTFUL))
"""Texts that readers of files take for missing cells."""
MOST_READINGS = 8
"""Ways to read ambiguous columns that are tried."""


@record
class OpenedTable:
    """A fragment in parts: its name, its groups, and how each attribute is published."""

    name: str
    partition: Partition
    recodings: Mapping[str, Recoding]


@record
class Opened:
    """A release in parts, as `Release` has them."""

    data: Microdata
    tables: tuple[OpenedTable, ...]
    notes: tuple[str, ...]
    suppressed_group: int | None


@record
class ReadTable:
    """A table whose columns were read: `group` int64 (n_lines,) says which lines are joined, where tables are."""

    name: str
    columns: Mapping[str, ReadColumn]
    group: Int64 | None
    n_lines: int


def opened_with_original(
    frames: Sequence[PublishedFrame], original: Microdata, missing_is_value: bool | None
) -> Opened:
    """The release of tables that were made of `original`: rows keep the original's order."""
    notes = []
    key = _key(frames, original)
    for frame in frames:
        check_columns(frame, original)
        _check_rows(frame, original)
    tables, aligned = _best_reading(frames, original, key, missing_is_value)
    data, kept = original, np.arange(original.n_rows)
    if (aligned[0].line < 0).any():
        kept = np.flatnonzero(aligned[0].line >= 0)
        data = rows_of(original, kept)
        notes.append(
            f"{original.n_rows - len(kept):,} of {original.n_rows:,} rows of the original are not in the release. What "
            "is measured is said of the others."
        )
    notes += _alignment_notes(tables, aligned, key, data.n_rows)
    notes += [note for table in tables for column in table.columns.values() for note in column.notes]
    opened: list[OpenedTable] = []
    for table, one in zip(tables, aligned, strict=True):
        opened.append(opened_table(table, one.line[kept], data, opened, one.is_found))
    return Opened(
        data, tuple(opened), tuple(dict.fromkeys(notes)), suppressed_group(tables, opened, aligned[0].line[kept], data)
    )


def check_columns(frame: PublishedFrame, original: Microdata) -> None:
    """Raise DataError for a column that the original lacks, and for a table without any attribute."""
    unknown = [name for name in frame.columns if name not in original.domain and name not in original.identifiers]
    if unknown:
        raise DataError(
            f"The table '{frame.name}' has the columns {listing(unknown)}, which the original lacks; it has "
            f"{listing(original.attributes, 30)}. Drop them, or rename them as the original calls them."
        )
    if not any(name in original.domain for name in frame.columns):
        raise DataError(f"The table '{frame.name}' has no attribute of the original.")


def _check_rows(frame: PublishedFrame, original: Microdata) -> None:
    if frame.n_rows > original.n_rows:
        raise DataError(
            f"The table '{frame.name}' has {frame.n_rows:,} rows, more than the {original.n_rows:,} of the original, "
            "so it was not made of it row by row; leave the original out to judge what the table shows by itself, or "
            'say rows="synthetic" for a table whose rows are nobody\'s.'
        )


def _key(frames: Sequence[PublishedFrame], original: Microdata) -> str | None:
    """The identifier by which rows are found, which every table has, with different values as in the original."""
    for name in original.identifiers:
        columns = [frame.columns[name] for frame in frames if name in frame.columns]
        own = original.given.frame_of([name])[name]
        fits = [column.is_unique and column.notna().all() and column.isin(own).all() for column in columns]
        if len(fits) == len(frames) and all(fits) and own.is_unique:
            return name
    return None


def _best_reading(
    frames: Sequence[PublishedFrame], original: Microdata, key: str | None, missing_is_value: bool | None
) -> tuple[list[ReadTable], list[Alignment]]:
    """The first reading in which every line allows the values of its row, as some texts may be a value as well as a
    region; where there is none, the likeliest reading.
    """
    first: tuple[list[ReadTable], list[Alignment]] | None = None
    for tables in _readings(frames, original, missing_is_value):
        aligned = _aligned(tables, frames, original, key)
        if not any(one.n_changed for one in aligned):
            return tables, aligned
        first = first or (tables, aligned)
    if first is None:
        raise DataError("There is no table to read.")
    return first


def _readings(
    frames: Sequence[PublishedFrame], original: Microdata, missing_is_value: bool | None
) -> Iterator[list[ReadTable]]:
    """The tables with their columns read in all ways, the likeliest first. Raises DataError where there is none."""
    ways: dict[tuple[int, str], list[ReadColumn]] = {}
    for number, frame in enumerate(frames):
        for name in frame.columns:
            if name in original.domain:
                ways[number, name] = _ways(frame, name, original, missing_is_value)
    doubtful = [place for place, columns in ways.items() if len(columns) > 1]
    for tried, choice in enumerate(product(*(ways[place] for place in doubtful))):
        if tried == MOST_READINGS:
            return
        chosen = {place: columns[0] for place, columns in ways.items()} | dict(zip(doubtful, choice, strict=True))
        yield [
            ReadTable(
                frame.name,
                {name: chosen[number, name] for name in frame.columns if (number, name) in chosen},
                frame.group,
                frame.n_rows,
            )
            for number, frame in enumerate(frames)
        ]


def _ways(frame: PublishedFrame, name: str, original: Microdata, missing_is_value: bool | None) -> list[ReadColumn]:
    """A column read with plain values first, then with regions first, and both again without the apostrophes by which
    spreadsheets are kept from running texts; only where that is something else.
    """
    domain, series = original.domain[name], frame.columns[name]
    counts = np.bincount(original.codes[name], minlength=len(domain))
    is_known = name in original.quasi_identifiers
    missing_codes = _missing_codes(series, domain, counts, is_known, missing_is_value)
    found: list[ReadColumn] = []
    fault: DataError | None = None
    guarded = any(map(is_guarded, series))
    unguarded = series.map(lambda cell: cell[1:] if is_guarded(cell) else cell) if guarded else None
    for cells, regions_first in product((series, unguarded), (False, True)):
        if cells is None:
            continue
        try:
            read = read_column(
                frame.name,
                name,
                cells,
                domain,
                original.hierarchies.get(name),
                counts if frame.n_rows == original.n_rows else None,
                regions_first=regions_first,
                missing_codes=missing_codes,
            )
        except DataError as error:
            fault = fault or error
            continue
        if not any(read.same_as(one) for one in found):
            found.append(read)
    if not found:
        raise fault or DataError(f"Column '{name}' cannot be read.")
    return found


def _missing_codes(
    series: pd.Series[Any], domain: Domain, counts: Int64, is_known: bool, missing_is_value: bool | None
) -> tuple[int, ...]:
    """The codes that missing cells of a column stand for; none where they were suppressed.

    What is known of people was suppressed where more cells are missing than in the original. Values such as "" and
    "NaN" are missing too in what was read from a text file.
    """
    n_missing = int(series.isna().sum())
    own = () if domain.missing_code is None else (domain.missing_code,)
    if missing_is_value is False or not n_missing:
        return ()
    n_own = sum(int(counts[code]) for code in own)
    written = tuple(code for code, value in enumerate(domain.values) if isinstance(value, str) and value in WRITTEN)
    n_written = sum(int(counts[code]) for code in written)
    if n_missing > n_own and written and n_missing <= n_own + n_written:
        return (*written, *own)
    return own if missing_is_value or not is_known or n_missing <= n_own else ()


def _aligned(
    tables: Sequence[ReadTable], frames: Sequence[PublishedFrame], original: Microdata, key: str | None
) -> list[Alignment]:
    if key is not None:
        own = original.given.frame_of([key])[key]
        found = []
        for table, frame in zip(tables, frames, strict=True):
            line = pd.Index(frame.columns[key]).get_indexer(pd.Index(own)).astype(np.int64)
            found.append(Alignment(line, 0, int(differing(table.columns, original.codes, line).sum())))
    elif len(tables) > 1 and tables[0].group is not None:
        joined = [JoinedTable(table.columns, table.group) for table in tables if table.group is not None]
        _check_complete(tables, original)
        found = align_joined(joined, original.codes, original.n_rows, original.quasi_identifiers)
    else:
        if len(tables) > 1:
            _check_complete(tables, original)
        found = [align(table.columns, original.codes, original.quasi_identifiers) for table in tables]
    left_out = {tuple(np.flatnonzero(one.line < 0).tolist()) for one in found}
    if len(left_out) > 1:
        raise DataError("The tables lack different rows of the original, so they are no release of it together.")
    return found


def _check_complete(tables: Sequence[ReadTable], original: Microdata) -> None:
    for table in tables:
        if table.n_lines != original.n_rows:
            raise DataError(
                f"The table '{table.name}' has {table.n_lines:,} rows and the original {original.n_rows:,}. Which rows "
                "several tables leave out cannot be told without a key; leave them out of the original too."
            )


def _alignment_notes(
    tables: Sequence[ReadTable], aligned: Sequence[Alignment], key: str | None, n_rows: int
) -> list[str]:
    notes = []
    if key is not None:
        notes.append(
            f"The tables hold the identifier '{key}', by which rows of the original were found. It names people; it is "
            "left out of everything that is measured."
        )
    if not all(one.is_found for one in aligned):
        n_changed = max(one.n_changed for one in aligned)
        notes.append(
            f"For {n_changed:,} of {n_rows:,} rows ({share_text(n_changed / n_rows)}) it could not be worked out which "
            "group they are in, as too many rows fit too many groups; they stand in one that lacks a value of theirs. "
            "Groups and what is published in them are right; beliefs about these people are those of others."
        )
    for number, (table, one) in enumerate(zip(tables, aligned, strict=True)):
        is_joined = table.group is not None
        where = f" of the table '{table.name}'" if len(tables) > 1 and not is_joined else ""
        if one.n_several and not (is_joined and number):
            notes.append(
                f"{one.n_several:,} of {n_rows:,} rows ({share_text(one.n_several / n_rows)}) fit several groups{where}"
                "; they were assigned so that every group gets its rows. Another assignment is possible, in which "
                "single people are in other groups."
            )
        if one.n_changed and one.is_found:
            where = f" of the table '{table.name}'" if len(tables) > 1 else ""
            notes.append(
                f"{one.n_changed:,} of {n_rows:,} rows{where} differ from the original in a cell that should allow "
                "their value; such values count as changed, and rows were assigned so that few are."
            )
    return notes


def opened_table(
    table: ReadTable, line: Int64, data: Microdata, before: Sequence[OpenedTable], tells_changes: bool = True
) -> OpenedTable:
    """The fragment of a table whose lines are rows of `data`, in their order.

    Without `tells_changes` single values that differ from those of the rows do not count as changed.
    """
    if table.group is not None:
        partition = (
            before[0].partition if before else Partition(pd.factorize(table.group[line], sort=True)[0].astype(np.int32))
        )
    else:
        known = [
            column.cell[line]
            for name, column in table.columns.items()
            if name in data.quasi_identifiers or column.are_sets
        ]
        alike = Partition.alike(known) if known else Partition(np.zeros(len(line), np.int32))
        partition = own_numbers(alike, before[0].partition) if before else alike
    recodings = {
        name: _recoding(column, column.cell[line], partition, data, tells_changes)
        for name, column in table.columns.items()
    }
    return OpenedTable(table.name, partition, recodings)


def _recoding(column: ReadColumn, cell: Codes, partition: Partition, data: Microdata, tells_changes: bool) -> Recoding:
    domain, name = column.domain, column.domain.name
    if column.is_exact:
        codes = column.low[cell]
        if not tells_changes or np.array_equal(codes, data.codes[name]):
            return Exact(domain, partition, codes)
        return Distorted(domain, partition, codes, data.codes[name])
    first = cell[partition.first_rows]
    is_shared = bool((first[partition.group] == cell).all())
    if column.are_sets and is_shared and name not in data.quasi_identifiers:
        offsets, members = column.member_lists(first)
        if (np.diff(offsets) <= partition.sizes).all():
            original = data.codes[name] if tells_changes else None
            return GroupValues(domain, partition, offsets, members, original)
    if is_shared:
        return column.regions(partition, first)
    present, number = np.unique(cell, return_inverse=True)
    classes = column.regions(Partition(number.astype(np.int32)), present.astype(np.int32))
    return ColumnRegions(domain, partition, classes)


def suppressed_group(
    tables: Sequence[ReadTable], opened: Sequence[OpenedTable], line: Int64, data: Microdata
) -> int | None:
    """The group whose quasi-identifiers were all suppressed, where a single table has one."""
    columns = [column for name, column in tables[0].columns.items() if name in data.quasi_identifiers]
    if len(tables) > 1 or not columns:
        return None
    nothing = np.array([column.says_nothing[column.cell[line]] for column in columns]).all(axis=0)
    groups = distinct(opened[0].partition.group[nothing])
    return int(groups[0]) if len(groups) == 1 else None
