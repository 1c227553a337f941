"""The two-way error of a release in parts: how often values occur together in its table, and in what its parts show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.errors import ReleaseError
from anoncore.engines.column_coding import CodedColumn, Coder, CountedTable, distinct_values
from anoncore.engines.table_profile import MOST_VALUES, TableProfile
from anoncore.kernels.arrays import Codes, Int64, record
from anoncore.kernels.grouping import numbered_inside_groups, starts_of
from anoncore.release.recoding import Generalized
from anoncore.sources.large_table import LargeTable
from anoncore.utility.reconstruction import Regions, regions_of, spread
from anoncore.utility.two_way import TwoWayError, distance_of, error_of_pairs

MOST_PAIRS = 4_000_000
"""Different pairs of values of two columns up to which they are counted; each takes about 100 bytes."""


@record
class TextRegions:
    """The different cells of an attribute in a part: their texts, and the codes that each allows."""

    texts: tuple[str, ...]
    regions: Regions

    @classmethod
    def of(cls, recoding: Generalized) -> TextRegions:
        """The cells of the groups of a part."""
        texts, region = recoding.numbered_texts
        first = np.unique(region, return_index=True)[1]
        return cls(tuple(texts[region[first]].tolist()), regions_of(recoding).some(first))


def two_way_error_of_parts(
    table: CountedTable,
    folder: Path,
    workspace: Path,
    about: tuple[TableProfile, Mapping[str, CodedColumn]],
    cells: Iterable[Mapping[str, TextRegions]],
    step: Callable[[str], None],
) -> TwoWayError:
    """The two-way error of the parts in a folder, made of a table: what `utility.two_way_error` says of it in memory.

    Pairs of values are counted by the engines of the table and of the parts, two columns at a time.

    Parameters
    ----------
    table : CountedTable
        The original table.
    folder, workspace : Path
        The folder with the parts, and one for temporary files.
    about : tuple of TableProfile and mapping of str to CodedColumn
        The table as requirements see it, and its coded columns.
    cells : iterable of mappings of str to TextRegions
        The cells of every part by attribute.
    step : callable
        Called with a text before each pair; it may raise CancelledError.

    Raises
    ------
    ReleaseError
        Where a pair of columns has too many different pairs of values, fewer than two are published, or a text stands
        for two different regions.
    """
    profile, columns = about
    known, secrets = profile.quasi_identifiers, profile.sensitive
    names = [name for name in profile.attributes if name in known or name in secrets]
    if len(names) < 2:
        raise ReleaseError("The two-way error needs a pair of quasi-identifiers and sensitive attributes.")
    published = LargeTable(folder, workspace)
    try:
        texts = _joined(known, cells)
        sides = {
            name: _generalized(columns[name], texts[name]) if name in known else _exact(table, name) for name in names
        }
        distances = np.zeros((len(names), len(names)))
        for row, column in combinations(range(len(names)), 2):
            first, second = names[row], names[column]
            if first in secrets and second in secrets:
                continue  # both are published as they are, in one row
            step(f"Counting pairs of '{first}' and '{second}'")
            # The sweep goes along the column with more values, as in memory.
            pair = sorted((first, second), key=lambda name: -sides[name].size)
            distance = _distance(table, published, pair, [sides[name] for name in pair])
            distances[[row, column], [column, row]] = distance
    finally:
        published.close()
    return error_of_pairs(names, distances)


@record
class _Side:
    """A column of the table and of the parts: what turns values into codes, and cells into numbers of regions."""

    size: int
    codes: Coder
    cells: Callable[[pa.Array], Codes]
    regions: Regions


def _generalized(column: CodedColumn, cells: TextRegions) -> _Side:
    """A quasi-identifier, whose texts stand for regions."""
    texts = pa.array(cells.texts, pa.string())

    def numbers(values: pa.Array) -> Codes:
        place = pc.index_in(values.cast(pa.string()), value_set=texts)
        return place.to_numpy(zero_copy_only=False).astype(np.int32)

    return _Side(len(column.domain), column.coder, numbers, cells.regions)


def _exact(table: CountedTable, name: str) -> _Side:
    """A sensitive attribute, which is published as it is."""
    values = distinct_values(table, name, MOST_VALUES).column(0).combine_chunks()
    coder = Coder(values, np.arange(len(values), dtype=np.int32))
    every = np.arange(len(values) + 1, dtype=np.int64)
    alone = Regions(every, every[:-1], every[:-1], np.ones(len(values), np.int64))
    return _Side(len(values), coder, lambda cells: coder(cells.cast(values.type)), alone)


def _joined(known: Iterable[str], cells: Iterable[Mapping[str, TextRegions]]) -> dict[str, TextRegions]:
    """The cells of all parts together. Raises ReleaseError for a text that stands for two different regions."""
    found: dict[str, dict[str, Int64]] = {name: {} for name in known}
    for part in cells:
        for name, own in part.items():
            regions = own.regions
            runs = np.stack([regions.low, regions.high])
            for place, text in enumerate(own.texts):
                these = runs[:, regions.offsets[place] : regions.offsets[place + 1]]
                if not np.array_equal(found[name].setdefault(text, these), these):
                    raise ReleaseError(f"In '{name}' the text '{text}' stands for two different sets of values.")
    return {name: _of_runs(runs) for name, runs in found.items()}


def _of_runs(runs: Mapping[str, Int64]) -> TextRegions:
    low, high = np.concatenate([*runs.values()], axis=1) if runs else np.zeros((2, 0), np.int64)
    offsets = starts_of([one.shape[1] for one in runs.values()])
    sizes = np.add.reduceat(high - low + 1, offsets[:-1]) if runs else np.zeros(0, np.int64)
    return TextRegions(tuple(runs), Regions(offsets, low, high, sizes))


def _distance(table: CountedTable, published: CountedTable, names: list[str], sides: list[_Side]) -> float:
    """Total variation distance of a pair's joint frequencies in the table and in the parts."""
    one, other = sides
    x, y, counts = _counted(table, names, (one.codes, other.codes))
    cells, others, weight = _counted(published, names, (one.cells, other.cells))
    expected = spread((one.regions, one.size), (other.regions, other.size), cells, others, weight, x, y)
    return distance_of(counts, expected, table.n_rows)


def _counted(
    table: CountedTable,
    names: list[str],
    numbered: tuple[Callable[[pa.Array], Codes], Callable[[pa.Array], Codes]],
) -> tuple[Codes, Codes, Int64]:
    """The pairs of two columns by their numbers, sorted, and the rows of each."""
    found = table.joint(names, MOST_PAIRS + 1)
    if found.num_rows > MOST_PAIRS:
        raise ReleaseError(f"'{names[0]}' and '{names[1]}' have more than {MOST_PAIRS:,} different pairs of values.")
    one, other = (number(found.column(place).combine_chunks()) for place, number in enumerate(numbered))
    rows = found.column(len(names)).to_numpy()
    # Values that a table tells apart may have one code, such as 0.0 and -0.0.
    number, first, second, _ = numbered_inside_groups(one, other)
    return first.astype(np.int32), second.astype(np.int32), np.bincount(number, weights=rows).astype(np.int64)
