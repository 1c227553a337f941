"""Expected contingency tables of all pairs of published attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from anoncore.kernels.arrays import Codes, Floats
from anoncore.kernels.association import pair_counts
from anoncore.release.partition import Partition
from anoncore.release.recoding import ColumnRegions, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.table.microdata import Microdata
from anoncore.utility.bins import Cells
from anoncore.utility.regions import regions_of

MOST_ENTRIES = 4_000_000
"""Entries of a table of groups by cells that are held at once."""


@dataclass(frozen=True, eq=False)
class PairTable:
    """Contingency tables of all pairs of attributes side by side.

    `counts` is symmetric, float (total cells, total cells); the cells of attribute `names[i]` stand at
    `starts[i]:starts[i + 1]` of both axes.
    """

    names: tuple[str, ...]
    starts: npt.NDArray[np.int64]
    counts: Floats

    def places(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """Positions of the cells of some attributes in `counts`."""
        numbers = [self.names.index(name) for name in names]
        return np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in numbers])

    def block(self, rows: Sequence[str], columns: Sequence[str]) -> Floats:
        """The counts between some attributes and others."""
        return self.counts[np.ix_(self.places(rows), self.places(columns))]

    def totals(self, name: str) -> Floats:
        """Expected rows in each cell of one attribute."""
        return self.block([name], [name]).sum(axis=1)


def original_counts(data: Microdata, cells: Cells) -> PairTable:
    """Rows per pair of cells in the original table."""
    return _row_counts({name: data.codes[name] for name in cells.of_code}, cells)


def released_counts(release: Release, cells: Cells) -> PairTable:
    """Expected rows per pair of cells by what the release publishes.

    A generalized cell spreads evenly over the values of its region, independently of the row's other cells. Exact
    attributes of one fragment are counted row by row. Attributes of different fragments are linked within the groups of
    a shared partition, n_a n_b / |G|; with partitions of their own, through an attribute that both fragments publish,
    sum over c of n_ac n_bc / n_c; else they count as independent.
    """
    if not release.is_shared:
        return _linked_counts(release, cells)
    partition = release.fragments[0].partition
    table = _group_counts({name: release.recoding(name) for name in cells.of_code}, partition, cells)
    for fragment in release.fragments:
        _count_column_classes(table, fragment, cells)
        _count_exact_rows(table, fragment, cells)
    return table


def _row_counts(codes: Mapping[str, Codes], cells: Cells) -> PairTable:
    starts = cells.starts(tuple(codes))
    rows = np.stack([cells.of_code[name][column] for name, column in codes.items()])
    return PairTable(tuple(codes), starts, pair_counts(rows, starts))


def _group_counts(recodings: Mapping[str, Recoding], partition: Partition, cells: Cells) -> PairTable:
    """Expected counts of attributes that are independent within each group: sum over G of |G| share_a share_b."""
    starts = cells.starts(tuple(recodings))
    counts = np.zeros((starts[-1], starts[-1]))
    step = max(1, MOST_ENTRIES // int(starts[-1]))
    for begin in range(0, partition.n_groups, step):
        end = min(begin + step, partition.n_groups)
        shares_of_attributes = [
            _shares(recoding, cells.of_code[name], cells.sizes[name], begin, end)
            for name, recoding in recodings.items()
        ]
        shares = np.hstack(shares_of_attributes)
        counts += shares.T @ (shares * partition.sizes[begin:end, None])
    return PairTable(tuple(recodings), starts, counts)


def _shares(recoding: Recoding, cell: Codes, n_cells: int, begin: int, end: int) -> Floats:
    """Expected share of each cell in the groups begin..end-1, (number of groups, n_cells)."""
    if isinstance(recoding, Generalized | GroupValues):
        regions = regions_of(recoding)
        prefix = np.zeros((len(cell) + 1, n_cells), dtype=np.int32)
        prefix[np.arange(1, len(cell) + 1), cell] = 1
        np.cumsum(prefix, axis=0, out=prefix)
        runs = slice(regions.offsets[begin], regions.offsets[end])
        hits = prefix[regions.high[runs] + 1] - prefix[regions.low[runs]]
        per_group = np.add.reduceat(hits, regions.offsets[begin:end] - regions.offsets[begin], axis=0)
        return per_group / regions.sizes[begin:end, None]
    partition = recoding.partition
    if isinstance(recoding, ColumnRegions):
        of_class = _shares(recoding.classes, cell, n_cells, 0, recoding.classes.partition.n_groups)
        rows = partition.order[partition.starts[begin] : partition.starts[end]]
        sums = np.add.reduceat(
            of_class[recoding.classes.partition.group[rows]], partition.starts[begin:end] - partition.starts[begin]
        )
        return sums / partition.sizes[begin:end, None]
    codes, _ = recoding.bounds()
    rows = partition.order[partition.starts[begin] : partition.starts[end]]
    key = (partition.group[rows] - begin).astype(np.int64) * n_cells + cell[codes[rows]]
    per_group = np.bincount(key, minlength=(end - begin) * n_cells).reshape(-1, n_cells)
    return per_group / partition.sizes[begin:end, None]


def _count_column_classes(table: PairTable, fragment: Fragment, cells: Cells) -> None:
    """Overwrite the pairs of a column that is generalized on its own, whose cells stand together in its classes."""
    regions = [recoding for recoding in fragment.recodings.values() if isinstance(recoding, ColumnRegions)]
    if not regions:
        return
    classes = regions[0].classes.partition
    within = {
        name: recoding.classes if isinstance(recoding, ColumnRegions) else replace(recoding, partition=classes)
        for name, recoding in fragment.recodings.items()
    }
    places = table.places(tuple(within))
    table.counts[np.ix_(places, places)] = _group_counts(within, classes, cells).counts


def _count_exact_rows(table: PairTable, fragment: Fragment, cells: Cells) -> None:
    """Overwrite the pairs that the fragment publishes exactly with their counts row by row."""
    exact = {name: recoding.codes for name, recoding in fragment.recodings.items() if isinstance(recoding, Exact)}
    if exact:
        places = table.places(tuple(exact))
        table.counts[np.ix_(places, places)] = _row_counts(exact, cells).counts


def _linked_counts(release: Release, cells: Cells) -> PairTable:
    """Expected counts of fragments with partitions of their own; a pair in several fragments counts in the first."""
    tables = []
    for fragment in release.fragments:
        table = _group_counts(fragment.recodings, fragment.partition, cells)
        _count_exact_rows(table, fragment, cells)
        tables.append(table)
    names = tuple(cells.of_code)
    starts = cells.starts(names)
    whole = PairTable(names, starts, np.zeros((starts[-1], starts[-1])))
    for i, table in enumerate(tables):
        for other in tables[:i]:
            rows, columns = whole.places(table.names), whole.places(other.names)
            block = _across(table, other, release.data.n_rows)
            whole.counts[np.ix_(rows, columns)] = block
            whole.counts[np.ix_(columns, rows)] = block.T
    for table in reversed(tables):
        places = whole.places(table.names)
        whole.counts[np.ix_(places, places)] = table.counts
    return whole


def _across(table: PairTable, other: PairTable, n_rows: int) -> Floats:
    """Expected counts between the attributes of two fragments, linked by the first attribute that both publish."""
    shared = next((name for name in table.names if name in other.names), None)
    if shared is None:
        own, foreign = (np.concatenate([part.totals(name) for name in part.names]) for part in (table, other))
        return np.outer(own, foreign) / n_rows
    own, foreign = table.totals(shared), other.totals(shared)
    weight = np.divide((own + foreign) / 2, own * foreign, out=np.zeros_like(own), where=own * foreign > 0)
    linked: Floats = (table.block(table.names, [shared]) * weight) @ other.block([shared], other.names)
    return linked
