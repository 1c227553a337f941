"""What a classifier may learn from a release: linked rows of published cells with their class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from anoncore.base.errors import ReleaseError
from anoncore.base.random_numbers import drawn_along
from anoncore.kernels.arrays import Codes, Rows
from anoncore.release.recoding import ColumnRegions, Generalized, GroupValues, Recoding
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata
from anoncore.utility.classifiers import Bounds

EVERY_ROW = slice(None)


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Rows of published cells and the class of each, int32 (n_records,); in the order of the original rows, but where
    rows are nobody's.
    """

    cells: dict[str, Bounds]
    labels: Codes

    def take(self, rows: Rows | slice) -> TrainingTable:
        """Some of the rows, in the given order."""
        cells = {name: Bounds(cell.low[rows], cell.high[rows], cell.single) for name, cell in self.cells.items()}
        return TrainingTable(cells, self.labels[rows])

    def test_cells(self, data: Microdata, rows: Rows | slice = EVERY_ROW) -> dict[str, Bounds]:
        """Original rows in the same form: exact values, lower and upper bound alike."""
        exact = {name: data.codes[name][rows] for name in self.cells}
        return {name: Bounds(exact[name], exact[name], cell.single) for name, cell in self.cells.items()}


def original_table(release: Release, target: str) -> TrainingTable:
    """The original values of the published attributes, in the order of the table."""
    data = release.data
    names = _in_order([name for name in release.attributes if name != target], data)
    return TrainingTable({name: Bounds(data.codes[name], data.codes[name], True) for name in names}, data.codes[target])


def _in_order(names: Iterable[str], data: Microdata) -> list[str]:
    """Attributes in the order of the table: of equally good splits, none is taken for the order of the fragments."""
    order = {name: number for number, name in enumerate(data.attributes)}
    return sorted(names, key=order.__getitem__)


def released_tables(release: Release, target: str, rng: np.random.Generator) -> tuple[TrainingTable, ...]:
    """What can be learned from: one table where fragments share a partition, else one per fragment with the target.

    Rows of a group in different fragments are linked at random; row i is the one whose cells in the first fragment are
    those of original row i. A target that is published by region takes a random value of its row's region. Raises
    ReleaseError if no fragment, or linking of fragments, has the target and something to predict it from.
    """
    release.fragment_of(target)
    if release.is_shared:
        tables = [_linked_table(release, target, rng)]
    else:
        own = np.arange(release.data.n_rows)
        tables = [
            _table(release, fragment.recodings, dict.fromkeys(fragment.attributes, own), target, rng)
            for fragment in release.fragments
            if target in fragment.recodings
        ]
    usable = tuple(table for table in tables if table.cells)
    if not usable:
        raise ReleaseError(f"The release publishes nothing together with '{target}' that could predict it.")
    return usable


def is_random(release: Release, target: str) -> bool:
    """Whether two draws of the training tables may differ."""
    linked = release.is_shared and len(release.fragments) > 1
    regional = any(
        isinstance(fragment.recodings.get(target), Generalized | GroupValues | ColumnRegions)
        for fragment in release.fragments
    )
    return linked or regional


def _linked_table(release: Release, target: str, rng: np.random.Generator) -> TrainingTable:
    links = release.linking(rng)
    recodings, rows = {}, {}
    for name in release.attributes:
        fragment = release.fragment_of(name)
        recodings[name] = fragment.recodings[name]
        rows[name] = links[release.fragments.index(fragment)]
    return _table(release, recodings, rows, target, rng)


def _table(
    release: Release,
    recodings: Mapping[str, Recoding],
    rows: Mapping[str, Rows],
    target: str,
    rng: np.random.Generator,
) -> TrainingTable:
    cells = {}
    for name in _in_order(recodings, release.data):
        if name == target:
            continue
        recoding = recodings[name]
        low, high = recoding.bounds()
        single = not isinstance(recoding, Generalized | GroupValues | ColumnRegions)
        cells[name] = Bounds(low[rows[name]], high[rows[name]], single)
    return TrainingTable(cells, _values(recodings[target], release.records_order, rng)[rows[target]])


def _values(recoding: Recoding, along: Rows, rng: np.random.Generator) -> Codes:
    """The published value of each row, or a random one of its region, drawn for the rows along an order."""
    if isinstance(recoding, ColumnRegions):
        return _values(recoding.classes, along, rng)
    if not isinstance(recoding, Generalized | GroupValues):
        return recoding.bounds()[0]
    group = recoding.partition.group
    pick = (drawn_along(along, rng) * recoding.sizes[group]).astype(np.int64)
    if recoding.offsets is not None and recoding.members is not None:
        return recoding.members[recoding.offsets[group] + pick]
    return (recoding.low[group] + pick).astype(np.int32)
