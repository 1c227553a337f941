"""Published tables as they are given: their names, their columns, and the column that joins them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import is_missing, listing, range_text, value_text
from anoncore.kernels.arrays import Int64, record
from anoncore.release.reading.published_table import cell_name
from anoncore.release.reading.region_texts import OR_MISSING
from anoncore.table.given_table import given_table

JOINING = ("group", "groupid", "bucket", "bucketid", "classid", "gid")
"""Names of columns by which tools join tables, without spaces, underscores and hyphens."""


@record
class PublishedFrame:
    """One table: its columns by name but for the one that joins tables, and each line's `group`, int64 (n_rows,)."""

    name: str
    columns: Mapping[str, pd.Series[Any]]
    group: Int64 | None
    n_rows: int


def published_frames(published: Any, attributes: Collection[str], only_table: str) -> tuple[PublishedFrame, ...]:
    """One table or several by name; tables are joined where all have a column of groups that is none of the attributes.

    `only_table` is the name of a single table. Raises DataError for what is no table, and where groups do not match.
    """
    given = published if isinstance(published, Mapping) else {only_table: published}
    if not given:
        raise DataError("No published table is given; give one, or several by name.")
    frames = {}
    for name, table in given.items():
        frame = given_table(table).frame
        columns = {cell_name(label): frame[label] for label in frame.columns}
        frames[str(name)] = _with_ranges(columns, attributes)
    joining = _joining(frames, attributes)
    if joining is None:
        return tuple(
            PublishedFrame(name, {label: _plain(one) for label, one in columns.items()}, None, _length(columns))
            for name, columns in frames.items()
        )
    groups = _groups(frames, joining)
    return tuple(
        PublishedFrame(
            name,
            {label: _plain(one) for label, one in columns.items() if label != joining},
            group,
            _length(columns),
        )
        for (name, columns), group in zip(frames.items(), groups, strict=True)
    )


def _with_ranges(columns: Mapping[str, pd.Series[Any]], attributes: Collection[str]) -> dict[str, pd.Series[Any]]:
    """The columns, with one of ranges for every attribute that is published as two columns of bounds."""
    joined = dict(columns)
    for name in attributes:
        low, high, missing = (_bound(columns, name, ending) for ending in ("low", "high", "or_missing"))
        if name in columns or low is None or high is None:
            continue
        may_miss = columns[missing] if missing is not None else pd.Series(False, index=columns[low].index)
        cells = [_range(*bounds) for bounds in zip(columns[low], columns[high], may_miss, strict=True)]
        replaced = pd.Series(cells, dtype=object)
        joined = {
            name if label == low else label: replaced if label == low else column
            for label, column in joined.items()
            if label not in (high, missing)
        }
    return joined


def _bound(columns: Collection[str], name: str, ending: str) -> str | None:
    """The column of an attribute's bounds, to whose name underscores are added where another column has it."""
    fitting = (label for label in columns if label.rstrip("_") == f"{name}_{ending}".rstrip("_"))
    return next(fitting, None)


def _range(low: Any, high: Any, may_miss: Any) -> Any:
    """A cell of the range between two bounds; None where they are missing."""
    if is_missing(low) or is_missing(high):
        return None
    if not may_miss:
        return low if low == high else f"{value_text(low)} to {value_text(high)}"
    return f"{range_text(low, high)}{OR_MISSING}"


def _plain(column: pd.Series[Any]) -> pd.Series[Any]:
    return column.reset_index(drop=True)


def _length(columns: Mapping[str, pd.Series[Any]]) -> int:
    return len(next(iter(columns.values())))


def is_joining(name: str) -> bool:
    """Whether a column is called as tools call those by which they join tables."""
    return "".join(letter for letter in name.casefold() if letter not in " _-") in JOINING


def _joining(frames: Mapping[str, Mapping[str, Any]], attributes: Collection[str]) -> str | None:
    if len(frames) < 2:
        return None
    shared = set.intersection(*(set(columns) for columns in frames.values())) - set(attributes)
    fitting = [name for name in sorted(shared) if is_joining(name)]
    if len(fitting) > 1:
        raise DataError(f"The tables share {listing(fitting)}; keep one column that says which rows are joined.")
    return fitting[0] if fitting else None


def _groups(frames: Mapping[str, Mapping[str, pd.Series[Any]]], joining: str) -> Sequence[Int64]:
    """The group of each line of each table, numbered alike. Raises DataError where a table has others."""
    columns = [one[joining] for one in frames.values()]
    labels = pd.Index(columns[0].unique())
    if columns[0].isna().any():
        raise DataError(f"Some rows have no '{joining}', by which the tables are joined; fill the cells.")
    groups = [labels.get_indexer(pd.Index(column)).astype(np.int64) for column in columns]
    sizes = [np.bincount(group[group >= 0], minlength=len(labels)) for group in groups]
    for name, group, counts in zip(frames, groups, sizes, strict=True):
        if (group < 0).any():
            label = columns[list(frames).index(name)].iloc[int(np.argmax(group < 0))]
            raise DataError(f"The table '{name}' has rows of '{joining}' {label}, which '{next(iter(frames))}' lacks.")
        wrong = np.flatnonzero(counts != sizes[0])
        if len(wrong):
            raise DataError(
                f"'{joining}' {labels[wrong[0]]} has {counts[wrong[0]]:,} rows in the table '{name}' and "
                f"{sizes[0][wrong[0]]:,} in '{next(iter(frames))}'; tables that are joined have the same groups."
            )
    return groups
