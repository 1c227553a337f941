"""Published tables whose rows are nobody's, in the codes of the table that they are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import is_missing, listing, quoted, value_text
from anoncore.kernels.arrays import Int64
from anoncore.release.reading.mentioned_values import mentioned_numbers
from anoncore.release.reading.opening import Opened, ReadTable, check_columns, opened_table
from anoncore.release.reading.published_frames import PublishedFrame
from anoncore.release.reading.published_table import factorized
from anoncore.release.reading.read_columns import CellReader, ReadColumn, read_column
from anoncore.table.coding import encode
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Microdata
from anoncore.table.part import with_domains


def opened_synthetic(frames: Sequence[PublishedFrame], original: Microdata, missing_is_value: bool) -> Opened:
    """The release of one table without rows in common with `original`, which is coded anew where it lacks values.

    Raises DataError for several tables, for columns that the original lacks and cells that cannot be read.
    """
    if len(frames) > 1:
        raise DataError(
            f"{len(frames)} tables are given, {listing([frame.name for frame in frames])}; a synthetic release is one "
            "table. Judge each of them by itself."
        )
    (frame,) = frames
    check_columns(frame, original)
    names = [name for name in frame.columns if name in original.domain]
    notes = [_counted(frame, original)]
    domains: dict[str, Domain] = {}
    for name in names:
        domains[name], added = _with_new_values(
            name, frame.columns[name], original.domain[name], original.hierarchies.get(name), missing_is_value
        )
        notes += added
    changed = {name: domain for name, domain in domains.items() if domain is not original.domain[name]}
    data = with_domains(original, changed) if changed else original
    columns = {
        name: _read(frame, name, domains[name], original.hierarchies.get(name), missing_is_value) for name in names
    }
    identifiers = [name for name in frame.columns if name in original.identifiers]
    if identifiers:
        notes.append(f"The table publishes {listing(identifiers)}, an identifier; it is left out of all numbers.")
    notes += [note for column in columns.values() for note in column.notes]
    table = ReadTable(frame.name, columns, None, frame.n_rows)
    opened = opened_table(table, _by_content(columns.values()), data, [], tells_changes=False)
    return Opened(data, (opened,), tuple(notes), None)


def _by_content(columns: Iterable[ReadColumn]) -> Int64:
    """The lines sorted by what they hold, int64 (n_lines,), so that nothing depends on the order in which they came."""
    keys = []
    for column in columns:
        rank = np.empty(len(column.cells), np.int64)
        rank[np.lexsort((np.array(column.texts), column.high, column.low))] = np.arange(len(column.cells))
        keys.append(rank[column.cell])
    return np.lexsort(keys[::-1])


def _counted(frame: PublishedFrame, original: Microdata) -> str:
    beside = (
        f"its {frame.n_rows:,} rows are compared with the {original.n_rows:,} rows of the original by shares"
        if frame.n_rows != original.n_rows
        else "it is compared with the original by shares"
    )
    return f"No row of the table stands for a person; {beside}."


def _with_new_values(
    name: str, column: pd.Series[Any], domain: Domain, hierarchy: Hierarchy | None, missing_is_value: bool
) -> tuple[Domain, list[str]]:
    """The domain with the values that only the published column has, and what is to say of these."""
    number, distinct = factorized(_hashable(column))
    reader = CellReader(domain, hierarchy, regions_first=False)
    new: dict[int, Any] = {}
    for place, cell in enumerate(distinct):
        if not is_missing(cell) and reader.read(cell).cell is None:
            value = _new_value(cell, reader)
            if value is not None:
                new[place] = value
    adds_missing = missing_is_value and not domain.has_missing and any(is_missing(cell) for cell in distinct)
    if not new and not adds_missing:
        return domain, []
    notes = []
    if new:
        lines = int(np.isin(number, list(new)).sum())
        what = "numbers" if domain.kind is Kind.NUMERIC else "values"
        notes.append(
            f"{lines:,} of {len(number):,} cells of '{name}' hold {what} that the original lacks, such as "
            f"{quoted(value_text(next(iter(new.values()))))}; none of its rows is where they are."
        )
    return _extended(name, domain, list(new.values()), hierarchy, adds_missing), notes


def _hashable(column: pd.Series[Any]) -> pd.Series[Any]:
    if column.dtype != object:
        return column
    return column.map(lambda cell: tuple(cell) if isinstance(cell, list | set) else cell)


def _new_value(cell: Any, reader: CellReader) -> Any:
    """The value that a cell holds and the domain lacks; None where it is no value of the attribute's kind."""
    if reader.domain.kind is not Kind.NUMERIC:
        return cell
    if reader.domain.values and reader.size_of(cell) is None:
        return None
    if not isinstance(cell, str):
        return cell
    found = mentioned_numbers([cell])
    return found[0] if found else None


def _extended(name: str, domain: Domain, new: Sequence[Any], hierarchy: Hierarchy | None, adds_missing: bool) -> Domain:
    known = pd.Series(domain.decoded.take(np.arange(len(domain.values))))
    both = pd.concat([known, pd.Series(list(new))], ignore_index=True) if new else known
    if domain.has_missing or adds_missing:
        if pd.api.types.is_integer_dtype(both.dtype):
            both = both.astype("Int64")
        both = both.reindex(range(len(both) + 1))
    in_order = domain.kind is not Kind.NUMERIC and hierarchy is None
    order = [*domain.values, *new] if in_order else None
    return encode(both, name, domain.kind, order, hierarchy)[1]


def _read(
    frame: PublishedFrame, name: str, domain: Domain, hierarchy: Hierarchy | None, missing_is_value: bool
) -> ReadColumn:
    missing = (domain.missing_code,) if missing_is_value and domain.missing_code is not None else ()
    return read_column(
        frame.name, name, frame.columns[name], domain, hierarchy, None, regions_first=False, missing_codes=missing
    )
